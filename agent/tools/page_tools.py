"""Looking at live pages: OPEN, SNAPSHOT, FIND, TABS, SCREENSHOT, PAGE_CONTEXT; walls in the way."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.errors import ToolError
from agent.tools.context import PATIENCE_SECONDS, SOLVABLE, web_of
from agent.tools.registry import NonEmpty, Risk, ToolResult, tool
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
SOLVER_SECONDS = 120.0
PICTURED = "attached: what is in view, refs drawn on it"
BARE_TOO = ", then without them, as they hide something"

page_tool = partial(tool, on_page=True)


def open_tab(context: ToolContext) -> Tab:
    """The tab that is open; raises `ToolError` where there is none."""
    tab = web_of(context).tab
    if tab is None:
        raise ToolError("no page is open", hint="OPEN a page first.")
    return tab


@tool("OPEN", "opens a page in the browser.", capped=False)
async def open_page(context: ToolContext, *, url: NonEmpty) -> Finish:
    """Open a page in the browser and show it: in the open tab, in a new one if that is lost."""
    web = web_of(context)
    # An attached Chrome has a network of its own, which no proxy of ours guards.
    web.egress.guard.check_url(url)
    seconds = context.seconds_left(context.limits.read_seconds)
    if web.polite is not None:  # in a person's own Chrome it is the person who asks
        await web.polite.wait_turn(url, seconds)
    async with web.lock:
        browser, tab = await web.start_browser(), web.tab
        if tab is not None and await browser.responds(tab):
            await tab.goto(url, deadline=seconds)
        else:
            # Forgotten before the new one is opened: if that fails, no dead tab is left open.
            lost, web.tab = tab, None
            tab = web.tab = await browser.open(url, deadline=seconds)
            if lost is not None:
                await browser.close(lost)
        shown = await look(context, tab)
        if await take_wall_down(context, tab):
            shown = await look(context, tab)
        page, pictures = await web.read_tab(), await pictures_of(context, tab)
        events = tab.events.drain()
    return lambda: with_pictures(_opened(context, page, shown, events), pictures)


def _opened(
    context: ToolContext, page: Page, shown: Snapshot, events: tuple[str, ...]
) -> ToolResult:
    data: dict[str, Any] = {"url": page.url, "refs": len(shown.refs)}
    if events:
        data["events"] = list(events)
    if page.document is None or not page.document.text.strip():
        return ToolResult(data, shown.text, "page", snapshot=shown.text)
    source = register(context, page)
    data |= {"source": source.name, "title": source.title, "passages": len(source.passages)}
    if page.outcome is not Outcome.OK:
        data["outcome"] = page.outcome.value
    return ToolResult(data, shown.text, source.name, snapshot=shown.text)


async def look(context: ToolContext, tab: Tab) -> Snapshot:
    """Look at a page within the run's budget, ranked by its question."""
    return await tab.snapshot(budget=context.limits.snapshot_tokens, query=context.question)


@page_tool("SNAPSHOT", "shows the open page, or a part.", capped=False)
async def snapshot(context: ToolContext, *, ref: str | None = None) -> ToolResult:
    """Show the open page, or what is under one element, folded rows included."""
    tab = open_tab(context)
    async with web_of(context).lock:
        if ref:
            under = await tab.expand(ref)
            return ToolResult({"ref": ref, "url": tab.url}, under, "page")
        shown, pictures = await look(context, tab), await pictures_of(context, tab)
    data: dict[str, Any] = {"url": shown.url, "title": shown.title, "refs": len(shown.refs)}
    if events := tab.events.drain():
        data["events"] = list(events)
    return with_pictures(ToolResult(data, shown.text, "page", snapshot=shown.text), pictures)


@page_tool("FIND", "finds text or a role on the whole page.", capped=False)
async def find(context: ToolContext, *, text: NonEmpty) -> ToolResult:
    """Look for text or a role on the whole page."""
    tab = open_tab(context)
    async with web_of(context).lock:
        found = await tab.find(text)
    return ToolResult({"text": text, "found": found.found, "url": tab.url}, found.text, "page")


@page_tool("TABS", "lists tabs; switches or closes.")
async def tabs(
    context: ToolContext, *, switch: str | None = None, close: str | None = None
) -> ToolResult:
    """List the tabs, switch to one such as `t2` or close one of ours."""
    web = web_of(context)
    browser = await web.start_browser()
    if close:
        closing = _tab_named(browser, close)
        await browser.close(closing)
        web.tab = None if web.tab is closing else web.tab
    if switch:
        web.tab = _tab_named(browser, switch)
    here = web.tab.id if web.tab else None
    rows = [
        {"id": tab.id, "url": tab.url, "title": tab.title, "ours": tab.ours}
        | {"active": tab.id == here if here else tab.active}
        for tab in await browser.tabs()
    ]
    return ToolResult({"tabs": rows})


