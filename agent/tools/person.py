"""Asks the person: for a yes to a call's effect, or a question of the model (ASK_USER)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from agent.errors import ToolError
from agent.guard.provenance import site_of
from agent.tools.context import CALL_PLACE, PERSON_TIMEOUT
from agent.tools.registry import ToolResult, ToolSource, reading_tool, sends_nothing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from agent.tools.context import ToolContext

_GO_ON = "Take the likeliest reading, and say in the answer which one that is."


@reading_tool(
    "ASK_USER",
    "asks the user one question, once: only if the request is ambiguous and no page can tell.",
    seconds=PERSON_TIMEOUT,
    sends=sends_nothing,
    source=ToolSource.SYSTEM,
)
async def ask_user(
    context: ToolContext, *, question: Annotated[str, Field(min_length=1, max_length=400)]
) -> ToolResult:
    """Ask the person one question, short enough to be read at a glance.

    Raises `ToolError` if they were asked before, or do not answer.
    """
    person = context.person
    if person is None:
        raise ToolError("nobody can be asked here", hint=_GO_ON)
    if person.asked:
        raise ToolError("the person was asked once already, which is all they are", hint=_GO_ON)
    person.asked = True
    answer = (await person.ask(question)).strip()
    if not answer:
        raise ToolError("the person gave no answer", hint=_GO_ON)
    return ToolResult({"answer": answer})


PERSON_TOOLS = (ask_user,)


def refusal(
    context: ToolContext,
    tool: str,
    why: str,
    hint: str = "Go on without it.",
    *,
    undone: bool = False,
) -> ToolError:
    """Record that a call is refused; returns the error to raise, which says why.

    `undone` marks an act that a person could have allowed if one had been there: the report
    mentions it.
    """
    context.record("policy.refused", name=tool, effect=why, **({"undone": True} if undone else {}))
    return ToolError(f"{tool} was not done: {why}", hint=hint)


def approvals_given(names: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Read approvals such as `click@shop.example` (`--yes`) as pairs of act and site."""
    pairs = (name.partition("@") for name in names)
    return frozenset((act, site_of(f"http://{site}")) for act, _, site in pairs)


async def require_yes(
    context: ToolContext,
    tool: str,
    effect: str,
    site: str = "",
    *,
    act: bool = True,
    kinds: Collection[str] = (),
) -> None:
    """Get approval for an effect, unless everything on the site was approved before.

    `kinds` are the acts that it consists of, where they can be approved before a run. `act` is
    False for what only changes our own stores. What was approved, and when, is recorded. Raises
    `ToolError` without approval.
    """

    def note(by: str) -> None:
        context.record("policy.approved", CALL_PLACE.get(), name=tool, effect=effect, by=by)

    async with context.approval_lock:  # calls of one step run at the same time: ask one by one
        if kinds and all((kind, site) in context.approvals for kind in kinds):
            note(" ".join(f"--yes {kind}@{site}" for kind in kinds))
            return
        if site and site in context.approved_sites:
            note("the user, for the site")
            return
        if context.approve is None:
            why = f"it {effect}: that needs a person's yes, and nobody can be asked here"
            hint = "Go on without it."
            if kinds:
                given = " ".join(f"--yes {kind}@{site}" for kind in kinds)
                hint += f" The user can approve it in a terminal, or before a run: {given}."
            else:
                hint += " The user can approve it in a terminal."
            raise refusal(context, tool, why, hint, undone=act)
        reply = await context.approve(effect)
        if not reply:
            raise refusal(context, tool, f"the person said no: it {effect}")
        note("the user, for the site" if reply == "site" else "the user")
        if reply == "site" and site:
            context.approved_sites.add(site)
