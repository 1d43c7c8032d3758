"""One MCP server: connected when it is first needed, again after it was lost, not for ever.

No way to it takes in more than a message may hold: the SDK's own transports read a message whole
however long it is; here one that is too long ends the connection. A server over HTTP is reached
through the guarded way out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import tempfile
import time
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import partial
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any, Final

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
    Implementation,
    ToolListChangedNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from agent.config import host_port
from agent.errors import ToolError
from agent.protocol.replies import inert
from browser.net.egress import Egress, EgressPolicy
from browser.net.transport import certificates
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from agent.mcp_client.server_settings import NamedServer, ServerSettings

START_SECONDS: Final = 30.0
"""To connect: `npx` fetches a package when it is first asked for it."""
MOST_FAILURES: Final = 3
REST_SECONDS: Final = 30.0
"""After so many failures in a row a server is left alone for so long, then tried once."""
MOST_TOOLS: Final = 128
LARGEST_DEFINITION: Final = 65_536
"""Characters of a definition as JSON; what is larger describes no tool."""
LONGEST_SHOWN: Final = 300
"""Characters of a server's words that are shown in a line of ours."""
LARGEST_MESSAGE: Final = 8_000_000
"""Bytes: a picture of a screen has one or two million in base64."""
TOO_LONG: Final = f"a message of more than {LARGEST_MESSAGE:,} bytes"
CONNECT_SECONDS: Final = 10.0
SILENCE_SECONDS: Final = 600.0
"""A stream of events may be silent for as long as a person takes to answer."""
GRACE_SECONDS: Final = 1.0
"""What a server gets to end by itself, and then once more when it is told to."""
CHUNK: Final = 65_536
logging.getLogger("mcp").addHandler(logging.NullHandler())  # what fails is told as a ToolError