def _tab_named(browser: Browser, name: str) -> Tab:
    tab = browser.tab(name)
    if tab is None:
        raise ToolError(f"no tab of ours is called {name}", hint="TABS lists them.")
    return tab


@page_tool("SCREENSHOT", "keeps a picture of the page.")
async def screenshot(context: ToolContext) -> ToolResult:
    """Keep a picture of the open page with the run, and show it to a model that sees."""
    tab = open_tab(context)
    async with web_of(context).lock:
        picture = await tab.screenshot()
        marked = await pictures_of(context, tab)
    data = {"success": True, "url": tab.url, "kept": True, "bytes": len(picture)}
    return with_pictures(ToolResult(data, blobs=(("screenshot.png", picture),)), marked)


@page_tool("PAGE_CONTEXT", "url, title, selection, text in view.")
async def page_context(context: ToolContext) -> ToolResult:
    """Return what the person, or our own tab, has in view."""
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
    from browser.extract.platforms.lookup import record_of  # noqa: PLC0415 - as below
    from browser.extract.platforms.record import facts  # noqa: PLC0415 - loads lxml

    if web.tab is not None:
        url, html = web.tab.url, (await web.tab.html()).encode("utf-8", "replace")
    elif web.page is not None:
        url, html = web.page.url, web.page.body
    else:
        return {}
    record = await asyncio.to_thread(record_of, url, html)
    said = facts(record) if record else {}
    return {name: value[:_LONGEST_FACT] for name, value in [*said.items()][:_MOST_FACTS]}


LOOKING_TOOLS = (open_page, snapshot, find, tabs, screenshot, page_context)


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


_FOR_A_PERSON = {
    Outcome.CAPTCHA: "solved its captcha",
    Outcome.BOT_CHECK: "passed its check",
    Outcome.LOGIN: "logged in",
}


async def take_wall_down(context: ToolContext, tab: Tab) -> bool:
    """Have the wall taken down that stands before a page; True when that is done.

    A person who sees the browser is asked to do what only a person may; else a solver, where one
    was named.
    """
    web = web_of(context)
    if web.in_sight and context.approve is not None:
        page = await web.read_tab()
        if (done := _FOR_A_PERSON.get(page.outcome)) is None:
            return False
        context.extend_timeout(PATIENCE_SECONDS)
        asked = f"go on at {page.url} once you have {done} in the browser window"
        return bool(await context.approve(asked))
    if web.solver is not None and (await web.read_tab()).outcome in SOLVABLE:
        return (await _solve(context, tab))[0] is Outcome.OK
    return False


async def _solve(context: ToolContext, tab: Tab) -> tuple[Outcome, str]:
    """Ask the solver about the captcha of a page and put its token in; on record either way.

    Gives OK and what became of the token, or what kept the captcha where it is, and why.
    """
    challenge = await tab.challenge()
    if challenge is None:
        return Outcome.EMPTY, "no captcha of a kind that can be handed over"
    started = time.monotonic()
    outcome, said = await _ask_solver(context, tab, challenge)
    context.record(
        "captcha",
        captcha=challenge.kind,
        url=challenge.url,
        outcome=outcome.value,
        said=said,
        ms=int((time.monotonic() - started) * 1000),
    )
    return outcome, said


async def _ask_solver(context: ToolContext, tab: Tab, challenge: Challenge) -> tuple[Outcome, str]:
    web = web_of(context)
    assert web.solver, "asked only where a solver was named"
    if web.solves_left <= 0:
        return Outcome.QUOTA, "this run has had as many captchas solved as one may"
    web.solves_left -= 1
    context.extend_timeout(SOLVER_SECONDS)
    try:
        token = await web.solver.solve(challenge)
    except SolverFailed as error:
        return error.outcome, str(error)
    if token is None:
        return Outcome.CAPTCHA, "the solver could not solve it"
    how = await tab.answer_challenge(token)
    return (Outcome.OK, how) if how else (Outcome.EMPTY, "the captcha went away")


@tool("SOLVE_CAPTCHA", "has the captcha of the open page solved.", Risk.EXTERNAL)
async def solve_captcha(context: ToolContext) -> ToolResult:
    """Have the captcha of the open page solved, also one that stands in a form."""
    tab = open_tab(context)
    async with web_of(context).lock:
        outcome, said = await _solve(context, tab)
    if outcome is Outcome.OK:
        filled = "press the button that sends the form"
        done = filled if said == "filled" else "take a SNAPSHOT"
        return ToolResult({"outcome": "ok", "next": done, "url": tab.url})
    return ToolResult({"error": said, "outcome": outcome.value}, hint=SolverFailed.hint)


SOLVING_TOOLS = (solve_captcha,)
