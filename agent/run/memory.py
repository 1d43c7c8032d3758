"""The memory of a run: opened before it, and what the run found out kept after it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.config import Options
    from agent.memory import AnyMemory
    from agent.opening import Opening
    from agent.tools import ToolContext
    from agent.types import Report


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
    # A run without memory does not load it.
    from agent.memory import Memory  # noqa: PLC0415
    from agent.memory.embedders import embedder_of  # noqa: PLC0415

    embedder = embedder_of(options.embeddings, options.base_url, environ, options.proxy)
    opening = partial(Memory.open, embeddings=embedder)
    memory = await context.in_memory_thread(opening, options.memory_place, options.namespace)
    stack.push_async_callback(context.in_memory_thread, memory.close)
    if options.wiki_folder.is_dir():
        from agent.memory.wiki import Folder, Wiki  # noqa: PLC0415 - few runs have one

        context.wiki = Wiki(Folder(options.wiki_folder))
    return memory


async def leave(opening: Opening, report: Report, steps: Sequence[str]) -> None:
    """Keep what the run found out: its outcome, facts, sources, and what worked."""
    context = opening.context
    if context.memory is None:
        return
    used = [hit.id for hit in opening.layers.recalled] if opening.layers else []
    await context.in_memory_thread(context.memory.record_run, report, steps, used)
