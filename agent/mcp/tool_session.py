"""What the calls of a server share: the web and its browser, memory, and what was read so far.

Calls go through the same policy as those of a run: what may leave is decided by whose words it is,
and acting where a person is logged in needs their yes, which is asked for through the client.
A client is given a result, a failure, or a question for the person behind it.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

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

from agent.evidence.store import Evidence
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import SEARCH, Kind, Provenance
from agent.guard.redact import Redactor, secrets_of
from agent.guard.secret_store import SecretStore
from agent.protocol.replies import inert
from agent.protocol.results import failed
from agent.run.settings import logged_in_sites, open_memory
from agent.run.web import open_web
from agent.tools.action_tools import SCRIPTING_TOOLS
from agent.tools.context import Limits, ToolContext
from agent.tools.policy import Policy
from agent.tools.toolset import ObservedCalls, available_tools, select
from agent.types import ToolCall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterable

    from mcp.server.mcpserver import Context

    from agent.config import Options
    from agent.memory.memory_api import Memory
    from agent.protocol.results import CallResult
    from agent.tools.context import Web

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


T = TypeVar("T")
SNAPSHOT_TOKENS: Final = 1_200
"""Room for a page: half the calls of a session show one, and `browser_find` gives the rest."""
KEPT: Final = 200
"""Pages whose text a server keeps at hand as resources; then it begins anew."""
BLOCK: Final = 10_000
"""Numbers of sources between one beginning and the next, so that no name means two pages."""


class ToolSession:
    """Makes calls of our tools for a client; opened once a server."""

    def __init__(self, options: Options, stack: AsyncExitStack) -> None:
        self.options = options
        self._stack = stack
        self._opening = asyncio.Lock()
        self.page_turn = asyncio.Lock()
        self.behind: set[asyncio.Future[Any]] = set()  # runs whose jobs go on behind the answer
        attached = bool(options.attach or options.cdp)
        sites = logged_in_sites(options)
        shared = frozenset(options.share)
        self.context = ToolContext(
            question="",
            evidence=Evidence(),
            limits=Limits(max_sources=2 * KEPT, snapshot_tokens=SNAPSHOT_TOKENS),
            outgoing=Outgoing(Provenance("", shared, attached=attached, sites=sites)),
            redactor=Redactor(secrets_of(os.environ)),
            secrets=SecretStore(options.data),
            files=options.file,
        )

    @property
    def read(self) -> Provenance:
        """What was read for the client so far, and whose words that is."""
        return self.context.provenance

    async def web(self) -> Web:
        """Give the way to the web, opened when it is first asked for."""
        async with self._opening:
            if self.context.web is None:
                opening = open_web(self.options, os.environ)
                self.context.web = await self._stack.enter_async_context(opening)
            return self.context.web

    async def memory(self) -> Memory:
        """Give the memory, opened when it is first asked for."""
        async with self._opening:
            if self.context.memory is None:
                opened = await self.context.in_memory_thread(open_memory, self.options, os.environ)
                self._stack.push_async_callback(self.context.in_memory_thread, opened.close)
                self.context.memory = opened
            return self.context.memory

    async def call(
        self, ctx: Context[Any, Any], tool: str, *, on_page: bool = False, **asked: Any
    ) -> tuple[CallResult, AskedPerson]:
        """Make a call as a run does; with whom its question went to, if there was one.

        Those `on_page` are made one after the other, and keep no sources.
        """
        person = AskedPerson(ctx)
        if not on_page:
            return await whole(self._called(person, tool, asked)), person
        async with self.page_turn:
            return await whole(self._called(person, tool, asked, Evidence())), person

    async def _called(
        self,
        person: AskedPerson,
        tool: str,
        asked: dict[str, Any],
        passing: Evidence | None = None,
    ) -> CallResult:
        await self.web()
        evidence = self.context.evidence
        if len(evidence.sources) + len(evidence.snippets) > KEPT:
            began = next(iter(evidence.sources or evidence.snippets)).n // BLOCK
            self.context.evidence = Evidence(first=(began + 1) * BLOCK + 1)
        kept = self.context.evidence if passing is None else passing
        context = replace(self.context, approve=person.approve, evidence=kept)
        given = {name: value for name, value in asked.items() if value is not None}
        self.hear(" ".join(map(str, given.values())))
        scripting = ((tool, "") for tool in SCRIPTING_TOOLS)
        tools = select((*available_tools(context), *scripting), self.options).registry()
        policy = Policy(tools, context)
        calls = ObservedCalls(policy, self.read, self.options.file)
        return (await calls.run(ToolCall(tool, json.dumps(given)), ""))()

    def saw_page(self, url: str, made: CallToolResult) -> None:
        """Note what a client was shown of the open page beside the calls that a run makes."""
        kind = Kind.PAGE if self.read.is_personal(url) else Kind.WEB
        for part in made.content:
            self.read.add(getattr(part, "text", ""), kind, url)

    def hear(self, said: str) -> None:
        """Take a client's words for the person's, as long as it was shown nothing private."""
        if not self.read.private_for(SEARCH):
            # An address would count as one that the person may open with their logins.
            self.read.add(" ".join(w for w in said.split() if "://" not in w), Kind.PERSON)

    async def may_search(self, ctx: Context[Any, Any], text: str) -> Answer | None:
        """Tell why a text may not go to search engines; None where it may."""
        self.hear(text)
        why = self.context.outgoing.refusal(text, SEARCH)
        if not why:
            return None
        person = AskedPerson(ctx)
        if person.approve and await person.approve(f"send “{text}” to search engines, where {why}"):
            self.context.outgoing.allow(text)
            return None
        return person.still_asked or error_result(
            f"not done: {why}", "Use other words, or let the person start with --share memory."
        )


@asynccontextmanager
async def open_session(options: Options) -> AsyncIterator[ToolSession]:
    """Open what calls share; the browser and all else is ended when the block is left."""
    async with AsyncExitStack() as stack:
        session = ToolSession(options, stack)
        stack.callback(session.context.close)
        yield session
        for job in session.behind:  # what is cut off here is on record, and done by another run
            job.cancel()
        await asyncio.gather(*session.behind, return_exceptions=True)


async def whole(work: Coroutine[Any, Any, T]) -> T:
    """Run in a task of its own; where the call is cancelled, it is stopped and waited for.

    Else the cancellation would come again at each step of what it has to tidy up.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        raise
