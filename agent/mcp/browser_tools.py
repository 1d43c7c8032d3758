"""Browser tools with the names and arguments of playwright-mcp.

Pages are shown within a token budget; actions return what changed. A dialog stays open until it is
answered. Elements are identified by a ref from a snapshot, or by a selector that matches exactly
one element. Running a script in the page is an action like a click: if the user is logged in there,
it needs approval.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, ImageContent, ToolAnnotations
from playwright.async_api import ElementHandle
from pydantic import BaseModel, Field

from agent.mcp.results import ToolFailure, ToolReply, as_tool, call_result, text_result
from agent.protocol.replies import inert
from agent.types import Observation
from browser.errors import BrowserError
from browser.page import devtools
from browser.page.tab import Tab
from browser.page.waiting import text_matcher
from browser.types import REF

if TYPE_CHECKING:
    from agent.mcp.tool_session import ToolSession

Ctx = Context[Any, Any]
Target = Annotated[str, Field(description="A ref or a selector, as for all tools.")]
"""Kept short, since all tool descriptions are sent with each request to the client's model.
"""
Button = Literal["left", "right", "middle"]
Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]
Level = Literal["error", "warning", "info", "debug"]
MAX_WAIT_S: Final = 30.0
"""Maximum time to wait for text, in seconds."""
GONE_POLL_SECONDS: Final = 0.3
"""Seconds between two checks for whether text has disappeared."""
MAX_LINES: Final = 40
"""Maximum number of lines from a pattern search, the console (the latest) or the request list."""
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "info", "debug")
_REF_RE: Final = re.compile(REF)
_READ_ONLY_TOOLS: Final = (
    "navigate navigate_back snapshot find wait_for take_screenshot tabs hover resize"
    " console_messages network_requests network_request emulate_media close"
).split()
"""Tools for which clients do not need confirmation; all others are actions."""


class FormField(BaseModel):
    """A form field and its new value: `true` or `false` for a checkbox."""

    target: str
    name: str = ""
    type: Literal["textbox", "checkbox", "radio", "combobox", "slider"] = "textbox"
    value: str


class BrowserTools:
    """The tools. Clients see their docstrings as descriptions."""

    def __init__(self, session: ToolSession) -> None:
        self._session = session
        self._shown_url = ""
        self._clicked = ""  # files are uploaded to this element if no file chooser is open

    def add_to(self, server: MCPServer[Any]) -> None:
        """Add these tools to a server."""
        methods = [name for name in vars(BrowserTools) if not name.startswith("_")]
        methods.remove("add_to")
        actions = [name for name in methods if name not in _READ_ONLY_TOOLS]
        for name in (*_READ_ONLY_TOOLS, *actions):
            # MCP clients assume that a tool changes things unless it declares otherwise.
            notes = ToolAnnotations(read_only_hint=True) if name in _READ_ONLY_TOOLS else None
            tool = as_tool(getattr(self, name))
            server.add_tool(tool, f"browser_{name}", annotations=notes, structured_output=False)

    async def navigate(self, url: str, ctx: Ctx) -> CallToolResult:
        """Open a page and show it, shortened; browser_find finds the omitted parts."""
        return await self._call(ctx, "OPEN", url=url)

    async def navigate_back(self, ctx: Ctx) -> CallToolResult:
        """Go back to the previous page."""
        return await self._call(ctx, "BACK")

    async def snapshot(self, ctx: Ctx, target: str | None = None) -> CallToolResult:
        """Show the page, or everything below one element including omitted rows."""
        return await self._call(ctx, "SNAPSHOT", ref=target)

    async def find(self, ctx: Ctx, text: str = "", regex: str = "") -> CallToolResult:
        """Search the whole page for a text, a role or a pattern; returns lines with refs."""
        if text:
            return await self._call(ctx, "FIND", text=text)
        if not regex:
            raise ToolFailure("there is nothing to search for", "Give text or regex.")
        async with self._tab() as tab:
            matches = text_matcher(regex if regex.startswith("/") else f"/{regex}/")
            page = await tab.snapshot(budget=None)
            lines = [line.strip() for line in page.text.splitlines() if matches(line)]
            return self._lines(tab, lines, lines[:MAX_LINES], "no line matches")

    async def wait_for(
        self,
        ctx: Ctx,
        time: Annotated[float, Field(ge=0)] = 0,
        text: str = "",
        textGone: str = "",
    ) -> CallToolResult:
        """Wait for a text to appear or disappear, or for some seconds; returns what changed."""
        seconds = min(time, MAX_WAIT_S) or MAX_WAIT_S / 3
        if not textGone:
            return await self._call(ctx, "WAIT", text=text, seconds=seconds)
        until = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < until:
            result = await self._session.call(ctx, "FIND", text=textGone)
            if not result.data["found"]:
                return call_result(replace(result, web=""), head=f"{textGone!r} is gone")
            await asyncio.sleep(GONE_POLL_SECONDS)
        raise ToolFailure(f"{textGone!r} is still there")

    async def click(
        self,
        ctx: Ctx,
        target: Target,
        doubleClick: bool = False,
        button: Button = "left",
        modifiers: list[Modifier] = [],
    ) -> CallToolResult:
        """Click an element."""
        self._clicked = target
        hold = "+".join(modifiers).replace("ControlOrMeta", "Control") or None
        count = 2 if doubleClick else 1
        return await self._call(ctx, "CLICK", ref=target, button=button, hold=hold, count=count)

    async def handle_dialog(
        self, accept: bool, ctx: Ctx, promptText: str | None = None
    ) -> CallToolResult:
        """Answer the open dialog."""
        return await self._call(ctx, "DIALOG", accept=accept, text=promptText)

    async def type(self, text: str, ctx: Ctx, target: str, submit: bool = False) -> CallToolResult:
        """Replace the text of a field; submit then presses Enter."""
        return await self._call(ctx, "TYPE", ref=target, text=text, submit=submit)

    async def press_key(self, key: str, ctx: Ctx) -> CallToolResult:
        """Press a key, such as `Enter`, `Control+a`, `x`."""
        return await self._call(ctx, "PRESS", keys=key)

    async def hover(self, ctx: Ctx, target: str) -> CallToolResult:
        """Hover over an element."""
        return await self._call(ctx, "HOVER", ref=target)

    async def drag(self, ctx: Ctx, startTarget: str, endTarget: str) -> CallToolResult:
        """Drag an element onto another element."""
        return await self._call(ctx, "DRAG", ref=startTarget, to=endTarget)

    async def select_option(self, values: list[str], ctx: Ctx, target: str) -> CallToolResult:
        """Select options of a list by text or value."""
        return await self._call(ctx, "SELECT", ref=target, value="\n".join(values))

    async def fill_form(self, fields: list[FormField], ctx: Ctx) -> CallToolResult:
        """Fill several fields in order; stops at the first failure."""
        lines: list[str] = []
        for field in fields:
            name, value = inert(field.name) or field.target, field.value
            tool: str = "TYPE"
            what: dict[str, Any] = {"text": value}
            if field.type in ("checkbox", "radio"):
                tool, what = "CHECK", {"on": value.lower() != "false"}
            elif field.type == "combobox":
                tool, what = "SELECT", {"value": value}
            try:
                result = await self._call(ctx, tool, ref=field.target, **what)
            except ToolFailure as failure:
                raise ToolFailure("\n".join([*lines, f"{name}: {failure.text}"])) from failure
            lines.append(f"{name}: {getattr(result.content[0], 'text', '')}")
        return text_result(lines)

    async def file_upload(
        self, ctx: Ctx, paths: list[str] = [], target: str = ""
    ) -> CallToolResult:
        """Upload files that the server was started with (--file) to the file chooser."""
        tab: Tab | None = (await self._session.web()).tab
        chooser = tab.events.file_chooser if tab else None
        result = text_result(["no file was uploaded"])
        if paths:
            to = target or (chooser.element if chooser else self._clicked)
            result = await self._call(ctx, "UPLOAD", ref=to, path="\n".join(paths))
        if tab:
            tab.events.file_chooser = None  # it was answered or declined
        return result

    async def drop(
        self,
        ctx: Ctx,
        target: str,
        paths: list[str] = [],
        data: dict[str, str] = {},
    ) -> CallToolResult:
        """Drop files (--file) or data by MIME type onto an element, as from another program."""
        path = "\n".join(paths)
        return await self._call(ctx, "DROP", ref=target, path=path, data=data)

    async def evaluate(self, function: str, ctx: Ctx, target: str | None = None) -> CallToolResult:
        """Run `() => …` in the page or `element => …` on an element; returns result and changes."""
        return await self._call(ctx, "EVALUATE", function=function, ref=target)

    async def take_screenshot(
        self, fullPage: bool = False, target: str | None = None
    ) -> CallToolResult:
        """Take a screenshot of the viewport, the whole page, or one element."""
        async with self._tab() as tab:
            one = await self._ref(tab, target)
            picture = await tab.screenshot(whole=fullPage, ref=one)
            data = base64.b64encode(picture).decode()
            image = ImageContent(type="image", data=data, mime_type="image/png")
            return CallToolResult(content=[image])

    async def resize(self, width: float, height: float) -> CallToolResult:
        """Resize the window to a size in pixels."""
        async with self._tab() as tab:
            await devtools.resize(tab, int(width), int(height))
            return text_result([f"{width:g} by {height:g}"])

    async def console_messages(self, level: Level = "info") -> CallToolResult:
        """Return the last console messages of this level or a more severe one."""
        levels = LEVELS[: LEVELS.index(level) + 1]
        async with self._tab() as tab:
            messages = await devtools.console(tab)
            lines = [f"[{kind}] {text}" for kind, text in messages if kind in levels]
            return self._lines(tab, lines, lines[-MAX_LINES:], "the console is empty")

    async def network_requests(self, static: bool = False, filter: str = "") -> CallToolResult:  # noqa: A002 - as clients call it
        """List the page's last requests by number; `filter` is a URL pattern."""
        async with self._tab() as tab:
            matches = text_matcher(f"/{filter}/" if filter else "")
            lines = [line for line in await devtools.requests(tab, static=static) if matches(line)]
            return self._lines(tab, lines, lines[-MAX_LINES:], "no requests")

    async def network_request(
        self,
        index: Annotated[int, Field(ge=1, description="Number from browser_network_requests.")],
        part: Literal["request-headers", "request-body", "response-headers", "response-body"]
        | None = None,
    ) -> CallToolResult:
        """Show the headers or another part of one request; credentials are withheld."""
        async with self._tab() as tab:
            lines = [await devtools.request(tab, index, part)]
            return self._lines(tab, lines, lines, "")

    async def emulate_media(
        self,
        colorScheme: Literal["light", "dark"] | None = None,
        reducedMotion: Literal["reduce", "no-preference"] | None = None,
        forcedColors: Literal["active", "none"] | None = None,
        contrast: Literal["more", "no-preference"] | None = None,
        media: Literal["screen", "print"] | None = None,
    ) -> CallToolResult:
        """Emulate media features, such as dark mode."""
        asked: dict[str, str | None] = {
            "color_scheme": colorScheme,
            "media": media,
            "reduced_motion": reducedMotion,
            "forced_colors": forcedColors,
            "contrast": contrast,
        }
        features: dict[str, str] = {name: value for name, value in asked.items() if value}
        async with self._tab() as tab:
            await devtools.emulate_media(tab, **features)
            return text_result([", ".join(features.values())])

    async def tabs(
        self,
        action: Literal["list", "new", "close", "select"],
        ctx: Ctx,
        index: int | None = None,
        url: str | None = None,
    ) -> CallToolResult:
        """List, open, close or select tabs, numbered from 0."""
        if action == "new":
            (await self._session.web()).tab = None  # the next page opens in a new tab
            return await self._call(ctx, "OPEN", url=url or "about:blank")
        listed = await self._session.call(ctx, "TABS")
        if action == "list":
            return _tab_list(listed)
        rows = listed.data["tabs"]
        active = next((n for n, row in enumerate(rows) if row["active"]), None)
        at = active if index is None else index
        if at is None or not 0 <= at < len(rows):
            raise ToolFailure(f"there is no tab {at}", "The `list` action shows the tabs.")
        change = {"switch" if action == "select" else "close": rows[at]["id"]}
        # When the current tab is closed, the tab that takes its place becomes current.
        left = rows[:at] + rows[at + 1 :]
        if action == "close" and left and at == active:
            change["switch"] = left[min(at, len(left) - 1)]["id"]
        return _tab_list(await self._session.call(ctx, "TABS", **change))

    async def close(self, ctx: Ctx) -> CallToolResult:
        """Close the page."""
        tab = (await self._session.web()).tab
        if tab is None:
            return text_result(["no page is open"])
        result = await self._session.call(ctx, "TABS", close=tab.id)
        self._shown_url = ""
        return call_result(result, head="closed")

    async def _call(self, ctx: Ctx, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool on the open page; return its result, the current page, and the changes."""
        try:
            result = await self._call_or_dialog(ctx, tool, arguments)
        except BrowserError as error:
            raise ToolFailure(str(error), error.hint) from error
        data = result.data
        head = [data["did"]] if data.get("did") else []
        if data.get("url") and (data["url"] != self._shown_url or tool in ("OPEN", "SNAPSHOT")):
            self._shown_url = data["url"]
            head += [f"{data.get('title', '')} {data['url']}".strip()]
        head += [data["outcome"]] if data.get("outcome") else []
        head += data.get("events", [])
        return call_result(replace(result, label="page"), head=inert("\n".join(head)) or "done")

    async def _call_or_dialog(self, ctx: Ctx, tool: str, arguments: dict[str, Any]) -> Observation:
        """Call a tool. A dialog that opens during the call is raised as a `ToolReply`."""
        tab: Tab | None = (await self._session.web()).tab
        if tab is None:
            return await self._session.call(ctx, tool, **arguments)
        events = tab.events
        if events.open_dialog and tool != "DIALOG":
            raise self._dialog(tab)
        refs = {k: await self._ref(tab, v) for k, v in arguments.items() if k in ("ref", "to")}
        if tool != "OPEN":  # dialogs during page load are dismissed
            events.keep_dialogs_open()
        events.dialog_opened.clear()
        # In a task, because a call blocks while a dialog that it opened is open.
        calling = asyncio.ensure_future(self._session.call(ctx, tool, **(arguments | refs)))
        raised = asyncio.ensure_future(events.dialog_opened.wait())
        try:
            await asyncio.wait({calling, raised}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            raised.cancel()
            if not calling.done():  # it is waiting for the client to answer the dialog
                calling.cancel()
                await asyncio.wait([calling])
        failed = not calling.cancelled() and calling.exception() is not None
        # If the answer was refused or still needs approval, the dialog stays open.
        if events.open_dialog and not (failed and tool == "DIALOG"):
            raise self._dialog(tab)
        return calling.result()

    def _dialog(self, tab: Tab) -> ToolReply:
        """Return the dialog's text as a result."""
        dialog = tab.events.open_dialog
        assert dialog
        line = f'a dialog is open: {dialog.type} "{inert(dialog.message)}"'
        line += "\nAnswer it with browser_handle_dialog."
        self._session.note_page_words(tab.url, line)
        return ToolReply(text_result([line]))

    @staticmethod
    async def _ref(tab: Tab, target: str | ElementHandle | None) -> str | None:
        """Return the ref of a target, which is given as a ref, a selector or an element."""
        if target is None or (isinstance(target, str) and _REF_RE.fullmatch(target)):
            return target
        return await tab.ref_of(target)

    @asynccontextmanager
    async def _tab(self) -> AsyncIterator[Tab]:
        """Yield the open page, for exclusive use, for actions that run tools do not support."""
        tab: Tab | None = (await self._session.web()).tab
        if tab is None:
            raise ToolFailure("no page is open", "Open one with browser_navigate.")
        if tab.events.open_dialog:
            raise self._dialog(tab)
        try:
            async with self._session.page_turn:
                yield tab
        except BrowserError as error:
            raise ToolFailure(str(error), error.hint) from error
        self._session.note_page_words(tab.url, "")  # screenshots show page content too

    def _lines(self, tab: Tab, lines: list[str], shown: list[str], if_none: str) -> CallToolResult:
        """Return the `shown` lines of a page, delimited, with their number if some are omitted."""
        if not lines:
            return text_result([if_none])
        head = [] if len(shown) == len(lines) else [f"{len(shown)} of {len(lines)}"]
        body = inert("\n".join(shown))
        self._session.note_page_words(tab.url, body)
        return text_result([*head, f'<web source="page">\n{body}\n</web>'])


def _tab_list(result: Observation) -> CallToolResult:
    lines = [
        f"{n}: {'(current) ' if row['active'] else ''}{inert(row['title'])} {row['url']}"
        for n, row in enumerate(result.data.get("tabs", []))
    ]
    return call_result(result, head="\n".join(lines) or "no tab is open")
