"""What an action would do to the world, told before it is done.

Only what submits, posts or hands over is named; looking, following a link, opening a menu and
filling in a field are not. The judgement is by the element's meaning in HTML (a form's submit
control, Enter in a form's field) and, for buttons that a script handles, by what they say they do.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from browser.page.deadline import within
from browser.page.live import LOOK_SECONDS
from browser.page.refs import target_of

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle

    from browser.page.tab import Tab

_EFFECT = resources.files("browser.page").joinpath("effect.js").read_text(encoding="utf-8")
_SUBMITTING_KEYS = frozenset({"Enter", "NumpadEnter", "Return"})


async def effect_of(tab: Tab, ref: str | None, keys: str | None) -> str:
    """Tell what a click on `ref`, or pressing `keys` in it, would send; empty where nothing.

    Without a ref the keys go to the focused element. Raises RefError.
    """
    if keys is not None and not _SUBMITTING_KEYS & set(keys.replace("+", " ").split()):
        return ""
    via = "click" if keys is None else "keys"
    async with within(LOOK_SECONDS, "look at what the action would do"):
        if ref is not None:
            element: ElementHandle | None = (await target_of(tab.frames, ref)).element
        else:
            focused = await tab.page.evaluate_handle("document.activeElement || document.body")
            element = focused.as_element()
        found = await element.evaluate(_EFFECT, via) if element else ""
    return str(found)
