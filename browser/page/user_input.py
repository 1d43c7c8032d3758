"""Input to a page: pointer, keys, fields, text selection. Each function performs one input.

If an input is not possible, ActionError is raised; its hint suggests what to try instead.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, ElementDetached
from browser.page import injected
from browser.page.waiting import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.async_api import ElementHandle, Frame, Page

    from browser.page.view import Target


Modifier = Literal["Alt", "Control", "Meta", "Shift"]
Button = Literal["left", "middle", "right"]
Point = tuple[float, float]
"""Pixels from an element's left and top edges; negative values, from its right and bottom edges."""
ControlState = dict[str, Any]
"""The state of a control: see `stateOf` in `js/fields.js`."""

POINTER_MS = 2_500  # an element that stays covered or moves for longer is unlikely to become free
RETRY_SECONDS = 0.05  # between checks of a covered element
DRAG_STEPS = 10  # mouse moves; pages ignore a single jump
DRAG_SECONDS = 2.5  # for the steps in between, out of an action's ten seconds
DROP_SECONDS = 0.12  # some sortable lists poll the dragged element's position every 50 ms
MAX_TYPED_CHARS = 120  # longer text is inserted at once, without key events
KEYS_SECONDS = 3.0  # for typing key by key, out of an action's ten seconds; the rest is inserted
KEYS_AT_ONCE = 8
MAX_ARROW_PRESSES = 250  # arrow keys to set a slider, about 5 ms each
NUMBER_READS, NUMBER_SECONDS = 6, 0.025
"""Maximum number of times that a slider is read, and the seconds after each: some update late."""
ARROW_KEY_ROLES = frozenset({"slider", "spinbutton"})
"""Roles of controls that are not native fields and are set with arrow keys."""
FOCUS_MS = 150  # some sheets focus the field for key presses only after the click, others never
_FOCUS_SCRIPT = """(most) => new Promise((done) => {
  const end = performance.now() + most;
  const look = () => {
    if (document.activeElement !== document.body || performance.now() > end) done();
    else setTimeout(look, 5);
  };
  setTimeout(look);
})"""
BY_WHEEL = "by the wheel"
FAR_PIXELS = 1_000_000  # farther than the end of any list
_TYPES_FILLED_AT_ONCE = frozenset("date datetime-local month week time color range".split())
_WRONG_FORMAT = (
    "the value does not have the format that this field requires (2026-03-31, 13:45, #ff0000, 42)"
)
DISABLED_HINT = "Check what the page requires first."
_FORMAT_HINT = "Use the format that the field requires."
# Phrases in Playwright's messages, with our reason and hint.
_REASON_BY_MESSAGE = (
    ("element is not enabled", "it is disabled", DISABLED_HINT),
    ("element is not editable", "it is readonly", "CLICK it, and choose from what it opens."),
    ("element is not visible", "it is not visible", "First CLICK the control that shows it."),
    ("outside of the viewport", "it is outside the scrollable area", None),
    ("is not an <input>", "it is not a field to type into", "CLICK the field and look again."),
    ("Timeout ", "the browser did not reach it in time", "SNAPSHOT, and try again."),
)


_NOT_PRESSED = "but nothing was pressed"


class ClickOptions(TypedDict, total=False):
    """How to click: with which button, how many times, and at which point of the element (`at`).

    `hold` lists the modifier keys to hold down; the button is held for `seconds` (a long press).
    """

    button: Button
    count: int
    at: Point | None
    hold: Sequence[Modifier]
    seconds: float


