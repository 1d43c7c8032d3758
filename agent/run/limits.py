"""What a run may spend and is told from its beginning: by the person, else by its depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.guard import Budget, Secrets
from agent.models import natively
from agent.prompts import BROWSING, CITING, system_prompt
from agent.tools import Limits
from agent.tools.registry import tool_specs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.config import Options
    from agent.models import Model
    from agent.tools import Registry, ToolContext


def budget_of(options: Options) -> Budget:
    """Steps, dollars and seconds: what the person says, else what the depth does."""
    effort = options.effort
    most = options.max_steps or effort.steps
    of_parts = None if options.max_steps else effort.parts_steps
    return Budget(most, options.budget, options.timeout, parts_steps=of_parts)


def limits_of(options: Options) -> Limits:
    """Bounds on tools: what the person says, else what the depth does."""
    effort = options.effort
    most = options.max_sources or effort.sources
    return Limits(max_sources=most, engines=effort.engines, translates=effort.translates)


def instructed(model: Model, registry: Registry, options: Options, context: ToolContext) -> str:
    """Give the system prompt; a model that calls functions is offered the tools as such."""
    system = system_prompt(
        registry, native=natively(model), depth=options.depth, guides=_guides(options, context)
    )
    if natively(model):
        model.offer(system, tool_specs(registry))
    return system


def _guides(options: Options, context: ToolContext) -> list[str]:
    """Name the guides that are needed at once: for the page and the files before the person."""
    page = context.web is not None and context.web.page is not None
    cited = page or bool(options.file)
    return [*([BROWSING] if page else []), *([CITING] if cited else [])]


def private_tokens(question: str, environ: Mapping[str, str]) -> Secrets:
    """Know what of the environment must not leave; what stands in the question may."""
    secrets = Secrets(question)
    secrets.add_environment(environ)
    return secrets
