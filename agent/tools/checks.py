"""What a call must pass before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.errors import ToolError
from agent.guard.provenance import SEARCH, Kind, literal, site_of
from agent.guard.secret_store import named_in
from agent.protocol.results import to_json
from agent.tools.person import needs_yes, refused
from agent.tools.registry import Risk, Tool, ToolSource
from browser.errors import BrowserError
from browser.net.url import is_web_url, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent.tools.context import LeftPage, ToolContext, Web
    from browser.page.tab import Tab

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

Changed = tuple[Any, dict[str, str]]
"""What a check makes of the arguments, and what the call's result tells of that."""

_TEXT_OF: Final[dict[str, Callable[[Any], str]]] = {
    "CRAWL": lambda asked: asked.query,
    "TYPE": lambda asked: "" if named_in(asked.text) else asked.text,
    "SELECT": lambda asked: asked.value,
    "PRESS": lambda asked: _pressed(asked.keys),
    "UPLOAD": lambda asked: " ".join(_file_names(asked)),
    "DROP": lambda asked: " ".join((*_file_names(asked), *asked.data.values())),
    "DIALOG": lambda asked: asked.text or "",
    "EVALUATE": lambda asked: asked.function,
}
"""The text of a call that a site is given, beside an address."""


_ASKED_LATER: Final[dict[str, Callable[[Any], str]]] = {
    "SCHEDULE_TASK": lambda asked: asked.task,
    "MONITOR": lambda asked: asked.target,
}
"""The text that a later run has for its question: its words are free to leave then."""


async def only_free_words_leave(context: ToolContext, tool: Tool, arguments: Any) -> Changed | None:
    """No text leaves that holds a word which may not go there; the person can let it.

    Where nobody can be asked a search is made with those of its words that may leave, if they are
    enough. Raises `ToolError`, which names the word and says why it stays.
    """
    changed: Changed | None = None
    keys = tool.name == "PRESS" or getattr(arguments, "append", False)
    for text, site in _leaving(context, tool, arguments):
        if context.redactor.text(text) != text:
            raise refused(context, tool.name, "it holds a secret of the environment")
        outgoing = context.outgoing
        if site is None:
            why = outgoing.refusal_of_address(text)
        else:
            why = (outgoing.refusal_of_keys if keys else outgoing.refusal)(text, site)
        if not why:
            continue
        asked = context.approve is None and tool.name == "WEB_SEARCH" and text == arguments.query
        if asked and (kept := outgoing.trimmed(text)):
            left_out = [word for word in text.split() if word not in kept.split()]
            told = {"left_out": " ".join(left_out), "why": why}
            changed = arguments.model_copy(update={"query": kept}), told
            continue
        effect = f"send “{text}” to {site or site_of(text) or 'a tool'}, where {why}"
        if context.approve is None:
            raise refused(
                context,
                tool.name,
                why,
                _SAY_IT_SO if site is not None else _GO_THERE_SO,
            )
        if not await context.approve(effect):
            raise refused(
                context, tool.name, f"the person said no: {why}", "Do it without that word."
            )
        outgoing.allow(text)
    return changed


_SHARE = "The person can allow more with --share file|corpus|memory|page|tool."
_SAY_IT_SO: Final = f"Use words of the question, common ones and those of public pages. {_SHARE}"
_GO_THERE_SO: Final = (
    "WEB_SEARCH for the page, and open its address as it stands in the results. " + _SHARE
)


def _leaving(context: ToolContext, tool: Tool, arguments: Any) -> Iterator[tuple[str, str | None]]:
    """Give the texts of a call that leave, with the site they go to; None for an address."""
    url = getattr(arguments, "url", "")
    if url and not url.startswith("file:"):
        yield url, None
    tab = context.web.tab if context.web else None
    here = site_of(tab.url) if tab is not None else ""
    if tool.source is ToolSource.MCP:
        yield " ".join(_said(arguments, tool.schema or {})), tool.server
    elif tool.params is None:  # a caller's own function, whatever it is called
        if tool.risk is Risk.EXTERNAL:
            yield arguments, ""
    elif tool.name == "WEB_SEARCH" and not (context.web and context.web.only_local):
        yield arguments.query, SEARCH
        if others := " ".join(filter(None, (arguments.since, arguments.lang, arguments.site))):
            yield others, SEARCH
    elif tool.name in ("CLICK", "HOVER", "DRAG"):
        said = arguments.model_dump(exclude_none=True, exclude_defaults=True)
        pixels = [f"{said[name]:g}" for name in ("x", "y", "dx", "dy", "seconds") if name in said]
        dialog = said.get("dialog", "")
        yield " ".join([*pixels, dialog if dialog not in ("accept", "dismiss") else ""]), here
    elif tool.name in _ASKED_LATER:
        asked: str = _ASKED_LATER[tool.name](arguments)
        yield asked, None if is_web_url(asked) else SEARCH
    elif tool.name in _TEXT_OF:
        yield _TEXT_OF[tool.name](arguments), site_of(url) or here


