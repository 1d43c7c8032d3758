"""What a run may spend and is told from its beginning: by the person, else by its depth."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.guard import Budget
from agent.models import Usage, natively
from agent.models.prices import priced
from agent.models.resolve import endpoint_of
from agent.prompts import BROWSING, CITING, system_prompt
from agent.tools import Limits
from agent.tools.registry import tool_specs
from browser.net.url import host, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AsyncExitStack

    from agent.config import Options
    from agent.memory import AnyMemory, Memory
    from agent.models import Model
    from agent.tools import Registry, ToolContext


def logged_in_sites(options: Options) -> set[str]:
    """Name the sites that the browser begins with a login for, by cookies and storage it is given.

    Raises `UsageError` where the state cannot be read.
    """
    if options.storage_state is None:
        return set()
    try:
        state = json.loads(options.storage_state.read_text(encoding="utf-8"))
        hosts = [cookie["domain"].lstrip(".") for cookie in state.get("cookies", ())]
        urls = [row["origin"] for row in state.get("origins", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "Playwright's storage_state writes such a file."
        raise UsageError(f"cannot read {options.storage_state}: {error}", hint=hint) from error
    return {registrable_domain(name) for name in (*hosts, *map(host, urls))} - {""}


def budget_of(options: Options, environ: Mapping[str, str]) -> Budget:
    """Steps, dollars, tokens and seconds: what the person says, else what the depth does."""
    effort = options.effort
    most = options.max_steps or effort.steps
    of_parts = None if options.max_steps else effort.parts_steps
    return Budget(
        most,
        options.budget,
        options.timeout,
        parts_steps=of_parts,
        tokens=options.max_tokens,
        price=_highest_price(options, environ) if options.budget else None,
    )


def _highest_price(
    options: Options, environ: Mapping[str, str]
) -> Callable[[int, int], float] | None:
    """Give the price of the dearest model that may be asked; None where none is known."""
    named = [(options.model, options.base_url), (options.judge, options.base_url)]
    named = [named[0], *(pair for pair in named[1:] if pair[0])]
    named += [(name, None) for name in options.fallback]
    found = [endpoint_of(name, url, environ, options) for name, url in named]
    priced_ones = [where for where in found if where is not None and where.prices]
    if not priced_ones:
        return None

    def price(tokens_in: int, tokens_out: int) -> float:
        usage = Usage(tokens_in, output_tokens=tokens_out)
        return max(priced(usage, w.model, w.prices).usd for w in priced_ones)

    return price


def limits_of(options: Options) -> Limits:
    """Bounds on tools: what the person says, else what the depth does."""
    effort = options.effort
    most = options.max_sources or effort.sources
    return Limits(max_sources=most, engines=effort.engines, translates=effort.translates)


def instructed(
    model: Model, registry: Registry, options: Options, context: ToolContext, today: str
) -> str:
    """Give the system prompt; a model that calls functions is offered the tools as such."""
    guides = _guides(options, context)
    native = natively(model)
    system = system_prompt(registry, native=native, depth=options.depth, guides=guides, today=today)
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


async def open_memory(
    stack: AsyncExitStack,
    context: ToolContext,
    options: Options,
    environ: Mapping[str, str],
    given: AnyMemory | None,
) -> AnyMemory | None:
    """Give the memory that a caller brings, or open the one of the settings; None with none."""
    if not options.memory:
        return None
    if given is not None:
        return given
    memory = await context.in_memory_thread(memory_of, options, environ)
    stack.push_async_callback(context.in_memory_thread, memory.close)
    if options.wiki_folder.is_dir():
        from agent.wiki import Folder, Wiki  # noqa: PLC0415 - few runs have one

        context.wiki = Wiki(Folder(options.wiki_folder))
    return memory


def memory_of(options: Options, environ: Mapping[str, str]) -> Memory:
    """Open the memory of the settings."""
    # A run without memory does not load it.
    from agent.memory import Memory  # noqa: PLC0415
    from agent.memory.embedders import embedder_of  # noqa: PLC0415

    embedder = embedder_of(options.embeddings, options.base_url, environ, options.proxy)
    return Memory.open(options.memory_place, options.namespace, embeddings=embedder)


def memory_name(options: Options) -> str:
    """Name the memory of the settings, so that another run can tell whether it has the same.

    Of a database that machines share it is a hash: its address may hold a password.
    """
    url = options.memory_url
    place = hashlib.sha256(url.encode()).hexdigest()[:16] if url else "data folder"
    return f"{options.namespace} in {place}"
