"""Choosing in lists, and what a control holds after an act.

A list is a native select, or one that the page draws: a combobox, a listbox, a framework's select.
What a control holds is told where it is not what it was to hold.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, RefError
from browser.page import injected
from browser.page.user_input import POINTER_MS, click, related, state_of
from browser.page.waiting import drawing
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.page.driver import PageDriver
    from browser.page.user_input import ControlState
    from browser.page.view import Target

VALUE_SHOWN = 80  # characters of what a control reads instead
OPTIONS_SHOWN = 30
LIST_SECONDS = 4.0  # of an action's ten, for the scrolling of a list of options
_OPTION_ROLES = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem"})
_LEFT = "it left the page, and was not read back"


async def typed(
    driver: PageDriver, target: Target, before: ControlState, text: str, *, whole: bool
) -> str:
    """Read back what was typed; a line where it is otherwise. `whole`: it replaced all there was.

    Raises ActionError where the field took nothing of it.
    """
    if before["text"] is None:
        # What only hears keys shows what it likes; an editor keeps its text elsewhere.
        return "what it shows was not read back"
    after = await _read_back(driver, target)
    if after is None or after["text"] is None:
        return _LEFT
    wanted, stands = _bare(text), _bare(after["text"])
    if stands == wanted if whole else wanted in stands:
        return ""
    now = f"says {clean(after['text'])[:VALUE_SHOWN]!r}" if after["text"] else "is empty"
    now = "says something else" if after["secret"] else now
    if not stands or stands == _bare(before["text"]):
        raise ActionError(
            f"the field did not take the text: it {now}",
            hint="CLICK it and look, or PRESS the keys one by one.",
        )
    return f"but the field now {now}"


async def pressed(driver: PageDriver, target: Target, before: ControlState) -> str:
    """Read back what a click turns on or off; a line where it stayed as it was `before`."""
    if before["on"] is None:
        return ""
    after = await _read_back(driver, target)
    if after is None:
        return "" if before["role"] == "option" else _LEFT  # the list of a choice closes
    if after["on"] != before["on"] or (before["stays"] and before["on"][0]):
        return ""
    on, word = after["on"]
    return f"but it is still {'mixed' if on == 'mixed' else word if on else f'not {word}'}"


async def select(driver: PageDriver, target: Target, value: str) -> str:
    """Choose an option by its text or value, in a native select or a list that the page draws.

    A list that takes several is given them together, separated by `;`, or a line each. Gives what
    was not as it should be; raises ActionError where there is no such option.
    """
    target = await related(target, "drawnFor")
    if (await state_of(target))["kind"] == "select":
        return await _select_natively(driver, target, value)
    try:
        return await _choose(driver, target, value)
    except ActionError:
        parts = [part.strip() for part in value.split(";")]
        if len(parts) == 1:
            raise
    told = [await _choose(driver, target, part) for part in parts if part]
    return "; ".join(filter(None, told))


async def _select_natively(driver: PageDriver, target: Target, value: str) -> str:
    values = [value]
    if await target.element.evaluate("select => select.multiple"):
        parts = value.splitlines() if "\n" in value else value.split(";")
        values = [part.strip() for part in parts if part.strip()]
    chosen: list[tuple[int, str]] = []
    for wanted in filter(None, values):
        question = {"element": target.element, "wanted": wanted}
        option = await injected.call(target.frame, "optionOf", question)
        if option is None:
            hint = "SNAPSHOT its ref for all options."
            raise ActionError(f"no option {wanted!r} here", hint=hint)
        chosen.append((option[0], option[1]))
    chosen.sort()
    await target.element.select_option(index=[i for i, _ in chosen], timeout=POINTER_MS)
    after = await _read_back(driver, target)
    if after is None:
        return _LEFT
    same = _bare(after["reads"]) == _bare("; ".join(label for _, label in chosen))
    return "" if same else _reads_instead(after)


async def _choose(driver: PageDriver, target: Target, value: str) -> str:
    """Click the option that reads `value` in a list that the page draws, open or not.

    The list is closed again. Gives a line where another element got the press; raises
    ActionError that names the options there are.
    """
    known = await _visible_refs(driver)
    folded = (await state_of(target))["fold"] == "collapsed"
    options = {} if folded else _options(known)
    found = _reading(options, value)
    if not found:
        await click(target)
        await driver.settle()
        options = _options(await _visible_refs(driver), known)
        found = _reading(options, value)
    if not found and options and await _scroll_to(driver, value, next(iter(options))):
        options = _options(await _visible_refs(driver), known)
        found = _reading(options, value)
    told = ""
    if len(found) == 1:
        option = await driver.frames.find(found[0])
        role = (await state_of(option))["role"]
        told = await click(option)
        await driver.settle()
        if not told and not role.startswith("menuitem"):  # a menu acts, and holds nothing
            told = await _chosen(driver, target, option, (value, options[found[0]]))
    with suppress(PlaywrightError):  # the choice led to another page
        # A list in which several can be chosen stays open.
        if (await state_of(target))["fold"] == "expanded":
            await driver.page.keyboard.press("Escape")
            await driver.settle()
    if len(found) != 1:
        which = f"{len(found)} options read {value!r}" if found else f"no option reads {value!r}"
        names = "; ".join([*dict.fromkeys(options.values())][:OPTIONS_SHOWN])
        there = f"there are: {names}" if names else "no list of options opened"
        raise ActionError(f"{which}; {there}", hint="SELECT one as it reads, or CLICK it.")
    return told


async def _chosen(driver: PageDriver, target: Target, option: Target, names: Iterable[str]) -> str:
    """Read back a choice from a list that the page draws; a line where nothing says that it stands.

    The option says that it is on, or what opened the list reads one of the `names` for it.
    """
    after = await _read_back(driver, option)
    if after and after["on"] and after["role"] == "option":
        on, word = after["on"]
        return "" if on else f"but {word} it is not"
    after = await _read_back(driver, target)
    if after is None:
        return _LEFT
    if after["role"] == "listbox":  # it reads all of its options
        return "its choice was not read back"
    reads = _bare(after["reads"])
    same = any(_bare(name) in reads or (reads and reads in _bare(name)) for name in names)
    return "" if same else _reads_instead(after)


async def _scroll_to(driver: PageDriver, value: str, option: str) -> bool:
    """Scroll a list that draws only some of its options, until one says the value."""
    target = await driver.frames.find(option)
    wanted = {"text": value, "ms": LIST_SECONDS * 1000, "more": False, "element": target.element}
    async with drawing(driver.page):
        return bool((await injected.call(target.frame, "seek", wanted)).get("found"))


async def _visible_refs(driver: PageDriver) -> dict[str, str]:
    """What can be seen and acted on, role and name by ref."""
    lines = (await driver.look()).lines
    return {r: what for line in lines for r, what in line.refs.items() if r not in line.unseen}


def _options(seen: dict[str, str], known: Iterable[str] = ()) -> dict[str, str]:
    """Names of what can be chosen: options by their role, else all; only new ones if there are."""
    new = {ref: what.partition(" ") for ref, what in seen.items() if ref not in known}
    every = new or {ref: what.partition(" ") for ref, what in seen.items()}
    by_role = {ref: name for ref, (role, _, name) in every.items() if role in _OPTION_ROLES}
    chosen = by_role or {ref: name for ref, (_, _, name) in new.items() if known}
    return {ref: name for ref, name in chosen.items() if name and name[0] != "("}


def _reading(options: dict[str, str], value: str) -> list[str]:
    """Refs of the options whose name is `value`, else of those whose name holds it."""
    wanted = value.casefold().strip()
    names = {ref: name.casefold().strip() for ref, name in options.items()}
    exact = [ref for ref, name in names.items() if name == wanted]
    return exact or [ref for ref, name in names.items() if wanted in name]


async def _read_back(driver: PageDriver, target: Target) -> ControlState | None:
    """What a control holds once the page has come to rest; None where it left the page.

    One that was drawn anew is found again.
    """
    await driver.settle()
    with suppress(PlaywrightError, RefError):
        state = await state_of(target)
        if state["left"]:
            state = await state_of(await driver.frames.find(target.ref))
        return None if state["left"] else state
    return None


def _reads_instead(state: ControlState) -> str:
    return f"but it now reads {state['reads'][:VALUE_SHOWN]!r}"


def _bare(text: str) -> str:
    """Letters and digits alone, or all but blanks where there are none."""
    folded = text.casefold()
    return "".join(filter(str.isalnum, folded)) or "".join(folded.split())