def shown(text: object, longest: int = LONGEST_SHOWN) -> str:
    """Write a stranger's words as one line, cut, from which no tag or turn can be read."""
    line = " ".join(inert(clean(str(text))).replace("<", "‹").replace("`", "'").split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


class Connection:
    """A server, and the task in which it is connected; raises `ToolError` for all that fails."""

    def __init__(self, server: NamedServer, proxy: str | None = None) -> None:
        self.server = server
        self._proxy = proxy
        self._turn = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._client: Client | None = None
        self._end = asyncio.Event()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the connection
        self._failures = 0
        self._rests_until = 0.0
        self._listed: list[dict[str, Any]] | None = None

    async def tools(self) -> list[dict[str, Any]]:
        """Return what the server defines now; asked again once it said that this has changed.

        What is too large to describe a tool is left out.
        """
        client = await self._connected()
        if self._listed is None:
            found: list[dict[str, Any]] = []
            cursor: str | None = None
            with self._failures_told("it listed its tools"):
                async with asyncio.timeout(START_SECONDS):
                    for _ in range(MOST_TOOLS):  # pages
                        page = await client.list_tools(cursor=cursor)
                        rows = (tool.model_dump(mode="json", by_alias=True) for tool in page.tools)
                        found += (row for row in rows if len(str(row)) <= LARGEST_DEFINITION)
                        cursor = page.next_cursor
                        if cursor is None or len(found) >= MOST_TOOLS:
                            break
            self._listed = found[:MOST_TOOLS]
        return self._listed

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Make a call; what the tool itself says went wrong is a result."""
        client = await self._connected()
        with self._failures_told(f"it did {name}, and whether that was done is not known"):
            made = await client.call_tool(name, arguments)
            self._failures = 0
            return made

    async def close(self) -> None:
        """End the connection, and the server where we started it."""
        self._end.set()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._log.close()

    async def _connected(self) -> Client:
        async with self._turn:
            if self._client is not None:
                return self._client
            left = self._rests_until - time.monotonic()
            if left > 0:
                raise ToolError(
                    f"{self.server.name} failed {self._failures} times in a row, and is left alone "
                    f"for {left:.0f} s",
                    hint="Go on without it.",
                )
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._end = asyncio.Event()
            serving = asyncio.create_task(self._serve(ready, self._end))
            self._tasks.append(serving)
            with self._failures_told(""):
                try:
                    async with asyncio.timeout(START_SECONDS):
                        self._client = await asyncio.shield(ready)
                except BaseException:  # called off too: no server is left to start for nobody
                    serving.cancel()
                    raise
            return self._client

    async def _serve(self, ready: asyncio.Future[Client], end: asyncio.Event) -> None:
        """Hold a connection open: it has to be closed by the task that opened it."""
        name = "urchin-research"
        try:
            async with AsyncExitStack() as stack:
                client = Client(
                    await self._transport(stack, end),
                    cache=None,
                    client_info=Implementation(name=name, version=version(name)),
                    message_handler=self._on_message,
                )
                ready.set_result(await stack.enter_async_context(client))
                await end.wait()
        except BaseException as error:  # a server may fail in any way; who waits for it is told
            if not ready.done():
                ready.set_exception(error)
                ready.exception()  # it was looked at, even where nobody waits any more
            if not isinstance(error, Exception):
                raise
        finally:
            if self._end is end:
                self._client = self._listed = None

    async def _transport(
        self, stack: AsyncExitStack, end: asyncio.Event
    ) -> AbstractAsyncContextManager[Any]:
        settings = self.server.settings
        if settings.transport == "stdio":
            return stdio(settings, self._log, end.set)
        policy = EgressPolicy(allow_private=(host_port(settings.url),), upstream_proxy=self._proxy)
        egress = await stack.enter_async_context(Egress(policy))
        if settings.transport == "sse":
            made: Any = partial(_http_client, egress.proxy_url, settings)
            return sse_client(settings.url, httpx_client_factory=made)
        http = await stack.enter_async_context(_http_client(egress.proxy_url, settings))
        return streamable_http_client(
            settings.url, http_client=http, max_sse_event_size=LARGEST_MESSAGE
        )

    async def _on_message(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._listed = None

    @contextmanager
    def _failures_told(self, doing: str) -> Iterator[None]:
        """Turn whatever fails while speaking with the server into a `ToolError`, and count it.

        `doing` is empty while it is not connected yet.
        """
        name = self.server.name
        try:
            yield
        except asyncio.CancelledError:
            self._count()  # it took too long
            raise
        except (ValidationError, RuntimeError) as error:  # as the SDK tells of a bad answer
            raise ToolError(f"{name} gave what is no answer: {shown(error)}") from error
        except Exception as error:
            if isinstance(error, MCPError) and error.error.code != CONNECTION_CLOSED:
                raise ToolError(f"{name}: {shown(error)}") from error
            self._count()
            self._client = self._listed = None
            self._end.set()
            first: BaseException = error
            while isinstance(first, BaseExceptionGroup):  # it ended several tasks at once
                first = first.exceptions[0]
            why = "no answer in time" if isinstance(error, TimeoutError) else shown(first)
            self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - LONGEST_SHOWN))
            last = shown(self._log.read().decode("utf-8", "replace"))
            hint = f"Go on without it.{f' Its last words: {last}' if last else ''}"
            lost = f"{name} was lost while {doing}" if doing else f"cannot connect to {name}"
            raise ToolError(f"{lost} ({why})", hint=hint) from error

    def _count(self) -> None:
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._rests_until = time.monotonic() + REST_SECONDS


def _http_client(proxy: str, settings: ServerSettings, **_: object) -> httpx2.AsyncClient:
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
    settings: ServerSettings, log: IO[bytes], ended: Callable[[], object]
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server and speak with it over its standard streams, a line a message.

    It gets the environment that it is given, and of ours what says where and who we are. `log`
    takes what it writes to its error stream; `ended` is called when it ends by itself. Raises
    `OSError` where it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        shutil.which(settings.command) or settings.command,
        *settings.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        env=get_default_environment() | settings.env,
        cwd=settings.cwd,
        start_new_session=True,
        limit=LARGEST_MESSAGE,  # `readline` raises where a line is longer
    )
    assert process.stdin
    assert process.stdout
    source, sink = process.stdout, process.stdin
    heard, to_us = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_it, sent = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with heard:
            try:
                while line := await source.readline():
                    with suppress(ValidationError):  # else it is a line of its log
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                        await heard.send(SessionMessage(message))
            except ValueError:  # one that is too long is the last one that is read
                log.write(TOO_LONG.encode())
        ended()

    async def write() -> None:
        with suppress(OSError):  # it has ended, which its other stream tells
            async for message in sent:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                sink.write(f"{line}\n".encode())
                await sink.drain()

    try:
        async with anyio.create_task_group() as pipes, heard, to_us, to_it, sent:
            pipes.start_soon(read)
            pipes.start_soon(write)
            yield to_us, to_it
            pipes.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process, source, sink)


async def _end(
    process: asyncio.subprocess.Process, source: asyncio.StreamReader, sink: asyncio.StreamWriter
) -> None:
    """End a server with all that it started: its input is closed, then it is told, then killed."""
    sink.close()
    for how in (None, signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            if how is not None:
                os.killpg(process.pid, how)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                while await source.read(CHUNK):
                    pass  # what is still on its way; at its end nobody of its group is left
                await process.wait()
                return
