"""Memory: REMEMBER, RECALL, SEARCH_MEMORY, in the reference engine's forms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agent.errors import ToolError
from agent.memory.types import Origin
from agent.tools.registry import Params, Risk, Tool, ToolResult

if TYPE_CHECKING:
    from agent.memory import Memory
    from agent.tools.context import ToolContext

MATCHES = 10
_VALUE_CHARS = 200


class RememberParams(Params):
    """What to keep, under which key."""

    key: str = Field(min_length=1)
    value: str = Field(min_length=1)


class RecallParams(Params):
    """A key, or `all`."""

    key: str = "all"


class SearchMemoryParams(Params):
    """Words to look for."""

    query: str = Field(min_length=1)


async def remember(context: ToolContext, params: RememberParams) -> ToolResult:
    """Keep a value under a key."""
    memory = _memory(context)
    # What a model writes after it has read the web may be the web's words.
    origin = Origin(run=context.run, trusted=not context.evidence.sources)
    await context.in_memory_thread(
        partial(memory.remember, params.key, params.value, origin=origin)
    )
    return ToolResult({"success": True, "message": f'Remembered "{params.key}".'})


async def recall(context: ToolContext, params: RecallParams) -> ToolResult:
    """Look a key up, or list all."""
    memory = _memory(context)
    if params.key == "all":
        known = await context.in_memory_thread(memory.remembered)
        return ToolResult({"success": True, "memory": known})
    value = await context.in_memory_thread(memory.recall, params.key)
    found = "Nothing saved under this key." if value is None else value
    return ToolResult({"success": True, "key": params.key, "value": found})


async def search_memory(context: ToolContext, params: SearchMemoryParams) -> ToolResult:
    """Search what is remembered."""
    memory = _memory(context)
    hits = await context.in_memory_thread(memory.search, params.query, MATCHES)
    matches: list[dict[str, Any]] = [
        {"key": hit.key or hit.id, "value": hit.text[:_VALUE_CHARS], "score": round(hit.score, 2)}
        for hit in hits
    ]
    return ToolResult({"success": True, "query": params.query, "matches": matches})


def _memory(context: ToolContext) -> Memory:
    if context.memory is None:
        raise ToolError("memory is off in this run", hint="Go on without it.")
    return context.memory


MEMORY_TOOLS = (
    Tool("REMEMBER", "keeps a fact for later runs.", RememberParams, remember, Risk.WRITE),
    Tool("RECALL", "gives what is kept under a key, or `all`.", RecallParams, recall),
    Tool("SEARCH_MEMORY", "searches what is kept.", SearchMemoryParams, search_memory),
)
