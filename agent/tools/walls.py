"""A wall in front of a page: a person who sees the browser is asked to take it down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.tools.web import web_of
from browser.types import Outcome

if TYPE_CHECKING:
    from agent.tools.context import ToolContext
    from browser.page.tab import Tab

_FOR_A_PERSON = {
    Outcome.CAPTCHA: "solved its captcha",
    Outcome.BOT_CHECK: "passed its check",
    Outcome.LOGIN: "logged in",
}


async def taken_down(context: ToolContext, tab: Tab) -> bool:
    """Ask the person to do what only a person may; True when they say that it is done.

    Nobody is asked where the browser has no window, or where there is nobody to ask.
    """
    if not web_of(context).in_sight or context.approve is None:
        return False
    done = _FOR_A_PERSON.get(await tab.wall())
    if done is None:
        return False
    return await context.approve(f"go on at {tab.url} once you have {done} in the browser window")
