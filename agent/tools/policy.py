"""The one place where a tool call is decided, made and recorded.

What may leave is decided by whose words a call holds, what may act by whose page it is, what may
last by what was read before. Each check raises `ToolError` to refuse a call.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agent.errors import ResearchError, ToolError
from agent.guard.provenance import SEARCH, Kind, exact_url, site_of
from agent.guard.secret_store import secret_name
from agent.journal.messages import image_rows
from agent.protocol.results import CallResult, to_json
from agent.tools.context import CALL_PLACE, CALL_TIMEOUT, NO_BROWSER
from agent.tools.person import refusal, require_yes
from agent.tools.registry import Risk, Tool, ToolResult, ToolSource
from agent.types import Image
from browser.errors import AttachFailed, BrowserError, BrowserMissing, LaunchFailed, RefError
from browser.net.url import is_web_url, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish, Registry
    from agent.types import ToolCall


class Policy:
    """Runs tool calls: only known tools, only what the checks let through, every one on record.

    A failing call becomes a result with an error and a hint; it never ends the run. Calls on the
    open page are made one after the other, in the order of the reply; where one that acts on it
    fails, the later acts of that reply are not done, since they were meant for what it brings.
    """

    def __init__(self, tools: Registry, context: ToolContext) -> None:
        self._tools = tools
        self._context = context
        self._page_turn = asyncio.Lock()
        self._failed_act: dict[str, str] = {}  # place of a step -> what failed in it first

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Make a call. The result comes from the function given back, to be asked in tag order."""
        tool = self._tools.get(call.name)
        on_page = tool is not None and (
            tool.on_page
            or tool.name == "OPEN"
            or (tool.name == "READ" and "://" not in call.param)  # of the page that is open
        )
        async with self._page_turn if on_page else nullcontext():
            started = time.monotonic()
            try:
                made = await self._make(tool, call, place)
            # Whatever a tool raises becomes a result, a fault of ours too: no run is lost to it.
            except Exception as error:  # noqa: BLE001
                made = _failure(error)
                if tool is not None and (tool.acts or tool.name == "OPEN"):
                    self._failed_act.setdefault(place.rpartition("/")[0], tool.name)
            ms = int((time.monotonic() - started) * 1000)
        return lambda: self._finish(call, place, made, ms)

    async def _make(self, tool: Tool | None, call: ToolCall, place: str) -> ToolResult | Finish:
        context = self._context
        if tool is None:
            why = self._tools.off.get(call.name)
            said = f"{call.name} is off: {why}" if why else f"Unknown tool: {call.name}"
            return ToolResult({"error": said})
        if tool.acts and (failed := self._failed_act.get(place.rpartition("/")[0])):
            raise ToolError(
                f"not done: {failed} before it in this reply failed",
                hint="See what it says, then act again.",
            )
        arguments, tier = tool.read(call.param)
        if tier:
            into = arguments
            if not isinstance(into, dict):
                into = arguments.model_dump(mode="json", exclude_unset=True)
            mended = {"name": call.name, "param": call.param, "tier": tier, "into": into}
            context.record("call.mended", place, **mended)
        arguments, told = await check_outgoing(context, tool, arguments)
        # Whose page is open decides whether acting on it needs a yes.
        await reopen_page(context, tool, arguments)
        await check_acts(context, tool, arguments)
        await check_lasting(context, tool, arguments)
        await check_server_tool(context, tool, arguments)
        # On record before it is done: a run that is cut off in it does not do it a second time.
        if tool.risk is not Risk.READ:
            context.record("tool.intent", place, name=call.name, param=call.param)
        seconds = context.seconds_left(tool.seconds or context.limits.call_seconds)
        try:
            async with asyncio.timeout(seconds) as patience:
                # A person or a solver at work may extend it from inside the call.
                CALL_TIMEOUT.set(patience)
                CALL_PLACE.set(place)
                made = await tool.run(context, arguments)
        except TimeoutError as error:
            raise ToolError(f"no answer within {seconds:.0f} s") from error
        if not told:
            return made

        def with_what_was_changed() -> ToolResult:
            result = made() if callable(made) else made
            return replace(result, data={**result.data, **told})

        return with_what_was_changed

    def _finish(self, call: ToolCall, place: str, made: ToolResult | Finish, ms: int) -> CallResult:
        """Finish a call: without secrets, with what the person said meanwhile, on record."""
        context, tool = self._context, self._tools.get(call.name)
        clean = context.redactor.text
        try:
            result = made() if callable(made) else made
        except (BrowserError, ResearchError) as error:
            result = _failure(error)
        outcome = CallResult(
            call.name,
            context.with_hints(context.redactor.value(result.data)),
            clean(result.web),
            result.label,
            result.hint,
            capped=tool.capped if tool else True,
            images=tuple(self._image(picture) for picture in result.pictures),
            # A passage is literal or it is none: one that a secret stands in is not given on.
            passages=tuple(p for p in result.passages if clean(p.text) == p.text),
            results=tuple(
                replace(r, url=clean(r.url), title=clean(r.title), snippet=clean(r.snippet))
                for r in result.results
            ),
            snapshot=clean(result.snapshot),
        )
        kept = {name: context.keep(body) for name, body in result.blobs}
        context.record("tool.result", place, **result_data(call, outcome, ms, kept))
        return outcome

    def _image(self, picture: bytes) -> Image:
        kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
        return Image(kind, picture, self._context.keep(picture))


