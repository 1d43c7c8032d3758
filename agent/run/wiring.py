"""Wiring a run: its tools, the model with its instructions, and the work that it is to do."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.config import servers_path
from agent.errors import from_extra
from agent.guard.provenance import Kind
from agent.guard.window import tokens
from agent.models.base import natively, sees
from agent.planner.work import Work
from agent.prompts import BROWSING, CITING, system_prompt
from agent.review.gate import SectionGate
from agent.run.models import RedactingModel
from agent.run.services import gather
from agent.run.subtasks import Branches, LeftOpen
from agent.tools.registry import from_functions, tool_specs
from agent.tools.skill_tools import skills_block
from agent.tools.toolset import (
    ObservedCalls,
    available_tools,
    guides_for,
    note_observation,
    plugin_tools,
    select_tools,
)
from agent.tools.web_tools import Rephraser

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.config import Options
    from agent.loop.context_builder import ContextBuilder
    from agent.models.base import Model
    from agent.planner.work import Begin
    from agent.protocol.results import Caller
    from agent.run.services import RunServices
    from agent.tools.context import ToolContext
    from agent.tools.registry import Registry, Tool
    from agent.tools.toolset import Selected
    from agent.types import Message


async def offered(
    context: ToolContext,
    options: Options,
    stack: AsyncExitStack,
    functions: Mapping[str, Callable[[str], Awaitable[Any]]] | None = None,
    *,
    tasks: Callable[[Options], Sequence[Tool]] | None = None,
    config: bool = False,
    connect: bool = True,
) -> Selected:
    """Choose among all tools there are; `config` also finds servers in the file of the user.

    `tasks` makes the tools that set something off later; they are there where settings allow them.

    Servers stay open with the stack; without `connect` none is reached. Raises `UsageError` for
    servers that are not set as they should be.
    """
    there = [(tool, "") for tool in from_functions(functions or {})]
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
    return select_tools(there, options, told)


def begin_work(
    services: RunServices, model: Model, builder: ContextBuilder, tools: Selected
) -> Work:
    """Give the model its tools and instructions, and the work that it is to do."""
    context, options = services.context, services.options
    context.vision = options.vision and sees(model)
    registry, noted = tools.registry(), tools.for_record(options)
    services.write("tools.offered", **noted)
    system = instructed(model, registry, options, context, services.today)
    if natively(model):  # sent along with each prompt
        offered = [*tool_specs(registry), *tool_specs(registry, on_page=True)]
        services.budget.overhead = tokens(json.dumps(offered))
    model, calls = _with_record(services, model, registry)
    calls = ObservedCalls(calls, context.provenance, context.files)
    rephraser = Rephraser(model, services.budget, services.record, options.effort.rephrases)
    context.rephrase = rephraser.ask
    return Work(
        model,
        calls,
        services.budget,
        system,
        services.record,
        _opening(services, builder),
        effort=options.effort,
        as_report=options.report,
        guides=partial(guides_for, noted=noted),
        context_window=options.context_window,
        objections=SectionGate(services.evidence, services.record),
    )


def _with_record(services: RunServices, model: Model, registry: Registry) -> tuple[Model, Caller]:
    """Take secrets out of what a model says; what is on record is not asked or done again."""
    past = services.given.past
    left = LeftOpen(services.folder, services.write, services.options.storage_state)
    before = past.left_open() if past else {}
    calls: Caller = Branches(registry, services.context, left, before)
    model = RedactingModel(model, services.redactor)
    if past is None:
        return model, calls
    return past.model(model), past.calls(calls, services.journal)


def _opening(services: RunServices, builder: ContextBuilder) -> Begin:
    """Lay out what a loop begins with: as on record, else from what the person has before them."""
    past, gathering = services.given.past, asyncio.Lock()

    async def begin(question: str, place: str) -> list[Message]:
        known = past.opening(place) if past else None
        if known is not None:
            # Whose words each part of it holds is not on record, but what the run read is.
            kind = Kind.TOOL if past and past.read_private else Kind.WEB
            for message in known:
                if message.content != services.question:
                    services.context.provenance.add(message.content, kind)
            return known
        async with gathering:
            if builder.observed is None:
                await _put_before(builder, services)
        said = await builder(question, place)
        return [replace(m, content=services.redactor.text(m.content)) for m in said]

    return begin


async def _put_before(builder: ContextBuilder, services: RunServices) -> None:
    """Put the open page and the files into what loops begin with. Raises `UsageError`."""
    context = services.context
    builder.captured, builder.observed = await gather(services.options, context)
    builder.page = context.web.context if context.web else None
    files = frozenset(path.resolve().as_uri() for path in context.files)
    for observation in builder.observed:
        note_observation(context.provenance, observation, files)


def instructed(
    model: Model, registry: Registry, options: Options, context: ToolContext, today: str
) -> str:
    """Give the system prompt; a model that calls functions is offered the tools as such."""
    context.provenance.add(today[:4], Kind.PERSON)  # everybody knows which year it is
    guides = _guides(options, context)
    native = natively(model)
    system = system_prompt(
        registry,
        native=native,
        depth=options.depth,
        guides=guides,
        instruction=options.instruction or "",
        today=today,
    )
    if context.skills and registry.get("read_skill"):
        system = "\n".join(filter(None, [system, skills_block(context)]))
    if natively(model):
        tools, on_page = tool_specs(registry), tool_specs(registry, on_page=True)
        if BROWSING in guides:
            tools, on_page = [*tools, *on_page], []
        model.offer(system, tools, on_page)
    return system


def _guides(options: Options, context: ToolContext) -> list[str]:
    """Name the guides that are needed at once: for the page and the files before the person."""
    page = context.web is not None and context.web.page is not None
    cited = page or bool(options.file)
    return [*([BROWSING] if page else []), *([CITING] if cited else [])]
