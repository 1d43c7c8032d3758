"""The memory of a run, as the settings name it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AsyncExitStack

    from agent.config import Options
    from agent.memory import AnyMemory, Memory
    from agent.tools import ToolContext


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
    memory = await context.in_memory_thread(opened, options, environ)
    stack.push_async_callback(context.in_memory_thread, memory.close)
    if options.wiki_folder.is_dir():
        from agent.wiki import Folder, Wiki  # noqa: PLC0415 - few runs have one

        context.wiki = Wiki(Folder(options.wiki_folder))
    return memory


def opened(options: Options, environ: Mapping[str, str]) -> Memory:
    """Open the memory of the settings."""
    # A run without memory does not load it.
    from agent.memory import Memory  # noqa: PLC0415
    from agent.memory.embedders import embedder_of  # noqa: PLC0415

    embedder = embedder_of(options.embeddings, options.base_url, environ, options.proxy)
    return Memory.open(options.memory_place, options.namespace, embeddings=embedder)


def name_of(options: Options) -> str:
    """Name the memory of the settings, so that another run can tell whether it has the same.

    Of a database that machines share it is a hash: its address may hold a password.
    """
    url = options.memory_url
    place = hashlib.sha256(url.encode()).hexdigest()[:16] if url else "data folder"
    return f"{options.namespace} in {place}"
