"""What a hand does on a page: pointer, keys, fields. Each takes an element and does one thing."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, ElementLeft
from browser.page import library
from browser.page.deadline import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.async_api import Page, Position

    from browser.page.refs import Target

Button = Literal["left", "middle", "right"]
Held = Literal["Alt", "Control", "Meta", "Shift"]
Offset = tuple[float, float] | None
"""Pixels from an element's left and top edge; negative ones from its right and bottom edge."""

POINTER_MS = 1_000  # an element that is covered or moving for longer will not come free by itself
RETRY_SECONDS = 0.05
DRAG_STEPS = 10
DRAG_SECONDS = 2.5  # of an action's ten, for the steps on the way
KEYS_AT_MOST = 120  # longer texts are put in at once; key handlers matter for what is short
_FILLED_AT_ONCE = frozenset("date datetime-local month week time color range number".split())
_KIND = """e => {
  if (e.tagName === 'INPUT') return e.type;
  if (e.isContentEditable) return 'rich';
  const given = e.hasAttribute('tabindex') && !/^(TEXTAREA|SELECT|BUTTON|A)$/.test(e.tagName);
  return given ? 'keys' : e.tagName.toLowerCase();
}"""
_TO_THE_END = """e => {
  if (e.isContentEditable) {
    getSelection().selectAllChildren(e);
    getSelection().collapseToEnd();
  } else if (Number.isInteger(e.selectionEnd)) {
    e.setSelectionRange(e.value.length, e.value.length);
  }
}"""
_IS_CHECKED = """e => { const control = e.control ?? e;
  return control.checked ?? control.getAttribute('aria-checked') === 'true'; }"""
_OPTION_INDEX = """(select, wanted) => {
  const options = [...select.options];
  const same = (text) => text.trim().replace(/\\s+/g, ' ').toLowerCase();
  const tests = [
    (o) => same(o.label) === same(wanted), (o) => o.value === wanted,
    (o) => same(o.label).includes(same(wanted)),
  ];
  for (const test of tests) {
    const found = options.filter(test);
    if (found.length === 1 || (found.length && test !== tests[2])) return options.indexOf(found[0]);
  }
  return -1;
}"""


async def click(
    target: Target,
    *,
    button: Button = "left",
    count: int = 1,
    offset: Offset = None,
    hold: Held | None = None,
    seconds: float = 0,
) -> None:
    """Click where the element can be hit, or at an offset in pixels from its corner.

    Whether the element is at rest and free is asked here: Playwright would count animation frames.
    `hold` is a key held down meanwhile; the button stays
    down for `seconds`.
    """
    spot = await _aim(target, offset)
    if spot.get("direct"):
        await target.element.evaluate("e => e.click()")
        return
    left, top = spot["border"]  # Playwright counts from within it
    position: Position = {"x": spot["x"] - left, "y": spot["y"] - top}
    try:
        await target.element.click(
            button=button,
            click_count=count,
            position=position,
            modifiers=[hold] if hold else None,
            force=True,
            delay=seconds * 1000,
            timeout=POINTER_MS + seconds * 1000,
        )
    except PlaywrightError as error:
        raise _why_not(error) from error


async def _aim(target: Target, offset: Offset = None) -> dict[str, Any]:
    """Find the point to hit; what moves or is covered is given POINTER_MS to come free."""
    until = time.monotonic() + POINTER_MS / 1000
    while True:
        question = {"element": target.element, "offset": offset}
        spot: dict[str, Any] = await library.call(target.frame, "aim", question)
        if "why" not in spot:
            return spot
        if spot.get("left"):
            raise ElementLeft(str(spot["why"]))
        if not spot.get("wait") or time.monotonic() > until:
            raise ActionError(str(spot["why"]))
        await asyncio.sleep(RETRY_SECONDS)


async def fill(page: Page, target: Target, text: str) -> None:
    """Put text into a field, key by key where it is short, replacing what was there."""
    element = target.element
    kind = str(await element.evaluate(_KIND))
    if kind == "keys":  # a terminal, a board: it hears keys and shows what it likes
        await add(page, target, text)
        return
    try:
        if kind in _FILLED_AT_ONCE or len(text) > KEYS_AT_MOST:
            await element.fill(text, timeout=POINTER_MS)
            if kind in _FILLED_AT_ONCE and text and not await element.input_value():
                raise ActionError(_FORM)  # the browser drops what it cannot read
            return
        await element.fill("", timeout=POINTER_MS)
        await element.focus()
        await page.keyboard.type(text)
    except PlaywrightError as error:
        raise _why_not(error) from error


async def add(page: Page, target: Target, text: str) -> None:
    """Type at the end of what stands in a field."""
    await target.element.focus()
    await target.element.evaluate(_TO_THE_END)
    await _type(page, text)


