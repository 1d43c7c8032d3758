"""ASK_USER: one question to the person at the terminal, where the request can mean two things."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from agent.errors import ToolError
from agent.tools.context import PATIENCE_SECONDS
from agent.tools.registry import Params, Tool, ToolResult

if TYPE_CHECKING:
    from agent.tools.context import ToolContext

_GO_ON = "Take the likeliest reading, and say in the answer which one that is."


class AskParams(Params):
    """One question, short enough to be read at a glance."""

    question: str = Field(min_length=1, max_length=400)


async def ask_user(context: ToolContext, params: AskParams) -> ToolResult:
    """Ask the person; raises `ToolError` where they were asked before or give no answer."""
    person = context.person
    if person is None:
        raise ToolError("nobody can be asked here", hint=_GO_ON)
    if person.asked:
        raise ToolError("the person was asked once already, which is all they are", hint=_GO_ON)
    person.asked = True
    answer = (await person.ask(params.question)).strip()
    if not answer:
        raise ToolError("the person gave no answer", hint=_GO_ON)
    return ToolResult({"answer": answer})


PERSON_TOOLS = (
    Tool(
        "ASK_USER",
        "asks the person one question, once in a run: only where the request can mean different "
        "things and no page can tell which.",
        AskParams,
        ask_user,
        seconds=PATIENCE_SECONDS,
    ),
)
