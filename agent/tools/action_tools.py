"""Tools that act on the open page by ref: CLICK, TYPE, SELECT, PRESS and others."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agent.errors import ToolError
from agent.guard.outgoing import POINT_BITS, Sent, Sink
from agent.guard.secret_store import secret_name
from agent.tools.context import CALL_PLACE, UNKNOWN, require_web
from agent.tools.page_tools import (
    NOTHING_SHOWN,
    clear_block_page,
    read_state,
    require_tab,
    take_pictures,
    take_snapshot,
    with_pictures,
)
from agent.tools.registry import (
    CONFIRMS,
    LOOKS,
    SHOWS_PAGE,
    Group,
    NonEmpty,
    ToolResult,
    reading_tool,
    sends_nothing,
    tool,
)
from agent.tools.sources import list_passages
from browser.errors import OutcomeUnknown
from browser.net.url import host, registrable_domain
from browser.types import REF

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from agent.tools.context import ToolContext, Web
    from agent.tools.page_tools import PageState
    from agent.tools.registry import Finish, Sends
    from browser.page.tab import Tab
    from browser.types import ActionOutcome


MAX_NEW_TEXT_CHARS = 2_000
"""Maximum total length of new passages shown after an action, in characters; READ shows the rest.
"""
MAX_HOLD_SECONDS = 5
"""Maximum number of seconds that a button is held down: half of an action's time limit."""
MAX_POINTS = 100
"""Maximum number of points in a drawn path: each takes about 20 ms of an action's ten seconds."""
MAX_WAIT_SECONDS = 45
"""Maximum number of seconds to wait; a call may take a minute in total."""
MAX_SCRIPT_CHARS = 8_000
"""Maximum length of a script in characters."""
MODIFIERS = r"^(Alt|Control|Meta|Shift)(\+(Alt|Control|Meta|Shift))*$"
"""Keys that a click can hold down."""
MAX_SUMMARY_TEXT_CHARS = 600
"""Maximum length of new text in the paragraph that describes an action, in characters."""

_REF_RE = re.compile(rf"\[{REF}\] ?")
_SNAPSHOT_MARKUP_RE = re.compile(
    rf"\[{REF}(?: \w+)?:?|(?: → [^\]\s]+)?\]|\||^[-+~>#\s]+|\*+|`", re.MULTILINE
)
"""Refs with their roles, control endings, cell borders, and block and emphasis markers."""

Unstripped = Annotated[str, StringConstraints(strip_whitespace=False)]
"""Type of text entered on a page, where leading and trailing spaces matter."""
HoldSeconds = Annotated[float, Field(ge=0, le=MAX_HOLD_SECONDS)]
Points = Annotated[list[tuple[float, float]], Field(default_factory=list, max_length=MAX_POINTS)]

viewing_tool = partial(
    reading_tool,
    capped=False,
    on_page=True,
    sends=sends_nothing,
    group=Group.BROWSER,
    traits=SHOWS_PAGE,
)
acting_tool = partial(
    tool,
    capped=False,
    on_page=True,
    sends=sends_nothing,
    group=Group.BROWSER,
    traits=SHOWS_PAGE,
)


def _sends_argument(name: str) -> Sends:
    """Declare that the open page's site can read the argument with this name."""
    return lambda _, arguments: [Sent(Sink.SITE, getattr(arguments, name) or "")]


def _sends_point(context: ToolContext, arguments: Any) -> Iterator[Sent]:
    """Declare what a mouse action reveals to a site: a dialog answer, a link, and points."""
    dialog = getattr(arguments, "dialog", None) or ""
    if dialog not in ("accept", "dismiss"):
        yield Sent(Sink.SITE, dialog)
    tab = context.web.tab if context.web else None
    bits = math.log2(tab.links_shown) if tab is not None and tab.is_link(arguments.ref) else 0.0
    points = len(getattr(arguments, "path", ()))
    points += sum(getattr(arguments, name, None) not in (None, 0) for name in ("x", "dx", "dy"))
    yield Sent(Sink.SITE, "", bits=bits + points * POINT_BITS)


def _sends_typed(_: ToolContext, arguments: Any) -> Iterator[Sent]:
    """Declare typed text. A stored secret is entered by name, and only on its site."""
    if not secret_name(arguments.text):
        # Text appended over several calls may combine to form a private word.
        yield Sent(Sink.SITE, arguments.text, continues=arguments.append)


