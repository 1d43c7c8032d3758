"""Our browser under the names and arguments of playwright-mcp.

A page is shown within a budget, an act by what it changed. A dialog stays open until it is
answered. Elements are named by the refs of a snapshot, or by a selector that finds one; `ref` is
what older versions of playwright-mcp call the `target`. A script in the page is an act like a
click: where a person is logged in it needs their yes.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, ImageContent, ToolAnnotations
from playwright.async_api import ElementHandle
from pydantic import AliasChoices, BaseModel, Field

from agent.mcp.tool_session import (
    Answer,
    AskedPerson,
    ToolSession,
    error_result,
    shown,
    text_result,
    whole,
)
from agent.protocol.replies import inert
from agent.protocol.results import CallResult, failed
from browser.errors import BrowserError
from browser.page import devtools
from browser.page.tab import Tab
from browser.page.waiting import text_matcher

Ctx = Context[Any, Any]
Target = Annotated[str, Field(description="The element's ref as it was shown, or a selector.")]
Button = Literal["left", "right", "middle"]
Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]
LONGEST_WAIT: Final = 30.0
LOOK_AGAIN: Final = 0.3
"""Seconds between two looks for a text that is to go."""
_REF = re.compile(r"(f\d+)?e\d+")
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
        tools.network_request,
        tools.emulate_media,
        tools.close,
    )
    acting: tuple[Callable[..., Any], ...] = (
        tools.click,
        tools.type,
        tools.press_key,
        tools.select_option,
        tools.fill_form,
        tools.drag,
        tools.drop,
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
        self._clicked = ""

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
        time: Annotated[float, Field(ge=0)] = 0,
        text: str = "",
        textGone: str = "",
    ) -> Answer:
        """Wait for a text to come or go, or some seconds; what changed is told."""
        seconds = min(time, LONGEST_WAIT) or LONGEST_WAIT / 3
        if not textGone:
            return await self._call(ctx, "WAIT", text=text, seconds=seconds)
        until = asyncio.get_running_loop().time() + seconds
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
        held = "+".join(modifiers).replace("ControlOrMeta", "Control") or None
        count, self._clicked = 2 if doubleClick else 1, target or ref
        return await self._call(
            ctx, "CLICK", ref=target or ref, button=button, hold=held, count=count
        )

    async def handle_dialog(self, accept: bool, ctx: Ctx, promptText: str | None = None) -> Answer:
        """Answer the dialog that is open."""
        return await self._call(ctx, "DIALOG", accept=accept, text=promptText)

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
        return await self._call(ctx, "SELECT", ref=target or ref, value="\n".join(values))

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
        """Hand over files that the server was started with (--file), where they are asked for."""
        tab: Tab | None = (await self._session.web()).tab
        chooser = tab.events.chooser if tab else None
        made: Answer = text_result(["no file was handed over"])
        if paths:
            to = target or ref or (chooser.element if chooser else self._clicked)
            made = await self._call(ctx, "UPLOAD", ref=to, path="\n".join(paths))
        if tab and isinstance(made, CallToolResult) and not made.is_error:
            tab.events.chooser = None
        return made

    async def drop(
        self,
        ctx: Ctx,
        target: Target = "",
        ref: str = "",
        paths: list[str] = [],
        data: dict[str, str] = {},
    ) -> Answer:
        """Drop files (--file) or data by MIME type onto an element, as if from outside."""
        given = {"ref": target or ref, "path": "\n".join(paths), "data": data}
        return await self._call(ctx, "DROP", **given)

    async def evaluate(
        self, function: str, ctx: Ctx, target: str | None = None, ref: str | None = None
    ) -> Answer:
        """Run `() => …` in the page, or `element => …` on one: its result, and what changed."""
        return await self._call(ctx, "EVALUATE", function=function, ref=target or ref)

    async def take_screenshot(
        self, fullPage: bool = False, target: str | None = None, ref: str | None = None
    ) -> Answer:
        """Take a picture of what is in view, of the whole page, or of one element."""

        async def picture(tab: Tab) -> CallToolResult:
            one = await self._ref(tab, target or ref)
            taken = await tab.screenshot(whole=fullPage, ref=one)
            data = base64.b64encode(taken).decode()
            image = ImageContent(type="image", data=data, mime_type="image/png")
            return CallToolResult(content=[image])

        return await self._on_tab(picture)

    async def resize(self, width: float, height: float) -> Answer:
        """Resize the window, in pixels."""

        async def resized(tab: Tab) -> CallToolResult:
            await devtools.resize(tab, int(width), int(height))
            return text_result([f"{width:g} by {height:g}"])

        return await self._on_tab(resized)

    async def console_messages(
        self, level: Literal["error", "warning", "info", "debug"] = "info"
    ) -> Answer:
        """Give the last messages of the console, of this level and the graver ones."""
        graver = LEVELS[: LEVELS.index(level) + 1]

        async def said(tab: Tab) -> CallToolResult:
            rows = await devtools.console(tab)
            kept = [f"[{kind}] {text}" for kind, text in rows if kind in graver]
            return _listed(kept, "the console is empty")

        return await self._on_tab(said)

    async def network_requests(self, static: bool = False, filter: str = "") -> Answer:  # noqa: A002 - as clients call it
        """List the last requests of the page by number; `filter` is a pattern of addresses."""

        async def asked(tab: Tab) -> CallToolResult:
            wanted = text_matcher(f"/{filter}/" if filter else "")
            rows = await devtools.requests(tab, static=static)
            return _listed([row for row in rows if wanted(row)], "nothing was asked for")

        return await self._on_tab(asked)

    async def network_request(
        self,
        index: Annotated[int, Field(ge=1, description="As browser_network_requests lists it.")],
        part: Literal["request-headers", "request-body", "response-headers", "response-body"]
        | None = None,
    ) -> Answer:
        """Show the headers of one request, or a part of it; what lets others in is kept back."""

        async def shown_whole(tab: Tab) -> CallToolResult:
            return _listed([await devtools.request(tab, index, part)], "")

        return await self._on_tab(shown_whole)

    async def emulate_media(
        self,
        colorScheme: Literal["light", "dark"] | None = None,
        reducedMotion: Literal["reduce", "no-preference"] | None = None,
        forcedColors: Literal["active", "none"] | None = None,
        contrast: Literal["more", "no-preference"] | None = None,
        media: Literal["screen", "print"] | None = None,
    ) -> Answer:
        """Show the page by other media features."""
        asked: dict[str, str | None] = {"color_scheme": colorScheme, "media": media}
        asked |= {"reduced_motion": reducedMotion, "forced_colors": forcedColors}
        asked["contrast"] = contrast
        features: dict[str, str] = {name: value for name, value in asked.items() if value}

        async def emulated(tab: Tab) -> CallToolResult:
            await devtools.emulate_media(tab, **features)
            return text_result([", ".join(features.values())])

        return await self._on_tab(emulated)

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
        asked = {"switch" if action == "select" else "close": rows[at]["id"]}
        left = rows[:at] + rows[at + 1 :]
        if action == "close" and left and at == active:
            asked["switch"] = left[min(at, len(left) - 1)]["id"]
        return _tabs_of(await self._session.call(ctx, "TABS", on_page=True, **asked))

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
        try:
            made = await self._made(ctx, tool, asked)
        except BrowserError as error:
            return error_result(str(error), error.hint)
        if not isinstance(made, tuple):
            return made
        result, person = made
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

    async def _made(
        self, ctx: Ctx, tool: str, asked: dict[str, Any]
    ) -> tuple[CallResult, AskedPerson] | Answer:
        """Make a call; where a dialog opens in the middle of it, that is what it came to."""
        tab: Tab | None = (await self._session.web()).tab
        if tab is None:
            return await self._session.call(ctx, tool, on_page=True, **asked)
        events = tab.events
        if events.open_dialog and tool != "DIALOG":
            return self._asking(tab)
        named = {k: await self._ref(tab, v) for k, v in asked.items() if k in ("ref", "to")}
        if tool != "OPEN":
            events.hold()
        events.dialog_opened.clear()
        calling = asyncio.ensure_future(
            self._session.call(ctx, tool, on_page=True, **(asked | named))
        )
        raised = asyncio.ensure_future(events.dialog_opened.wait())
        try:
            await asyncio.wait({calling, raised}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            raised.cancel()
            if not calling.done():
                calling.cancel()
                await asyncio.wait([calling])
        return self._asking(tab) if events.open_dialog else calling.result()

    def _asking(self, tab: Tab) -> CallToolResult:
        """Tell what a dialog asks."""
        dialog = tab.events.open_dialog
        assert dialog
        said = f'a dialog is open: {dialog.type} "{inert(dialog.message)}"'
        made = text_result([f"{said}\nbrowser_handle_dialog answers it"])
        self._session.saw_page(tab.url, made)
        return made

    @staticmethod
    async def _ref(tab: Tab, target: str | ElementHandle | None) -> str | None:
        """Give the ref of a target, which may be a selector, or an element."""
        if target is None or (isinstance(target, str) and _REF.fullmatch(target)):
            return target
        return await tab.ref_of(target)

    async def _on_tab(self, work: Callable[[Tab], Any]) -> Answer:
        """Do what no tool of a run does on the open page."""
        tab: Tab | None = (await self._session.web()).tab
        if tab is None:
            return error_result("no page is open", "browser_navigate opens one.")
        if tab.events.open_dialog:
            return self._asking(tab)
        try:
            async with self._session.page_turn:
                made: CallToolResult = await whole(work(tab))
        except BrowserError as error:
            return error_result(str(error), error.hint)
        self._session.saw_page(tab.url, made)
        return made


async def _matching(tab: Tab, regex: str) -> CallToolResult:
    """Give the lines of the page that a pattern matches."""
    wanted = text_matcher(regex if regex.startswith("/") else f"/{regex}/")
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
