"""The connection to an MCP server, opened on first use and reopened after a failure.

The SDK's transports accept messages of any length; here, an overlong message ends the connection.
Requests to HTTP servers go through the guarded proxy.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
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
from browser.text.words import clean, shorten

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from agent.mcp_client.server_settings import NamedServer, ServerSettings

START_SECONDS: Final = 30.0
"""Timeout for starting and connecting; on first use, `npx` downloads the package."""
MAX_FAILURES: Final = 3
COOLDOWN_SECONDS: Final = 30.0
"""Seconds until a server is tried again after `MAX_FAILURES` consecutive failures."""
MAX_TOOLS: Final = 128
MAX_DEFINITION_CHARS: Final = 65_536
"""Maximum length of a tool definition, in characters; longer ones are ignored."""
MAX_LINE_CHARS: Final = 300
"""Maximum length of a server's text when shown in our messages, in characters."""
MAX_MESSAGE_BYTES: Final = 8_000_000
"""Maximum message size in bytes: a screenshot in base64 takes one or two million."""
TOO_LONG: Final = f"a message of more than {MAX_MESSAGE_BYTES:,} bytes"
CONNECT_SECONDS: Final = 10.0
READ_TIMEOUT_SECONDS: Final = 600.0
"""Read timeout: an event stream may be silent for as long as a user takes to answer."""
GRACE_SECONDS: Final = 1.0
"""Seconds that a server has to exit on its own, and again after SIGTERM."""
CHUNK: Final = 65_536
"""Bytes read at once from a server's output."""
# The caller gets errors as ToolError; without a handler, the SDK would also print them.
logging.getLogger("mcp").addHandler(logging.NullHandler())


def shown_line(text: object, max_chars: int = MAX_LINE_CHARS) -> str:
    """Make a server's text safe to show: one short line without tool tags or chat markup."""
    return shorten(inert(clean(str(text))).replace("<", "‹").replace("`", "'"), max_chars)


class Connection:
    """A connection to a server, kept open by a separate task; all failures raise `ToolError`."""

    def __init__(self, server: NamedServer, proxy: str | None = None) -> None:
        self.server = server
        self._proxy = proxy
        self._connect_lock = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._client: Client | None = None
        self._end = asyncio.Event()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the connection
        self._failures = 0
        self._blocked_until = 0.0
        self._definitions: list[dict[str, Any]] | None = None

    async def tools(self) -> list[dict[str, Any]]:
        """Return the server's tool definitions, cached until the server reports a change.

        Definitions that are too large are omitted.
        """
        client = await self._connect()
        if self._definitions is None:
            found: list[dict[str, Any]] = []
            cursor: str | None = None
            with self._as_tool_errors("listing its tools"):
                async with asyncio.timeout(START_SECONDS):
                    for _ in range(MAX_TOOLS):  # at most one page per tool
                        page = await client.list_tools(cursor=cursor)
                        rows = (tool.model_dump(mode="json", by_alias=True) for tool in page.tools)
                        found += (row for row in rows if len(str(row)) <= MAX_DEFINITION_CHARS)
                        cursor = page.next_cursor
                        if cursor is None or len(found) >= MAX_TOOLS:
                            break
            self._definitions = found[:MAX_TOOLS]
        return self._definitions

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool. An error that the tool itself reports is a result, not an exception."""
        client = await self._connect()
        with self._as_tool_errors(f"running {name}; it is unknown whether the call took effect"):
            result = await client.call_tool(name, arguments)
            self._failures = 0
            return result

    async def close(self) -> None:
        """Close the connection, and stop the server if we started it."""
        self._end.set()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._log.close()

    async def _connect(self) -> Client:
        """Return the connected client, connecting first if necessary."""
        async with self._connect_lock:
            if self._client is not None:
                return self._client
            remaining = self._blocked_until - time.monotonic()
            if remaining > 0:
                raise ToolError(
                    f"{self.server.name} failed {self._failures} times in a row; "
                    f"it can be called again in {remaining:.0f} s",
                    hint="Continue without it.",
                )
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._end = asyncio.Event()
            serving = asyncio.create_task(self._serve(ready, self._end))
            self._tasks.append(serving)
            with self._as_tool_errors(""):
                try:
                    async with asyncio.timeout(START_SECONDS):
                        self._client = await asyncio.shield(ready)
                # Also on cancellation, since nobody is waiting for the server any more.
                except BaseException:
                    serving.cancel()
                    raise
            return self._client

    async def _serve(self, ready: asyncio.Future[Client], end: asyncio.Event) -> None:
        """Keep a connection open until `end`, because the task that opens it must also close it."""
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
        # A server may fail in any way; the waiting task gets the error.
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
                ready.exception()  # marks it as retrieved, in case nobody is waiting any more
            if not isinstance(error, Exception):
                raise
        finally:
            if self._end is end:
                self._client = self._definitions = None

    async def _transport(
        self, stack: AsyncExitStack, end: asyncio.Event
    ) -> AbstractAsyncContextManager[Any]:
        settings = self.server.settings
        if settings.transport == "stdio":
            return stdio(settings, self._log, end.set)
        policy = EgressPolicy(allow_private=(host_port(settings.url),), upstream_proxy=self._proxy)
        egress = await stack.enter_async_context(Egress(policy))
        if settings.transport == "sse":
            factory: Any = partial(_http_client, egress.proxy_url, settings)
            return sse_client(settings.url, httpx_client_factory=factory)
        http = await stack.enter_async_context(_http_client(egress.proxy_url, settings))
        return streamable_http_client(
            settings.url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES
        )

    async def _on_message(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._definitions = None

    @contextmanager
    def _as_tool_errors(self, action: str) -> Iterator[None]:
        """Convert server failures to `ToolError`; count timeouts and lost connections.

        `action` describes what the server was doing; it is empty while connecting.
        """
        name = self.server.name
        try:
            yield
        except asyncio.CancelledError:
            self._count_failure()  # the call timed out
            raise
        except (ValidationError, RuntimeError) as error:  # raised by the SDK for an invalid answer
            raise ToolError(f"{name} sent an invalid response: {shown_line(error)}") from error
        except Exception as error:
            if isinstance(error, MCPError) and error.error.code != CONNECTION_CLOSED:
                raise ToolError(f"{name}: {shown_line(error)}") from error
            self._count_failure()
            self._client = self._definitions = None
            self._end.set()
            first: BaseException = error
            while isinstance(first, BaseExceptionGroup):  # several tasks failed at once
                first = first.exceptions[0]
            reason = "no response in time" if isinstance(error, TimeoutError) else shown_line(first)
            # The end of the server's stderr often contains the cause.
            self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - MAX_LINE_CHARS))
            last = shown_line(self._log.read().decode("utf-8", "replace"))
            hint = f"Continue without it.{f' Its last output: {last}' if last else ''}"
            lost = f"the connection to {name} was lost while {action}"
            message = lost if action else f"cannot connect to {name}"
            raise ToolError(f"{message} ({reason})", hint=hint) from error

    def _count_failure(self) -> None:
        self._failures += 1
        if self._failures >= MAX_FAILURES:
            self._blocked_until = time.monotonic() + COOLDOWN_SECONDS


def _http_client(proxy: str, settings: ServerSettings, **_: object) -> httpx2.AsyncClient:
    client = httpx2.AsyncClient(
        proxy=proxy,
        trust_env=False,
        verify=certificates(),
        headers={"Accept-Encoding": "identity", **settings.headers},
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_TIMEOUT_SECONDS),
    )
    client.event_hooks["response"].append(_limit_response)
    return client


async def _limit_response(response: httpx2.Response) -> None:
    """Make a response fail if it is too long, or compressed, which could hide its true size."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError(
            "the server compresses its responses although this was not requested"
        )
    if "text/event-stream" not in response.headers.get("content-type", ""):
        response.stream = _LimitedStream(response.stream)


