"""Serves MCP over stdio, or over HTTP on loopback with a token."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from agent.http_server import HOST, TokenAuth, listening_socket, local_hosts
from agent.mcp.tool_session import open_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.mcpserver import MCPServer

    from agent.mcp.tool_session import ToolSession
    from agent.options import Options

    ServerMaker = Callable[[ToolSession], MCPServer[Any]]

PATH: Final = "/mcp"


async def serve_stdio(live: Callable[[], Options], make: ServerMaker) -> None:
    """Serve one client over stdio until it closes the streams."""
    async with open_session(live) as session:
        try:
            await make(session).run_stdio_async()
        except BaseExceptionGroup:  # raised by anyio for cancelled tasks, among others
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                raise
            raise asyncio.CancelledError from None  # interrupted, so running calls are abandoned


async def serve_http(
    live: Callable[[], Options],
    make: ServerMaker,
    *,
    port: int,
    token: str,
    ready: Callable[[str], None],
) -> None:
    """Serve on loopback with a token; `ready` receives the address. Port 0 chooses a free one.

    The token is checked first; then the SDK checks the Host and Origin headers.
    """
    with listening_socket(port) as listening:
        bound_port = listening.getsockname()[1]
        hosts = local_hosts(bound_port)
        security = TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
        )
        async with open_session(live) as session:
            app = make(session).streamable_http_app(
                streamable_http_path=PATH, transport_security=security, host=HOST
            )
            guarded = TokenAuth(app, token)
            config = uvicorn.Config(guarded, ws="none", log_level="error", access_log=False)
            ready(f"http://{HOST}:{bound_port}{PATH}")
            await uvicorn.Server(config).serve(sockets=[listening])
