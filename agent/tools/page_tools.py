"""Looking at live pages: OPEN, SNAPSHOT, FIND, TABS, SCREENSHOT, PAGE_CONTEXT."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.errors import ToolError
from agent.tools.context import PATIENCE_SECONDS, SOLVABLE, web_of
from agent.tools.registry import Needed, Risk, ToolResult, tool
from agent.tools.sources import register
from browser.errors import BrowserError
from browser.solvers import SolverFailed
from browser.types import Outcome

if TYPE_CHECKING:
    from agent.tools.context import ToolContext, Web
    from agent.tools.registry import Finish
    from browser.page.tab import Tab
    from browser.session.session import Browser
    from browser.types import Challenge, Page, Snapshot


# Of a record's facts: a few lines, the long ones cut; READ gives the page itself.
_MOST_FACTS, _LONGEST_FACT = 20, 200


@tool("OPEN", "opens a page in the browser.", capped=False)
async def open_page(context: ToolContext, *, url: Needed) -> Finish:
    """Open a page in the browser and show it."""
    web = web_of(context)
    # An attached Chrome has a network of its own, which no proxy of ours guards.
    web.egress.check_url(url)
    seconds = context.seconds_left(context.limits.read_seconds)
    if web.polite is not None:  # in a person's own Chrome it is the person who asks
        await web.polite.turn(url, seconds)
    async with web.lock:
        await _arrive(web, url, seconds)
        shown = await look(context, web.tab)
        if await taken_down(context, web.tab):
            shown = await look(context, web.tab)
        page, pictures = await web.read_tab(), await pictures_of(context, web.tab)
        happened = web.tab.events.drain()
    return lambda: with_pictures(_opened_page(context, page, shown, happened), pictures)


async def _arrive(web: Web, url: str, seconds: float) -> None:
    """Go to an address in the tab that is open; in a new one where that does not answer."""
    browser = await web.start_browser()
    if web.tab is not None and await browser.responds(web.tab):
        await web.tab.goto(url, deadline=seconds)
        return
    lost, web.tab = web.tab, None
    web.tab = await browser.open(url, deadline=seconds)
    if lost is not None:
        await browser.close(lost)


async def look(context: ToolContext, tab: Tab) -> Snapshot:
    """Look at a page within the run's budget, ranked by its question."""
    return await tab.snapshot(budget=context.limits.snapshot_tokens, query=context.question)


@tool("SNAPSHOT", "shows the open page, or a part.", capped=False)
async def snapshot(context: ToolContext, *, ref: str | None = None) -> ToolResult:
    """Show the open page, or what is under one element, folded rows included."""
    tab = open_tab(context)
    async with web_of(context).lock:
        if ref:
            under = await tab.expand(ref)
            return ToolResult({"ref": ref, "url": tab.url}, under, "page")
        shown, pictures = await look(context, tab), await pictures_of(context, tab)
    data: dict[str, Any] = {"url": shown.url, "title": shown.title, "refs": len(shown.refs)}
    if happened := tab.events.drain():
        data["events"] = list(happened)
    return with_pictures(ToolResult(data, shown.text, "page", snapshot=shown.text), pictures)


@tool("FIND", "finds text or a role on the whole page.", capped=False)
async def find(context: ToolContext, *, text: Needed) -> ToolResult:
    """Look for text or a role on the whole page."""
    tab = open_tab(context)
    async with web_of(context).lock:
        found = await tab.find(text)
    return ToolResult({"text": text, "found": found.found, "url": tab.url}, found.text, "page")


@tool("TABS", "lists tabs; switches or closes.")
async def tabs(
    context: ToolContext, *, switch: str | None = None, close: str | None = None
) -> ToolResult:
    """List the tabs, switch to one such as `t2` or close one of ours."""
    web = web_of(context)
    browser = await web.start_browser()
    if close:
        closing = _tab(browser, close)
        await browser.close(closing)
        web.tab = None if web.tab is closing else web.tab
    if switch:
        web.tab = _tab(browser, switch)
    here = web.tab.id if web.tab else None
    rows = [
        {"id": tab.id, "url": tab.url, "title": tab.title, "ours": tab.ours}
        | {"active": tab.id == here if here else tab.active}
        for tab in await browser.tabs()
    ]
    return ToolResult({"tabs": rows})