async def click(target: Target, **options: Unpack[ClickOptions]) -> str:
    """Click the element where nothing covers it, or `at` a point in it.

    Returns a note if another element received the press, otherwise "". The pointer is moved to a
    position on the page, because a page that keeps re-rendering may replace the element in the
    meantime; the element at that position receives the press.
    """
    hit = await _find_hit_point(target, options.get("at"))
    if hit.get("direct"):  # it has no box for the pointer to hit
        await injected.call(target.frame, "pressDirectly")
        return ""
    page, seconds = target.page, options.get("seconds", 0)
    held: list[Modifier] = []
    try:
        # Move the pointer first: when it leaves a menu, the menu may close and move the element.
        x, y, _ = await _aimed_point(target, hit)
        await page.mouse.move(x, y)
        x, y, over = await _aimed_point(target, hit)
        if over:
            return f"{_NOT_PRESSED}: {over} covered the element"
        for key in options.get("hold", ()):
            await page.keyboard.down(key)
            held.append(key)
        await page.mouse.click(
            x,
            y,
            button=options.get("button", "left"),
            click_count=options.get("count", 1),
            delay=seconds * 1000,
        )
    except PlaywrightError as error:
        raise _action_error(error) from error
    finally:
        with suppress(PlaywrightError):  # the click closed the page
            for key in held:
                await page.keyboard.up(key)
    with suppress(PlaywrightError):  # the click opened another page, so it was effective
        if missed := await injected.call(target.frame, "missed"):
            return f"but {missed}"
    return ""


async def _aimed_point(target: Target, hit: dict[str, Any]) -> tuple[float, float, str]:
    """Find the current position of the target point, in CSS pixels of the main viewport.

    Also returns a description of the element that covers it now, if known.
    """
    if target.frame == target.page.main_frame:
        point = await injected.call(target.frame, "aimedPoint")
        if point is not None:
            return point["x"], point["y"], str(point["over"])
    elif box := await target.element.bounding_box():
        return box["x"] + hit["x"], box["y"] + hit["y"], ""
    raise ElementDetached("it left the page")


async def _find_hit_point(target: Target, at: Point | None) -> dict[str, Any]:
    """Find a point where the element can be hit; waits POINTER_MS while it moves or is covered.

    Returns the result of `aim` in `js/pointer.js`. Raises ElementDetached, ActionError.
    """
    until = time.monotonic() + POINTER_MS / 1000
    arguments = {"element": target.element, "ref": target.ref, "at": at}
    hovered = False
    while True:
        hit: dict[str, Any] = await injected.call(target.frame, "aim", arguments)
        if "why" not in hit:
            return hit
        reason = str(hit["why"])
        if hit.get("left"):
            raise ElementDetached(reason)
        if hit.get("over") and not hovered and target.frame == target.page.main_frame:
            hovered = True  # a row may show its buttons only when the pointer is over it
            await target.page.mouse.move(hit["over"]["x"], hit["over"]["y"])
            continue
        if not hit.get("wait") or time.monotonic() > until:
            hint = DISABLED_HINT if hit.get("off") else None
            if hit.get("over"):
                hint = "HOVER the element next to it first, then SNAPSHOT."
            if "covers" in reason:
                hint = "Close it, or PRESS Escape, then SNAPSHOT."
            raise ActionError(reason, hint=hint)
        await asyncio.sleep(RETRY_SECONDS)


async def hit_point(target: Target, at: Point | None = None, *, covered: bool = False) -> Point:
    """Find where the element can be hit, in CSS pixels of the main viewport.

    With `covered`, its middle is used, even if something covers it: a drop target may contain other
    elements.
    """
    if not covered:
        hit = await _find_hit_point(target, at)
        if not hit.get("direct"):
            return (await _aimed_point(target, hit))[:2]
    box = await target.element.bounding_box()
    if box is None:
        raise ActionError("the element has no position on the page")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def hover(target: Target, at: Point | None = None) -> None:
    """Move the pointer onto the element, or to a point in it."""
    await target.page.mouse.move(*await hit_point(target, at))


async def wheel(page: Page, element: ElementHandle | None, pixels: float) -> str:
    """Turn the mouse wheel over the middle of an element or the page; returns BY_WHEEL."""
    box: Any = await element.bounding_box() if element else None
    if box is None:
        box = await page.evaluate("({ x: 0, y: 0, width: innerWidth, height: innerHeight })")
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.wheel(0, pixels)
    return BY_WHEEL


