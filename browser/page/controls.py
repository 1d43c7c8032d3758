"""Chooses options in lists, and checks the value of a control after an action.

A list is a native select or a custom one, such as a combobox, a listbox or a framework's select.
Each check returns a note for the action's outcome; "" if the control has the expected value.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, RefError
from browser.page import injected
from browser.page.user_input import ARROW_KEY_ROLES, POINTER_MS, click, control_state, fill, related
from browser.page.waiting import keep_rendering
from browser.text.words import clean, letters_and_digits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from browser.page.driver import PageDriver
    from browser.page.user_input import ControlState
    from browser.page.view import Target

VALUE_SHOWN_CHARS = 80  # characters of a control's actual text
OPTIONS_SHOWN = 30  # per list; EXPAND with the list's ref shows the others
CONTEXT_LETTERS = 20  # letters compared before and after a replaced part
LIST_SECONDS = 4.0  # for scrolling a list of options, out of an action's ten seconds
_OPTION_ROLES = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem"})
_SHOWN_KEYS = ("text", "reads", "beside")
_CELL_KINDS = frozenset({"cell", "td"})
_NOT_CONFIRMED = "and the dialog with the choices is still open: CLICK its confirm button"
_FIELD_NOT_VISIBLE = "but this field is not visible: the page may show another one in its place"
_LEFT_PAGE = "the control is no longer on the page, so its value could not be checked"


async def check_typed(
    driver: PageDriver,
    target: Target,
    before: ControlState,
    text: str,
    *,
    replaced: bool,
    instead: str | None = None,
) -> str:
    """Check that a field contains the typed text and, with `replaced`, nothing else.

    `instead` is the part of the old content that the text replaced. Raises ActionError if the field
    accepted none of it.
    """
    if before["kind"] in ARROW_KEY_ROLES:
        return await _check_stepped(driver, target, text)
    if before["drawn"] is not None:
        return await _check_typed_in_drawn_field(
            driver, target, before, text, replaced=replaced, instead=instead
        )
    if before["text"] is None:
        # A terminal or game may show anything; a code editor stores its text elsewhere.
        return "the value that it shows could not be checked"
    after = await _read_back(driver, target)
    if after is None or after["text"] is None:
        return _LEFT_PAGE
    wanted, actual = _normalize(text), _normalize(after["text"])
    if actual == wanted or (not replaced and wanted in actual):
        return _FIELD_NOT_VISIBLE if after["unseen"] else ""
    arguments = {"element": target.element, "text": text}
    if await injected.call(target.frame, "isSpreadOver", arguments):
        return ""
    now = "is empty"
    if after["secret"]:
        now = "says something else"
    elif after["text"]:
        now = f"says {clean(after['text'])[:VALUE_SHOWN_CHARS]!r}"
    if not actual or actual == _normalize(before["text"]):
        raise ActionError(
            f"the field did not accept the text: it {now}",
            hint="CLICK it and check the page, or PRESS the keys one by one.",
        )
    return f"but the field now {now}"


async def _check_stepped(driver: PageDriver, target: Target, text: str) -> str:
    """Check that a slider, or part of a date, has the requested value."""
    after = await _read_back(driver, target)
    if after is None:
        return _LEFT_PAGE
    number = after["number"]
    with suppress(ValueError):
        if number == float(text.strip().rstrip("%")):
            return ""
    if _normalize(text) in _normalize(after["reads"]):  # a word, such as PM or May
        return ""
    return _different_value(after) if number is None else f"but its value is {number:g}"


async def _check_typed_in_drawn_field(
    driver: PageDriver,
    target: Target,
    before: ControlState,
    text: str,
    *,
    replaced: bool,
    instead: str | None,
) -> str:
    """After typing, check the text shown by an editor or terminal that renders its own text."""
    after = await _read_back(driver, target)
    if after is None or after["drawn"] is None:
        return _LEFT_PAGE
    old, now = _normalize(before["drawn"]), _normalize(after["drawn"])
    if not now and not old:  # the control draws on a canvas
        return "the value that it shows could not be checked"
    shows = f"it shows {clean(after['drawn'])[:VALUE_SHOWN_CHARS]!r}"
    lines = [line for line in map(letters_and_digits, text.splitlines()) if line] or [
        _normalize(text)
    ]
    rest = now
    for line in sorted(lines, key=len, reverse=True):
        if line not in rest:
            if now == old and before["kind"] == "editor":
                raise ActionError(f"the editor did not accept the text: {shows}")
            return f"but {shows}"
        rest = rest.replace(line, "", 1)
    if instead:
        # Lines that have scrolled out of view are not drawn, so only the surrounding text is
        # compared.
        head, _, tail = old.partition(_normalize(instead))
        expected = head[-CONTEXT_LETTERS:] + _normalize(text) + tail[:CONTEXT_LETTERS]
        return "" if expected in now else f"but {shows}"
    leftover = [
        line
        for line in map(letters_and_digits, before["drawn"].splitlines())
        if line and line in rest
    ]
    stayed = replaced and leftover and before["kind"] == "editor"
    return f"but the previous text is still there: {shows}" if stayed else ""


async def check_toggled(driver: PageDriver, target: Target, before: ControlState) -> str:
    """Check that a click toggled a checkbox, radio, switch, option or toggle button."""
    if before["on"] is None:
        return ""
    after = await _read_back(driver, target)
    if after is None:
        return "" if before["role"] == "option" else _LEFT_PAGE  # a list may close after a choice
    # A radio button, tab or option that is on stays on when it is clicked.
    if after["on"] != before["on"] or (before["stays"] and before["on"][0]):
        return ""
    on, word = after["on"]
    if on == "mixed":
        return "but its state is still “mixed”"
    return f"but it is still {word}" if on else f"but it is still not {word}"


async def select(driver: PageDriver, target: Target, value: str) -> str:
    """Choose an option by its text or value, in a native select or a custom list.

    Several options are separated by `;` or line breaks. Raises ActionError if there is no such
    option.
    """
    target = await related(target, "drawnFor")
    if (await control_state(target))["kind"] == "select":
        return await _select_natively(driver, target, value)
    try:
        return await _choose_in_drawn_list(driver, target, value)
    except ActionError:  # split only now, as an option's text may contain a semicolon
        parts = [part.strip() for part in value.split(";")]
        if len(parts) == 1:
            raise
    problems = [await _choose_in_drawn_list(driver, target, part) for part in parts if part]
    return "; ".join(filter(None, problems))


async def _select_natively(driver: PageDriver, target: Target, value: str) -> str:
    values = [value]
    if await target.element.evaluate("select => select.multiple"):
        parts = value.splitlines() if "\n" in value else value.split(";")
        values = [part.strip() for part in parts if part.strip()]
    chosen: list[tuple[int, str]] = []
    for wanted in filter(None, values):
        arguments = {"element": target.element, "wanted": wanted}
        option = await injected.call(target.frame, "optionOf", arguments)
        if option is None:
            hint = "SNAPSHOT its ref to see all options."
            raise ActionError(f"there is no option {wanted!r}", hint=hint)
        chosen.append((option[0], option[1]))
    chosen.sort()
    await target.element.select_option(index=[i for i, _ in chosen], timeout=POINTER_MS)
    after = await _read_back(driver, target)
    if after is None:
        return _LEFT_PAGE
    labels = "; ".join(label for _, label in chosen)
    if _normalize(after["reads"]) == _normalize(labels):
        return ""
    return _different_value(after)


async def _choose_in_drawn_list(driver: PageDriver, target: Target, value: str) -> str:
    """Click the option with the text `value` in a custom list, which may be open or closed.

    The list is closed afterwards. Raises an ActionError that lists the available options.
    """
    known = await _visible_refs(driver)
    collapsed = (await control_state(target))["fold"] == "collapsed"
    options = {} if collapsed else _option_names(known)
    found = _matching_refs(options, value)
    if not found:
        options = await _opened_options(driver, target, value, known)
        found = _matching_refs(options, value)
    # A long list may render only some of its options.
    if not found and options and await _scroll_to(driver, value, next(iter(options))):
        options = _option_names(await _visible_refs(driver), known)
        found = _matching_refs(options, value)
    problem = ""
    if len(found) == 1:
        option = await driver.frames.find(found[0])
        role = (await control_state(option))["role"]
        before = await control_state(target)
        problem = await click(option)
        await driver.settle()
        if not role.startswith("menuitem"):  # a menu item performs an action and has no value
            either = (value, options[found[0]])
            wrong = await _check_chosen(driver, target, option, either, before)
            # A list that re-renders on mouse down registers the choice, although no click follows.
            if problem and not wrong:
                wrong = "" if await _has_changed_value(driver, target, before) else problem
            problem = wrong
    with suppress(PlaywrightError):  # the choice may have opened another page
        # A multiple-choice list stays open.
        if problem != _NOT_CONFIRMED and (await control_state(target))["fold"] == "expanded":
            await driver.page.keyboard.press("Escape")
            await driver.settle()
    if len(found) != 1:
        which = f"{len(found)} options read {value!r}" if found else f"no option reads {value!r}"
        names = "; ".join([*dict.fromkeys(options.values())][:OPTIONS_SHOWN])
        there = f"there are: {names}" if names else "no list of options opened"
        if (await control_state(target))["text"] == value:
            there += "; the field now contains the text"
        raise ActionError(
            f"{which}; {there}", hint="SELECT an option by its visible text, or CLICK it."
        )
    return problem


async def _opened_options(
    driver: PageDriver, target: Target, value: str, known: Iterable[str]
) -> dict[str, str]:
    """Open a custom list, and return its options by ref."""
    options: dict[str, str] = {}
    for attempt in await _ways_to_open(driver, target, value):
        await attempt()
        await driver.settle()
        options = _option_names(await _visible_refs(driver), known)
        if _matching_refs(options, value):
            break
    return options


async def _ways_to_open(
    driver: PageDriver, target: Target, value: str
) -> list[Callable[[], Awaitable[object]]]:
    """Return the ways to open a control's list, usually a click.

    A field with suggestions may open its list only when the arrow key or its button is pressed or
    text is typed, a table cell only when it is double-clicked.
    """

    async def click_opener() -> None:
        opener = await related(target, "openerOf")
        if opener is not target:
            await click(opener)

    async def type_value() -> None:
        await fill(target, value, await control_state(target))

    state = await control_state(target)
    ways: list[Callable[[], Awaitable[object]]] = [lambda: click(target)]
    if state["kind"] in _CELL_KINDS:
        ways.append(lambda: click(target, count=2))
    elif state["role"] == "combobox" and state["kind"] in {"text", "search", "rich"}:
        ways += [lambda: driver.page.keyboard.press("ArrowDown"), click_opener]
        if await target.element.is_editable():
            ways.append(type_value)
    return ways


async def _check_chosen(
    driver: PageDriver,
    target: Target,
    option: Target,
    names: Sequence[str],
    before: ControlState,
) -> str:
    """Check a choice from a custom list.

    Either the option must now be selected, or one of its `names` must have appeared in the control
    that opened the list or in a chip beside it (`before` is the control's state before the choice).
    """
    chosen = await _read_back(driver, option)
    if chosen and chosen["on"] and chosen["role"] == "option" and chosen["on"][0]:
        return ""
    after = await _read_back(driver, target)
    wanted = [*map(_normalize, names)]
    if chosen and chosen["on"] and chosen["role"] in {"option", "radio", "checkbox"}:
        on, word = chosen["on"]
        # A list that is fading out still marks the old option, and a list of checkboxes may take
        # effect only when a button is clicked.
        now = _shown_value(after) if after else ""
        is_new = now != _shown_value(before)
        if on:
            return "" if is_new and any(name in now for name in wanted) else _NOT_CONFIRMED
        return "" if is_new and now in wanted else f"but it is not {word}"
    if after is None:
        return _LEFT_PAGE
    if after["role"] == "listbox":  # its text consists of all its options
        return "its selection could not be checked"
    reads = _normalize(after["reads"])
    chips, others = _normalize(after["beside"]), _normalize(before["beside"])
    for name in wanted:
        if name in reads or (reads and reads in name) or chips.count(name) > others.count(name):
            return ""
    return _different_value(after)


async def _has_changed_value(driver: PageDriver, target: Target, before: ControlState) -> bool:
    """Whether the value shown in a control, or in a chip beside it, differs from `before`."""
    after = await _read_back(driver, target)
    return after is not None and any(after[key] != before[key] for key in _SHOWN_KEYS)


async def _scroll_to(driver: PageDriver, value: str, option: str) -> bool:
    """Scroll the list that contains `option` until an option with the value is rendered."""
    target = await driver.frames.find(option)
    arguments = {"text": value, "ms": LIST_SECONDS * 1000, "more": False, "element": target.element}
    async with keep_rendering(driver.page):
        return bool((await injected.call(target.frame, "seek", arguments)).get("found"))


async def _visible_refs(driver: PageDriver) -> dict[str, str]:
    """Return the roles and names of the elements that the user can see and act on, by ref."""
    visible: dict[str, str] = {}
    for line in (await driver.look()).lines:
        visible |= {ref: what for ref, what in line.refs.items() if ref not in line.unseen_refs}
    return visible


def _option_names(visible: dict[str, str], known: Iterable[str] = ()) -> dict[str, str]:
    """Return the names of the visible options, by ref.

    Options that are not `known` from before the list opened are preferred. Options are recognised
    by their role; in a list without roles, everything that is new counts as an option.
    """
    new = {ref: what.partition(" ") for ref, what in visible.items() if ref not in known}
    candidates = new or {ref: what.partition(" ") for ref, what in visible.items()}
    options = {ref: name for ref, (role, _, name) in candidates.items() if role in _OPTION_ROLES}
    if not options and known:
        options = {ref: name for ref, (_, _, name) in new.items()}
    # A name in brackets describes an image.
    return {ref: name for ref, name in options.items() if name and name[0] != "("}


def _matching_refs(options: dict[str, str], value: str) -> list[str]:
    """Return the refs of the options named `value`, or else of those whose name contains it."""
    wanted = value.casefold().strip()
    names = {ref: name.casefold().strip() for ref, name in options.items()}
    exact = [ref for ref, name in names.items() if name == wanted]
    return exact or [ref for ref, name in names.items() if wanted in name]


async def _read_back(driver: PageDriver, target: Target) -> ControlState | None:
    """Read a control's state once the page has settled; None if it is no longer on the page.

    A control that was re-rendered is looked up again.
    """
    await driver.settle()
    with suppress(PlaywrightError, RefError):
        state: ControlState | None = await control_state(target)
        if state and state["left"]:  # in one call, as it may be re-rendered ten times per second
            state = await injected.call(target.frame, "stateNow", target.ref)
        return state
    return None


def _shown_value(state: ControlState) -> str:
    return _normalize(state["reads"] if state["text"] is None else state["text"])


def _different_value(state: ControlState) -> str:
    return f"but it now reads {state['reads'][:VALUE_SHOWN_CHARS]!r}"


def _normalize(text: str) -> str:
    """Reduce a string to its letters and digits or, if it has none, remove its spaces."""
    return letters_and_digits(text) or "".join(text.casefold().split())
