"""Wiring a run: its tools, the model with its instructions, and the work that it is to do."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.config import servers_path
from agent.errors import from_extra
from agent.guard.provenance import Kind
from agent.guard.window import tokens
from agent.loop.gate import SectionGate
from agent.loop.orchestrator import Orchestrator
from agent.loop.subtasks import SavedPages, SubtaskCalls
from agent.models.base import sees, uses_native_tools
from agent.prompts import BROWSING, CITING, system_prompt
from agent.run.models import RedactingModel
from agent.tools.registry import tool_specs, tools_from_functions
from agent.tools.rephrasing import Rephraser
from agent.tools.skill_tools import skills_block
from agent.tools.toolset import (
    ProvenanceCalls,
    apply_tool_rules,
    available_tools,
    guides_for,
    plugin_tools,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.config import Options
    from agent.loop.context_builder import ContextBuilder
    from agent.models.base import Model
    from agent.protocol.results import Caller
    from agent.run.services import RunServices
    from agent.tools.context import ToolContext
    from agent.tools.registry import Registry, Tool
    from agent.tools.toolset import ToolSelection
    from agent.types import Message


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
    """Choose among all tools there are; `config` also finds servers in the file of the user.

    `tasks` makes the tools that set something off later; they are there where settings allow them.
    Servers stay open with the stack; without `connect` none is reached. Raises `UsageError` for
    servers that are not set as they should be.
    """
    # Of two tools that are named alike the first counts: the caller's own, then ours.
    there = [(tool, "") for tool in tools_from_functions(functions or {})]
    there += [*available_tools(context), *((tool, "") for tool in plugin_tools(options.tool))]
    told: list[str] = []
    if options.allow_tasks and tasks is not None:
        there += [(tool, "") for tool in tasks(options)]
    elif options.allow_tasks:
        told.append("tasks are allowed, but cannot be set here: no jobs were handed in")
    named = options.mcp_servers or options.mcp_config or (config and servers_path().is_file())
    if named and "mcp" in options.tool_sources:
        with from_extra("mcp", ", or --tool-sources domain,memory,system."):
            from agent.mcp_client.server_settings import servers_of  # noqa: PLC0415 - few runs have any
            from agent.mcp_client.server_tools import open_servers  # noqa: PLC0415 - loads the SDK
        servers = servers_of(options, config=config)
        opened = open_servers(servers, options.data, options.proxy, connect=connect)
        found = await stack.enter_async_context(opened)
        there += [(tool, "") for tool in found.tools]
        told = found.diagnostics
    return apply_tool_rules(there, options, told)


def new_orchestrator(
    services: RunServices, model: Model, builder: ContextBuilder, tools: ToolSelection
) -> Orchestrator:
    """Give the model its tools and instructions, and the work that it is to do."""
    context, options, prior = services.context, services.options, services.inputs.prior
    context.vision = options.vision and sees(model)
    registry, noted = tools.registry(), tools.to_record(options)
    services.write("tools.offered", **noted)
    system = _instruct(model, registry, services)
    saved = SavedPages(services.folder, services.write, options.storage_state)
    left_open = prior.left_open() if prior else {}
    calls: Caller = SubtaskCalls(registry, context, saved, left_open)
    # Around the live model alone: what stands on record has no secrets, and is known by its digest.
    model = RedactingModel(model, services.redactor)
    if prior is not None:  # what is on record is not asked or done again
        model, calls = prior.model(model), prior.calls(calls, services.journal)
    # Around recorded calls too: whose words they brought decides what the rest of the run may send.
    calls = ProvenanceCalls(calls, context.provenance, context.files)
    rephraser = Rephraser(model, services.budget, services.record, options.effort.rephrases)
    context.rephrase = rephraser.ask

    async def build_context(question: str, place: str) -> list[Message]:
        recorded = prior.opening(place) if prior else None
        if recorded is None:
            return await builder(question, place)
        # Whose words each part of it holds is not on record, but what the run read is.
        kind = Kind.TOOL if prior and prior.read_private else Kind.WEB
        for message in recorded:
            if message.content != services.question:
                context.provenance.add(message.content, kind)
        return recorded

    return Orchestrator(
        model,
        calls,
        services.budget,
        system,
        services.record,
        build_context,
        effort=options.effort,
        as_report=options.report,
        objections=SectionGate(services.evidence, services.record),
        guides=partial(guides_for, selection=noted),
        context_window=options.context_window,
    )


def _instruct(model: Model, registry: Registry, services: RunServices) -> str:
    """Give the system prompt; a model that calls functions is offered the tools as such."""
    context, options = services.context, services.options
    context.provenance.add(services.today[:4], Kind.PERSON)  # everybody knows which year it is
    # Guides for the page and the files before the person are needed at once.
    page = context.web is not None and context.web.page is not None
    guides = [*([BROWSING] if page else []), *([CITING] if page or options.file else [])]
    native = uses_native_tools(model)
    system = system_prompt(
        registry,
        native=native,
        depth=options.depth,
        guides=guides,
        instruction=options.instruction or "",
        today=services.today,
    )
    if context.skills and registry.get("read_skill"):
        system = "\n".join(filter(None, [system, skills_block(context)]))
    if uses_native_tools(model):
        tools, on_page = tool_specs(registry), tool_specs(registry, on_page=True)
        # They are sent along with each prompt, those on a page perhaps later.
        services.budget.overhead = tokens(json.dumps([*tools, *on_page]))
        if page:
            tools, on_page = [*tools, *on_page], []
        model.offer(system, tools, on_page)
    return system
