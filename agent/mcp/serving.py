"""Serving: over the standard streams, or over HTTP on loopback behind a token."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from agent.errors import UsageError
from agent.mcp.tool_session import ToolSession, open_session

if TYPE_CHECKING:
    from agent.config import Options

Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]
Maker = Callable[[ToolSession], MCPServer[Any]]
App = Callable[[Any, Receive, Send], Awaitable[None]]
HOST: Final = "127.0.0.1"
PATH: Final = "/mcp"


async def serve_stdio(options: Options, make: Maker) -> None:
    """Serve the one client at the other end of the standard streams, until it closes them."""
    async with open_session(options) as session:
        await make(session).run_stdio_async()


async def serve_http(
    options: Options, make: Maker, *, port: int, token: str, ready: Callable[[str], None]
) -> None:
    """Serve on loopback whoever shows the token; `ready` is told the address. Port 0 is any.

    A page that some browser shows gets nowhere: it has no token, and its Origin, or a Host that it
    made up for our address, is refused as well.
    """
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise UsageError(
                f"cannot listen on port {port}: {error.strerror}", hint="Name another --port."
            ) from error
        at = listening.getsockname()[1]
        names = [f"{HOST}:{at}", f"localhost:{at}"]
        allowed = TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        )
        async with open_session(options) as session:
            app = make(session).streamable_http_app(
                streamable_http_path=PATH, transport_security=allowed, host=HOST
            )
            guarded = with_token(app, token)
            config = uvicorn.Config(guarded, log_level="error", access_log=False)
            ready(f"http://{HOST}:{at}{PATH}")
            await uvicorn.Server(config).serve(sockets=[listening])


def with_token(app: App, token: str) -> App:
    """Let only requests through that carry the token; others get 401 and no word of why."""
    wanted = f"Bearer {token}".encode()

    async def guarded(scope: Any, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, wanted):
            headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    return guarded
