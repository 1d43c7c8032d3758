"""Asks the user to approve a call's effect, or to answer a question from the model (ASK_USER)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from agent.errors import ToolError
from agent.guard.provenance import site_of
from agent.tools.context import CALL_PLACE
from agent.tools.registry import ToolResult, reading_tool, sends_nothing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from agent.tools.context import ToolContext

_ASSUME_HINT = "Assume the most likely meaning, and say so in the answer."


@reading_tool(
    "ASK_USER",
    "asks the user one question, once: only if the request is ambiguous and no page can tell.",
    sends=sends_nothing,
    activity="asking you",
    source="system",
)
async def ask_user(
    context: ToolContext, *, question: Annotated[str, Field(min_length=1, max_length=400)]
) -> ToolResult:
    """Ask the user one short question.

    Raises `ToolError` if the user was already asked or does not answer.
    """
    user = context.user
    if user is None:
        raise ToolError("this run has no user to ask", hint=_ASSUME_HINT)
    if user.asked:
        raise ToolError("the user was already asked once, which is the limit", hint=_ASSUME_HINT)
    user.asked = True
    answer = (await user.ask(question)).strip()
    if not answer:
        raise ToolError("the user did not answer", hint=_ASSUME_HINT)
    return ToolResult({"answer": answer})


USER_TOOLS = (ask_user,)


def refusal(
    context: ToolContext,
    tool: str,
    why: str,
    hint: str = "Continue without it.",
    *,
    undone: bool = False,
) -> ToolError:
    """Record a refused call; returns the error to raise, with the reason.

    `undone` marks an action that needed approval when no user was available or none replied; it is
    mentioned in the report.
    """
    context.record("policy.refused", name=tool, effect=why, **({"undone": True} if undone else {}))
    return ToolError(f"{tool} was not run: {why}", hint=hint)


def parse_approvals(names: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Parse approvals such as `click@shop.example` (`--yes`) into pairs of action and site."""
    pairs = (name.partition("@") for name in names)
    return frozenset((act, site_of(f"http://{site}")) for act, _, site in pairs)


async def require_approval(
    context: ToolContext,
    tool: str,
    effect: str,
    site: str = "",
    *,
    act: bool = True,
    kinds: Collection[str] = (),
) -> None:
    """Get approval for an effect, unless everything on the site is already approved.

    `effect` completes the sentence "The agent wants to …". `kinds` are its actions, if they can be
    approved before a run. `act` is False for changes to the agent's own data. Approvals are
    recorded. Raises `ToolError` without approval.
    """

    def note(by: str) -> None:
        context.record("policy.approved", CALL_PLACE.get(), name=tool, effect=effect, by=by)

    async with context.approval_lock:  # calls in a step run in parallel, so ask one at a time
        if kinds and all((kind, site) in context.approvals for kind in kinds):
            note(" ".join(f"--yes {kind}@{site}" for kind in kinds))
            return
        if site and site in context.approved_sites:
            note("the user, for the site")
            return
        if context.approve is None:
            why = f"needs approval to {effect}, but there is no user to ask"
            hint = "Continue without it."
            if kinds:
                given = " ".join(f"--yes {kind}@{site}" for kind in kinds)
                hint += f" The user can approve it in a terminal, or before a run: {given}."
            else:
                hint += " The user can approve it in a terminal."
            raise refusal(context, tool, why, hint, undone=act)
        reply = await context.approve(effect)
        if reply is None:
            why = f"needs approval to {effect}, and the user did not reply"
            raise refusal(context, tool, why, undone=act)
        if not reply:
            raise refusal(context, tool, f"the user refused permission to {effect}")
        note("the user, for the site" if reply == "site" else "the user")
        if reply == "site" and site:
            context.approved_sites.add(site)