def _tab(browser: Browser, name: str) -> Tab:
    tab = browser.tab(name)
    if tab is None:
        raise ToolError(f"no tab of ours is called {name}", hint="TABS lists them.")
    return tab


@tool("SCREENSHOT", "keeps a picture of the page.")
async def screenshot(context: ToolContext) -> ToolResult:
    """Keep a picture of the open page with the run, and show it to a model that sees."""
    tab = open_tab(context)
    async with web_of(context).lock:
        picture = await tab.screenshot()
        marked = await pictures_of(context, tab)
    data = {"success": True, "url": tab.url, "kept": True, "bytes": len(picture)}
    return with_pictures(ToolResult(data, blobs=(("screenshot.png", picture),)), marked)


@tool("PAGE_CONTEXT", "url, title, selection, text in view.")
async def page_context(context: ToolContext) -> ToolResult:
    """Tell what the person, or our own tab, has in view."""
    web = web_of(context)
    seen = web.context if web.tab is None else await web.tab.context()
    if seen is None:
        raise ToolError("no page is open", hint="OPEN a page first.")
    facts = {
        "url": seen.url,
        "canonical": seen.canonical_url,
        "title": seen.title,
        "selection": seen.selection,
        "focused": seen.focused,
        "language": seen.language,
        "published": seen.published,
        "record": await _page_record(web),
    }
    room = context.limits.snapshot_tokens
    return ToolResult({k: v for k, v in facts.items() if v}, seen.visible_text[:room], "page")


async def _page_record(web: Web) -> dict[str, str]:
    """What the page in view is on its platform, with author, date, counts; {} elsewhere."""
    from browser.extract.platforms.lookup import record_of  # noqa: PLC0415 - as above
    from browser.extract.platforms.site import facts  # noqa: PLC0415 - loads lxml

    if web.tab is not None:
        url, html = web.tab.url, (await web.tab.html()).encode("utf-8", "replace")
    elif web.page is not None:
        url, html = web.page.url, web.page.body
    else:
        return {}
    record = await asyncio.to_thread(record_of, url, html)
    said = facts(record) if record else {}
    return {name: value[:_LONGEST_FACT] for name, value in [*said.items()][:_MOST_FACTS]}


def open_tab(context: ToolContext) -> Tab:
    """The tab that is open; raises `ToolError` where there is none."""
    tab: Tab | None = web_of(context).tab
    if tab is None:
        raise ToolError("no page is open", hint="OPEN a page first.")
    return tab


def _opened_page(
    context: ToolContext, page: Page, shown: Snapshot, happened: tuple[str, ...]
) -> ToolResult:
    text = shown.text
    data: dict[str, Any] = {"url": page.url, "refs": len(shown.refs)}
    if happened:
        data["events"] = list(happened)
    if page.document is None or not page.document.text.strip():
        return ToolResult(data, text, "page", snapshot=text)
    source = register(context, page)
    data |= {"source": source.name, "title": source.title, "passages": len(source.passages)}
    if page.outcome is not Outcome.OK:
        data["outcome"] = page.outcome.value
    return ToolResult(data, text, source.name, snapshot=text)


LOOKING_TOOLS = (open_page, snapshot, find, tabs, screenshot, page_context)


SOLVER_SECONDS = 120.0
_FOR_A_PERSON = {
    Outcome.CAPTCHA: "solved its captcha",
    Outcome.BOT_CHECK: "passed its check",
    Outcome.LOGIN: "logged in",
}


@dataclass(frozen=True, slots=True)
class Solved:
    """How asking a solver ended: OK, or what kept the captcha where it is."""

    outcome: Outcome
    said: str


