"""The three ways to a server, none of which takes in more than a message may hold.

The SDK's own transports read a message whole however long it is; here one that is too long ends
the connection. A server over HTTP is reached through the guarded way out.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, Final

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from agent.config import host_port
from browser.net.egress import Egress, EgressPolicy
from browser.net.transport import certificates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AsyncExitStack

    from agent.mcp_client.server_settings import ServerSettings

LARGEST_MESSAGE: Final = 8_000_000
"""Bytes: a picture of a screen has one or two million in base64."""
TOO_LONG: Final = f"a message of more than {LARGEST_MESSAGE:,} bytes"
CONNECT_SECONDS: Final = 10.0
SILENCE_SECONDS: Final = 600.0
"""A stream of events may be silent for as long as a person takes to answer."""
GRACE_SECONDS: Final = 1.0
"""What a server gets to end by itself, and then once more when it is told to."""
CHUNK: Final = 65_536

Streams = AbstractAsyncContextManager[Any]


async def transport_to(
    settings: ServerSettings,
    stack: AsyncExitStack,
    said: IO[bytes],
    ended: Callable[[], object],
    proxy: str | None,
) -> Streams:
    """Give the transport of a server.

    `said` takes what it writes to its error stream; `ended` is called when it ends by itself.
    """
    if settings.transport == "stdio":
        return stdio(settings, said, ended)
    policy = EgressPolicy(allow_private=(host_port(settings.url),), upstream_proxy=proxy)
    egress = await stack.enter_async_context(Egress(policy))

    if settings.transport == "sse":
        made: Any = lambda **_: _client(egress.proxy_url, settings)  # noqa: E731 - of no more use
        return sse_client(settings.url, httpx_client_factory=made)
    http = await stack.enter_async_context(_client(egress.proxy_url, settings))
    return streamable_http_client(
        settings.url, http_client=http, max_sse_event_size=LARGEST_MESSAGE
    )


def _client(proxy: str, settings: ServerSettings) -> httpx2.AsyncClient:
    client = httpx2.AsyncClient(
        proxy=proxy,
        trust_env=False,
        verify=certificates(),
        headers={"Accept-Encoding": "identity", **settings.headers},
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=SILENCE_SECONDS),
    )
    client.event_hooks["response"].append(_capped)
    return client


async def _capped(response: httpx2.Response) -> None:
    """Let a response end in an error where it is longer than a message, or packed."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("the server packs its answers, unasked")
    if "text/event-stream" not in response.headers.get("content-type", ""):
        response.stream = _CappedStream(response.stream)


class _CappedStream(httpx2.AsyncByteStream):
    """The bytes of a response, up to the size of a message."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LARGEST_MESSAGE
        async for chunk in self._whole:
            left -= len(chunk)
            if left < 0:
                raise httpx2.StreamError(TOO_LONG)
            yield chunk

    async def aclose(self) -> None:
        """Let the connection go."""
        await self._whole.aclose()


@asynccontextmanager
async def stdio(
    settings: ServerSettings, said: IO[bytes], ended: Callable[[], object]
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server and speak with it over its standard streams, a line a message.

    It gets the environment that it is given, and of ours what says where and who we are. Raises
    `OSError` where it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        shutil.which(settings.command) or settings.command,
        *settings.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=said,
        env=get_default_environment() | settings.env,
        cwd=settings.cwd,
        start_new_session=True,
        limit=LARGEST_MESSAGE,
    )
    heard, to_us = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_it, sent = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as pipes, heard, to_us, to_it, sent:
            pipes.start_soon(_read, process, heard, said, ended)
            pipes.start_soon(_write, process, sent)
            yield to_us, to_it
            pipes.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _read(
    process: asyncio.subprocess.Process,
    heard: Any,
    said: IO[bytes],
    ended: Callable[[], object],
) -> None:
    assert process.stdout
    async with heard:
        while line := await _line(process.stdout, said):
            with suppress(ValueError):  # else it is a line of its log
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                await heard.send(SessionMessage(message))
    ended()


async def _line(stdout: asyncio.StreamReader, said: IO[bytes]) -> bytes:
    """Read a line; one that is too long is the last one that is read."""
    try:
        return await stdout.readline()
    except ValueError:
        said.write(TOO_LONG.encode())
        return b""


async def _write(process: asyncio.subprocess.Process, sent: Any) -> None:
    assert process.stdin
    with suppress(OSError):  # it has ended, which its other stream tells
        async for message in sent:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(f"{line}\n".encode())
            await process.stdin.drain()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a server with all that it started: its input is closed, then it is told, then killed."""
    assert process.stdin
    assert process.stdout
    process.stdin.close()
    for how in (None, signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            if how is not None:
                os.killpg(process.pid, how)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                while await process.stdout.read(CHUNK):
                    pass  # what is still on its way; at its end nobody of its group is left
                await process.wait()
                return
