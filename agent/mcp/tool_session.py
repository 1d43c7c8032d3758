"""State shared by a client's calls: web and browser, memory, and what was read so far.

Calls follow the same policy as those of a run: the origin of words decides what may be sent, and
actions where the user is logged in need approval, which the client asks for. A client gets a
result, a failure, or a question for the user; the last two may be raised as a `ToolReply`.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import re
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ResourceLink,
    TextContent,
)

from agent.errors import ResearchError, error_text
from agent.evidence.store import Evidence
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import SEARCH, Kind, Provenance
from agent.guard.redact import Redactor, find_secrets
from agent.guard.secret_store import SecretStore
from agent.limits import LimitSettings
from agent.protocol.replies import inert
from agent.run.settings import logged_in_sites, open_memory
from agent.run.web import open_web
from agent.tools.action_tools import SCRIPTING_TOOLS
from agent.tools.context import ToolContext
from agent.tools.policy import Policy
from agent.tools.toolset import ProvenanceCalls, apply_tool_rules, available_tools
from agent.types import Observation, ToolCall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

    from mcp.server.mcpserver import Context

    from agent.memory.memory_api import Memory
    from agent.options import Options
    from agent.tools.context import Web

ToolAnswer = CallToolResult | InputRequiredResult
CONSENT_SCHEMA: Final = {
    "type": "object",
    "properties": {"yes": {"type": "boolean", "title": "Do it"}},
}
"""The form of a question to the user, for MCP's elicitation."""
SNAPSHOT_TOKENS: Final = 1_200
"""Maximum size of a page snapshot: half the calls show one; `browser_find` finds the rest."""
PAGES_KEPT: Final = 200
"""Maximum number of pages kept as resources; then all are dropped."""
SOURCE_BLOCK: Final = 10_000
"""Offset of source numbers after such a reset, so that no name means two pages."""


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
"""The names that a client knows our tools by."""
_TOOL_NAME: Final = re.compile(rf"\b(?:{'|'.join(CLIENT_NAMES)})\b(?!_)")


def in_client_names(text: str) -> str:
    """Replace the names of our tools in a message of ours by those that the client knows."""
    return _TOOL_NAME.sub(lambda name: CLIENT_NAMES[name[0]], text)


class ToolReply(Exception):
    """Ends a tool call with this result."""

    def __init__(self, result: ToolAnswer) -> None:
        super().__init__(result)
        self.result = result


class ToolFailure(ToolReply):
    """Ends a tool call with an error that the client's model can act on."""

    def __init__(self, message: str, hint: str = "", *, details: str = "") -> None:
        self.message = error_text(message)
        text = inert(f"{self.message}{details}")
        self.text = f"{text}\n{hint}" if hint else text
        content = [TextContent(type="text", text=self.text)]
        super().__init__(CallToolResult(content=content, is_error=True))


def as_tool(work: Callable[..., Awaitable[CallToolResult]]) -> Callable[..., Any]:
    """Turn a method into a tool for the SDK: exceptions become its result.

    It runs in its own task, so that a cancelled call is cancelled once and awaited. The SDK's
    cancel scope would cancel it again at each step of its cleanup.
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
    """Return a result with lines for the client's model, links, and the same content as `data`."""
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


