"""Acting on the open page by ref: CLICK, TYPE, SELECT, PRESS, and the like."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agent.errors import ToolError
from agent.guard.secret_store import named_in
from agent.tools.context import web_of
from agent.tools.page_tools import look, open_tab, pictures_of, taken_down, with_pictures
from agent.tools.registry import NoParams, Params, Risk, Tool, ToolResult
from agent.tools.sources import listed, register
from browser.net.url import host, registrable_domain
from browser.types import ActionOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent.evidence.store import Source
    from agent.tools.context import ToolContext
    from agent.types import Passage
    from browser.page.tab import Tab
    from browser.types import Page


NEW_TEXT_CHARS = 2_000
"""Room for the passages that an action brought; READ gives the rest."""
MOST_SECONDS = 5
"""A button is held down for at most half of what an action may take."""
MOST_POINTS = 100
"""Of a drawn path: each takes some 20 ms of the ten seconds that an action has."""
LONGEST_WAIT = 45
"""Seconds; a call may take a minute in all."""
LONGEST_SCRIPT = 8_000
"""Characters."""
HELD = r"^(Alt|Control|Meta|Shift)(\+(Alt|Control|Meta|Shift))*$"
"""Keys that a click can hold down."""
SAID_TWICE = 60
"""Characters from which a text is not shown both where it stands and as a passage."""

_WORD = re.compile(r"[^\W\d_]{3}")

AsWritten = Annotated[str, StringConstraints(strip_whitespace=False)]
"""Blanks at its ends belong to a text that is entered."""
Act = Callable[["Tab", Any], Awaitable[ActionOutcome]]
Finish = Callable[[], ToolResult]


class ClickParams(Params):
    """`count` 2 is a double click; `dialog` answers a question that the page asks.

    `x` and `y` are pixels from the element's corner, for pictures and canvases. `hold` keeps a key
    down, as where several are chosen; `seconds` keeps the button down, as for a long press.
    """

    ref: str
    button: Literal["left", "right", "middle"] = "left"
    count: int = Field(1, ge=1, le=3)
    hold: str | None = Field(None, pattern=HELD)
    seconds: float = Field(0, ge=0, le=MOST_SECONDS)
    dialog: str | None = None
    x: float | None = None
    y: float | None = None


class TypeParams(Params):
    """`append` keeps what is in the field, and `instead` all of it but the part it names.

    `submit` presses Enter afterwards.
    """

    ref: str
    text: AsWritten
    submit: bool = False
    append: bool = False
    instead: AsWritten | None = None


class SelectParams(Params):
    """`value` is the option's text or value."""

    ref: str
    value: str


class CheckParams(Params):
    """Whether a box is to be ticked, or not."""

    ref: str
    on: bool = True


class PressParams(Params):
    """Keys such as `Enter`, `Control+a`, pressed one after the other: blanks stand between them."""

    keys: str
    ref: str | None = None


class RefParams(Params):
    """An element."""

    ref: str


class HoverParams(Params):
    """`x` and `y` are pixels from the element's corner."""

    ref: str
    x: float | None = None
    y: float | None = None


class DragParams(Params):
    """From one element to another, or by an offset in pixels.

    `x` and `y` say where it is taken hold of; negative ones count from the right and the bottom,
    where windows and fields are resized. `seconds` is how long it is held first, where a page
    waits for a long press. `path` are points from the element's corner, drawn one after the other.
    """

    ref: str
    to: str | None = None
    dx: float = 0
    dy: float = 0
    path: list[tuple[float, float]] = Field(default_factory=list, max_length=MOST_POINTS)
    x: float | None = None
    y: float | None = None
    seconds: float = Field(0, ge=0, le=MOST_SECONDS)


class HighlightParams(Params):
    """A text as it stands on the page; `ref` says in which element."""

    text: str = Field(min_length=1)
    ref: str | None = None


class ScrollParams(Params):
    """By screens (negative is up), or to `top`, `bottom` or a text; `ref` scrolls that element."""

    pages: float = 1.0
    to: str | None = None
    ref: str | None = None


class WaitParams(Params):
    """Waits until the text, or the pattern between two slashes, stands on the page.

    Without a text it waits all of the `seconds`.
    """

    text: str = ""
    seconds: float = Field(10, gt=0, le=LONGEST_WAIT)


class UploadParams(Params):
    """`path` is a file that was given with --file; of several each has a line."""

    ref: str
    path: str


class EvaluateParams(Params):
    """A JavaScript function, `() => …`, or `element => …` of a ref."""

    function: str = Field(min_length=1, max_length=LONGEST_SCRIPT)
    ref: str | None = None


