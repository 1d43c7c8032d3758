"""What a control holds after an act, beside what it was to hold; told where that is otherwise."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, RefError
from browser.page.user_input import state_of
from browser.page.view import target_of
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.page.driver import PageDriver
    from browser.page.view import Target

TOLD = 80
"""Characters of what a control reads instead."""
_LEFT = "it left the page, and was not read back"


async def held(driver: PageDriver, target: Target) -> dict[str, Any] | None:
    """What a control holds once the page has had its say; None where it left the page.

    One that was drawn anew is found again.
    """
    await driver.settle()
    with suppress(PlaywrightError, RefError):
        state = await state_of(target)
        if state["left"]:
            state = await state_of(await target_of(driver.frames, target.ref))
        return None if state["left"] else state
    return None


async def typed(
    driver: PageDriver, target: Target, before: dict[str, Any], text: str, *, whole: bool
) -> str:
    """Read back what was typed; a line where it is otherwise. `whole`: it replaced all there was.

    Raises ActionError where the field took nothing of it.
    """
    if before["text"] is None:
        # What only hears keys shows what it likes; an editor keeps its text elsewhere.
        return "what it shows was not read back"
    after = await held(driver, target)
    if after is None or after["text"] is None:
        return _LEFT
    wanted, stands = _bare(text), _bare(after["text"])
    if stands == wanted if whole else wanted in stands:
        return ""
    now = f"says {clean(after['text'])[:TOLD]!r}" if after["text"] else "is empty"
    now = "says something else" if after["secret"] else now
    if not stands or stands == _bare(before["text"]):
        raise ActionError(
            f"the field did not take the text: it {now}",
            hint="CLICK it and look, or PRESS the keys one by one.",
        )
    return f"but the field now {now}"


async def pressed(driver: PageDriver, target: Target, before: dict[str, Any]) -> str:
    """Read back what a click turns on or off; a line where it stayed as it was `before`."""
    if before["on"] is None:
        return ""
    after = await held(driver, target)
    if after is None:
        return "" if before["role"] == "option" else _LEFT  # the list of a choice closes
    if after["on"] != before["on"] or (before["stays"] and before["on"][0]):
        return ""
    on, word = after["on"]
    return f"but it is still {'mixed' if on == 'mixed' else word if on else f'not {word}'}"


async def chosen(driver: PageDriver, target: Target, label: str) -> str:
    """Read back what was chosen in a native select; a line where that reads otherwise."""
    after = await held(driver, target)
    if after is None:
        return _LEFT
    same = _bare(after["reads"]) == _bare(label)
    return "" if same else f"but it now reads {after['reads'][:TOLD]!r}"


async def taken(driver: PageDriver, target: Target, option: Target, names: Iterable[str]) -> str:
    """Read back a choice from a list that the page draws; a line where nothing says that it stands.

    The option says that it is on, or what opened the list reads one of the `names` for it.
    """
    after = await held(driver, option)
    if after and after["on"] and after["role"] == "option":
        on, word = after["on"]
        return "" if on else f"but {word} it is not"
    after = await held(driver, target)
    if after is None:
        return _LEFT
    if after["role"] == "listbox":  # it reads all of its options
        return "its choice was not read back"
    reads = _bare(after["reads"])
    if any(_bare(name) in reads or (reads and reads in _bare(name)) for name in names):
        return ""
    return f"but it now reads {after['reads'][:TOLD]!r}"


def _bare(text: str) -> str:
    """Letters and digits alone, or all but blanks where there are none."""
    folded = text.casefold()
    return "".join(filter(str.isalnum, folded)) or "".join(folded.split())