class Consent:
    """Approval by the user of a client, by elicitation, if the client can show questions.

    On a connection without requests to the client, the question is returned as the result
    (`pending`), and the client repeats the call with the answer. Earlier approvals are sent along,
    since a call may ask twice.
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
        # The approvals, and at the end the latest question.
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


class ToolSession:
    """Calls our tools for clients; one per server."""

    def __init__(self, options: Options, stack: AsyncExitStack) -> None:
        self.options = options
        self.page_turn = asyncio.Lock()
        self.background: set[asyncio.Future[Any]] = set()  # runs with unfinished post-run tasks
        self._stack = stack
        self._opening = asyncio.Lock()
        provenance = Provenance(
            "",
            frozenset(options.share),
            attached=bool(options.attach or options.cdp),
            sites=logged_in_sites(options),
            named_hosts=frozenset(options.allow_private),
        )
        self.context = ToolContext(
            question="",
            evidence=Evidence(),
            limits=LimitSettings(snapshot_tokens=SNAPSHOT_TOKENS),
            max_sources=2 * PAGES_KEPT,
            outgoing=Outgoing(provenance, private_search=options.private_search),
            redactor=Redactor(find_secrets(os.environ)),
            secrets=SecretStore(options.data),
            files=options.file,
        )

    @property
    def provenance(self) -> Provenance:
        """The origin of everything that the clients got so far."""
        return self.context.provenance

    async def web(self) -> Web:
        """Return the web, opened at the first call."""
        async with self._opening:
            if self.context.web is None:
                opening = open_web(self.options, os.environ)
                self.context.web = await self._stack.enter_async_context(opening)
            return self.context.web

    async def memory(self) -> Memory:
        """Return the memory, opened at the first call."""
        async with self._opening:
            if self.context.memory is None:
                in_thread = self.context.in_memory_thread
                memory = await in_thread(open_memory, self.options, os.environ)
                self._stack.push_async_callback(in_thread, memory.close)
                self.context.memory = memory
            return self.context.memory

    async def call(
        self, ctx: Context[Any, Any], tool: str, *, on_page: bool = False, **arguments: Any
    ) -> Observation:
        """Call a tool like a run does; raises `ToolFailure`, or a question as `ToolReply`.

        Calls `on_page` run one after another and keep no sources.
        """
        consent = Consent(ctx)
        given = {name: value for name, value in arguments.items() if value is not None}
        if on_page:
            async with self.page_turn:
                result = await self._call(consent, tool, given, Evidence())
        else:
            result = await self._call(consent, tool, given, self._kept_evidence())
        consent.check()
        if result.failed:
            more = {name: value for name, value in result.data.items() if name != "error"}
            details = f" ({json.dumps(more, ensure_ascii=False)})" if more else ""
            message, hint = map(in_client_names, (result.data["error"], result.hint))
            raise ToolFailure(message, hint, details=details)
        return result

    def _kept_evidence(self) -> Evidence:
        # Sources are kept as resources; a long-running server must not grow without bound.
        evidence = self.context.evidence
        if len(evidence.sources) + len(evidence.snippets) > PAGES_KEPT:
            block = next(iter(evidence.sources or evidence.snippets)).n // SOURCE_BLOCK
            self.context.evidence = Evidence(first=(block + 1) * SOURCE_BLOCK + 1)
        return self.context.evidence

    async def _call(
        self, consent: Consent, tool: str, arguments: dict[str, Any], evidence: Evidence
    ) -> Observation:
        await self.web()
        context = replace(self.context, approve=consent.approve, evidence=evidence)
        self.note_person_words(" ".join(map(str, arguments.values())))
        # Only clients have these tools: their own model wrote the script or dropped the file.
        scripting = ((name, "") for name in SCRIPTING_TOOLS)
        tools = apply_tool_rules((*available_tools(context), *scripting), self.options).registry()
        calls = ProvenanceCalls(Policy(tools, context), self.provenance, self.options.file)
        return (await calls.run(ToolCall(tool, json.dumps(arguments)), ""))()

    def note_page_words(self, url: str, text: str) -> None:
        """Record page text that a client got other than through `call`."""
        kind = Kind.PAGE if self.provenance.is_personal(url) else Kind.WEB
        self.provenance.add(text, kind, url)

    def note_person_words(self, text: str) -> None:
        """Treat a client's words as the user's, as long as it got nothing private."""
        if not self.provenance.private_for(SEARCH):
            # A URL would count as one that the user allows to open with their logins.
            words = " ".join(word for word in text.split() if "://" not in word)
            self.provenance.add(words, Kind.PERSON)

    async def check_search(self, ctx: Context[Any, Any], text: str) -> None:
        """Raise a `ToolReply` if a text may not go to search engines, or needs approval first."""
        self.note_person_words(text)
        _, withheld = self.context.outgoing.query(text, self.context.redactor)
        if not withheld:
            return
        reason = "; ".join(f"“{part.text}”: {part.why}" for part in withheld)
        consent = Consent(ctx)
        if consent.approve and await consent.approve(f"search for “{text}” ({reason})"):
            self.context.outgoing.allow(text, SEARCH)
            return
        consent.check()
        hint = "Use other words, or ask the user to start the server with --share memory."
        raise ToolFailure(f"not sent: {reason}", hint)


@asynccontextmanager
async def open_session(options: Options) -> AsyncIterator[ToolSession]:
    """Open the shared state; closes the browser and everything else after the block."""
    async with AsyncExitStack() as stack:
        session = ToolSession(options, stack)
        stack.callback(session.context.close)
        yield session
        for job in (
            session.background
        ):  # what is interrupted here is in the journal, and another run completes it
            job.cancel()
        await asyncio.gather(*session.background, return_exceptions=True)