def result_data(
    call: ToolCall, result: CallResult, ms: int = 0, blobs: dict[str, str] | None = None
) -> dict[str, Any]:
    """What the record keeps of a result: all that is needed to give it again.

    A snapshot is what the web text begins with, so that its length in characters is enough.
    """
    whole = result.web.startswith(result.snapshot)
    observed = {
        "images": image_rows(result.images),
        "passages": [passage.id for passage in result.passages],
        "results": [[hit.url, hit.title, hit.snippet] for hit in result.results],
        "snapshot": len(result.snapshot) if whole else 0,
    }
    return {
        "name": call.name,
        "param": call.param,
        "data": json.loads(to_json(result.data)),
        "capped": result.capped,
        "web": result.web,
        "label": result.label,
        "hint": result.hint,
        "ms": ms,
        "blobs": blobs or {},
        **{name: value for name, value in observed.items() if value},
    }


def _failure(error: Exception) -> ToolResult:
    data: dict[str, Any] = {"error": str(error) or type(error).__name__}
    if isinstance(error, RefError) and error.candidates:
        data["candidates"] = list(error.candidates)
    if isinstance(error, AttachFailed | BrowserMissing | LaunchFailed):
        data["outcome"] = NO_BROWSER
    return ToolResult(data, hint=getattr(error, "hint", ""))


# What may leave.

_SILENT_KEYS = frozenset(
    "enter numpadenter return tab escape backspace delete insert arrowup arrowdown arrowleft "
    "arrowright home end pageup pagedown alt control meta shift f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 "
    "f12".split()
)
"""Keys that write nothing."""
_COMMANDS = frozenset({"a", "c", "v", "x", "y", "z"})
"""Letters that write nothing with Control or Meta: to select, copy, paste, undo."""
_CODES = ("Key", "Digit", "Numpad")
"""What keyboard codes of letters and digits begin with: `KeyD` writes a d."""


def _keys_text(keys: str) -> str:
    """Return what pressing keys one after the other writes; what is no letter parts words."""
    written = []
    for named in keys.split() or ["Space"]:
        *held, key = named.split("+") if len(named) > 1 else [named]
        for code in _CODES:
            key = key.removeprefix(code) or key
        command = bool(held) and held != ["Shift"] and key.casefold() in _COMMANDS
        silent = command or key.casefold() in _SILENT_KEYS
        written.append(" " if silent or key == "Space" else key)
    return "".join(written)


def _pointer_text(asked: Any) -> str:
    """Return what a call of the mouse tells: its pixels and seconds, and what answers a dialog."""
    said = asked.model_dump(exclude_none=True, exclude_defaults=True)
    numbers = [f"{said[name]:g}" for name in ("x", "y", "dx", "dy", "seconds") if name in said]
    dialog = said.get("dialog", "")
    return " ".join([*numbers, dialog if dialog not in ("accept", "dismiss") else ""])


def _file_names(asked: Any) -> list[str]:
    return [path.replace("\\", "/").rpartition("/")[2] for path in asked.path.splitlines()]


