"""What a client is given: a result, a failure, or a question for the person behind it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcp.types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ResourceLink,
    TextContent,
)

from agent.protocol.replies import inert
from agent.protocol.results import failed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcp.server.mcpserver import Context

    from agent.protocol.results import CallResult

Answer = CallToolResult | InputRequiredResult
YES = {"type": "object", "properties": {"yes": {"type": "boolean", "title": "Do it"}}}
"""What a person is asked for, as MCP's elicitation has it."""


class AskedPerson:
    """Who sits behind a client: asked by elicitation, if the client can show a question.

    Where the connection has no way back, the question goes out in place of a result, and the call
    is made again with the answer: `still_asked`. What was agreed to before goes with the question,
    since a call may ask for two things.
    """

    def __init__(self, ctx: Context[Any, Any]) -> None:
        able = ctx.client_capabilities
        self.approve = self._approve if able is not None and able.elicitation else None
        self.still_asked: InputRequiredResult | None = None
        self._ctx = ctx

    async def _approve(self, effect: str) -> bool:
        ctx = self._ctx
        asked = ElicitRequestFormParams(message=f"May it {effect}?", requested_schema=YES)
        if ctx.session.can_send_request:
            return _agreed(await ctx.session.elicit_form(asked.message, YES, ctx.request_id))
        before, said = json.loads(ctx.request_state or "[]"), (ctx.input_responses or {}).get("yes")
        *agreed, last = before or [""]
        if isinstance(said, ElicitResult) and last:
            if effect == last:
                return _agreed(said)
            agreed = before if _agreed(said) else agreed
        if effect in agreed:
            return True
        self.still_asked = InputRequiredResult(
            input_requests={"yes": ElicitRequest(params=asked)},
            request_state=json.dumps([*agreed, effect]),
        )
        return False


def _agreed(said: ElicitResult) -> bool:
    return said.action == "accept" and bool((said.content or {}).get("yes"))


def shown(
    made: tuple[CallResult, AskedPerson], *links: ResourceLink, head: str = "", **data: Any
) -> Answer:
    """Give a call's result to the client: a line or two of ours, then the web's words, delimited.

    `data` is the structured content; `head` stands in place of the result's own data.
    """
    result, person = made
    if person.still_asked is not None:
        return person.still_asked
    if failed(result.data):
        told = {k: v for k, v in result.data.items() if k != "error"}
        more = f" ({json.dumps(told, ensure_ascii=False)})" if told else ""
        return error_result(f"{result.data['error']}{more}", result.hint)
    lines = [head or json.dumps(result.data, ensure_ascii=False)]
    if result.web:
        lines.append(f'<web source="{inert(result.label)}">\n{inert(result.web)}\n</web>')
    return text_result(lines, *links, **data)


def error_result(message: str, hint: str = "") -> CallToolResult:
    """Give a failure that the client's model can act on."""
    said = f"{inert(message)}\n{hint}" if hint else inert(message)
    return CallToolResult(content=[TextContent(type="text", text=said)], is_error=True)


def text_result(lines: Iterable[str], *links: ResourceLink, **data: Any) -> CallToolResult:
    """Give lines for the client's model, links to more, and the same as data."""
    text = TextContent(type="text", text="\n".join(lines))
    return CallToolResult(content=[text, *links], structured_content=data or None)
