"""Controls beyond fields: an option of a drawn list chosen, and what a control holds after an act.

A drawn list is a combobox, a listbox, a framework's select. What a control holds is told where it
is not what it was to hold.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, RefError
from browser.page import injected, user_input
from browser.page.user_input import state_of
from browser.page.view import target_of
from browser.page.waiting import drawing
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.page.driver import PageDriver
    from browser.page.view import Target, View

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


OPTIONS_TOLD = 30
LIST_SECONDS = 4.0  # of an action's ten, for the scrolling of a list of options
_OPTIONS = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem"})


async def choose_shown(driver: PageDriver, target: Target, value: str) -> str:
    """Choose an option in a list that the page draws; several with `;` between, one by one.

    Gives what was not as it should be; raises ActionError that names the options there are.
    """
    try:
        return await _choose_one(driver, target, value)
    except ActionError:
        parts = [part.strip() for part in value.split(";")]
        if len(parts) == 1:
            raise
    said = [await _choose_one(driver, target, part) for part in parts if part]
    return "; ".join(filter(None, said))


async def _choose_one(driver: PageDriver, target: Target, value: str) -> str:
    """Click the option that reads `value` in a list that the page draws, open or not.

    The list is closed again. Gives a line where another element got the press; raises
    ActionError that names the options there are.
    """
    known = _seen(await driver.look())
    folded = (await user_input.state_of(target))["fold"] == "collapsed"
    options = {} if folded else _options(known)
    found = _reading(options, value)
    if not found:
        await user_input.click(target)
        await driver.settle()
        options = _options(_seen(await driver.look()), known)
        found = _reading(options, value)
    if not found and options and await _rolled_to(driver, value, next(iter(options))):
        options = _options(_seen(await driver.look()), known)
        found = _reading(options, value)
    said = ""
    if len(found) == 1:
        option = await target_of(driver.frames, found[0])
        role = (await user_input.state_of(option))["role"]
        said = await user_input.click(option)
        await driver.settle()
        if not said and not role.startswith("menuitem"):  # a menu acts, and holds nothing
            said = await taken(driver, target, option, (value, options[found[0]]))
    await _fold(driver, target)
    if len(found) != 1:
        which = f"{len(found)} options read {value!r}" if found else f"no option reads {value!r}"
        told = "; ".join([*dict.fromkeys(options.values())][:OPTIONS_TOLD])
        there = f"there are: {told}" if told else "no list of options opened"
        raise ActionError(f"{which}; {there}", hint="SELECT one as it reads, or CLICK it.")
    return said


async def _rolled_to(driver: PageDriver, value: str, option: str) -> bool:
    """Scroll a list that draws only some of its options, until one says the value."""
    target = await target_of(driver.frames, option)
    asked = {"text": value, "ms": LIST_SECONDS * 1000, "more": False, "element": target.element}
    async with drawing(driver.page):
        state = await injected.call(target.frame, "seek", asked)
    return bool(state.get("found"))


async def _fold(driver: PageDriver, target: Target) -> None:
    """Close a list that is still open, as one is in which several can be chosen."""
    with suppress(PlaywrightError):  # the choice led to another page
        if (await user_input.state_of(target))["fold"] == "expanded":
            await driver.page.keyboard.press("Escape")
            await driver.settle()


def _seen(view: View) -> dict[str, str]:
    """What can be seen and acted on, role and name by ref."""
    rows = [(line.unseen, ref, what) for line in view.lines for ref, what in line.refs.items()]
    return {ref: what for unseen, ref, what in rows if ref not in unseen}


def _options(seen: dict[str, str], known: Iterable[str] = ()) -> dict[str, str]:
    """Names of what can be chosen: options by their role, else all; only new ones if there are."""
    new = {ref: what.partition(" ") for ref, what in seen.items() if ref not in known}
    all_of = new or {ref: what.partition(" ") for ref, what in seen.items()}
    by_role = {ref: name for ref, (role, _, name) in all_of.items() if role in _OPTIONS}
    chosen = by_role or {ref: name for ref, (_, _, name) in new.items() if known}
    return {ref: name for ref, name in chosen.items() if name and name[0] != "("}


def _reading(options: dict[str, str], value: str) -> list[str]:
    """Refs of the options whose name is `value`, else of those whose name holds it."""
    wanted = value.casefold().strip()
    names = {ref: name.casefold().strip() for ref, name in options.items()}
    exact = [ref for ref, name in names.items() if name == wanted]
    return exact or [ref for ref, name in names.items() if wanted in name]