def _sends_keys(_: ToolContext, arguments: Any) -> Iterator[Sent]:
    yield Sent(Sink.SITE, keys_text(arguments.keys), continues=True)


def _sends_files(_: ToolContext, arguments: Any) -> Iterator[Sent]:
    """Declare dropped data. The user chose the files; see `check_action`."""
    yield Sent(Sink.SITE, " ".join(arguments.data.values()))


_SILENT_KEYS = frozenset(
    "enter numpadenter return tab escape backspace delete insert arrowup arrowdown arrowleft "
    "arrowright home end pageup pagedown alt control meta shift f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 "
    "f12".split()
)
"""Keys that do not type a character."""
_SHORTCUT_LETTERS = frozenset({"a", "c", "v", "x", "y", "z"})
"""Letters that, combined with Control or Meta, are shortcuts instead of text: select all, copy,
paste, cut, redo, undo.
"""
_KEY_CODE_PREFIXES = ("Key", "Digit", "Numpad")
"""Prefixes of keyboard codes: `KeyD` types a d."""


def keys_text(keys: str) -> str:
    """Return the text that a sequence of keys types, with a space for each non-character key."""
    typed = []
    for name in keys.split() or ["Space"]:
        *modifiers, key = name.split("+") if len(name) > 1 else [name]
        for code in _KEY_CODE_PREFIXES:
            key = key.removeprefix(code) or key
        is_command = (
            bool(modifiers) and modifiers != ["Shift"] and key.casefold() in _SHORTCUT_LETTERS
        )
        is_silent = is_command or key.casefold() in _SILENT_KEYS
        typed.append(" " if is_silent or key == "Space" else key)
    return "".join(typed)


async def look_on_page(
    context: ToolContext, act: Callable[[Tab], Awaitable[ActionOutcome]]
) -> Finish:
    """Perform an action that only reveals more of the open page, and report the changes."""
    try:
        return await _on_page(context, act)
    except OutcomeUnknown as unknown:  # the action has no lasting effect that needs checking
        raise unknown.__cause__ or unknown from None


async def act_on_page(
    context: ToolContext, act: Callable[[Tab], Awaitable[ActionOutcome]]
) -> Finish:
    """Act on the open page, and report the changes; the action is also noted in the page's source.

    An action whose outcome was not observed is recorded in the next page state.
    """
    with _recording_act(require_web(context)):
        return await _on_page(context, act, is_act=True)


@contextmanager
def _recording_act(web: Web) -> Iterator[None]:
    """Record the action's step, and save an unobserved outcome for the next page state."""
    web.last_action_step = CALL_PLACE.get()
    try:
        yield
    except OutcomeUnknown as unknown:
        web.unobserved_outcome = f"{without_refs(unknown.action)} ({unknown})"
        raise


async def _on_page(
    context: ToolContext,
    act: Callable[[Tab], Awaitable[ActionOutcome]],
    *,
    is_act: bool = False,
) -> Finish:
    tab = require_tab(context)
    web = require_web(context)
    async with web.lock:
        before = tab.url
        outcome = await act(tab)
        if tab.events.closed:
            return lambda: ToolResult({"did": outcome.action, "events": list(outcome.events)})
        if outcome.url != before and await clear_block_page(context, tab):
            outcome = replace(outcome, changes=(await take_snapshot(context, tab)).text)
        state = await read_state(context, _summary(outcome) if is_act else "")
        pictures = await take_pictures(context, tab)
    acted = is_act and bool(outcome.unanswered)
    return lambda: with_pictures(
        _action_result(context, state, outcome, UNKNOWN if acted else ""), pictures
    )


def _summary(outcome: ActionOutcome) -> str:
    """Describe, in one paragraph, an action, the events that it caused, and the new text."""
    new = "; ".join(outcome.new_lines)[:MAX_SUMMARY_TEXT_CHARS]
    parts = [
        outcome.action,
        *outcome.events,
        *_unanswered_request_note(outcome),
        f"new text: {new}" if new else "",
    ]
    return without_refs("; ".join(filter(None, parts)))


def without_refs(text: str) -> str:
    """Remove refs, which are meaningless outside the run, as in `clicked [e5] button Save`."""
    return _REF_RE.sub("", text).strip()