_TEXT_OF: Final[dict[str, Callable[[Any], str]]] = {
    "CRAWL": lambda asked: asked.query,
    "TYPE": lambda asked: "" if secret_name(asked.text) else asked.text,
    "SELECT": lambda asked: asked.value,
    "PRESS": lambda asked: _keys_text(asked.keys),
    "UPLOAD": lambda asked: " ".join(_file_names(asked)),
    "DROP": lambda asked: " ".join((*_file_names(asked), *asked.data.values())),
    "DIALOG": lambda asked: asked.text or "",
    "EVALUATE": lambda asked: asked.function,
    **dict.fromkeys(("CLICK", "HOVER", "DRAG"), _pointer_text),
}
"""The text of a call that a site is given, beside an address."""
_ASKED_LATER: Final[dict[str, Callable[[Any], str]]] = {
    "SCHEDULE_TASK": lambda asked: asked.task,
    "MONITOR": lambda asked: asked.target,
}
"""The text that a later run has for its question: its words are free to leave then."""
_SHARE = "The person can allow more with --share file|corpus|memory|page|tool."
_SAY_IT_SO: Final = f"Use words of the question, common ones and those of public pages. {_SHARE}"
_GO_THERE_SO: Final = (
    "WEB_SEARCH for the page, and open its address as it stands in the results. " + _SHARE
)


async def check_outgoing(
    context: ToolContext, tool: Tool, arguments: Any
) -> tuple[Any, dict[str, str]]:
    """Refuse a call whose texts hold a word that may not go there, unless the person lets it.

    Where nobody can be asked a search is made with those of its words that may leave, if they are
    enough. Gives the arguments, and what the call's result tells of a change in them. Raises
    `ToolError`, which names the word and says why it stays.
    """
    made, told = arguments, dict[str, str]()
    outgoing = context.outgoing
    keys = tool.name == "PRESS" or getattr(arguments, "append", False)
    for text, site in _outgoing_texts(context, tool, arguments):
        if context.redactor.text(text) != text:
            raise refusal(context, tool.name, "it holds a secret of the environment")
        if site is None:
            why = outgoing.refusal_of_address(text)
        else:
            why = (outgoing.refusal_of_keys if keys else outgoing.refusal)(text, site)
        if not why:
            continue
        if context.approve is not None:
            effect = f"send “{text}” to {site or site_of(text) or 'a tool'}, where {why}"
            if not await context.approve(effect):
                why, hint = f"the person said no: {why}", "Do it without that word."
                raise refusal(context, tool.name, why, hint)
            outgoing.allow(text)
        elif (
            tool.name == "WEB_SEARCH"
            and text == arguments.query
            and (kept := outgoing.trimmed(text))
        ):
            left_out = [word for word in text.split() if word not in kept.split()]
            told = {"left_out": " ".join(left_out), "why": why}
            made = arguments.model_copy(update={"query": kept})
        else:
            hint = _GO_THERE_SO if site is None else _SAY_IT_SO
            raise refusal(context, tool.name, why, hint)
    return made, told


def _outgoing_texts(
    context: ToolContext, tool: Tool, arguments: Any
) -> Iterator[tuple[str, str | None]]:
    """Yield the texts of a call that leave, with the site they go to; None for an address."""
    url = getattr(arguments, "url", "")
    # A local file is read by the reader, which has a list of those that it may read.
    if url and not url.startswith("file:"):
        yield url, None
    tab = context.web.tab if context.web else None
    if tool.source is ToolSource.MCP:
        yield " ".join(_argument_texts(arguments, tool.schema or {})), tool.server
    elif tool.params is None:  # a caller's own function, whatever it is called
        if tool.risk is Risk.EXTERNAL:
            yield arguments, ""
    elif tool.name == "WEB_SEARCH" and not (context.web and context.web.only_local):
        yield arguments.query, SEARCH
        if others := " ".join(filter(None, (arguments.since, arguments.lang, arguments.site))):
            yield others, SEARCH
    elif tool.name in _ASKED_LATER:
        asked = _ASKED_LATER[tool.name](arguments)
        yield asked, None if is_web_url(asked) else SEARCH
    elif tool.name in _TEXT_OF:
        yield _TEXT_OF[tool.name](arguments), site_of(url) or (site_of(tab.url) if tab else "")


