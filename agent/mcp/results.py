"""Tool results for MCP clients: text, a failure, or a question for the user."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import TYPE_CHECKING, Any

import anyio
from mcp.types import CallToolResult, InputRequiredResult, ResourceLink, TextContent

from agent.errors import ResearchError, error_text
from agent.protocol.replies import inert

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from agent.types import Observation

ToolAnswer = CallToolResult | InputRequiredResult


class ToolReply(Exception):
    """Ends a tool call with this result."""

    def __init__(self, result: ToolAnswer) -> None:
        super().__init__(result)
        self.result = result


class ToolFailure(ToolReply):
    """Ends a tool call with an error that the client's model can correct."""

    def __init__(self, message: str, hint: str = "", *, details: str = "") -> None:
        self.message = error_text(message)
        text = inert(f"{self.message}{details}")
        self.text = f"{text}\n{hint}" if hint else text
        content = [TextContent(type="text", text=self.text)]
        super().__init__(CallToolResult(content=content, is_error=True))


def as_tool(work: Callable[..., Awaitable[CallToolResult]]) -> Callable[..., Any]:
    """Turn a method into a tool for the SDK, converting its exceptions to results.

    The method runs in its own task, so that if the call is cancelled, the method is cancelled only
    once, then awaited. The SDK's cancel scope would cancel it again at each step of its cleanup.
    """

    @functools.wraps(work)
    async def tool(*args: Any, **kwargs: Any) -> ToolAnswer:
        task = asyncio.ensure_future(work(*args, **kwargs))
        try:
            return await asyncio.shield(task)
        except ToolReply as reply:
            return reply.result
        except ResearchError as error:
            return ToolFailure(str(error), error.hint).result
        except asyncio.CancelledError:
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([task])
            raise

    return tool


def text_result(lines: Iterable[str], *links: ResourceLink, **data: Any) -> CallToolResult:
    """Return a result with lines for the client's model, links, and the same content as data."""
    text = TextContent(type="text", text="\n".join(lines))
    return CallToolResult(content=[text, *links], structured_content=data or None)


def call_result(
    result: Observation, *links: ResourceLink, head: str = "", **data: Any
) -> CallToolResult:
    """Return a tool call's result for the client: our summary, then delimited web text.

    `data` is the structured content; `head` replaces the result's own data.
    """
    lines = [head or json.dumps(result.data, ensure_ascii=False)]
    if result.web:
        lines.append(f'<web source="{inert(result.label)}">\n{inert(result.web)}\n</web>')
    return text_result(lines, *links, **data)