def _said(arguments: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Give all that the arguments of a tool say; the names of fields that it has say nothing."""
    if isinstance(arguments, dict):
        known = schema.get("properties", {})
        for name, value in arguments.items():
            if name not in known:
                yield str(name)
            yield from _said(value, known.get(name, {}))
    elif isinstance(arguments, list):
        for value in arguments:
            yield from _said(value, schema.get("items", {}))
    elif not isinstance(arguments, bool) and arguments is not None:
        yield str(arguments)


def _file_names(asked: Any) -> list[str]:
    return [path.replace("\\", "/").rpartition("/")[2] for path in asked.path.splitlines()]


def _pressed(keys: str) -> str:
    """Give what pressing keys one after the other writes; what is no letter parts words."""
    written = []
    for named in keys.split() or ["Space"]:
        *held, key = named.split("+") if len(named) > 1 else [named]
        for code in _CODES:
            key = key.removeprefix(code) or key
        command = bool(held) and held != ["Shift"] and key.casefold() in _COMMANDS
        silent = command or key.casefold() in _SILENT_KEYS
        written.append(" " if silent or key == "Space" else key)
    return "".join(written)


ACTS: Final = frozenset(
    (
        "CLICK CHECK TYPE SELECT PRESS HOVER DRAG HIGHLIGHT UPLOAD DROP DIALOG DOWNLOAD EVALUATE "
        "SOLVE_CAPTCHA"
    ).split()
)
"""What is more than reading: any of it may change something, whatever the page calls it."""


async def acts_need_a_yes(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Where a person is logged in, only reading is free; all else needs their yes.

    A file goes only where the person wants it: where their question names the site, and the file
    unless they share files, or with a yes.
    """
    web, read = context.web, context.read
    if web is None:
        return
    logged_in = read.attached or bool(read.sites)
    if tool.name == "OPEN" and logged_in and read.is_persons(arguments.url):
        if not _is_persons_link(context, arguments.url):
            effect = f"opens {arguments.url} with the logins of this browser"
            await needs_yes(context, tool.name, effect, site_of(arguments.url))
        return
    if tool.name not in ACTS or tool.params is None or web.tab is None:
        return
    site = site_of(web.tab.url)
    asked = context.question.casefold()
    handed = tool.name in ("UPLOAD", "DROP") and _file_names(arguments)
    if handed and not (
        site
        and site in asked
        and (read.is_shared(Kind.FILE) or all(name.casefold() in asked for name in handed))
    ):
        files = ", ".join(arguments.path.splitlines())
        await needs_yes(context, tool.name, f"hands {files} over to {site or web.tab.url}")
    elif logged_in:
        effect = f"{await _described(web.tab, tool.name, arguments)}, at {web.tab.url}"
        await needs_yes(context, tool.name, effect, site)


def _is_persons_link(context: ToolContext, url: str) -> bool:
    """Whether the person, or a page of theirs on its own site, names an address; or its root."""
    if literal(url) in context.read.persons_links:
        return True
    parsed = parse(url)
    named = parsed is not None and parsed.host in context.question.casefold()
    return bool(named and parsed and parsed.host and parsed.path == "/" and not parsed.query)


async def _described(tab: Tab, name: str, arguments: Any) -> str:
    """Say what an action does, in words that a person can decide by."""
    said = arguments.model_dump(exclude_none=True, exclude_defaults=True)
    ref = said.pop("ref", None)
    what = " ".join(f"{key}={value!r}" for key, value in said.items())
    does = await tab.effect(ref, said.get("keys")) if name in ("CLICK", "PRESS") else ""
    return " ".join(filter(None, (f"does {name}", tab.describe(ref) if ref else "", what, does)))


async def what_lasts_needs_a_yes(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """What steers later runs, or sets them off, is the person's once somebody else was read."""
    if tool.lasting and context.read.untrusted:
        said = arguments.model_dump(exclude_none=True, exclude_defaults=True)
        told = ", ".join(f"{key} {value!r}" for key, value in said.items())
        sets_off = tool.risk is Risk.EXTERNAL
        does = f"does {tool.name}" if sets_off else "changes what later runs go by"
        await needs_yes(context, tool.name, f"{does} ({told})", act=sets_off)


async def others_tools_need_a_yes(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """What another program's tool does is not known to us: only reading is free, or what is named.

    A yes can be given for all tools of its server.
    """
    if tool.source is ToolSource.MCP and not tool.free:
        await needs_yes(
            context, tool.name, f"calls {tool.name} with {to_json(arguments)}", tool.server
        )


_ALSO_ON_PAGE = frozenset({"READ", "SOLVE_CAPTCHA"})
"""Beside the tools that are told of with a page."""


async def reopened(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Before the first call that needs the page of before, open it again.

    Looking at it goes on as asked. What would act on it is not done: it was decided on a page
    whose refs, and whatever was typed into it, are gone. Raises `ToolError` that says so.
    """
    web = context.web
    if web is None or web.left_open is None:
        return
    if tool.name == "OPEN":
        web.left_open = None
        return
    elsewhere: str = getattr(arguments, "url", "")
    if elsewhere or not (tool.on_page or tool.name in _ALSO_ON_PAGE):
        return
    told = await _opened(context, web, web.left_open)
    if tool.acts or getattr(arguments, "ref", None):
        raise ToolError(told, hint="SNAPSHOT shows the page with new refs.")


async def _opened(context: ToolContext, web: Web, left: LeftPage) -> str:
    """Open the page; gives what the next observation tells of it."""
    url, web.left_open = left.url, None
    try:
        web.egress.check_url(url)
        async with web.lock:
            browser = await web.start_browser()
            seconds = context.seconds_left(context.limits.read_seconds)
            web.tab = await browser.open(url, deadline=seconds, session=left.session)
    except BrowserError as error:
        failed = f"the run was cut off, and {url} could not be opened again: {error}"
        raise ToolError(failed, hint="OPEN a page.") from error
    told = (
        f"the run was cut off here and goes on: {url} was opened again, with its cookies; refs "
        "from before are void, and what was typed and not sent is gone"
    )
    web.tab.events.add(told)
    return told


CHECKS = (
    only_free_words_leave,
    reopened,
    acts_need_a_yes,
    what_lasts_needs_a_yes,
    others_tools_need_a_yes,
)