async def drag(page: Page, start: Point, stops: Sequence[Point], seconds: float = 0) -> None:
    """Drag from a point in the viewport through the `stops`, in steps that event handlers can see.

    The button is first held down for `seconds`, as some pages wait for that. Steps between stops
    are skipped when a slow page has used up DRAG_SECONDS.
    """
    await page.mouse.move(*start)
    await page.mouse.down()
    await asyncio.sleep(seconds)
    until = time.monotonic() + DRAG_SECONDS
    steps = max(2, DRAG_STEPS // len(stops))
    try:
        for (x, y), (next_x, next_y) in pairwise([start, *stops]):
            for step in range(1, steps):
                if time.monotonic() < until:
                    share = step / steps
                    await page.mouse.move(x + (next_x - x) * share, y + (next_y - y) * share)
            await page.mouse.move(next_x, next_y)
        await page.mouse.move(*stops[-1])  # Chrome may have merged the last move with a step
        await asyncio.sleep(DROP_SECONDS)
    finally:
        # Always release the button: otherwise, the next press would continue the drag.
        await page.mouse.up()


async def press(page: Page, keys: Sequence[str]) -> None:
    """Press keys one after another, with names such as `Enter`, `Control+a`, `ArrowDown`."""
    for key in keys:
        try:
            await page.keyboard.press(key)
        except PlaywrightError as error:
            hint = "Key names look like Enter or Control+a."
            raise ActionError(first_line(error), hint=hint) from error


async def control_state(target: Target) -> ControlState:
    """Return a control's current state."""
    state: ControlState = await injected.call(target.frame, "stateOf", target.element)
    return state


async def related(
    target: Target,
    function: Literal["fieldIn", "openedIn", "swappedFor", "drawnFor", "openerOf"],
) -> Target:
    """Find the control to use instead of `target`, with a function from `js/fields.js`.

    The functions are `fieldIn` (finds the field inside a wrapper), `openedIn` (the field that
    opened in a cell), `swappedFor` (the field that replaced another one), `drawnFor` (the custom
    list for a hidden select) and `openerOf` (the button that opens a combobox's list). Returns
    `target` if the function finds nothing.
    """
    handle = await injected.call_handle(target.frame, function, target.element)
    element = handle.as_element()
    return replace(target, element=element) if element else target


async def complete_in_opened(
    target: Target, text: str, before: ControlState
) -> tuple[Target, ControlState]:
    """Fill the field that opened when the text was typed, in case it missed the first keys.

    A grid cell opens a field inside itself; an input for formatted numbers may be replaced by
    another field. Returns the field and its state, or `target` and `before` if no field opened.
    """
    is_cell = before["kind"] in {"keys", "cell"}
    with suppress(PlaywrightError):  # the keys may have led to another page
        field = await related(target, "openedIn" if is_cell else "swappedFor")
        if field is target and not is_cell:
            return target, before
        state = await control_state(field)
        if state["text"] is None:
            return target, before
        if state["text"] != text:
            await fill(field, text, state)
        return field, state
    return target, before


async def fill(target: Target, text: str, before: ControlState) -> None:
    """Replace a field's content with `text`, key by key if it is short; `before` is its state."""
    element, kind = target.element, before["kind"]
    if kind in ARROW_KEY_ROLES:
        await _set_with_keys(target, text, before)
        return
    if kind == "keys":  # a terminal or a game board, which only listens for keys
        await append(target, text)
        return
    if kind == "cell":  # in a sheet, typed text replaces the content of the selected cell
        await _press_cell(target)
        await _type(target.page, text)
        return
    if kind == "editor":
        await _paste(target, text, "ControlOrMeta+a")
        return
    try:
        if kind in _TYPES_FILLED_AT_ONCE or kind == "number":
            await _fill_with_format(target, text, before)
        elif len(text) > MAX_TYPED_CHARS:
            await element.fill(text, timeout=POINTER_MS)
        else:
            await _retype(target, text, before)
    except PlaywrightError as error:
        raise _action_error(error) from error


async def _fill_with_format(target: Target, text: str, before: ControlState) -> None:
    """Fill a field that accepts one format; if it rejects `text`, restore its value and raise."""
    element = target.element
    old = await element.input_value()
    try:
        if before["kind"] == "number" and len(text) <= MAX_TYPED_CHARS:
            await _retype(target, text, before)
        else:
            await element.fill(text, timeout=POINTER_MS)
    except PlaywrightError as error:
        if "Malformed value" not in error.message:
            raise
    else:
        # A field with a value that cannot be parsed is empty; a colour is black.
        value = await element.input_value()
        is_colour = before["kind"] == "color"
        if value.casefold() == text.strip().casefold() if is_colour else (value or not text):
            return
    await element.fill(old, timeout=POINTER_MS)
    raise ActionError(_WRONG_FORMAT, hint=_FORMAT_HINT)


async def _retype(target: Target, text: str, before: ControlState) -> None:
    """Clear a field and type `text` into it; again if the page restored what it had contained."""
    if before["bare"]:
        await target.element.focus()
    else:
        await target.element.fill("", timeout=POINTER_MS)  # this also focuses it
    await _type(target.page, text)
    old = before["text"]
    if text and old and await _has_restored_content(target, old, text):
        await target.element.select_text(timeout=POINTER_MS)
        await _type(target.page, text)


async def _has_restored_content(target: Target, old: str, text: str) -> bool:
    """Whether the page restored the `old` content after clearing, before the text was typed."""
    return (await control_state(target))["text"] in {old + text, text + old}


async def _press_cell(target: Target, times: int = 1) -> None:
    """Click a sheet's cell to select it, twice to open it; raises ActionError if that fails."""
    problem = await click(target, count=times)
    if problem.startswith(_NOT_PRESSED):  # otherwise, the keys show whether it was selected
        reason = problem.removeprefix(f"{_NOT_PRESSED}: ")
        raise ActionError(f"not typed: {reason}")
    with suppress(PlaywrightError):  # the click may have led to another page
        await target.frame.evaluate(_FOCUS_SCRIPT, FOCUS_MS)


async def append(target: Target, text: str, kind: str = "") -> None:
    """Type at the end of a field's content."""
    if kind == "cell":
        await _press_cell(target, times=2)
        await target.page.keyboard.press("End")
        await _type(target.page, text)
        return
    if kind == "editor":
        await _paste(target, text, "ControlOrMeta+End")
        return
    await target.element.focus()  # puts the caret back in its last position
    await injected.call(target.frame, "toTheEnd", target.element)
    if kind == "rich":  # an editor that draws its own caret moves it only on key presses
        await target.page.keyboard.press("ControlOrMeta+End")
    await _type(target.page, text)


async def _set_with_keys(target: Target, text: str, before: ControlState) -> None:
    """Set a slider or a date part that is not a native field, with digits or arrow keys.

    Raises ActionError if it does not accept the value.
    """
    keyboard = target.page.keyboard
    await target.element.focus()
    try:
        wanted = float(text.strip().rstrip("%"))
    except ValueError:  # a word, such as PM or May
        if before["kind"] == "slider":
            raise ActionError(
                f"{text!r} is not a number", hint="Use a number as the value."
            ) from None
        await keyboard.type(text)
        return
    low, high = before["least"], before["most"]
    if (low is not None and wanted < low) or (high is not None and wanted > high):
        bounds = f"from {low:g} to {high:g}" if None not in (low, high) else "bounded"
        raise ActionError(f"{text} is out of range ({bounds})")
    if before["kind"] == "spinbutton":
        await keyboard.type(text.strip())
        if (await control_state(target))["number"] == wanted:
            return
        await target.element.focus()  # digits may have moved the focus to the next part
    if (await control_state(target))["number"] is None:  # an empty part of a date
        await keyboard.press("ArrowUp")
    await _press_towards(target, wanted)


async def _press_towards(target: Target, wanted: float) -> None:
    """Press arrow keys until `aria-valuenow` is `wanted`, or as close to it as possible."""
    keyboard, left = target.page.keyboard, MAX_ARROW_PRESSES
    now: float | None = (await control_state(target))["number"]
    up, down = "ArrowUp", "ArrowDown"
    while now is not None and now != wanted and left > 0:
        key = up if wanted > now else down
        await keyboard.press(key)
        left -= 1
        after = await _read_settled_number(target, now)
        if after is None or after == now:  # it did not move: vertical arrow keys may have no effect
            if up == "ArrowRight":
                return
            up, down = "ArrowRight", "ArrowLeft"
            continue
        if (after - wanted) * (now - wanted) < 0:  # the steps skip the value
            if abs(now - wanted) < abs(after - wanted):
                await keyboard.press(down if key == up else up)
            return
        times = max(0, int(abs(wanted - after) / abs(after - now)) - 1)
        for _ in range(min(left, times)):
            await keyboard.press(key)
        left -= times
        now = await _read_settled_number(target, after) if times else after


async def _read_settled_number(target: Target, before: float | None = None) -> float | None:
    """Read a slider once it has changed from `before` and is stable, or when time is up."""
    last = before
    for _ in range(NUMBER_READS):
        now: float | None = (await control_state(target))["number"]
        if now == last and now != before:
            return now
        last = now
        await asyncio.sleep(NUMBER_SECONDS)
    return last


async def _paste(target: Target, text: str, keys: str) -> None:
    """Paste into an editor that renders its text; `keys` are pressed first, to place the caret."""
    await target.element.focus()
    await target.page.keyboard.press(keys)
    arguments = {"element": target.element, "text": text}
    if not text or not await injected.call(target.frame, "paste", arguments):
        await type_over_selection(target.page, text)


async def type_over_selection(page: Page, text: str) -> None:
    """Replace the selection with `text`."""
    if text:
        await _type(page, text)
    else:
        await page.keyboard.press("Delete")


async def _type(page: Page, text: str) -> None:
    # A tab key would leave the field; after an indented line, editors also indent the next line.
    if len(text) > MAX_TYPED_CHARS or "\t" in text or "\n " in text:
        await page.keyboard.insert_text(text)
        return
    until = time.monotonic() + KEYS_SECONDS
    for at in range(0, len(text), KEYS_AT_ONCE):
        if time.monotonic() > until:  # the page handles each key slowly
            await page.keyboard.insert_text(text[at:])
            return
        await page.keyboard.type(text[at : at + KEYS_AT_ONCE])


async def upload(target: Target, paths: Sequence[Path]) -> None:
    """Fill a file field, or the file chooser that a click on a button opens."""
    files = [str(path) for path in paths]
    try:
        if (await control_state(target))["kind"] == "file":
            await target.element.set_input_files(files, timeout=POINTER_MS)
            return
        async with target.page.expect_file_chooser(timeout=POINTER_MS) as opened:
            await click(target)
        await (await opened.value).set_files(files, timeout=POINTER_MS)
    except PlaywrightError as error:
        raise _action_error(error) from error


async def select_text(frame: Frame, text: str, element: ElementHandle | None = None) -> None:
    """Select text in an element or the document; raises ActionError if the text is missing.

    The pointer is dragged over the text. If that selects something else (the text is in several
    columns, or not selectable with the pointer), a script sets the selection.
    """
    arguments = {"text": text, "element": element}
    ends: dict[str, Any] | None = await injected.call(frame, "textEnds", arguments)
    if ends is None:
        hint = "FIND the text, and use its exact wording."
        raise ActionError(f"{text!r} is not on the page", hint=hint)
    left, top = 0.0, 0.0  # the frame's position in the main viewport
    if frame.parent_frame is not None:
        box = await (await frame.frame_element()).bounding_box()
        left, top = (box["x"], box["y"]) if box else (left, top)
    start, end = ((left + x, top + y) for x, y in (ends["start"], ends["end"]))
    if ends["is_editor"]:  # a drag may move text that is already selected
        await frame.page.mouse.click(*start)
        await frame.page.keyboard.down("Shift")
        try:
            await frame.page.mouse.click(*end)
        finally:
            await frame.page.keyboard.up("Shift")
        return
    await drag(frame.page, start, [end])
    await injected.call(frame, "selectText", arguments)


def _action_error(error: PlaywrightError) -> ActionError:
    if "not attached to the DOM" in error.message:
        return ElementDetached("it left the page")
    for phrase, reason, hint in _REASON_BY_MESSAGE:
        if phrase in error.message:
            return ActionError(reason, hint=hint)
    return ActionError(first_line(error))