def _action_result(
    context: ToolContext, state: PageState, outcome: ActionOutcome, end: str
) -> ToolResult:
    """Report an action's outcome; `end` is UNKNOWN if it was not observed, otherwise ""."""
    page, hint = state.page, OutcomeUnknown.hint if end else ""
    data: dict[str, Any] = {"did": outcome.action, "url": page.url}
    if end:
        data["outcome"] = end
    if outcome.events or outcome.unanswered:
        data["events"] = [*outcome.events, *_unanswered_request_note(outcome)]
    known = context.evidence.by_url(page.url)
    source = state.register(context)
    if source is None:
        return ToolResult(data, outcome.changes, "page", hint, snapshot=outcome.changes)
    data["source"] = source.name
    # Text is new if it was not on the page when it was read before. It is included if the diff does
    # not show it: a diff shortens long lines, and a snapshot's size is limited.
    before, shown = _snapshot_words(known.text) if known else "", _snapshot_words(outcome.changes)
    has_article = page.document is not None and bool(page.document.text.strip())
    article = source.article if before and has_article else ()
    _, new = list_passages(
        (p for p in article if _snapshot_words(p.text) not in before), MAX_NEW_TEXT_CHARS
    )
    unshown = [passage for passage in new if _snapshot_words(passage.text) not in shown]
    new_text = list_passages(unshown, MAX_NEW_TEXT_CHARS)[0] if unshown else ""
    changes = outcome.changes.strip()
    body = f"{changes}\n\nNew text:\n{new_text}" if new_text else changes
    if not page.shown:
        body = body or NOTHING_SHOWN
    return ToolResult(data, body.strip(), source.name, hint, passages=new, snapshot=changes)


def _unanswered_request_note(outcome: ActionOutcome) -> tuple[str, ...]:
    sent = outcome.unanswered
    return (f"{sent} has no answer yet: outcome unknown",) if sent else ()


def _snapshot_words(text: str) -> str:
    """Reduce a snapshot or Markdown to its words, without refs, roles and block markers."""
    return " ".join(_SNAPSHOT_MARKUP_RE.sub(" ", text).split())


def _files_of_run(context: ToolContext, paths: str) -> list[Path]:
    """Look up files, one per line, among those that the user passed to the run (`--file`).

    Raises `ToolError` for any other file: a page must not receive files that the user did not
    provide.
    """
    files = {name: path for path in context.files for name in (str(path), path.name)}
    for path in paths.splitlines():
        if path not in files:
            names = ", ".join(path.name for path in context.files) or "none"
            raise ToolError(f"{path} was not given to this run", hint=f"Files given: {names}.")
    return [files[path] for path in paths.splitlines()]


def _offset(x: float | None, y: float | None) -> tuple[float, float] | None:
    """Return a point within the element; None unless both coordinates are given."""
    return None if x is None or y is None else (x, y)


@acting_tool(
    "CLICK",
    "clicks; seconds 2 is a long press.",
    sends=_sends_point,
    verb="click",
    activity="clicking",
    may_submit=True,
)
async def click(
    context: ToolContext,
    *,
    ref: str,
    button: Literal["left", "right", "middle"] = "left",
    count: Annotated[int, Field(ge=1, le=3)] = 1,
    hold: Annotated[str | None, Field(pattern=MODIFIERS)] = None,
    seconds: HoldSeconds = 0,
    dialog: str | None = None,
    x: float | None = None,
    y: float | None = None,
) -> Finish:
    """Click an element; `count` 2 double-clicks, `dialog` answers a dialog that opens.

    `x` and `y` are offsets from the element's corner in pixels, for images and canvases. `hold`
    holds keys down, for example to select several items; `seconds` holds the button down, for a
    long press.
    """
    options: dict[str, Any] = {
        "button": button,
        "count": count,
        "seconds": seconds,
        "dialog": dialog,
        "at": _offset(x, y),
        "hold": hold.split("+") if hold else (),
    }
    return await act_on_page(context, lambda tab: tab.click(ref, **options))