class DropParams(Params):
    """Files that were given with --file, a line each, or data by MIME type."""

    ref: str
    path: str = ""
    data: dict[str, str] = Field(default_factory=dict)


class DialogParams(Params):
    """Whether to accept a dialog, and the text for one that asks for one."""

    accept: bool
    text: AsWritten | None = None


def acting(act: Act) -> Callable[[ToolContext, Any], Awaitable[Finish]]:
    """Make a tool of an action: do it on the open page, say what changed, register new text."""

    async def run(context: ToolContext, params: Any) -> Finish:
        tab = open_tab(context)
        web = web_of(context)
        async with web.lock:
            before = tab.url
            outcome = await act(tab, params)
            if tab.events.closed:
                return lambda: ToolResult({"did": outcome.did, "events": list(outcome.events)})
            if outcome.url != before and await taken_down(context, tab):
                outcome = replace(outcome, changes=(await look(context, tab)).text)
            page, pictures = await web.read_tab(), await pictures_of(context, tab)
        return lambda: with_pictures(_acted(context, page, outcome), pictures)

    return run


async def upload(context: ToolContext, params: UploadParams) -> Finish:
    """Hand a file over: only one that the person gave to the run."""
    files = _given(context, params.path)
    return await acting(lambda tab, p: tab.upload(p.ref, files))(context, params)


async def drop(context: ToolContext, params: DropParams) -> Finish:
    """Drop files that the person gave to the run, or data, onto an element."""
    files = _given(context, params.path)
    return await acting(lambda tab, p: tab.drop(p.ref, files, p.data))(context, params)


def _given(context: ToolContext, paths: str) -> list[Path]:
    given = {str(path): path for path in context.files}
    given |= {path.name: path for path in context.files}
    for path in paths.splitlines():
        if path not in given:
            names = ", ".join(path.name for path in context.files) or "none"
            raise ToolError(f"{path} was not given to this run", hint=f"Files given: {names}.")
    return [given[path] for path in paths.splitlines()]


async def type_text(context: ToolContext, params: TypeParams) -> Finish:
    """Type a text, or a stored secret by its name, after which the run is logged in there."""
    name = named_in(params.text)
    if not name or context.secrets is None:
        act: Act = lambda tab, p: tab.type(  # noqa: E731 - one of two ways
            p.ref, p.text, submit=p.submit, append=p.append, instead=p.instead
        )
        return await acting(act)(context, params)
    store = context.secrets

    def value_for(url: str) -> str | None:
        value = store.value(name, url)
        if value is not None:
            context.redactor.add(value)
            context.read.sites.add(registrable_domain(host(url)))
        return value

    return await acting(lambda tab, p: tab.type_secret(p.ref, value_for, submit=p.submit))(
        context, params
    )


def _acted(context: ToolContext, page: Page, outcome: ActionOutcome) -> ToolResult:
    data: dict[str, Any] = {"did": outcome.did, "url": page.url}
    if outcome.events:
        data["events"] = list(outcome.events)
    if page.document is None or not page.document.text.strip():
        return ToolResult(data, outcome.changes, "page", snapshot=outcome.changes)
    source, new = _new_passages(context, page)
    data["source"] = source.name
    worth = [passage for passage in new if not _figures_alone(passage.text)]
    fresh, shown = listed(worth, NEW_TEXT_CHARS)
    changes = _once(outcome.changes, shown).strip()
    body = changes if not fresh else f"{changes}\n\nNew text:\n{fresh}"
    return ToolResult(data, body.strip(), source.name, passages=shown, snapshot=changes)


def _new_passages(context: ToolContext, page: Page) -> tuple[Source, list[Passage]]:
    """Make a page as it stands now a source: with it the passages that an action brought."""
    known = context.evidence.by_url(page.url)
    before = {passage.text for passage in known.passages} if known else set()
    source = register(context, page)
    new = [passage for passage in source.passages if passage.text not in before]
    return source, new if before else []


def _figures_alone(text: str) -> bool:
    """Whether this is a row of a table without a word: a calendar's weeks stand in the changes."""
    return text.startswith("|") and not _WORD.search(text)


def _once(changes: str, new: Sequence[Passage]) -> str:
    """Leave a long text out of the changes that is listed below them as a passage."""
    ids = {" ".join(p.text.split()): p.id for p in new if len(p.text) >= SAID_TWICE}

    def line(said: str) -> str:
        sign, text = said[:1], said[1:].strip(" …")
        return f"{sign} ({ids[text]}, below)" if sign in ("+", "~") and text in ids else said

    return "\n".join(map(line, changes.split("\n")))


