"""Driving the live page: OPEN, SNAPSHOT, FIND, and the actions by ref."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from agent.errors import ToolError
from agent.tools.registry import Params, Risk, Tool, ToolResult
from agent.tools.sources import listed, register
from agent.tools.web import web_of
from browser.types import ActionOutcome, Outcome

if TYPE_CHECKING:
    from agent.evidence.store import Source
    from agent.tools.context import ToolContext
    from browser.page.tab import Tab
    from browser.session import Browser
    from browser.types import Page

NEW_TEXT_CHARS = 2_000
"""Room for the passages that an action brought; READ gives the rest."""

Act = Callable[["Tab", Any], Awaitable[ActionOutcome]]
Finish = Callable[[], ToolResult]


class OpenParams(Params):
    """The address to open."""

    url: str = Field(min_length=1)


class SnapshotParams(Params):
    """`ref` shows what is under one element, folded rows included."""

    ref: str | None = None


class FindParams(Params):
    """Text or a role to look for on the whole page."""

    text: str = Field(min_length=1)


class ClickParams(Params):
    """`count` 2 is a double click."""

    ref: str
    button: Literal["left", "right", "middle"] = "left"
    count: int = Field(1, ge=1, le=3)


class TypeParams(Params):
    """`submit` presses Enter afterwards."""

    ref: str
    text: str
    submit: bool = False


class SelectParams(Params):
    """`value` is the option's text or value."""

    ref: str
    value: str


class PressParams(Params):
    """Keys such as `Enter`, `Control+a`."""

    keys: str
    ref: str | None = None


class RefParams(Params):
    """An element."""

    ref: str


class DragParams(Params):
    """From one element to another."""

    ref: str
    to: str


class ScrollParams(Params):
    """By screens, negative is up; `ref` scrolls that element."""

    pages: float = 1.0
    ref: str | None = None


class TabsParams(Params):
    """`switch` or `close` name a tab such as `t2`."""

    switch: str | None = None
    close: str | None = None


class WaitParams(Params):
    """Waits until the text stands on the page."""

    text: str = Field(min_length=1)


class UploadParams(Params):
    """`path` must have been given with --file."""

    ref: str
    path: str


class NoParams(Params):
    """Nothing."""


async def open_page(context: ToolContext, params: OpenParams) -> Finish:
    """Open a page in the browser and show it."""
    web = web_of(context)
    # An attached Chrome has a network of its own, which no proxy of ours guards.
    web.egress.check_url(params.url)
    async with web.lock:
        browser = await web.start_browser()
        seconds = context.seconds_left(context.limits.read_seconds)
        if web.tab is None:
            web.tab = await browser.open(params.url, deadline=seconds)
        else:
            await web.tab.goto(params.url, deadline=seconds)
        shown = await web.tab.snapshot(
            budget=context.limits.snapshot_tokens, query=context.question
        )
        page = await web.read_tab()
    return lambda: _shown(context, page, shown.text, refs=len(shown.refs))


async def snapshot(context: ToolContext, params: SnapshotParams) -> ToolResult:
    """Show the open page, or what is under one element."""
    tab = open_tab(context)
    async with web_of(context).lock:
        if params.ref:
            return ToolResult({"ref": params.ref}, await tab.expand(params.ref), "page")
        shown = await tab.snapshot(budget=context.limits.snapshot_tokens, query=context.question)
    data = {"url": shown.url, "title": shown.title, "refs": len(shown.refs)}
    return ToolResult(data, shown.text, "page")


async def find(context: ToolContext, params: FindParams) -> ToolResult:
    """Look for text or a role on the whole page."""
    tab = open_tab(context)
    async with web_of(context).lock:
        found = await tab.find(params.text)
    return ToolResult({"text": params.text, "found": bool(found)}, found, "page")