@acting_tool(
    "TYPE",
    "replaces the text of a field, or the part named by `instead`; "
    "<secret>NAME</secret> types a stored password.",
    sends=_sends_typed,
    verb="type {text!r} into",
    activity="typing",
    approval="type",
    entered_field="text",
    takes_secret=True,
    verifies=True,
)
async def type_text(
    context: ToolContext,
    *,
    ref: str,
    text: Unstripped,
    submit: bool = False,
    append: bool = False,
    instead: Unstripped | None = None,
) -> Finish:
    """Type text, or a stored secret by its name.

    `append` keeps the field's content; `instead` is the part of the content to replace. `submit`
    presses Enter afterwards. Once a secret is typed, the run counts as logged in on that site.
    """
    name, store = secret_name(text), context.secrets
    if not name or store is None:
        options: dict[str, Any] = {"submit": submit, "append": append, "instead": instead}
        return await act_on_page(context, lambda tab: tab.type(ref, text, **options))

    def value_for(url: str) -> str | None:
        value = store.value(name, url)
        if value is not None:
            # The page may echo the secret, and from now on its content is private to the logged-in
            # user.
            context.redactor.add(value)
            context.provenance.sites.add(registrable_domain(host(url)))
        return value

    is_code = store.is_one_time_code(name)
    return await act_on_page(
        context, lambda tab: tab.type_secret(ref, value_for, submit=submit, is_code=is_code)
    )


@acting_tool(
    "SELECT",
    "chooses an option; several with `;` between them.",
    sends=_sends_argument("value"),
    verb="select {value!r} in",
    activity="selecting",
    approval="type",
    entered_field="value",
    verifies=True,
)
async def select(context: ToolContext, *, ref: str, value: str) -> Finish:
    """Select an option by its text or value."""
    return await act_on_page(context, lambda tab: tab.select(ref, value))


@acting_tool(
    "PRESS",
    "presses keys in turn: `ArrowDown Enter`, `Control+a`.",
    sends=_sends_keys,
    verb="press {keys} in",
    activity="pressing",
    may_submit=True,
    entered_field="keys",
)
async def press(context: ToolContext, *, keys: str, ref: str | None = None) -> Finish:
    """Press keys such as `Enter` or `Control+a`, separated by spaces."""
    return await act_on_page(context, lambda tab: tab.press(keys, ref))


@acting_tool(
    "HOVER",
    "hovers.",
    sends=_sends_point,
    group=Group.HANDS,
    verb="hover over",
    activity="hovering",
    traits=LOOKS | SHOWS_PAGE,
)
async def hover(
    context: ToolContext, *, ref: str, x: float | None = None, y: float | None = None
) -> Finish:
    """Hover over an element; `x` and `y` are offsets from its corner in pixels."""
    return await look_on_page(context, lambda tab: tab.hover(ref, _offset(x, y)))


@acting_tool(
    "DRAG",
    "drags an element to another, or by pixels; x -4, y -4 takes it at its lower right corner. "
    "path [[9,9],[40,60],…] draws through points of the element.",
    sends=_sends_point,
    verb="drag",
    activity="dragging",
    group=Group.HANDS,
)
async def drag(
    context: ToolContext,
    *,
    ref: str,
    to: str | None = None,
    dx: float = 0,
    dy: float = 0,
    path: Points,
    x: float | None = None,
    y: float | None = None,
    seconds: HoldSeconds = 0,
) -> Finish:
    """Drag an element to another one, by an offset in pixels, or along a path.

    `x` and `y` are the point at which the element is grabbed; negative values count from the right
    and bottom edges, where windows and fields are resized. `seconds` is how long the button is held
    before dragging, for pages that expect a long press. The points of `path` are offsets from the
    element's corner in pixels; the point given by `x` and `y`, if any, comes before them.
    """
    options: dict[str, Any] = {"at": _offset(x, y), "path": path, "seconds": seconds}
    return await act_on_page(context, lambda tab: tab.drag(ref, to, (dx, dy), **options))


@acting_tool(
    "HIGHLIGHT",
    "selects text with the mouse.",
    group=Group.HANDS,
    verb="select the text {text!r}",
    activity="selecting text",
)
async def highlight(context: ToolContext, *, text: NonEmpty, ref: str | None = None) -> Finish:
    """Select text on the page with the mouse; `ref` names the element that contains it."""
    return await look_on_page(context, lambda tab: tab.highlight(text, ref))


@viewing_tool(
    "SCROLL",
    "scrolls by screens, or to top, bottom or a text.",
    activity="scrolling",
    traits=LOOKS | SHOWS_PAGE,
)
async def scroll(
    context: ToolContext, *, pages: float = 1.0, to: str | None = None, ref: str | None = None
) -> Finish:
    """Scroll by screens (up if negative) or to a position; `ref` scrolls that element."""
    return await look_on_page(context, lambda tab: tab.scroll(pages, ref, to=to))


@viewing_tool("BACK", "goes back.", activity="going back")
async def back(context: ToolContext) -> Finish:
    """Go back to the previous page."""
    return await look_on_page(context, lambda tab: tab.back())


