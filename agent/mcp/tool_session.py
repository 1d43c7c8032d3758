"""Runs an MCP client's tool calls, and has the client ask the user for approval.

A client receives a result, a failure, or a question for the user; failures and questions may be
raised as a `ToolReply`.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from mcp.types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from agent.guard.provenance import SEARCH_SITE
from agent.mcp.results import ToolFailure, ToolReply
from agent.run.tool_calls import ToolCalls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from mcp.server.mcpserver import Context

    from agent.options import Options
    from agent.types import Observation

CONSENT_SCHEMA: Final = {
    "type": "object",
    "properties": {"yes": {"type": "boolean", "title": "Do it"}},
}
"""The form that MCP elicitation shows the user for a question."""


CLIENT_NAMES: Final = {
    "BACK": "browser_navigate_back",
    "CHECK": "browser_fill_form",
    "CLICK": "browser_click",
    "DIALOG": "browser_handle_dialog",
    "DRAG": "browser_drag",
    "DROP": "browser_drop",
    "EVALUATE": "browser_evaluate",
    "FIND": "browser_find",
    "HOVER": "browser_hover",
    "OPEN": "browser_navigate",
    "PRESS": "browser_press_key",
    "READ": "read",
    "SCREENSHOT": "browser_take_screenshot",
    "SELECT": "browser_select_option",
    "SNAPSHOT": "browser_snapshot",
    "TABS": "browser_tabs",
    "TYPE": "browser_type",
    "UPLOAD": "browser_file_upload",
    "WAIT": "browser_wait_for",
    "WEB_SEARCH": "search",
}
"""Our tools' names, mapped to the names that clients know."""
_TOOL_NAME_RE: Final = re.compile(rf"\b(?:{'|'.join(CLIENT_NAMES)})\b(?!_)")


def translate_tool_names(text: str) -> str:
    """Replace tool names in a message with the names that the client knows."""
    return _TOOL_NAME_RE.sub(lambda name: CLIENT_NAMES[name[0]], text)


class Consent:
    """Asks a client's user for approval by elicitation, if the client can show questions.

    If the connection does not allow requests to the client, the question is returned as the result
    (`pending`), and the client repeats the call with the answer. Earlier approvals are included,
    since a call may ask more than once.
    """

    def __init__(self, ctx: Context[Any, Any]) -> None:
        able = ctx.client_capabilities
        self.approve = self._approve if able is not None and able.elicitation else None
        self.pending: InputRequiredResult | None = None
        self._ctx = ctx

    async def _approve(self, effect: str) -> bool:
        ctx = self._ctx
        question = ElicitRequestFormParams(
            message=f"May the agent {effect}?", requested_schema=CONSENT_SCHEMA
        )
        if ctx.session.can_send_request:
            form = question.message, CONSENT_SCHEMA
            return _agreed(await ctx.session.elicit_form(*form, ctx.request_id))
        # The approvals so far, followed by the latest question.
        asked: list[str] = json.loads(ctx.request_state or "[]")
        agreed, answer = asked[:-1], (ctx.input_responses or {}).get("yes")
        if isinstance(answer, ElicitResult) and asked:
            if effect == asked[-1]:
                return _agreed(answer)
            agreed = asked if _agreed(answer) else agreed
        if effect in agreed:
            return True
        self.pending = InputRequiredResult(
            input_requests={"yes": ElicitRequest(params=question)},
            request_state=json.dumps([*agreed, effect]),
        )
        return False

    def check(self) -> None:
        """Raise a pending question as a `ToolReply`."""
        if self.pending is not None:
            raise ToolReply(self.pending)


def _agreed(answer: ElicitResult) -> bool:
    return answer.action == "accept" and bool((answer.content or {}).get("yes"))


class ToolSession(ToolCalls):
    """Calls tools for clients; each server has one session."""

    def __init__(self, live: Callable[[], Options], stack: AsyncExitStack) -> None:
        super().__init__(live, stack)
        self.background: set[asyncio.Future[Any]] = set()  # runs with unfinished post-run tasks

    def approval(self, ctx: Context[Any, Any]) -> Callable[[str], Awaitable[bool]] | None:
        """Return a function that asks a client's user; None if the client cannot show questions."""
        return Consent(ctx).approve

    async def call(self, ctx: Context[Any, Any], tool: str, **arguments: Any) -> Observation:
        """Call a tool as a run does; raises `ToolFailure`, or `ToolReply` with a question."""
        consent = Consent(ctx)
        result = await self.run(consent.approve, tool, arguments)
        consent.check()
        if result.failed:
            more = {name: value for name, value in result.data.items() if name != "error"}
            details = f" ({json.dumps(more, ensure_ascii=False)})" if more else ""
            message, hint = map(translate_tool_names, (result.data["error"], result.hint))
            raise ToolFailure(message, hint, details=details)
        return result

    async def check_search(self, ctx: Context[Any, Any], text: str) -> None:
        """Raise a `ToolReply` unless the text may be sent to search engines without approval."""
        self.note_user_words(text)
        _, withheld = self.context.outgoing.filter_query(text, self.context.redactor)
        if not withheld:
            return
        reason = "; ".join(f"“{part.text}”: {part.why}" for part in withheld)
        consent = Consent(ctx)
        if consent.approve and await consent.approve(f"search for “{text}” ({reason})"):
            self.context.outgoing.record_approval(text, SEARCH_SITE)
            return
        consent.check()
        hint = "Rephrase the query, or ask the user to start the server with --share memory."
        raise ToolFailure(f"not sent: {reason}", hint)


@asynccontextmanager
async def open_session(live: Callable[[], Options]) -> AsyncIterator[ToolSession]:
    """Open the shared session; the browser and everything else are closed after the block."""
    async with AsyncExitStack() as stack:
        session = ToolSession(live, stack)
        stack.callback(session.context.close)
        yield session
        # Interrupted tasks are in the journal, so another run can complete them.
        for job in session.background:
            job.cancel()
        await asyncio.gather(*session.background, return_exceptions=True)
