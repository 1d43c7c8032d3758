"""From a ref to its element, or a named failure at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.async_api import ElementHandle

from browser.errors import RefError
from browser.page import library
from browser.page.deadline import within

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from browser.page.view import Frames

RESOLVE_SECONDS = 5.0  # only a page whose own script runs without end takes as long


@dataclass(frozen=True, slots=True)
class Target:
    """An element under our hand, and the frame it lives in."""

    ref: str
    element: ElementHandle
    frame: Frame


async def target_of(frames: Frames, ref: str) -> Target:
    """Find the element of a ref, also after it was re-rendered, when that is unambiguous.

    Raises RefError, with lines of candidates, when it is gone or no longer certain. The page is
    watched for changes from here on, so that settling knows what the action did.
    """
    frame = frames.of(ref)
    if frame is None:
        raise RefError(f"{ref} is not a ref of this page")
    async with within(RESOLVE_SECONDS, f"find {ref}"):
        found = await library.call_handle(frame, "take", ref)
        if isinstance(found, ElementHandle):
            return Target(ref, found, frame)
        failure = await found.json_value()
    candidates = tuple(str(line) for line in failure["candidates"])
    raise RefError(str(failure["why"]), candidates=candidates)
