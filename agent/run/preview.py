"""What a run would do: its model, whether it would plan, its prompt, its likely cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.store import Evidence
from agent.guard.window import tokens
from agent.journal.events import utc_now
from agent.loop.plan import wants_plan
from agent.models.base import Usage
from agent.models.providers import EXTRACTIVE, find_endpoint, with_price
from agent.prompts import system_prompt
from agent.tools.context import Limits, ToolContext
from agent.tools.registry import tool_specs
from agent.tools.toolset import apply_tool_rules, available_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.config import Options

LIKELY_STEPS = 4
"""A search, two rounds of reading and the answer: what most questions take."""
REPLY_TOKENS = 300
"""A thought and a few calls, or a short answer."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A run that was not made; `usd` is 0 where the model is free or its price not known.

    `functions` are the tools that the model is offered beside the prompt.
    """

    model: str
    plans: bool
    system: str
    question: str
    input_tokens: int
    output_tokens: int
    usd: float
    functions: tuple[str, ...] = ()


def preview(question: str, options: Options, environ: Mapping[str, str]) -> Preview:
    """Look ahead; nothing is sent. Raises `UsageError` for a model that nobody has."""
    where = find_endpoint(options.model, options.base_url, environ, options)
    name = where.name if where else options.model or EXTRACTIVE
    context = ToolContext(question, Evidence(), Limits())
    tools = apply_tool_rules(available_tools(context), options).registry()
    native = where is not None and where.native
    today = utc_now().date().isoformat()
    said = options.instruction or ""
    system = system_prompt(tools, native=native, depth=options.depth, instruction=said, today=today)
    offered = tool_specs(tools) if native else []
    steps = min(LIKELY_STEPS, options.max_steps or options.effort.steps)
    first = tokens(system) + tokens(json.dumps(offered)) + tokens(question)
    growing = context.limits.read_tokens * sum(range(steps))
    usage = Usage(first * steps + growing, output_tokens=REPLY_TOKENS * steps)
    if where is not None:
        usage = with_price(usage, where.model, where.prices)
    plans = where is not None and options.effort.plans and wants_plan(question)
    return Preview(
        name,
        plans,
        system,
        question,
        usage.input_tokens,
        usage.output_tokens,
        usage.usd,
        tuple(spec["function"]["name"] for spec in offered),
    )
