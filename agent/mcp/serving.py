"""Serving: over the standard streams, or over HTTP on loopback behind a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from agent.listening import HOST, Doorkeeper, listening_socket, local_names
from agent.mcp.tool_session import ToolSession, open_session

if TYPE_CHECKING:
    from agent.config import Options

Maker = Callable[[ToolSession], MCPServer[Any]]
PATH: Final = "/mcp"


async def serve_stdio(options: Options, make: Maker) -> None:
    """Serve the one client at the other end of the standard streams, until it closes them."""
    async with open_session(options) as session:
        await make(session).run_stdio_async()


async def serve_http(
    options: Options, make: Maker, *, port: int, token: str, ready: Callable[[str], None]
) -> None:
    """Serve on loopback whoever shows the token; `ready` is told the address. Port 0 is any.

    The token is asked for first; Host and Origin are the SDK's to judge, as its clients expect.
    """
    with listening_socket(port) as listening:
        at = listening.getsockname()[1]
        names = local_names(at)
        allowed = TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        )
        async with open_session(options) as session:
            app = make(session).streamable_http_app(
                streamable_http_path=PATH, transport_security=allowed, host=HOST
            )
            config = uvicorn.Config(Doorkeeper(app, token), log_level="error", access_log=False)
            ready(f"http://{HOST}:{at}{PATH}")
            await uvicorn.Server(config).serve(sockets=[listening])
