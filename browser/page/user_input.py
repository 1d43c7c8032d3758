"""Input to a page: pointer, keys, fields, selections. Each function does one thing to an element.

What the page does not let happen raises ActionError, with what to try instead as its hint.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, ElementLeft
from browser.page import injected
from browser.page.waiting import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.async_api import ElementHandle, Frame, Page, Position

    from browser.page.view import Target


Modifier = Literal["Alt", "Control", "Meta", "Shift"]
Button = Literal["left", "middle", "right"]
Point = tuple[float, float]
"""Pixels from an element's left and top edge; negative ones from its right and bottom edge."""
ControlState = dict[str, Any]
"""What a control holds: see `stateOf` of `js/fields.js`."""

POINTER_MS = 2_500  # what is covered or moves for longer does not come free by itself
RETRY_SECONDS = 0.05
DRAG_STEPS = 10
DRAG_SECONDS = 2.5  # of an action's ten, for the steps on the way
DROP_SECONDS = 0.12  # lists that look by a clock where a thing is held do so every 50 ms
KEYS_AT_MOST = 120  # longer texts are put in at once; key handlers matter for what is short
BY_WHEEL = "by the wheel"
FAR = 1_000_000  # pixels: more than any list has
_FILLED_AT_ONCE = frozenset("date datetime-local month week time color range".split())
_BAD_FORM = "the value has not the form that this field takes (2026-03-31, 13:45, #ff0000, 42)"
_FORM_HINT = "Give it in that form."
# Playwright's words for what it waited for in vain, and ours.
_REASONS = (
    ("element is not enabled", "it is disabled", "See what the page wants before it."),
    ("element is not editable", "it is readonly", "CLICK it, and choose in what it opens."),
    ("element is not visible", "it is not visible", "CLICK what shows it first."),
    ("outside of the viewport", "it is outside of what can be scrolled to", None),
    ("is not an <input>", "it is no field to type into", "CLICK the field and look again."),
    ("Malformed value", _BAD_FORM, _FORM_HINT),
    ("Timeout ", "the browser did not get to it in time", "SNAPSHOT, and do it again."),
)


class ClickOptions(TypedDict, total=False):
    """How to click: which button, how often, `at` which point of the element.

    `hold` are keys that are down meanwhile; the button stays down for
    `seconds` (a long press).
    """

    button: Button
    count: int
    at: Point | None
    hold: Sequence[Modifier]
    seconds: float


async def click(target: Target, **how: Unpack[ClickOptions]) -> str:
    """Click where the element can be hit, or `at` a point of it.

    Gives a line where another element got the press. Whether the element is at rest and free is
    asked here: Playwright would count animation frames.
    """
    aimed = await _aim(target, how.get("at"))
    if aimed.get("direct"):
        await target.element.evaluate("e => e.click()")
        return ""
    left, top = aimed["border"]  # Playwright counts from within it
    hold, seconds = how.get("hold", ()), how.get("seconds", 0)
    position: Position = {"x": aimed["x"] - left, "y": aimed["y"] - top}
    try:
        # First the pointer alone: what closes as it leaves, such as a menu, may move the element.
        await target.element.hover(position=position, force=True, timeout=POINTER_MS)
        await target.element.click(
            button=how.get("button", "left"),
            click_count=how.get("count", 1),
            position=position,
            modifiers=hold or None,
            force=True,
            delay=seconds * 1000,
            timeout=POINTER_MS + seconds * 1000,
        )
    except PlaywrightError as error:
        raise _action_error(error) from error
    with suppress(PlaywrightError):  # the click led elsewhere: it did something
        if missed := await injected.call(target.frame, "missed"):
            return f"but {missed}"
    return ""


async def _aim(target: Target, at: Point | None = None) -> dict[str, Any]:
    """Find the point to hit; what moves or is covered is given POINTER_MS to come free."""
    until = time.monotonic() + POINTER_MS / 1000
    while True:
        question = {"element": target.element, "at": at}
        aimed: dict[str, Any] = await injected.call(target.frame, "aim", question)
        if "why" not in aimed:
            return aimed
        if aimed.get("left"):
            raise ElementLeft(str(aimed["why"]))
        if not aimed.get("wait") or time.monotonic() > until:
            covered = "covers" in aimed["why"]
            hint = "Close it, or PRESS Escape, then SNAPSHOT." if covered else None
            raise ActionError(str(aimed["why"]), hint=hint)
        await asyncio.sleep(RETRY_SECONDS)


async def point_of(target: Target, at: Point | None = None, *, covered: bool = False) -> Point:
    """Find where the element can be hit, in CSS pixels of the main viewport.

    A place to drop something may be `covered` by what lies in it: its middle is taken.
    """
    aimed = {} if covered else await _aim(target, at)
    box = await target.element.bounding_box()
    if box is None:
        raise ActionError("the element has no place on the page")
    x, y = aimed.get("x", box["width"] / 2), aimed.get("y", box["height"] / 2)
    return box["x"] + x, box["y"] + y


async def hover(target: Target, at: Point | None = None) -> None:
    """Move the pointer onto the element, or to a point of it."""
    await target.page.mouse.move(*await point_of(target, at))


async def wheel(page: Page, element: ElementHandle | None, pixels: float) -> str:
    """Turn the wheel over an element, or over the middle of the page; gives how it was scrolled."""
    box = await element.bounding_box() if element else None
    over = box or await page.evaluate("({ x: 0, y: 0, width: innerWidth, height: innerHeight })")
    await page.mouse.move(over["x"] + over["width"] / 2, over["y"] + over["height"] / 2)
    await page.mouse.wheel(0, pixels)
    return BY_WHEEL


