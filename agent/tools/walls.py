"""A wall in front of a page: taken down by a person who sees the browser, or by a solver."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.tools.person import PATIENCE_SECONDS
from agent.tools.registry import NoParams, Risk, Tool, ToolResult
from agent.tools.web import SOLVABLE, web_of
from browser.solvers import SolverFailed
from browser.types import Outcome

if TYPE_CHECKING:
    from agent.tools.context import ToolContext
    from browser.page.tab import Tab
    from browser.types import Challenge

SOLVER_SECONDS = 120.0
_FOR_A_PERSON = {
    Outcome.CAPTCHA: "solved its captcha",
    Outcome.BOT_CHECK: "passed its check",
    Outcome.LOGIN: "logged in",
}


@dataclass(frozen=True, slots=True)
class Solved:
    """How asking a solver ended: OK, or what kept the captcha where it is."""

    outcome: Outcome
    said: str


async def taken_down(context: ToolContext, tab: Tab) -> bool:
    """Have a wall taken down; True when that is done.

    A person who sees the browser is asked to do what only a person may; else a solver, where one
    was named.
    """
    web = web_of(context)
    if web.in_sight and context.approve is not None:
        return await _by_person(context, tab)
    if web.solver is not None and await tab.wall() in SOLVABLE:
        return (await solved(context, tab)).outcome is Outcome.OK
    return False


async def solved(context: ToolContext, tab: Tab) -> Solved:
    """Ask the solver about the captcha of a page and put its token in; on record either way."""
    challenge = await tab.challenge()
    if challenge is None:
        return Solved(Outcome.EMPTY, "no captcha of a kind that can be handed over")
    started = time.monotonic()
    result = await _solved(context, tab, challenge)
    context.record(
        "captcha",
        captcha=challenge.kind,
        url=challenge.url,
        outcome=result.outcome.value,
        said=result.said,
        ms=int((time.monotonic() - started) * 1000),
    )
    return result


async def _solved(context: ToolContext, tab: Tab, challenge: Challenge) -> Solved:
    web = web_of(context)
    assert web.solver, "asked only where a solver was named"
    if web.solves_left <= 0:
        return Solved(Outcome.QUOTA, "this run has had as many captchas solved as one may")
    web.solves_left -= 1
    context.wait_longer(SOLVER_SECONDS)
    try:
        token = await web.solver.solve(challenge)
    except SolverFailed as error:
        return Solved(error.outcome, str(error))
    if token is None:
        return Solved(Outcome.CAPTCHA, "the solver could not solve it")
    how = await tab.answer(token)
    return Solved(Outcome.OK, how) if how else Solved(Outcome.EMPTY, "the captcha went away")


async def _by_person(context: ToolContext, tab: Tab) -> bool:
    done = _FOR_A_PERSON.get(await tab.wall())
    if done is None or context.approve is None:
        return False
    context.wait_longer(PATIENCE_SECONDS)
    return await context.approve(f"go on at {tab.url} once you have {done} in the browser window")


_NEXT = {
    "filled": "press the button that sends the form",
    "callback": "take a SNAPSHOT",
    "submitted": "take a SNAPSHOT",
}


async def solve_captcha(context: ToolContext, _: NoParams) -> ToolResult:
    """Have the captcha of the open page solved, also one that stands in a form."""
    web = web_of(context)
    tab: Tab | None = web.tab
    if tab is None:
        return ToolResult({"error": "no page is open"}, hint="OPEN a page first.")
    async with web.lock:
        result = await solved(context, tab)
    if result.outcome is Outcome.OK:
        return ToolResult({"outcome": "ok", "next": _NEXT[result.said], "url": tab.url})
    data = {"error": result.said, "outcome": result.outcome.value}
    return ToolResult(data, hint=SolverFailed.hint)


SOLVING_TOOLS = (
    Tool(
        "SOLVE_CAPTCHA",
        "has the captcha of the open page solved.",
        NoParams,
        solve_captcha,
        Risk.EXTERNAL,
    ),
)