def _argument_texts(arguments: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Yield all that the arguments of a tool say; the names of fields that it has say nothing."""
    if isinstance(arguments, dict):
        known = schema.get("properties", {})
        for name, value in arguments.items():
            if name not in known:
                yield str(name)
            yield from _argument_texts(value, known.get(name, {}))
    elif isinstance(arguments, list):
        for value in arguments:
            yield from _argument_texts(value, schema.get("items", {}))
    elif not isinstance(arguments, bool) and arguments is not None:
        yield str(arguments)


# What may act, and what may last.

ACTS: Final = frozenset(
    (
        "CLICK CHECK TYPE SELECT PRESS HOVER DRAG HIGHLIGHT UPLOAD DROP DIALOG DOWNLOAD EVALUATE "
        "SOLVE_CAPTCHA"
    ).split()
)
"""What is more than reading: any of it may change something, whatever the page calls it."""


async def check_acts(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Ask for a yes to acts: where a person is logged in, only reading is free.

    A file goes only where the person wants it: where their question names the site, and the file
    unless they share files, or with a yes.
    """
    web, read = context.web, context.provenance
    if web is None:
        return
    logged_in = read.attached or bool(read.sites)
    if tool.name == "OPEN" and logged_in and read.is_personal(arguments.url):
        if not _is_personal_link(context, arguments.url):
            effect = f"opens {arguments.url} with the logins of this browser"
            await require_yes(context, tool.name, effect, site_of(arguments.url))
        return
    if tool.name not in ACTS or tool.params is None or web.tab is None:
        return
    site, asked = site_of(web.tab.url), context.question.casefold()
    handed = _file_names(arguments) if tool.name in ("UPLOAD", "DROP") else []
    named = read.is_shared(Kind.FILE) or all(name.casefold() in asked for name in handed)
    if handed and not (site and site in asked and named):
        files = ", ".join(arguments.path.splitlines())
        await require_yes(context, tool.name, f"hands {files} over to {site or web.tab.url}")
    elif logged_in:
        # What it does, in words that a person can decide by.
        said = arguments.model_dump(exclude_none=True, exclude_defaults=True)
        ref, act = said.pop("ref", None), tool.name in ("CLICK", "PRESS")
        what = " ".join(f"{key}={value!r}" for key, value in said.items())
        does = await web.tab.effect(ref, said.get("keys")) if act else ""
        named_ref = web.tab.describe(ref) if ref else ""
        effect = " ".join(filter(None, (f"does {tool.name}", named_ref, what, does)))
        await require_yes(context, tool.name, f"{effect}, at {web.tab.url}", site)


def _is_personal_link(context: ToolContext, url: str) -> bool:
    """Whether the person, or a page of theirs on its own site, names an address; or its root."""
    if exact_url(url) in context.provenance.personal_links:
        return True
    parsed = parse(url)
    # A site that the question names may be opened at its root, not at an address made up for it.
    named = parsed is not None and parsed.host in context.question.casefold()
    return bool(named and parsed and parsed.host and parsed.path == "/" and not parsed.query)


async def check_lasting(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Ask for a yes to what steers later runs, or sets them off, once somebody else was read."""
    if tool.lasting and context.provenance.untrusted:
        said = arguments.model_dump(exclude_none=True, exclude_defaults=True)
        told = ", ".join(f"{key} {value!r}" for key, value in said.items())
        sets_off = tool.risk is Risk.EXTERNAL
        does = f"does {tool.name}" if sets_off else "changes what later runs go by"
        await require_yes(context, tool.name, f"{does} ({told})", act=sets_off)


async def check_server_tool(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Ask for a yes to tools of other programs: only reading is free, or what the person named.

    What such a tool does is not known to us. A yes can be given for all tools of its server.
    """
    if tool.source is ToolSource.MCP and not tool.free:
        effect = f"calls {tool.name} with {to_json(arguments)}"
        await require_yes(context, tool.name, effect, tool.server)


# The page that was open when a run was cut off.

_ALSO_ON_PAGE = frozenset({"READ", "SOLVE_CAPTCHA"})
"""Beside the tools that are told of with a page."""


async def reopen_page(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Before the first call that needs the page of before, open it again.

    Looking at it goes on as asked. What would act on it is not done: it was decided on a page
    whose refs, and whatever was typed into it, are gone. Raises `ToolError` that says so.
    """
    web = context.web
    if web is None or web.left_open is None:
        return
    needs_page = tool.on_page or tool.name in _ALSO_ON_PAGE
    elsewhere: str = getattr(arguments, "url", "")
    if tool.name != "OPEN" and (elsewhere or not needs_page):
        return
    left, web.left_open = web.left_open, None
    if tool.name == "OPEN":
        return
    try:
        web.egress.guard.check_url(left.url)
        async with web.lock:
            browser = await web.start_browser()
            seconds = context.seconds_left(context.limits.read_seconds)
            web.tab = await browser.open(left.url, deadline=seconds, session=left.session)
    except BrowserError as error:
        failed = f"the run was cut off, and {left.url} could not be opened again: {error}"
        raise ToolError(failed, hint="OPEN a page.") from error
    told = (
        f"the run was cut off here and goes on: {left.url} was opened again, with its cookies; "
        "refs from before are void, and what was typed and not sent is gone"
    )
    web.tab.events.add(told)
    if tool.acts or getattr(arguments, "ref", None):
        raise ToolError(told, hint="SNAPSHOT shows the page with new refs.")
