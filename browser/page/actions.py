"""What a hand does on a page: pointer, keys, fields. Each takes an element and does one thing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError
from browser.page.deadline import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.async_api import ElementHandle, Page, Position

Button = Literal["left", "middle", "right"]

POINTER_MS = 2_000  # an element that is covered or moving for longer will not come free by itself
KEYS_AT_MOST = 120  # longer texts are put in at once; key handlers matter for what is short
_INTERCEPTED = re.compile(
    r"(<[^>]{1,120}>)[^<]*(?:from <[^>]+> subtree )?intercepts pointer events"
)
_FILLED_AT_ONCE = frozenset("date datetime-local month week time color range number".split())
_KIND = (
    "e => e.tagName === 'INPUT' ? e.type : e.isContentEditable ? 'rich' : e.tagName.toLowerCase()"
)
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
    element: ElementHandle,
    *,
    button: Button = "left",
    count: int = 1,
    position: Position | None = None,
) -> None:
    """Click in the middle, or at a point given in pixels from the element's corner."""
    try:
        await element.click(button=button, click_count=count, position=position, timeout=POINTER_MS)
    except PlaywrightError as error:
        raise _why_not(error) from error


async def fill(page: Page, element: ElementHandle, text: str) -> None:
    """Put text into a field, key by key where it is short, replacing what was there."""
    kind = str(await element.evaluate(_KIND))
    try:
        if kind in _FILLED_AT_ONCE or len(text) > KEYS_AT_MOST:
            await element.fill(text, timeout=POINTER_MS)
            return
        await element.fill("", timeout=POINTER_MS)
        await element.focus()
        await page.keyboard.type(text)
    except PlaywrightError as error:
        raise _why_not(error) from error


async def press(page: Page, keys: Sequence[str]) -> None:
    """Press keys one after the other, each as `Enter`, `Control+a`, `ArrowDown`."""
    for key in keys:
        try:
            await page.keyboard.press(key)
        except PlaywrightError as error:
            raise ActionError(
                first_line(error), hint="Keys are named as Enter or Control+a."
            ) from error


async def choose(element: ElementHandle, value: str) -> bool:
    """Select a native option by its text or value; False when the element is no native select."""
    if str(await element.evaluate(_KIND)) != "select":
        return False
    index = int(await element.evaluate(_OPTION_INDEX, value))
    if index < 0:
        raise ActionError(f"no option {value!r} here", hint="See the options with EXPAND.")
    await element.select_option(index=index, timeout=POINTER_MS)
    return True


async def drag(page: Page, element: ElementHandle, to: tuple[float, float]) -> None:
    """Drag from the element's middle to a point of the viewport, in steps that handlers see."""
    await element.scroll_into_view_if_needed(timeout=POINTER_MS)
    x, y = await middle(element)
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move((x + to[0]) / 2, (y + to[1]) / 2, steps=4)
    await page.mouse.move(*to, steps=6)
    await page.mouse.up()


async def middle(element: ElementHandle) -> tuple[float, float]:
    """Find the middle of an element in the viewport, in CSS pixels."""
    box = await element.bounding_box()
    if box is None:
        raise ActionError("the element has no place on the page")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _why_not(error: PlaywrightError) -> ActionError:
    covering = _INTERCEPTED.search(error.message)
    if covering:
        return ActionError(f"something covers it: {covering[1]}")
    for sign, reason in _REASONS:
        if sign in error.message:
            return ActionError(reason)
    return ActionError(first_line(error))


_REASONS = (
    ("element is not enabled", "it is disabled"),
    ("element is not editable", "it cannot be edited"),
    ("element is not visible", "it is not visible"),
    ("element is not stable", "it keeps moving"),
    ("outside of the viewport", "it is outside of what can be scrolled to"),
    ("is not an <input>", "it is no field to type into"),
    (
        "Malformed value",
        "the value has not the form that this field takes (2026-03-31, 13:45, #ff0000)",
    ),
)
