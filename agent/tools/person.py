"""Asking the person: for a yes to what a call would do, and ASK_USER, the model's one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from agent.errors import ToolError
from agent.tools.context import PATIENCE_SECONDS
from agent.tools.registry import ToolResult, ToolSource, tool

if TYPE_CHECKING:
    from agent.tools.context import ToolContext

_GO_ON = "Take the likeliest reading, and say in the answer which one that is."


@tool(
    "ASK_USER",
    "asks the person one question, once in a run: only where the request can mean different "
    "things and no page can tell which.",
    seconds=PATIENCE_SECONDS,
    source=ToolSource.SYSTEM,
)
async def ask_user(
    context: ToolContext, *, question: Annotated[str, Field(min_length=1, max_length=400)]
) -> ToolResult:
    """Ask the person one question, short enough to be read at a glance.

    Raises `ToolError` where they were asked before or give no answer.
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
    """Put on record that a call is not made; gives the error that says why.

    `undone` is an act that a person could have allowed, had there been one: the run says so.
    """
    context.record("policy.refused", name=tool, effect=why, **({"undone": True} if undone else {}))
    return ToolError(f"{tool} was not done: {why}", hint=hint)


async def require_yes(
    context: ToolContext, tool: str, effect: str, site: str = "", *, act: bool = True
) -> None:
    """Ask for a person's yes, unless it was given for the site. Raises `ToolError` without it."""
    async with context.asking:  # calls of one step are made together
        if site and site in context.agreed:
            return
        if context.approve is None:
            why = f"it {effect}: that needs a person's yes, and nobody can be asked here"
            hint = "Go on without it, or run in a terminal."
            raise refusal(context, tool, why, hint, undone=act)
        said = await context.approve(effect)
        if not said:
            raise refusal(context, tool, f"the person said no: it {effect}")
        if said == "site" and site:
            context.agreed.add(site)
