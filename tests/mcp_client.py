"""`research mcp serve` in a forked process, with streams for the SDK's client."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from tests.conftest import COMMAND

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client._transport import TransportStreams

    from tests.forked import Commands


@asynccontextmanager
async def serving_mcp(
    commands: Commands, *flags: str, env: dict[str, str]
) -> AsyncIterator[TransportStreams]:
    """Serve over standard streams until the block ends; yields the client's ends."""
    reading, writing = os.pipe()
    server = commands.start(str(COMMAND), "mcp", "serve", *flags, env=env, stdin=reading)
    os.close(reading)
    requests = anyio.wrap_file(os.fdopen(writing, "w", encoding="utf-8"))
    replies = anyio.wrap_file(os.fdopen(os.dup(server.stdout.fileno()), encoding="utf-8"))
    # The SDK's server end does for a client too: it reads the one stream and writes the other.
    async with replies, stdio_server(replies, requests) as (received, sent):
        late = received.clone()  # the client closes its own
        try:
            yield received, sent
        finally:
            with anyio.CancelScope(shield=True):
                await sent.aclose()
                with suppress(BrokenPipeError):
                    await requests.aclose()  # this ends the server
                async with late:
                    async for _ in late:
                        pass
                await anyio.to_thread.run_sync(server.communicate)