async def overtype(page: Page, text: str) -> None:
    """Type in place of what is selected."""
    if text:
        await _type(page, text)
    else:
        await page.keyboard.press("Delete")


async def _type(page: Page, text: str) -> None:
    if len(text) > KEYS_AT_MOST:
        await page.keyboard.insert_text(text)
    else:
        await page.keyboard.type(text)


async def press(page: Page, keys: Sequence[str]) -> None:
    """Press keys one after the other, each as `Enter`, `Control+a`, `ArrowDown`."""
    for key in keys:
        try:
            await page.keyboard.press(key)
        except PlaywrightError as error:
            raise ActionError(
                first_line(error), hint="Keys are named like Enter or Control+a."
            ) from error


async def choose(target: Target, value: str) -> bool:
    """Select a native option by its text or value; False when the element is no native select.

    A select that takes several is given them together, separated by `;`.
    """
    element = target.element
    if str(await element.evaluate(_KIND)) != "select":
        return False
    several = bool(await element.evaluate("select => select.multiple"))
    values = [part.strip() for part in value.split(";")] if several else [value]
    indexes = [await _option(target, one) for one in values if one]
    await element.select_option(index=indexes, timeout=POINTER_MS)
    return True


async def _option(target: Target, value: str) -> int:
    index = int(await target.element.evaluate(_OPTION_INDEX, value))
    if index < 0:
        raise ActionError(f"no option {value!r} here", hint="SNAPSHOT its ref for all options.")
    return index


async def is_checked(target: Target) -> bool:
    """Whether a checkbox, radio, switch or the control of a label is on."""
    return bool(await target.element.evaluate(_IS_CHECKED))


async def upload(page: Page, target: Target, paths: Sequence[Path]) -> None:
    """Fill a file field; of a button, the one its click opens."""
    files = [str(path) for path in paths]
    try:
        if str(await target.element.evaluate(_KIND)) == "file":
            await target.element.set_input_files(files, timeout=POINTER_MS)
            return
        async with page.expect_file_chooser(timeout=POINTER_MS) as opened:
            await click(target)
        await (await opened.value).set_files(files, timeout=POINTER_MS)
    except PlaywrightError as error:
        raise _why_not(error) from error


async def hover(page: Page, target: Target, offset: Offset = None) -> None:
    """Move the pointer onto the element."""
    await page.mouse.move(*await point_of(target, offset))


async def drag(
    page: Page, start: tuple[float, float], to: tuple[float, float], seconds: float = 0
) -> None:
    """Drag from a point of the viewport to another, in steps that handlers see.

    The button is held down for `seconds` before the first, where a page waits for that.

    A page that answers them slowly has its way cut short. The button is let go whatever happens,
    or the next press would go on dragging.
    """
    (x, y), (left, top) = start, (to[0] - start[0], to[1] - start[1])
    await page.mouse.move(x, y)
    await page.mouse.down()
    await asyncio.sleep(seconds)
    until = time.monotonic() + DRAG_SECONDS
    try:
        for step in range(1, DRAG_STEPS):
            if time.monotonic() < until:
                await page.mouse.move(x + left * step / DRAG_STEPS, y + top * step / DRAG_STEPS)
        for _ in range(2):  # the first may still wait in line with the last step
            await page.mouse.move(*to)
    finally:
        await page.mouse.up()


async def point_of(
    target: Target, offset: Offset = None, *, covered: bool = False
) -> tuple[float, float]:
    """Find where the element can be hit, in CSS pixels of the main viewport.

    A place to drop something may be `covered` by what lies in it: its middle is taken.
    """
    spot = {} if covered else await _aim(target, offset)
    box = await target.element.bounding_box()
    if box is None:
        raise ActionError("the element has no place on the page")
    x, y = spot.get("x", box["width"] / 2), spot.get("y", box["height"] / 2)
    return box["x"] + x, box["y"] + y


def _why_not(error: PlaywrightError) -> ActionError:
    if "not attached to the DOM" in error.message:
        return ElementLeft("it left the page")
    for sign, reason in _REASONS:
        if sign in error.message:
            return ActionError(reason)
    return ActionError(first_line(error))


_FORM = "the value has not the form that this field takes (2026-03-31, 13:45, #ff0000, 42)"
_REASONS = (
    ("element is not enabled", "it is disabled"),
    ("element is not editable", "it cannot be edited"),
    ("element is not visible", "it is not visible"),
    ("element is not stable", "it keeps moving"),
    ("outside of the viewport", "it is outside of what can be scrolled to"),
    ("is not an <input>", "it is no field to type into"),
    ("Malformed value", _FORM),
)