async def taken_down(context: ToolContext, tab: Tab) -> bool:
    """Have a wall taken down; True when that is done.

    A person who sees the browser is asked to do what only a person may; else a solver, where one
    was named.
    """
    web = web_of(context)
    if web.in_sight and context.approve is not None:
        return await _by_person(context, web)
    if web.solver is not None and (await web.read_tab()).outcome in SOLVABLE:
        return (await solved(context, tab)).outcome is Outcome.OK
    return False


async def solved(context: ToolContext, tab: Tab) -> Solved:
    """Ask the solver about the captcha of a page and put its token in; on record either way."""
    challenge = await tab.challenge()
    if challenge is None:
        return Solved(Outcome.EMPTY, "no captcha of a kind that can be handed over")
    started = time.monotonic()
    result = await _solved(context, tab, challenge)
    context.record(
        "captcha",
        captcha=challenge.kind,
        url=challenge.url,
        outcome=result.outcome.value,
        said=result.said,
        ms=int((time.monotonic() - started) * 1000),
    )
    return result


async def _solved(context: ToolContext, tab: Tab, challenge: Challenge) -> Solved:
    web = web_of(context)
    assert web.solver, "asked only where a solver was named"
    if web.solves_left <= 0:
        return Solved(Outcome.QUOTA, "this run has had as many captchas solved as one may")
    web.solves_left -= 1
    context.wait_longer(SOLVER_SECONDS)
    try:
        token = await web.solver.solve(challenge)
    except SolverFailed as error:
        return Solved(error.outcome, str(error))
    if token is None:
        return Solved(Outcome.CAPTCHA, "the solver could not solve it")
    how = await tab.answer_challenge(token)
    return Solved(Outcome.OK, how) if how else Solved(Outcome.EMPTY, "the captcha went away")


async def _by_person(context: ToolContext, web: Web) -> bool:
    page = await web.read_tab()
    done = _FOR_A_PERSON.get(page.outcome)
    if done is None or context.approve is None:
        return False
    context.wait_longer(PATIENCE_SECONDS)
    return bool(
        await context.approve(f"go on at {page.url} once you have {done} in the browser window")
    )


_NEXT = {
    "filled": "press the button that sends the form",
    "callback": "take a SNAPSHOT",
    "submitted": "take a SNAPSHOT",
}


@tool("SOLVE_CAPTCHA", "has the captcha of the open page solved.", Risk.EXTERNAL)
async def solve_captcha(context: ToolContext) -> ToolResult:
    """Have the captcha of the open page solved, also one that stands in a form."""
    web = web_of(context)
    tab: Tab | None = web.tab
    if tab is None:
        return ToolResult({"error": "no page is open"}, hint="OPEN a page first.")
    async with web.lock:
        result = await solved(context, tab)
    if result.outcome is Outcome.OK:
        return ToolResult({"outcome": "ok", "next": _NEXT[result.said], "url": tab.url})
    data = {"error": result.said, "outcome": result.outcome.value}
    return ToolResult(data, hint=SolverFailed.hint)


SOLVING_TOOLS = (solve_captcha,)


PICTURED = "attached: what is in view, refs drawn on it"
BARE_TOO = ", then without them, as they hide something"


async def pictures_of(context: ToolContext, tab: Tab) -> tuple[bytes, ...]:
    """Take pictures, with `--vision` and a model that sees; the text stands without them too."""
    if not context.vision:
        return ()
    try:
        return await tab.marked_pictures()
    except BrowserError as error:
        context.record("note", text=f"no picture of {tab.url}: {error}")
        return ()


def with_pictures(result: ToolResult, pictures: tuple[bytes, ...]) -> ToolResult:
    """Add pictures to a result whose data is an object."""
    if not pictures:
        return result
    said = PICTURED + (BARE_TOO if len(pictures) > 1 else "")
    return replace(result, data={**result.data, "picture": said}, pictures=pictures)