def _offset(params: ClickParams | HoverParams | DragParams) -> tuple[float, float] | None:
    """The point of the element, where one was named."""
    if params.x is None or params.y is None:
        return None
    return params.x, params.y


def _tool(name: str, told: str, params: type[Params], act: Act, risk: Risk = Risk.EXTERNAL) -> Tool:
    return Tool(name, told, params, acting(act), risk, capped=False)


ACTING_TOOLS = (
    _tool(
        "CLICK",
        "clicks; seconds 2 is a long press.",
        ClickParams,
        lambda tab, p: tab.click(
            p.ref,
            button=p.button,
            count=p.count,
            at=_offset(p),
            hold=p.hold.split("+") if p.hold else (),
            seconds=p.seconds,
            dialog=p.dialog,
        ),
    ),
    Tool(
        "TYPE",
        "types into a field, replacing what is in it, or the part named by instead; "
        "<secret>NAME</secret> types a password that the person stored.",
        TypeParams,
        type_text,
        Risk.EXTERNAL,
        capped=False,
    ),
    _tool(
        "SELECT",
        "chooses an option; several, with `;` between them, where the list takes several.",
        SelectParams,
        lambda tab, p: tab.select(p.ref, p.value),
    ),
    _tool(
        "PRESS",
        "presses keys, one after the other: `ArrowDown ArrowDown Enter`, `Control+a`.",
        PressParams,
        lambda tab, p: tab.press(p.keys, p.ref),
    ),
    _tool("HOVER", "hovers.", HoverParams, lambda tab, p: tab.hover(p.ref, _offset(p)), Risk.READ),
    _tool(
        "DRAG",
        "drags an element to another, or by pixels; x -4, y -4 takes it at its lower right corner. "
        "path [[9,9],[40,60],…] draws through points of the element.",
        DragParams,
        lambda tab, p: tab.drag(
            p.ref, p.to, (p.dx, p.dy), at=_offset(p), path=p.path, seconds=p.seconds
        ),
    ),
    _tool(
        "HIGHLIGHT",
        "selects text with the mouse.",
        HighlightParams,
        lambda tab, p: tab.highlight(p.text, p.ref),
        Risk.READ,
    ),
    _tool(
        "SCROLL",
        "scrolls by screens, or to top, bottom or a text.",
        ScrollParams,
        lambda tab, p: tab.scroll(p.pages, p.ref, to=p.to),
        Risk.READ,
    ),
    _tool("BACK", "goes back.", NoParams, lambda tab, _: tab.back(), Risk.READ),
    _tool(
        "WAIT",
        "waits for a text, or a /pattern/, as a snapshot shows it; without text, the seconds.",
        WaitParams,
        lambda tab, p: tab.wait_for(p.text, p.seconds),
        Risk.READ,
    ),
    Tool("UPLOAD", "hands over a file.", UploadParams, upload, Risk.EXTERNAL, capped=False),
    replace(  # for who fills forms by values; a model clicks what it sees
        _tool("CHECK", "ticks a box.", CheckParams, lambda tab, p: tab.check(p.ref, on=p.on)),
        listed=False,
    ),
)
SCRIPTING_TOOLS = (
    _tool(
        "EVALUATE",
        "runs a function in the page.",
        EvaluateParams,
        lambda tab, p: tab.evaluate(p.function, p.ref),
    ),
    Tool("DROP", "drops files or data.", DropParams, drop, Risk.EXTERNAL, capped=False),
    _tool(
        "DIALOG",
        "answers the dialog that is open.",
        DialogParams,
        lambda tab, p: tab.answer_dialog(accept=p.accept, text=p.text),
    ),
)
"""For clients that steer the browser themselves; a run's model acts as a person does."""


async def download(context: ToolContext, params: RefParams) -> ToolResult:
    """Click what gives a file, and say where it was put."""
    tab, web = open_tab(context), web_of(context)
    if web.attached:
        raise ToolError(
            "in a person's own Chrome a file goes to that person's downloads, where we do not look",
            hint="READ the address of the file, or ask the person for it.",
        )
    async with web.lock:
        kept = await tab.download(params.ref, context.seconds_left(context.limits.call_seconds))
    if kept.path is None:
        raise ToolError(f"{kept.name} was not kept: {kept.why}", hint="Go on without the file.")
    size = kept.path.stat().st_size
    return ToolResult({"file": kept.path.name, "bytes": size, "path": str(kept.path)})


DOWNLOAD_TOOLS = (
    Tool("DOWNLOAD", "clicks a link and keeps its file.", RefParams, download, Risk.EXTERNAL),
)