async def drag(page: Page, start: Point, way: Sequence[Point], seconds: float = 0) -> None:
    """Drag from a point of the viewport along a way of others, in steps that handlers see.

    The button is held down for `seconds` before the first, where a page waits for that.

    A page that answers them slowly has its way cut short, but for the points named. The button is
    let go whatever happens, or the next press would go on dragging.
    """
    await page.mouse.move(*start)
    await page.mouse.down()
    await asyncio.sleep(seconds)
    until = time.monotonic() + DRAG_SECONDS
    steps = max(2, DRAG_STEPS // len(way))
    try:
        for (x, y), (left, top) in pairwise([start, *way]):
            for step in range(1, steps):
                if time.monotonic() < until:
                    share = step / steps
                    await page.mouse.move(x + (left - x) * share, y + (top - y) * share)
            await page.mouse.move(left, top)
        await page.mouse.move(*way[-1])  # the one before may still wait in line with a step
        await asyncio.sleep(DROP_SECONDS)
    finally:
        await page.mouse.up()


async def press(page: Page, keys: Sequence[str]) -> None:
    """Press keys one after the other, each as `Enter`, `Control+a`, `ArrowDown`."""
    for key in keys:
        try:
            await page.keyboard.press(key)
        except PlaywrightError as error:
            hint = "Keys are named like Enter or Control+a."
            raise ActionError(first_line(error), hint=hint) from error


async def state_of(target: Target) -> ControlState:
    """Ask what a control holds now."""
    found: ControlState = await injected.call(target.frame, "stateOf", target.element)
    return found


async def related(target: Target, how: Literal["fieldIn", "drawnFor"]) -> Target:
    """The field inside of what is none itself, or the list drawn for a select that nobody sees.

    The target itself where there is no such thing.
    """
    found = await injected.call_handle(target.frame, how, target.element)
    element = found.as_element()
    return replace(target, element=element) if element else target


async def fill(target: Target, text: str, before: ControlState) -> None:
    """Put text into a field, key by key where it is short, in place of what it held `before`."""
    element, kind = target.element, before["kind"]
    if kind == "keys":  # a terminal, a board: it hears keys and shows what it likes
        await append(target, text)
        return
    if kind == "editor":
        await _paste(target, text, "ControlOrMeta+a")
        return
    try:
        if kind in _FILLED_AT_ONCE or len(text) > KEYS_AT_MOST:
            await element.fill(text, timeout=POINTER_MS)
        else:  # Either way it has the focus then.
            await (element.focus() if before["bare"] else element.fill("", timeout=POINTER_MS))
            await _type(target.page, text)
        formed = kind in _FILLED_AT_ONCE or kind == "number"  # it drops what it cannot read
        if formed and text and not await element.input_value():
            raise ActionError(_BAD_FORM, hint=_FORM_HINT)
    except PlaywrightError as error:
        raise _action_error(error) from error


async def append(target: Target, text: str, kind: str = "") -> None:
    """Type at the end of what stands in a field."""
    if kind == "editor":
        await _paste(target, text, "ControlOrMeta+End")
        return
    await target.element.focus()  # which puts the caret where it was last
    await injected.call(target.frame, "toTheEnd", target.element)
    await _type(target.page, text)


async def _paste(target: Target, text: str, first: str) -> None:
    """Put a text into an editor that draws its text itself, where the keys `first` bring it."""
    await target.element.focus()
    await target.page.keyboard.press(first)
    handed = {"element": target.element, "text": text}
    if not text or not await injected.call(target.frame, "paste", handed):
        await overtype(target.page, text)


async def overtype(page: Page, text: str) -> None:
    """Type in place of what is selected."""
    if text:
        await _type(page, text)
    else:
        await page.keyboard.press("Delete")


async def _type(page: Page, text: str) -> None:
    # A tab typed as a key leaves the field; editors indent the line after one that is indented.
    if len(text) > KEYS_AT_MOST or "\t" in text or "\n " in text:
        await page.keyboard.insert_text(text)
    else:
        await page.keyboard.type(text)


async def upload(target: Target, paths: Sequence[Path]) -> None:
    """Fill a file field; of a button, the one its click opens."""
    files = [str(path) for path in paths]
    try:
        if (await state_of(target))["kind"] == "file":
            await target.element.set_input_files(files, timeout=POINTER_MS)
            return
        async with target.page.expect_file_chooser(timeout=POINTER_MS) as opened:
            await click(target)
        await (await opened.value).set_files(files, timeout=POINTER_MS)
    except PlaywrightError as error:
        raise _action_error(error) from error


async def select_text(frame: Frame, text: str, element: ElementHandle | None = None) -> None:
    """Select a text within an element, else in the document; raises ActionError without it.

    Where the pointer did not bring just that (text that cannot be selected by it, or is broken
    over columns), the selection is set.
    """
    question = {"text": text, "element": element}
    ends: dict[str, Any] | None = await injected.call(frame, "textEnds", question)
    if ends is None:
        hint = "FIND it, and give it as it stands."
        raise ActionError(f"{text!r} does not stand there", hint=hint)
    left, top = 0.0, 0.0  # of the frame, in the main viewport
    if frame.parent_frame is not None:
        box = await (await frame.frame_element()).bounding_box()
        left, top = (box["x"], box["y"]) if box else (left, top)
    start, end = ends["start"], ends["end"]
    way = [(left + end[0], top + end[1])]
    await drag(frame.page, (left + start[0], top + start[1]), way)
    await injected.call(frame, "selectText", question)


def _action_error(error: PlaywrightError) -> ActionError:
    if "not attached to the DOM" in error.message:
        return ElementLeft("it left the page")
    for sign, reason, hint in _REASONS:
        if sign in error.message:
            return ActionError(reason, hint=hint)
    return ActionError(first_line(error))
