"""Wires up a run: selects its tools, builds the system prompt, creates the orchestrator."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.config import servers_path
from agent.errors import requires_extra
from agent.guard.provenance import Kind
from agent.guard.saved_logins import LoginsInUse
from agent.guard.window import tokens
from agent.loop.orchestrator import Orchestrator
from agent.loop.plan_approval import PlanApproval
from agent.loop.subtasks import SavedPages, SubtaskCalls
from agent.models.base import SystemPrompt, sees, uses_native_tools
from agent.prompts import BROWSING, CITING, system_prompt
from agent.run.models import RedactingModel
from agent.tools.registry import tool_specs
from agent.tools.rephrasing import Rephraser
from agent.tools.skill_tools import read_skill, skills_block
from agent.tools.toolset import (
    ProvenanceCalls,
    apply_tool_rules,
    available_tools,
    caller_tools,
    guides_for,
    plugin_tools,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.loop.context_builder import ContextBuilder
    from agent.loop.report_sections import Section
    from agent.models.base import Model
    from agent.options import Options
    from agent.protocol.call_results import Caller
    from agent.run.services import RunServices
    from agent.tools.context import ToolContext
    from agent.tools.registry import Registry, Tool
    from agent.tools.toolset import ToolSelection
    from agent.types import Message


def check_functions(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Raise `UsageError` if one of a caller's functions cannot be a tool."""
    caller_tools(functions)


async def select_tools(
    context: ToolContext,
    options: Options,
    stack: AsyncExitStack,
    functions: Mapping[str, Callable[[str], Awaitable[Any]]] | None = None,
    *,
    tasks: Callable[[Options], Sequence[Tool]] | None = None,
    config: bool = False,
    connect: bool = True,
) -> ToolSelection:
    """Select a run's tools: from the caller, built-in, from plug-ins and from MCP servers.

    `functions` are the caller's tools; `tasks` creates the scheduling tools, if the settings allow
    them. With `config`, the MCP servers in the user's file are included. Their connections stay
    open until the stack is closed; without `connect`, the servers are not contacted. Raises
    `UsageError` for invalid server settings.
    """
    # Each tool with the reason why it is unavailable, if any. If two tools have the same name, the
    # first one is used.
    candidates = [(tool, "") for tool in caller_tools(functions or {})]
    candidates += available_tools(context)
    candidates += [(tool, "") for tool in plugin_tools(options.tool)]
    diagnostics: list[str] = []
    if options.allow_tasks and tasks is not None:
        candidates += [(tool, "") for tool in tasks(options)]
    elif options.allow_tasks:
        diagnostics.append(
            "tasks are allowed, but cannot be scheduled here: no jobs were passed in"
        )
    has_servers = options.mcp_servers or options.mcp_config or (config and servers_path().is_file())
    if has_servers and "mcp" in options.tool_sources:
        with requires_extra("mcp", ", or --tool-sources domain,memory,system."):
            from agent.mcp_client.server_settings import find_servers  # noqa: PLC0415 - few runs have any
            from agent.mcp_client.server_tools import open_servers  # noqa: PLC0415 - loads the SDK
        servers = find_servers(options, config=config)
        opened = open_servers(servers, options.data, options.proxy, connect=connect)
        connected = await stack.enter_async_context(opened)
        candidates += [(tool, "") for tool in connected.tools]
        diagnostics = connected.diagnostics
    return apply_tool_rules(candidates, options, diagnostics)


def new_orchestrator(
    services: RunServices, model: Model, builder: ContextBuilder, tools: ToolSelection
) -> Orchestrator:
    """Create a run's orchestrator, with its model, tools and system prompt."""
    context, options, prior = services.context, services.options, services.inputs.prior
    context.vision = options.vision and sees(model)
    registry, offered = tools.registry(), tools.to_record(options)
    services.write("tools.offered", **offered)
    system = _build_system_prompt(model, registry, services)
    logins = LoginsInUse(options.data, options.login) if options.login else None
    saved = SavedPages(services.folder, services.write, options.storage_state, logins)
    interrupted_pages = prior.interrupted_pages() if prior else {}
    calls: Caller = SubtaskCalls(registry, context, saved, interrupted_pages)

    # The order of the wrappers matters. Only the live model is redacted: recorded replies contain
    # no secrets, and changing them would change the digests used to look them up.
    model = RedactingModel(model, services.redactor)
    if prior is not None:  # use the recorded replies and results instead of asking again
        model, calls = prior.model(model), prior.calls(calls, services.journal)
    # Provenance is tracked for recorded calls as well: the text that they added to the context
    # determines what the rest of the run may send.
    calls = ProvenanceCalls(calls, context.provenance, services.named_files)
    rephraser = Rephraser(model, services.budget, services.record, options.depth_limits.rephrases)
    context.rephrase = rephraser.ask

    async def build_context(question: str, place: str) -> list[Message]:
        recorded = prior.opening(place) if prior else None
        if recorded is None:
            return await builder(question, place)
        # The record does not show where each part of a message came from, only whether the run read
        # anything private. If it did, everything counts as private.
        kind = Kind.TOOL if prior and prior.read_private else Kind.WEB
        for message in recorded:
            if message.content != services.question:
                context.provenance.add(message.content, kind)
        return recorded

    kept: Sequence[Section] = ()
    if prior is not None:
        kept = prior.sections or (prior.source.kept_sections if prior.resumed else ())
    approval = None
    if options.plan and not kept:
        on_record = prior.source.approval() if prior and prior.resumed else PlanApproval()
        approval = replace(
            on_record,
            edit=services.edit_plan,
            user=context.user,
            record=services.record,
            note=partial(context.provenance.add, kind=Kind.USER),
        )

    return Orchestrator(
        model,
        calls,
        services.budget,
        system,
        services.record,
        build_context,
        depth_limits=options.depth_limits,
        as_report=options.report,
        guides=partial(guides_for, selection=offered),
        context_window=options.context_window,
        join_loops=services.evidence.join_loops,
        approval=approval,
        kept=kept,
    )


def _prompt_without_functions(
    services: RunServices, registry: Registry, guides: Sequence[str]
) -> str:
    """Build the prompt for an endpoint that turns out not to support function calling."""
    options = services.options
    return system_prompt(
        registry,
        depth=options.depth,
        guides=guides,
        instruction=options.instruction or "",
        today=services.today,
    )


def _build_system_prompt(model: Model, registry: Registry, services: RunServices) -> str:
    """Build the system prompt; for native function calling, the model gets tool definitions."""
    context, options = services.context, services.options
    context.provenance.add(services.today[:4], Kind.USER)  # the year is not secret
    # Other guides are shown when their tools are first used; these are needed from the start.
    has_page = context.web is not None and context.web.page is not None
    guides = []
    if has_page:
        guides.append(BROWSING)
    if has_page or options.file:
        guides.append(CITING)
    native = uses_native_tools(model)
    system = system_prompt(
        registry,
        native=native,
        depth=options.depth,
        guides=guides,
        instruction=options.instruction or "",
        today=services.today,
    )
    if context.skills and registry.get(read_skill.name):
        system = "\n".join(filter(None, [system, skills_block(context)]))
    if native:
        tools = tool_specs(registry)
        # Tool definitions are sent with every prompt, so their tokens are added to each.
        services.budget.overhead = tokens(json.dumps(tools))
        return SystemPrompt(system, tools, _prompt_without_functions(services, registry, guides))
    return system