async def tabs(context: ToolContext, params: TabsParams) -> ToolResult:
    """List the tabs, switch to one or close one of ours."""
    web = web_of(context)
    browser = await web.start_browser()
    if params.close:
        await browser.close(_tab(browser, params.close))
        web.tab = None
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
    """Keep a picture of the open page with the run."""
    tab = open_tab(context)
    async with web_of(context).lock:
        picture = await tab.screenshot()
    data = {"success": True, "url": tab.url, "kept": True, "bytes": len(picture)}
    return ToolResult(data, blobs=(("screenshot.png", picture),))


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
    }
    room = context.limits.snapshot_tokens
    return ToolResult({k: v for k, v in facts.items() if v}, seen.visible_text[:room], "page")


def acting(act: Act) -> Callable[[ToolContext, Any], Awaitable[Finish]]:
    """Make a tool of an action: do it on the open page, say what changed, register new text."""

    async def run(context: ToolContext, params: Any) -> Finish:
        tab = open_tab(context)
        web = web_of(context)
        async with web.lock:
            outcome = await act(tab, params)
            page = await web.read_tab()
        return lambda: _acted(context, page, outcome)

    return run


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


def _acted(context: ToolContext, page: Page, outcome: ActionOutcome) -> ToolResult:
    data: dict[str, Any] = {"did": outcome.did, "url": page.url}
    if outcome.events:
        data["events"] = list(outcome.events)
    if page.document is None or not page.document.text.strip():
        return ToolResult(data, outcome.changes, "page")
    source, fresh = _new_text(context, page)
    data["source"] = source.name
    body = outcome.changes if not fresh else f"{outcome.changes}\n\nNew text:\n{fresh}"
    return ToolResult(data, body.strip(), source.name)


def _new_text(context: ToolContext, page: Page) -> tuple[Source, str]:
    known = context.evidence.by_url(page.url)
    before = {passage.text for passage in known.passages} if known else set()
    source = register(context, page)
    new = [passage for passage in source.passages if passage.text not in before]
    return source, listed(new, NEW_TEXT_CHARS)[0] if before and new else ""


PAGE_TOOLS = (
    Tool("OPEN", "opens a page in the browser.", OpenParams, open_page, capped=False),
    Tool("SNAPSHOT", "shows the open page, or a part.", SnapshotParams, snapshot, capped=False),
    Tool("FIND", "finds text or a role on the whole page.", FindParams, find, capped=False),
    Tool(
        "CLICK",
        "clicks.",
        ClickParams,
        acting(lambda tab, p: tab.click(p.ref, button=p.button, count=p.count)),
        Risk.EXTERNAL,
        capped=False,
    ),
    Tool(
        "TYPE",
        "types into a field, replacing what is in it.",
        TypeParams,
        acting(lambda tab, p: tab.type(p.ref, p.text, submit=p.submit)),
        Risk.EXTERNAL,
        capped=False,
    ),
    Tool(
        "SELECT",
        "chooses an option.",
        SelectParams,
        acting(lambda tab, p: tab.select(p.ref, p.value)),
        Risk.EXTERNAL,
        capped=False,
    ),
    Tool(
        "PRESS",
        "presses keys.",
        PressParams,
        acting(lambda tab, p: tab.press(p.keys, p.ref)),
        Risk.EXTERNAL,
        capped=False,
    ),
    Tool("HOVER", "hovers.", RefParams, acting(lambda tab, p: tab.hover(p.ref)), capped=False),
    Tool(
        "DRAG",
        "drags one element to another.",
        DragParams,
        acting(lambda tab, p: tab.drag(p.ref, p.to)),
        Risk.EXTERNAL,
        capped=False,
    ),
    Tool(
        "SCROLL",
        "scrolls by screens; negative is up.",
        ScrollParams,
        acting(lambda tab, p: tab.scroll(p.pages, p.ref)),
        capped=False,
    ),
    Tool("BACK", "goes back.", NoParams, acting(lambda tab, _: tab.back()), capped=False),
    Tool(
        "WAIT",
        "waits for a text.",
        WaitParams,
        acting(lambda tab, p: tab.wait_for(p.text)),
        capped=False,
    ),
    Tool("TABS", "lists tabs; switches or closes.", TabsParams, tabs),
    Tool("SCREENSHOT", "keeps a picture of the page.", NoParams, screenshot),
    Tool("PAGE_CONTEXT", "url, title, selection, text in view.", NoParams, page_context),
)
