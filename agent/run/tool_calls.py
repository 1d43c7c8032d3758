"""Tool calls outside a run: by MCP clients and by `research browser`.

Calls share the web, the browser, memory and everything read so far. They follow the same policy as
calls in a run: whether text may be sent depends on its origin, and actions on sites where the user
is logged in need approval.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agent.evidence.store import Evidence
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import SEARCH_SITE, Kind, Provenance
from agent.guard.redact import Redactor, find_secrets
from agent.guard.secret_store import SecretStore
from agent.limits import LimitSettings
from agent.run.settings import local_files, logged_in_sites, open_memory
from agent.run.web import open_web
from agent.tools.action_tools import SCRIPTING_TOOLS
from agent.tools.context import ToolContext
from agent.tools.policy import Policy
from agent.tools.toolset import (
    TOOLS_ON_PAGE,
    ProvenanceCalls,
    apply_tool_rules,
    available_tools,
)
from agent.types import Observation, ToolCall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AsyncExitStack

    from agent.memory.memory_api import Memory
    from agent.options import Options
    from agent.tools.context import Web

SNAPSHOT_TOKENS: Final = 1_200
"""Maximum size of a page snapshot in tokens. FIND also searches what a snapshot leaves out."""
MAX_KEPT_PAGES: Final = 200
"""Maximum number of pages kept as resources; once it is exceeded, all are dropped."""
SOURCE_NUMBER_OFFSET: Final = 10_000
"""Added to source numbers after all pages are dropped, so that no number refers to two pages."""


class ToolCalls:
    """Calls the built-in tools for one caller; everything that it opens is closed with `stack`.

    `live` returns the current settings, which apply to searching, reading and the choice of tools.
    The caller's permissions do not change.
    """

    def __init__(self, live: Callable[[], Options], stack: AsyncExitStack) -> None:
        self._live = live
        self._web_options = options = live()
        self.page_turn = asyncio.Lock()
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
            max_sources=2 * MAX_KEPT_PAGES,
            outgoing=Outgoing(provenance, private_search=options.private_search),
            redactor=Redactor(find_secrets(os.environ)),
            secrets=SecretStore(options.data),
            files=options.file,
        )
        self._named_files = frozenset(map(local_files(options).address, options.file))

    @property
    def options(self) -> Options:
        """The current settings, including changes to the settings file."""
        return self._live()

    @property
    def provenance(self) -> Provenance:
        """The origins of all text that clients have received so far."""
        return self.context.provenance

    async def web(self) -> Web:
        """Return the access to the web, which is opened on the first call."""
        async with self._opening:
            web, options = self.context.web, self.options
            changed = options != self._web_options and web is not None and web.tab is None
            if web is None or changed:  # keep an open page, and the `Web` that it belongs to
                # The previous `Web` is closed with the stack, because a parallel call may still
                # use it.
                web = await self._stack.enter_async_context(open_web(options, os.environ))
                self.context.web, self._web_options = web, options
            return web

    async def memory(self) -> Memory:
        """Return the memory, which is opened on the first call."""
        async with self._opening:
            if self.context.memory is None:
                in_thread = self.context.in_memory_thread
                memory = await in_thread(open_memory, self.options, os.environ)
                self._stack.push_async_callback(in_thread, memory.close)
                self.context.memory = memory
            return self.context.memory

    async def run(
        self,
        approve: Callable[[str], Awaitable[bool]] | None,
        tool: str,
        arguments: dict[str, Any],
    ) -> Observation:
        """Call a tool as a run does; `approve` asks the user, and is None if no user is available.

        Calls on the open page run one at a time, and their sources are not kept.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        if tool in TOOLS_ON_PAGE:
            async with self.page_turn:
                return await self._run(approve, tool, given, Evidence())
        return await self._run(approve, tool, given, self._kept_evidence())

    def _kept_evidence(self) -> Evidence:
        # Sources are kept as resources, but the memory use of a long-running server must be
        # bounded.
        evidence = self.context.evidence
        if len(evidence.sources) + len(evidence.snippets) > MAX_KEPT_PAGES:
            block = next(iter(evidence.sources or evidence.snippets)).n // SOURCE_NUMBER_OFFSET
            self.context.evidence = Evidence(first=(block + 1) * SOURCE_NUMBER_OFFSET + 1)
        return self.context.evidence

    async def _run(
        self,
        approve: Callable[[str], Awaitable[bool]] | None,
        tool: str,
        arguments: dict[str, Any],
        evidence: Evidence,
    ) -> Observation:
        await self.web()
        context = replace(self.context, approve=approve, evidence=evidence)
        self.note_user_words(" ".join(map(str, arguments.values())))
        # Only calls from outside a run may use these tools: their scripts and files come from the
        # caller's own model.
        scripting = ((name, "") for name in SCRIPTING_TOOLS)
        tools = apply_tool_rules((*available_tools(context), *scripting), self.options).registry()
        calls = ProvenanceCalls(Policy(tools, context), self.provenance, self._named_files)
        return (await calls.run(ToolCall(tool, json.dumps(arguments)), ""))()

    def note_page_words(self, url: str, text: str) -> None:
        """Record page text that a client received other than through a tool call."""
        kind = Kind.PAGE if self.provenance.is_personal(url) else Kind.WEB
        self.provenance.add(text, kind, url)

    def note_user_words(self, text: str) -> None:
        """Treat a client's text as the user's, unless the client has received private text."""
        if not self.provenance.has_private_text_for(SEARCH_SITE):
            # A URL would count as one that the user allows the run to open with their logins.
            words = " ".join(word for word in text.split() if "://" not in word)
            self.provenance.add(words, Kind.USER)
