"""Our browser under the names and arguments of playwright-mcp.

A page is shown within a budget, an act by what it changed. Elements are named by the refs of a
snapshot; `ref` is what older versions of playwright-mcp call the `target`. A script in the page is
an act like a click: where a person is logged in it needs their yes.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, ImageContent, ToolAnnotations
from pydantic import AliasChoices, BaseModel, Field

from agent.mcp.answers import Answer, error_result, shown, text_result
from agent.mcp.tool_session import ToolSession, whole
from agent.protocol.replies import inert
from agent.protocol.results import CallResult, failed
from browser.errors import BrowserError
from browser.page.tab import Tab
from browser.page.waiting import wanted_in

Ctx = Context[Any, Any]
Target = Annotated[str, Field(description="The element's ref, as a snapshot or a change shows it.")]
Button = Literal["left", "right", "middle"]
Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]
LONGEST_WAIT: Final = 30.0
LOOK_AGAIN: Final = 0.3
"""Seconds between two looks for a text that is to go."""
MOST_LINES: Final = 40
"""Lines that a search by pattern, the console or the list of requests gives; the last ones."""
LEVELS: Final = ("error", "warning", "info", "debug")


class FormField(BaseModel):
    """A field of a form, and what goes into it: `true` or `false` for a checkbox."""

    target: str = Field(validation_alias=AliasChoices("target", "ref"))
    name: str = ""
    type: Literal["textbox", "checkbox", "radio", "combobox", "slider"] = "textbox"
    value: str


def add_browser(server: MCPServer[Any], session: ToolSession) -> None:
    """Give a server the tools of the browser."""
    tools = BrowserTools(session)
    looking: tuple[Callable[..., Any], ...] = (
        tools.navigate,
        tools.navigate_back,
        tools.snapshot,
        tools.find,
        tools.wait_for,
        tools.take_screenshot,
        tools.tabs,
        tools.hover,
        tools.resize,
        tools.console_messages,
        tools.network_requests,
        tools.close,
    )
    acting: tuple[Callable[..., Any], ...] = (
        tools.click,
        tools.type,
        tools.press_key,
        tools.select_option,
        tools.fill_form,
        tools.drag,
        tools.handle_dialog,
        tools.file_upload,
        tools.evaluate,
    )
    for group in (looking, acting):
        notes = ToolAnnotations(read_only_hint=group is looking, open_world_hint=True)
        for tool in group:
            name = f"browser_{tool.__name__}"
            server.add_tool(tool, name, annotations=notes, structured_output=False)


class BrowserTools:
    """The tools; a docstring is what clients are told of one."""

    def __init__(self, session: ToolSession) -> None:
        self._session = session
        self._url = ""
        self._clicked: dict[str, Any] = {}

    async def navigate(self, url: str, ctx: Ctx) -> Answer:
        """Open a page, and show it within a budget; browser_find finds what is folded away."""
        return await self._call(ctx, "OPEN", url=url)

    async def navigate_back(self, ctx: Ctx) -> Answer:
        """Go back."""
        return await self._call(ctx, "BACK")

    async def snapshot(self, ctx: Ctx, target: str | None = None, ref: str | None = None) -> Answer:
        """Show the page, or all that is under one element, folded rows included."""
        return await self._call(ctx, "SNAPSHOT", ref=target or ref)

    async def find(self, ctx: Ctx, text: str = "", regex: str = "") -> Answer:
        """Find a text, a role or a pattern on the whole page: the lines with their refs."""
        if text:
            return await self._call(ctx, "FIND", text=text)
        if not regex:
            return error_result("there is nothing to look for", "Give text or regex.")
        return await self._on_tab(lambda tab: _matching(tab, regex))

    async def wait_for(
        self,
        ctx: Ctx,
        time: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = 0,
        text: str = "",
        textGone: str = "",
    ) -> Answer:
        """Wait for a text to come or go, or some seconds; what changed is told."""
        if not textGone:
            return await self._call(ctx, "WAIT", text=text, seconds=time or LONGEST_WAIT / 3)
        until = asyncio.get_running_loop().time() + (time or LONGEST_WAIT / 3)
        while asyncio.get_running_loop().time() < until:
            result, person = await self._session.call(ctx, "FIND", on_page=True, text=textGone)
            if failed(result.data) or not result.data["found"]:
                return shown((replace(result, web=""), person), head=f"{textGone!r} is gone")
            await asyncio.sleep(LOOK_AGAIN)
        return error_result(f"{textGone!r} is still there")

    async def click(
        self,
        ctx: Ctx,
        target: Target = "",
        ref: str = "",
        doubleClick: bool = False,
        button: Button = "left",
        modifiers: list[Modifier] = [],
    ) -> Answer:
        """Click an element."""
        held = modifiers[0].replace("ControlOrMeta", "Control") if modifiers else None
        self._clicked = {"ref": target or ref, "button": button, "hold": held}
        self._clicked["count"] = 2 if doubleClick else 1
        return await self._call(ctx, "CLICK", **self._clicked)

    async def handle_dialog(self, accept: bool, ctx: Ctx, promptText: str | None = None) -> Answer:
        """Answer the dialog of the last click otherwise: dialogs are dismissed as they come."""
        if not accept:
            return text_result(["the dialog was dismissed when it came"])
        if not self._clicked:
            return error_result("nothing was clicked yet", "Click what raises the dialog.")
        return await self._call(ctx, "CLICK", **self._clicked, dialog=promptText or "accept")

    async def type(
        self,
        text: str,
        ctx: Ctx,
        target: Target = "",
        ref: str = "",
        submit: bool = False,
    ) -> Answer:
        """Put a text into a field, in place of what is there; submit presses Enter after it."""
        return await self._call(ctx, "TYPE", ref=target or ref, text=text, submit=submit)

    async def press_key(self, key: str, ctx: Ctx) -> Answer:
        """Press a key, such as `Enter`, `Control+a`, `x`."""
        return await self._call(ctx, "PRESS", keys=key)

    async def hover(self, ctx: Ctx, target: Target = "", ref: str = "") -> Answer:
        """Hover over an element."""
        return await self._call(ctx, "HOVER", ref=target or ref)

    async def drag(
        self,
        ctx: Ctx,
        startTarget: str = "",
        endTarget: str = "",
        startRef: str = "",
        endRef: str = "",
    ) -> Answer:
        """Drag an element onto another."""
        return await self._call(ctx, "DRAG", ref=startTarget or startRef, to=endTarget or endRef)

    async def select_option(
        self, values: list[str], ctx: Ctx, target: Target = "", ref: str = ""
    ) -> Answer:
        """Choose options of a list by their texts or values."""
        return await self._call(ctx, "SELECT", ref=target or ref, value=";".join(values))

    async def fill_form(self, fields: list[FormField], ctx: Ctx) -> Answer:
        """Fill several fields, one after the other; the first that fails ends it."""
        told: list[str] = []
        for field in fields:
            last = await self._filled(ctx, field)
            if not isinstance(last, CallToolResult):
                return last
            said = getattr(last.content[0], "text", "")
            told.append(f"{inert(field.name) or field.target}: {said}")
            if last.is_error:
                return error_result("\n".join(told))
        return text_result(told)

    async def _filled(self, ctx: Ctx, field: FormField) -> Answer:
        ref, value = field.target, field.value
        if field.type in ("checkbox", "radio"):
            return await self._call(ctx, "CHECK", ref=ref, on=value.lower() != "false")
        if field.type == "combobox":
            return await self._call(ctx, "SELECT", ref=ref, value=value)
        return await self._call(ctx, "TYPE", ref=ref, text=value)

    async def file_upload(
        self, ctx: Ctx, paths: list[str] = [], target: str = "", ref: str = ""
    ) -> Answer:
        """Hand files over that the server was started with (--file), to the field clicked last."""
        to = target or ref or self._clicked.get("ref", "")
        last: Answer = text_result(["no file was handed over"])
        for path in paths:
            last = await self._call(ctx, "UPLOAD", ref=to, path=path)
        return last

    async def evaluate(
        self, function: str, ctx: Ctx, target: str | None = None, ref: str | None = None
    ) -> Answer:
        """Run `() => …` in the page, or `element => …` on one: its result, and what changed."""
        return await self._call(ctx, "EVALUATE", function=function, ref=target or ref)

    async def take_screenshot(self, fullPage: bool = False) -> Answer:
        """Take a picture of what is in view, or of the whole page."""

        async def picture(tab: Tab) -> CallToolResult:
            data = base64.b64encode(await tab.screenshot(whole=fullPage)).decode()
            image = ImageContent(type="image", data=data, mime_type="image/png")
            return CallToolResult(content=[image])

        return await self._on_tab(picture)

    async def resize(self, width: float, height: float) -> Answer:
        """Resize the window, in pixels."""

        async def resized(tab: Tab) -> CallToolResult:
            await tab.resize(int(width), int(height))
            return text_result([f"{width:g} by {height:g}"])

        return await self._on_tab(resized)

    async def console_messages(
        self, level: Literal["error", "warning", "info", "debug"] = "info"
    ) -> Answer:
        """Give the last messages of the console, of this level and the graver ones."""
        graver = LEVELS[: LEVELS.index(level) + 1]

        async def said(tab: Tab) -> CallToolResult:
            rows = [f"[{kind}] {text}" for kind, text in await tab.console() if kind in graver]
            return _listed(rows, "the console is empty")

        return await self._on_tab(said)

    async def network_requests(self, static: bool = False, filter: str = "") -> Answer:  # noqa: A002 - as clients call it
        """List the last requests of the page: method, address, status; `filter` is a pattern."""

        async def asked(tab: Tab) -> CallToolResult:
            wanted = wanted_in(f"/{filter}/" if filter else "")
            rows = await tab.requests(static=static)
            return _listed([row for row in rows if wanted(row)], "nothing was asked for")

        return await self._on_tab(asked)

    async def tabs(
        self,
        action: Literal["list", "new", "close", "select"],
        ctx: Ctx,
        index: int | None = None,
        url: str | None = None,
    ) -> Answer:
        """List, open, close or select tabs, counted from 0."""
        if action == "new":
            (await self._session.web()).tab = None  # the next page opens a tab of its own
            return await self._call(ctx, "OPEN", url=url or "about:blank")
        made = await self._session.call(ctx, "TABS", on_page=True)
        if failed(made[0].data) or action == "list":
            return _tabs_of(made)
        rows = made[0].data["tabs"]
        active = next((n for n, row in enumerate(rows) if row["active"]), None)
        at = active if index is None else index
        if at is None or not 0 <= at < len(rows):
            return error_result(f"there is no tab {at}", "action list shows them.")
        how = {"close": "close", "select": "switch"}[action]
        again = await self._session.call(ctx, "TABS", on_page=True, **{how: rows[at]["id"]})
        return _tabs_of(again)

    async def close(self, ctx: Ctx) -> Answer:
        """Close the page."""
        tab = (await self._session.web()).tab
        if tab is None:
            return text_result(["no page is open"])
        made = await self._session.call(ctx, "TABS", on_page=True, close=tab.id)
        self._url = ""
        return shown(made, head="closed")

    async def _call(self, ctx: Ctx, tool: str, **asked: Any) -> Answer:
        """Make a call on the open page: what it did, where the page is now, what changed."""
        result, person = await self._session.call(ctx, tool, on_page=True, **asked)
        if failed(result.data):
            return shown((result, person))
        told = result.data
        head = [told["did"]] if told.get("did") else []
        if told.get("url") and (told["url"] != self._url or tool in ("OPEN", "SNAPSHOT")):
            self._url = told["url"]
            head += [f"{told.get('title', '')} {told['url']}".strip()]
        head += [told["outcome"]] if told.get("outcome") else []
        head += told.get("events", [])
        lines = (replace(result, label="page"), person)
        return shown(lines, head=inert("\n".join(head)) or "done")

    async def _on_tab(self, work: Callable[[Tab], Any]) -> Answer:
        """Do what no tool of a run does on the open page."""
        tab: Tab | None = (await self._session.web()).tab
        if tab is None:
            return error_result("no page is open", "browser_navigate opens one.")
        try:
            async with self._session.page_turn:
                made: CallToolResult = await whole(work(tab))
        except BrowserError as error:
            return error_result(str(error), error.hint)
        self._session.saw_page(tab.url, made)
        return made


async def _matching(tab: Tab, regex: str) -> CallToolResult:
    """Give the lines of the page that a pattern matches."""
    wanted = wanted_in(regex if regex.startswith("/") else f"/{regex}/")
    page = await tab.snapshot(budget=None)
    lines = [line.strip() for line in page.text.splitlines() if wanted(line)]
    return _listed(lines, "no line matches", first=True)


def _listed(rows: list[str], none: str, *, first: bool = False) -> CallToolResult:
    kept = rows[:MOST_LINES] if first else rows[-MOST_LINES:]
    head = [] if len(kept) == len(rows) else [f"{len(kept)} of {len(rows)}"]
    body = inert("\n".join(kept))
    return text_result([*head, f'<web source="page">\n{body}\n</web>'] if rows else [none])


def _tabs_of(made: tuple[CallResult, Any]) -> Answer:
    rows = made[0].data.get("tabs", [])
    lines = [
        f"{n}: {'(current) ' if row['active'] else ''}{inert(row['title'])} {row['url']}"
        for n, row in enumerate(rows)
    ]
    return shown(made, head="\n".join(lines) or "no tab is open")
