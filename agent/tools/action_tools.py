"""Acting on the open page by ref: CLICK, TYPE, SELECT, PRESS, and the like."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agent.errors import ToolError
from agent.guard.secret_store import secret_name
from agent.tools.context import web_of
from agent.tools.page_tools import look, open_tab, pictures_of, take_wall_down, with_pictures
from agent.tools.registry import NonEmpty, Risk, ToolResult, tool
from agent.tools.sources import list_passages, register
from browser.net.url import host, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish
    from browser.page.tab import Tab
    from browser.types import ActionOutcome, Page


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
Held = Annotated[float, Field(ge=0, le=MOST_SECONDS)]
"""Seconds."""
Points = Annotated[list[tuple[float, float]], Field(default_factory=list, max_length=MOST_POINTS)]

looking = partial(tool, capped=False, on_page=True, acts=True)
acting = partial(looking, risk=Risk.EXTERNAL)


async def act_on_page(
    context: ToolContext, act: Callable[[Tab], Awaitable[ActionOutcome]]
) -> Finish:
    """Do something on the open page, say what changed, and register the text that is new."""
    tab = open_tab(context)
    web = web_of(context)
    async with web.lock:
        before = tab.url
        outcome = await act(tab)
        if tab.events.closed:
            return lambda: ToolResult({"did": outcome.did, "events": list(outcome.events)})
        if outcome.url != before and await take_wall_down(context, tab):
            outcome = replace(outcome, changes=(await look(context, tab)).text)
        page, pictures = await web.read_tab(), await pictures_of(context, tab)
    return lambda: with_pictures(_acted(context, page, outcome), pictures)


def _acted(context: ToolContext, page: Page, outcome: ActionOutcome) -> ToolResult:
    data: dict[str, Any] = {"did": outcome.did, "url": page.url}
    if outcome.events:
        data["events"] = list(outcome.events)
    if page.document is None or not page.document.text.strip():
        return ToolResult(data, outcome.changes, "page", snapshot=outcome.changes)
    # The page was read before, as it then was; of a new page everything would be new.
    known = context.evidence.by_url(page.url)
    before = {passage.text for passage in known.passages} if known else set()
    source = register(context, page)
    data["source"] = source.name
    new = [passage for passage in source.passages if before and passage.text not in before]
    # A table's row without a word, such as a calendar's weeks, stands in the changes.
    worth = [p for p in new if not p.text.startswith("|") or _WORD.search(p.text)]
    fresh, shown = list_passages(worth, NEW_TEXT_CHARS)
    below = {" ".join(p.text.split()): p.id for p in shown if len(p.text) >= SAID_TWICE}

    def once(line: str) -> str:
        sign, text = line[:1], line[1:].strip(" …")
        return f"{sign} ({below[text]}, below)" if sign in ("+", "~") and text in below else line

    changes = "\n".join(map(once, outcome.changes.split("\n"))).strip()
    body = changes if not fresh else f"{changes}\n\nNew text:\n{fresh}"
    return ToolResult(data, body.strip(), source.name, passages=shown, snapshot=changes)


def _given_files(context: ToolContext, paths: str) -> list[Path]:
    given = {name: path for path in context.files for name in (str(path), path.name)}
    for path in paths.splitlines():
        if path not in given:
            names = ", ".join(path.name for path in context.files) or "none"
            raise ToolError(f"{path} was not given to this run", hint=f"Files given: {names}.")
    return [given[path] for path in paths.splitlines()]


def _offset(x: float | None, y: float | None) -> tuple[float, float] | None:
    """The point of the element, where one was named."""
    return None if x is None or y is None else (x, y)


@acting("CLICK", "clicks; seconds 2 is a long press.")
async def click(
    context: ToolContext,
    *,
    ref: str,
    button: Literal["left", "right", "middle"] = "left",
    count: Annotated[int, Field(ge=1, le=3)] = 1,
    hold: Annotated[str | None, Field(pattern=HELD)] = None,
    seconds: Held = 0,
    dialog: str | None = None,
    x: float | None = None,
    y: float | None = None,
) -> Finish:
    """`count` 2 is a double click; `dialog` answers a question that the page asks.

    `x` and `y` are pixels from the element's corner, for pictures and canvases. `hold` keeps a key
    down, as where several are chosen; `seconds` keeps the button down, as for a long press.
    """
    how: dict[str, Any] = {"button": button, "count": count, "seconds": seconds, "dialog": dialog}
    how |= {"at": _offset(x, y), "hold": hold.split("+") if hold else ()}
    return await act_on_page(context, lambda tab: tab.click(ref, **how))


@acting(
    "TYPE",
    "types into a field, replacing what is in it, or the part named by instead; "
    "<secret>NAME</secret> types a password that the person stored.",
)
async def type_text(
    context: ToolContext,
    *,
    ref: str,
    text: AsWritten,
    submit: bool = False,
    append: bool = False,
    instead: AsWritten | None = None,
) -> Finish:
    """Type a text, or a stored secret by its name, after which the run is logged in there.

    `append` keeps what is in the field, and `instead` all of it but the part it names. `submit`
    presses Enter afterwards.
    """
    name, store = secret_name(text), context.secrets
    if not name or store is None:
        how: dict[str, Any] = {"submit": submit, "append": append, "instead": instead}
        return await act_on_page(context, lambda tab: tab.type(ref, text, **how))

    def value_for(url: str) -> str | None:
        value = store.value(name, url)
        if value is not None:
            # The page may show it back; and what the run sees from now on is seen logged in.
            context.redactor.add(value)
            context.provenance.sites.add(registrable_domain(host(url)))
        return value

    return await act_on_page(context, lambda tab: tab.type_secret(ref, value_for, submit=submit))


@acting(
    "SELECT",
    "chooses an option; several, with `;` between them, where the list takes several.",
)
async def select(context: ToolContext, *, ref: str, value: str) -> Finish:
    """`value` is the option's text or value."""
    return await act_on_page(context, lambda tab: tab.select(ref, value))


