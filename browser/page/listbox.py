"""Selecting in lists that a page draws itself: open, find the option, click it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.errors import ActionError
from browser.page import actions
from browser.page.refs import target_of
from browser.page.settle import settle

if TYPE_CHECKING:
    from browser.page.live import Live
    from browser.page.refs import Target
    from browser.page.view import View

_OPTIONS = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem"})


async def choose_shown(live: Live, target: Target, value: str) -> None:
    """Click the option that reads `value`, opening the list first where it is not shown.

    Raises ActionError, with the options there are, when none or several read so.
    """
    before = await live.look()
    found = _reading(before, value, set(before.refs), _OPTIONS)
    if not found:
        await actions.click(target)
        await settle(live.page, live.events)
        after = await live.look()
        new = set(after.refs) - set(before.refs)
        # A list without roles is known by what opening it brought.
        found = _reading(after, value, set(after.refs), _OPTIONS) or _reading(after, value, new)
    if len(found) != 1:
        which = f"{len(found)} options read" if found else "no option reads"
        raise ActionError(f"{which} {value!r}", hint="Look at the SNAPSHOT and CLICK the option.")
    await actions.click(await target_of(live.frames, found[0]))


def _reading(
    view: View, value: str, among: set[str], roles: frozenset[str] = frozenset()
) -> list[str]:
    """Refs whose name is `value`, else those whose name holds it."""
    wanted = value.casefold().strip()
    named = [(ref, what.partition(" ")) for ref, what in view.refs.items() if ref in among]
    names = {
        ref: name.casefold().strip() for ref, (role, _, name) in named if not roles or role in roles
    }
    exact = [ref for ref, name in names.items() if name == wanted]
    return exact or [ref for ref, name in names.items() if wanted in name]
