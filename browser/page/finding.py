"""FIND: finds lines anywhere on the page, scrolling long lists if necessary."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

from browser.page import injected
from browser.page.driver import LOOK_SECONDS
from browser.page.lines import plain_text
from browser.page.snapshot import find_lines
from browser.page.waiting import keep_rendering, within
from browser.types import FindResult

if TYPE_CHECKING:
    from browser.page.driver import PageDriver
    from browser.page.lines import PageLine

SEEK_SECONDS = 12.0  # for scrolling long lists: about a thousand rows per second
_TOO_LARGE = "(the page is too large to be searched completely)"
_LOADS_MORE = "(a list loads more as it is scrolled; the text is not in the loaded part)"
_SEARCH_INCOMPLETE = (
    f"(a long list was searched for {SEEK_SECONDS:g} s, but not to its end: FIND again to continue"
    " from there)"
)


async def find(driver: PageDriver, text: str) -> FindResult:
    """Find lines by text, role or words; see `Tab.find`."""
    lines, complete = await _lines_with_text(driver, text)
    result, text_refs = find_lines(lines, text), await _refs_of_text(driver, text)
    notes = [] if complete else [_TOO_LARGE]
    if not result.found and not text_refs:
        lines, note = await _scroll_lists_to(driver, text)
        if lines:
            result = find_lines(lines, text)
        if note:
            notes.append(note)
        text_refs = await _refs_of_text(driver, text)
    extra = [
        f'[{ref} text: {plain_text(match)}] in "{plain_text(row)}"' for ref, match, row in text_refs
    ]
    shown = "\n".join([result.text, *extra, *notes])
    return FindResult(shown, result.found or bool(extra), result.citable)


async def _lines_with_text(driver: PageDriver, text: str) -> tuple[list[PageLine], bool]:
    """The view's lines, plus any matching lines that are missing because the page is too large.

    Also returns whether the entire page was searched.
    """
    view = await driver.look()
    if not view.cut_below and not view.cut_above:
        return view.lines, True
    known = {line.text for line in view.lines}
    async with within(LOOK_SECONDS, "read the page"):
        more, complete = await driver.frames.lines_with_text(text)
    for line in more:
        view.refs.update(line.refs)
    new = [line for line in more if line.text not in known]
    view.found += (line for line in new if line not in view.found)
    return [*view.lines, *new], complete


async def _refs_of_text(driver: PageDriver, text: str) -> list[tuple[str, str, str]]:
    async with within(LOOK_SECONDS, "read the page"):
        return list(await injected.call(driver.page.main_frame, "refsOfText", text))


async def _scroll_lists_to(driver: PageDriver, text: str) -> tuple[list[PageLine], str]:
    """Scroll lists that render or load only their visible part until the text appears.

    Returns the page's lines (none if the text does not appear), and a note for the result.
    """
    until = time.monotonic() + SEEK_SECONDS
    note = ""
    async with (
        within(SEEK_SECONDS + LOOK_SECONDS, f"look for {text!r}"),
        keep_rendering(driver.page),
    ):
        for frame in await driver.frames.visible():
            for attempt in itertools.count():
                remaining = max(0, int((until - time.monotonic()) * 1000))
                options = {"text": text, "ms": remaining, "more": attempt > 0}
                state: dict[str, Any] = await injected.call(frame, "seek", options)
                if state.get("late"):
                    return [], _SEARCH_INCOMPLETE
                if state.get("grew"):
                    note = _LOADS_MORE
                    continue  # try the next list
                if not state.get("found"):
                    break
                view = await driver.look()
                if find_lines(view.lines, text).found:
                    place = "a row with all its words" if state.get("byWords") else "it"
                    return view.lines, f"(a list was scrolled to {place})"
    return [], note
