"""Selecting text as a person does: pressed at its beginning, let go at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.errors import ActionError
from browser.page import actions, library

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Frame, Page


async def select_text(
    page: Page, frame: Frame, text: str, element: ElementHandle | None = None
) -> None:
    """Select a text within an element, else in the document; raises ActionError without it.

    Where the pointer did not bring just that (text that cannot be selected by it, or is broken
    over columns), the selection is set.
    """
    question = {"text": text, "element": element}
    ends: dict[str, Any] | None = await library.call(frame, "textEnds", question)
    if ends is None:
        raise ActionError(
            f"{text!r} does not stand there", hint="FIND it, and give it as it stands."
        )
    left, top = await _origin(frame)
    start, end = ends["start"], ends["end"]
    await actions.drag(page, (left + start[0], top + start[1]), (left + end[0], top + end[1]))
    await library.call(frame, "selectText", question)


async def _origin(frame: Frame) -> tuple[float, float]:
    """Where a frame's viewport begins in the main one."""
    if frame.parent_frame is None:
        return 0, 0
    box = await (await frame.frame_element()).bounding_box()
    return (box["x"], box["y"]) if box else (0, 0)