@viewing_tool(
    "WAIT",
    "waits for a text or /pattern/ of the snapshot; without text, the seconds.",
    activity="waiting",
)
async def wait(
    context: ToolContext,
    *,
    text: str = "",
    seconds: Annotated[float, Field(gt=0, le=MAX_WAIT_SECONDS)] = 10,
) -> Finish:
    """Wait until the page contains `text`; without `text`, wait for the full time."""
    return await look_on_page(context, lambda tab: tab.wait_for(text, seconds))


@acting_tool(
    "UPLOAD",
    "uploads a file that the user gave.",
    group=Group.HANDS,
    verb="upload {path} to",
    activity="uploading",
    approval="upload",
)
async def upload(context: ToolContext, *, ref: str, path: str) -> Finish:
    """Upload files that the user passed to the run, one path per line."""
    files = _files_of_run(context, path)
    return await act_on_page(context, lambda tab: tab.upload(ref, files))


# Not listed: this is meant for clients that fill in forms by value; a model clicks instead.
@acting_tool(
    "CHECK",
    "ticks a box.",
    listed=False,
    verb="tick or clear",
    activity="ticking",
    may_submit=True,
    verifies=True,
)
async def check(context: ToolContext, *, ref: str, on: bool = True) -> Finish:
    """Check or uncheck a box."""
    return await act_on_page(context, lambda tab: tab.check(ref, on=on))


@acting_tool(
    "EVALUATE",
    "runs a function in the page.",
    sends=_sends_argument("function"),
    activity="running a script",
)
async def evaluate(
    context: ToolContext,
    *,
    function: Annotated[str, Field(min_length=1, max_length=MAX_SCRIPT_CHARS)],
    ref: str | None = None,
) -> Finish:
    """Call a JavaScript function: `() => …`, or `element => …` for the element with a ref."""
    return await act_on_page(context, lambda tab: tab.evaluate(function, ref))


@acting_tool("DROP", "drops files or data.", sends=_sends_files, activity="dropping")
async def drop(
    context: ToolContext,
    *,
    ref: str,
    path: str = "",
    data: Annotated[dict[str, str], Field(default_factory=dict)],
) -> Finish:
    """Drop files that the user passed to the run, one path per line, or data by MIME type."""
    files = _files_of_run(context, path)
    return await act_on_page(context, lambda tab: tab.drop(ref, files, data))


@acting_tool(
    "DIALOG",
    "answers the dialog that is open.",
    sends=_sends_argument("text"),
    activity="answering the dialog",
)
async def dialog(context: ToolContext, *, accept: bool, text: Unstripped | None = None) -> Finish:
    """Accept or dismiss the open dialog; `text` answers a prompt."""
    return await act_on_page(context, lambda tab: tab.answer_dialog(accept=accept, text=text))


@acting_tool(
    "DOWNLOAD",
    "clicks a link and keeps its file.",
    capped=True,
    group=Group.HANDS,
    verb="download from",
    activity="downloading",
    approval="download",
    traits=CONFIRMS,
)
async def download(context: ToolContext, *, ref: str) -> ToolResult:
    """Click an element that downloads a file, and return where the file was stored."""
    tab, web = require_tab(context), require_web(context)
    if web.attached and not await tab.links_to_data(ref):
        raise ToolError(
            "the user's own Chrome saves files to its downloads folder, which runs do not read",
            hint="READ the address of the file, or ask the user for it.",
        )
    with _recording_act(web):
        async with web.lock:
            kept = await tab.download(ref, context.seconds_left(context.limits.call_seconds))
    if kept.path is None:
        raise ToolError(
            f"{kept.name} was not saved: {kept.reason}", hint="Continue without the file."
        )
    # A run's record may be shared, so it must not reveal the location of the user's files.
    place = {} if context.run else {"path": str(kept.path)}
    # READ accepts the address; after that, PYTHON can compute with the file's passages.
    return ToolResult(
        {
            "file": kept.path.name,
            "bytes": kept.path.stat().st_size,
            **place,
            "url": web.reader.files.add(kept.path),
        }
    )


ACTING_TOOLS = (
    click, type_text, select, press, hover, drag, highlight, scroll, back, wait, upload, check,
)  # fmt: skip
SCRIPTING_TOOLS = (evaluate, drop, dialog)
"""Only for MCP clients that control the browser directly; a run's model acts like a user."""
DOWNLOAD_TOOLS = (download,)
