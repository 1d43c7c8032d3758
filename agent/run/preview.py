"""Preview of a run (`--dry-run`): its model, its prompt, whether it plans, and its likely cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent.evidence.store import Evidence
from agent.guard.window import tokens
from agent.journal.events import utc_now
from agent.loop.plan import wants_plan
from agent.models.base import Usage
from agent.models.providers import EXTRACTIVE, find_endpoint, with_price
from agent.prompts import system_prompt
from agent.tools.context import ToolContext
from agent.tools.registry import tool_specs
from agent.tools.toolset import apply_tool_rules, available_tools
from agent.types import format_usd

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.options import Options

LIKELY_STEPS = 4
"""Number of steps for most questions: a search, two rounds of reading, and the answer."""
REPLY_TOKENS = 300
"""Typical number of tokens in a reply: a thought and a few calls, or a short answer."""


def preview(question: str, options: Options, environ: Mapping[str, str]) -> str:
    """Describe what a run would do: prompt, model, plan and likely cost; nothing is sent.

    Raises `UsageError` for an unknown model.
    """
    endpoint = find_endpoint(options.model, options.base_url, environ, options)
    name = endpoint.name if endpoint else options.model or EXTRACTIVE
    context = ToolContext(question, Evidence())
    tools = apply_tool_rules(available_tools(context), options).registry()
    native = endpoint is not None and endpoint.native
    system = system_prompt(
        tools,
        native=native,
        depth=options.depth,
        instruction=options.instruction or "",
        today=utc_now().date().isoformat(),
    )
    functions = tool_specs(tools) if native else []

    # Each step resends the entire conversation, which grows with every page read.
    steps = min(LIKELY_STEPS, options.max_steps or options.depth_limits.steps)
    first = tokens(system) + tokens(json.dumps(functions)) + tokens(question)
    read = context.limits.read_tokens * sum(range(steps))
    usage = Usage(first * steps + read, output_tokens=REPLY_TOKENS * steps)
    if endpoint is not None:
        usage = with_price(usage, endpoint.model, endpoint.prices)
    cost = f"about {format_usd(usage.usd)}" if usage.usd else "free, or price unknown"
    plans = endpoint is not None and options.depth_limits.plans and wants_plan(question)
    lines = [system, "", question, ""]
    if functions:
        lines.append(f"offered  {', '.join(spec['function']['name'] for spec in functions)}")
    lines += [
        f"model    {name}",
        f"plan     {'asked for first' if plans else 'none: a single loop'}",
        f"likely   {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, {cost}",
        "Nothing was sent. A run also adds memory, files and the open page to the prompt.",
    ]
    return "\n".join(lines)
