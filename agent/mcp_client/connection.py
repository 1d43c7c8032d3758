"""One MCP server: connected when it is first needed, again after it was lost, not for ever."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from contextlib import AsyncExitStack, contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from mcp import Client, MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
    Implementation,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from agent.errors import ToolError
from agent.mcp_client.definitions import LARGEST, Definition, shown
from agent.mcp_client.transports import transport_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.mcp_client.server_settings import NamedServer

START_SECONDS: Final = 30.0
"""To connect: `npx` fetches a package when it is first asked for it."""
MOST_FAILURES: Final = 3
REST_SECONDS: Final = 30.0
"""After so many failures in a row a server is left alone for so long, then tried once."""
MOST_TOOLS: Final = 128
LAST_SAID: Final = 300
"""Characters of its error stream that are told when it fails."""
logging.getLogger("mcp").addHandler(logging.NullHandler())  # what fails is told as a ToolError


class Connection:
    """A server, and the task in which it is connected; raises `ToolError` for all that fails."""

    def __init__(self, server: NamedServer, proxy: str | None = None) -> None:
        self.server = server
        self._proxy = proxy
        self._turn = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._client: Client | None = None
        self._end = asyncio.Event()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the connection
        self._failures = 0
        self._rests_until = 0.0
        self._listed: list[Definition] | None = None

    async def tools(self) -> list[Definition]:
        """Give what the server defines now; asked again once it said that this has changed."""
        client = await self._connected()
        if self._listed is None:
            with self._telling("it listed its tools"):
                async with asyncio.timeout(START_SECONDS):
                    self._listed = await _all_tools(client)
        return self._listed

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Make a call; what the tool itself says went wrong is a result."""
        client = await self._connected()
        with self._telling(f"it did {name}, and whether that was done is not known"):
            made = await client.call_tool(name, arguments)
            self._failures = 0
            return made

    async def close(self) -> None:
        """End the connection, and the server where we started it."""
        self._end.set()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._said.close()

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
            with self._telling(""):
                try:
                    async with asyncio.timeout(START_SECONDS):
                        self._client = await asyncio.shield(ready)
                except BaseException:  # called off too: no server is left to start for nobody
                    serving.cancel()
                    raise
            return self._client

    async def _serve(self, ready: asyncio.Future[Client], end: asyncio.Event) -> None:
        """Hold a connection open: it has to be closed by the task that opened it."""
        try:
            async with AsyncExitStack() as stack:
                settings = self.server.settings
                transport = await transport_to(settings, stack, self._said, end.set, self._proxy)
                client = Client(
                    transport,
                    cache=None,
                    client_info=Implementation(
                        name="urchin-research", version=version("urchin-research")
                    ),
                    message_handler=self._heard,
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

    async def _heard(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._listed = None

    @contextmanager
    def _telling(self, doing: str) -> Iterator[None]:
        """Turn whatever fails while speaking with the server into a `ToolError`, and count it.

        `doing` is empty while it is not connected yet.
        """
        name = self.server.name
        try:
            yield
        except asyncio.CancelledError:
            self._count()  # it took too long
            raise
        except (ValidationError, RuntimeError) as error:
            raise ToolError(f"{name} gave what is no answer: {shown(error)}") from error
        except Exception as error:
            if isinstance(error, MCPError) and error.error.code != CONNECTION_CLOSED:
                raise ToolError(f"{name}: {shown(error)}") from error
            self._count()
            self._client = self._listed = None
            self._end.set()
            why = "no answer in time" if isinstance(error, TimeoutError) else shown(_first(error))
            said = self._last_said()
            hint = f"Go on without it.{f' Its last words: {said}' if said else ''}"
            lost = f"{name} was lost while {doing}" if doing else f"cannot connect to {name}"
            raise ToolError(f"{lost} ({why})", hint=hint) from error

    def _count(self) -> None:
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._rests_until = time.monotonic() + REST_SECONDS

    def _last_said(self) -> str:
        size = self._said.seek(0, 2)
        self._said.seek(max(0, size - LAST_SAID))
        return shown(self._said.read().decode("utf-8", "replace"))


async def _all_tools(client: Client) -> list[Definition]:
    """List a server's tools, page by page; what is too large to describe a tool is left out."""
    found: list[Definition] = []
    cursor: str | None = None
    for _ in range(MOST_TOOLS):
        page = await client.list_tools(cursor=cursor)
        rows = (tool.model_dump(mode="json", by_alias=True) for tool in page.tools)
        found += (Definition.of(row) for row in rows if len(str(row)) <= LARGEST)
        cursor = page.next_cursor
        if cursor is None or len(found) >= MOST_TOOLS:
            break
    return found[:MOST_TOOLS]


def _first(error: BaseException) -> BaseException:
    """Give the first cause among those that ended several tasks at once."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