@acting("PRESS", "presses keys, one after the other: `ArrowDown ArrowDown Enter`, `Control+a`.")
async def press(context: ToolContext, *, keys: str, ref: str | None = None) -> Finish:
    """Keys such as `Enter`, `Control+a`: blanks stand between them."""
    return await act_on_page(context, lambda tab: tab.press(keys, ref))


@looking("HOVER", "hovers.")
async def hover(
    context: ToolContext, *, ref: str, x: float | None = None, y: float | None = None
) -> Finish:
    """`x` and `y` are pixels from the element's corner."""
    return await act_on_page(context, lambda tab: tab.hover(ref, _offset(x, y)))


@acting(
    "DRAG",
    "drags an element to another, or by pixels; x -4, y -4 takes it at its lower right corner. "
    "path [[9,9],[40,60],…] draws through points of the element.",
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
    seconds: Held = 0,
) -> Finish:
    """From one element to another, or by an offset in pixels.

    `x` and `y` say where it is taken hold of; negative ones count from the right and the bottom,
    where windows and fields are resized. `seconds` is how long it is held first, where a page
    waits for a long press. `path` are points from the element's corner, drawn one after the other.
    """
    how: dict[str, Any] = {"at": _offset(x, y), "path": path, "seconds": seconds}
    return await act_on_page(context, lambda tab: tab.drag(ref, to, (dx, dy), **how))


@looking("HIGHLIGHT", "selects text with the mouse.")
async def highlight(context: ToolContext, *, text: NonEmpty, ref: str | None = None) -> Finish:
    """A text as it stands on the page; `ref` says in which element."""
    return await act_on_page(context, lambda tab: tab.highlight(text, ref))


@looking("SCROLL", "scrolls by screens, or to top, bottom or a text.")
async def scroll(
    context: ToolContext, *, pages: float = 1.0, to: str | None = None, ref: str | None = None
) -> Finish:
    """By screens (negative is up), or to a place; `ref` scrolls that element."""
    return await act_on_page(context, lambda tab: tab.scroll(pages, ref, to=to))


@looking("BACK", "goes back.")
async def back(context: ToolContext) -> Finish:
    """Go back."""
    return await act_on_page(context, lambda tab: tab.back())


@looking(
    "WAIT",
    "waits for a text, or a /pattern/, as a snapshot shows it; without text, the seconds.",
)
async def wait(
    context: ToolContext,
    *,
    text: str = "",
    seconds: Annotated[float, Field(gt=0, le=LONGEST_WAIT)] = 10,
) -> Finish:
    """Wait until the text stands on the page; without one, all of the seconds."""
    return await act_on_page(context, lambda tab: tab.wait_for(text, seconds))


@acting("UPLOAD", "hands over a file.")
async def upload(context: ToolContext, *, ref: str, path: str) -> Finish:
    """Hand files over, a line each: only such as the person gave to the run (--file)."""
    files = _given_files(context, path)
    return await act_on_page(context, lambda tab: tab.upload(ref, files))


@acting("CHECK", "ticks a box.", listed=False)  # for who fills forms by values; a model clicks
async def check(context: ToolContext, *, ref: str, on: bool = True) -> Finish:
    """Tick a box, or not."""
    return await act_on_page(context, lambda tab: tab.check(ref, on=on))


@acting("EVALUATE", "runs a function in the page.")
async def evaluate(
    context: ToolContext,
    *,
    function: Annotated[str, Field(min_length=1, max_length=LONGEST_SCRIPT)],
    ref: str | None = None,
) -> Finish:
    """A JavaScript function, `() => …`, or `element => …` of a ref."""
    return await act_on_page(context, lambda tab: tab.evaluate(function, ref))


@acting("DROP", "drops files or data.")
async def drop(
    context: ToolContext,
    *,
    ref: str,
    path: str = "",
    data: Annotated[dict[str, str], Field(default_factory=dict)],
) -> Finish:
    """Drop files that the person gave to the run, a line each, or data by MIME type."""
    files = _given_files(context, path)
    return await act_on_page(context, lambda tab: tab.drop(ref, files, data))


@acting("DIALOG", "answers the dialog that is open.")
async def dialog(context: ToolContext, *, accept: bool, text: AsWritten | None = None) -> Finish:
    """Whether to accept a dialog, and the text for one that asks for one."""
    return await act_on_page(context, lambda tab: tab.answer_dialog(accept=accept, text=text))


@acting("DOWNLOAD", "clicks a link and keeps its file.", capped=True)
async def download(context: ToolContext, *, ref: str) -> ToolResult:
    """Click what gives a file, and say where it was put."""
    tab, web = open_tab(context), web_of(context)
    if web.attached:
        raise ToolError(
            "in a person's own Chrome a file goes to that person's downloads, where we do not look",
            hint="READ the address of the file, or ask the person for it.",
        )
    async with web.lock:
        kept = await tab.download(ref, context.seconds_left(context.limits.call_seconds))
    if kept.path is None:
        raise ToolError(f"{kept.name} was not kept: {kept.why}", hint="Go on without the file.")
    size = kept.path.stat().st_size
    return ToolResult({"file": kept.path.name, "bytes": size, "path": str(kept.path)})


ACTING_TOOLS = (
    click, type_text, select, press, hover, drag, highlight, scroll, back, wait, upload, check,
)  # fmt: skip
SCRIPTING_TOOLS = (evaluate, drop, dialog)
"""For clients that steer the browser themselves; a run's model acts as a person does."""
DOWNLOAD_TOOLS = (download,)