class _LimitedStream(httpx2.AsyncByteStream):
    """A stream of a response's bytes, which fails once it exceeds the maximum message size."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.StreamError(TOO_LONG)
            yield chunk

    async def aclose(self) -> None:
        """Close the response."""
        await self._stream.aclose()


@asynccontextmanager
async def stdio(
    settings: ServerSettings, log: IO[bytes], ended: Callable[[], object]
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server and exchange messages over its standard streams, one per line.

    Since our environment contains keys, the server receives only harmless variables such as PATH
    and HOME, plus those in its settings. `log` receives its stderr; `ended` is called if it exits
    on its own. Raises `OSError` if it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        shutil.which(settings.command) or settings.command,
        *settings.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        env=get_default_environment() | settings.env,
        cwd=settings.cwd,
        start_new_session=True,  # in its own process group, so that all its processes can be killed
        limit=MAX_MESSAGE_BYTES,  # `readline` raises ValueError for a longer line
    )
    assert process.stdin
    assert process.stdout
    stdout, stdin = process.stdout, process.stdin
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with received:
            try:
                while line := await stdout.readline():
                    with suppress(ValidationError):  # a log line instead of a message
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                        await received.send(SessionMessage(message))
            except ValueError:  # an overlong line ends the connection
                log.write(TOO_LONG.encode())
        ended()

    async def write() -> None:
        with suppress(OSError):  # the server has exited, which `read` will detect
            async for message in to_send:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(f"{line}\n".encode())
                await stdin.drain()

    try:
        async with anyio.create_task_group() as pipes, received, incoming, outgoing, to_send:
            pipes.start_soon(read)
            pipes.start_soon(write)
            yield incoming, outgoing
            pipes.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end_process(process, stdout, stdin)


async def _end_process(
    process: asyncio.subprocess.Process, stdout: asyncio.StreamReader, stdin: asyncio.StreamWriter
) -> None:
    """Stop a server and its child processes: close its input, then SIGTERM, then SIGKILL.

    On Windows, which lacks process groups of this kind, only the server itself is stopped.
    """
    stdin.close()
    for force in (None, False, True):
        with suppress(ProcessLookupError):
            if force is None:
                pass
            elif sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL if force else signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                # Its output ends only when all processes that inherited it have exited.
                while await stdout.read(CHUNK):
                    pass
                await process.wait()
                return
