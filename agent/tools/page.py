"""Looking at live pages: OPEN, SNAPSHOT, FIND, TABS, SCREENSHOT, PAGE_CONTEXT."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agent.errors import ToolError
from agent.tools.registry import NoParams, Params, Tool, ToolResult
from agent.tools.sight import picture_of, with_picture
from agent.tools.sources import register
from agent.tools.walls import taken_down
from agent.tools.web import web_of
from browser.types import Outcome

if TYPE_CHECKING:
    from agent.tools.context import ToolContext, Web
    from browser.page.tab import Tab
    from browser.session import Browser
    from browser.types import Page, Snapshot

Finish = Callable[[], ToolResult]
# Of a record's facts: a few lines, the long ones cut; READ gives the page itself.
_MOST_FACTS, _LONGEST_FACT = 20, 200


class OpenParams(Params):
    """The address to open."""

    url: str = Field(min_length=1)


class SnapshotParams(Params):
    """`ref` shows what is under one element, folded rows included."""

    ref: str | None = None


class FindParams(Params):
    """Text or a role to look for on the whole page."""

    text: str = Field(min_length=1)


class TabsParams(Params):
    """`switch` or `close` name a tab such as `t2`."""

    switch: str | None = None
    close: str | None = None


async def open_page(context: ToolContext, params: OpenParams) -> Finish:
    """Open a page in the browser and show it."""
    web = web_of(context)
    # An attached Chrome has a network of its own, which no proxy of ours guards.
    web.egress.check_url(params.url)
    async with web.lock:
        await _arrive(web, params.url, context.seconds_left(context.limits.read_seconds))
        shown = await look(context, web.tab)
        if await taken_down(context, web.tab):
            shown = await look(context, web.tab)
        page, picture = await web.read_tab(), await picture_of(context, web.tab)
    return lambda: with_picture(_shown(context, page, shown.text, refs=len(shown.refs)), picture)


async def _arrive(web: Web, url: str, seconds: float) -> None:
    """Go to an address in the tab that is open; in a new one where that does not answer."""
    browser = await web.start_browser()
    if web.tab is not None and await browser.answers(web.tab):
        await web.tab.goto(url, deadline=seconds)
        return
    lost, web.tab = web.tab, None
    web.tab = await browser.open(url, deadline=seconds)
    if lost is not None:
        await browser.close(lost)


async def look(context: ToolContext, tab: Tab) -> Snapshot:
    """Look at a page within the run's budget, ranked by its question."""
    return await tab.snapshot(budget=context.limits.snapshot_tokens, query=context.question)


async def snapshot(context: ToolContext, params: SnapshotParams) -> ToolResult:
    """Show the open page, or what is under one element."""
    tab = open_tab(context)
    async with web_of(context).lock:
        if params.ref:
            return ToolResult({"ref": params.ref}, await tab.expand(params.ref), "page")
        shown, picture = await look(context, tab), await picture_of(context, tab)
    data: dict[str, Any] = {"url": shown.url, "title": shown.title, "refs": len(shown.refs)}
    if happened := tab.events.drain():
        data["events"] = list(happened)
    return with_picture(ToolResult(data, shown.text, "page"), picture)


async def find(context: ToolContext, params: FindParams) -> ToolResult:
    """Look for text or a role on the whole page."""
    tab = open_tab(context)
    async with web_of(context).lock:
        found = await tab.find(params.text)
    return ToolResult({"text": params.text, "found": found.found}, found.text, "page")


async def tabs(context: ToolContext, params: TabsParams) -> ToolResult:
    """List the tabs, switch to one or close one of ours."""
    web = web_of(context)
    browser = await web.start_browser()
    if params.close:
        closing = _tab(browser, params.close)
        await browser.close(closing)
        web.tab = None if web.tab is closing else web.tab
    if params.switch:
        web.tab = _tab(browser, params.switch)
    rows = [
        {"id": tab.id, "url": tab.url, "title": tab.title, "ours": tab.ours, "active": tab.active}
        for tab in await browser.tabs()
    ]
    return ToolResult({"tabs": rows})


def _tab(browser: Browser, name: str) -> Tab:
    tab = browser.tab(name)
    if tab is None:
        raise ToolError(f"no tab of ours is called {name}", hint="TABS lists them.")
    return tab


async def screenshot(context: ToolContext, _: NoParams) -> ToolResult:
    """Keep a picture of the open page with the run, and show it to a model that sees."""
    tab = open_tab(context)
    async with web_of(context).lock:
        picture = await tab.screenshot()
        marked = await picture_of(context, tab)
    data = {"success": True, "url": tab.url, "kept": True, "bytes": len(picture)}
    return with_picture(ToolResult(data, blobs=(("screenshot.png", picture),)), marked)


async def page_context(context: ToolContext, _: NoParams) -> ToolResult:
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
        "record": await _record(web),
    }
    room = context.limits.snapshot_tokens
    return ToolResult({k: v for k, v in facts.items() if v}, seen.visible_text[:room], "page")


async def _record(web: Web) -> dict[str, str]:
    """What the page in view is on its platform, with author, date, counts; {} elsewhere."""
    from browser.extract.platforms import facts  # noqa: PLC0415 - loads lxml
    from browser.extract.platforms.notes import record_of  # noqa: PLC0415 - as above

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


def _shown(context: ToolContext, page: Page, text: str, *, refs: int) -> ToolResult:
    data: dict[str, Any] = {"url": page.url, "refs": refs}
    if page.document is None or not page.document.text.strip():
        return ToolResult(data, text, "page")
    source = register(context, page)
    data |= {"source": source.name, "title": source.title, "passages": len(source.passages)}
    if page.outcome is not Outcome.OK:
        data["outcome"] = page.outcome.value
    return ToolResult(data, text, source.name)


LOOKING_TOOLS = (
    Tool("OPEN", "opens a page in the browser.", OpenParams, open_page, capped=False),
    Tool("SNAPSHOT", "shows the open page, or a part.", SnapshotParams, snapshot, capped=False),
    Tool("FIND", "finds text or a role on the whole page.", FindParams, find, capped=False),
    Tool("TABS", "lists tabs; switches or closes.", TabsParams, tabs),
    Tool("SCREENSHOT", "keeps a picture of the page.", NoParams, screenshot),
    Tool("PAGE_CONTEXT", "url, title, selection, text in view.", NoParams, page_context),
)
