"""A raw connection through the egress, for what speaks no HTTP: SMTP, IMAP."""

from __future__ import annotations

import socket

import h11

from browser.errors import ConnectFailed, NameUnknown, Refused
from browser.net.guard import REFUSED, UNKNOWN
from browser.net.url import parse


def tunnel(proxy_url: str, host: str, port: int, *, timeout: float) -> socket.socket:
    """Connect to `host` through the proxy at `proxy_url`; blocks, so it is called in a thread.

    The socket keeps `timeout` (s) for whatever is done with it. Raises Refused, ConnectFailed.
    """
    proxy = parse(proxy_url)
    assert proxy is not None, "the egress has an address"
    connection = socket.create_connection((proxy.host, proxy.port), timeout=timeout)
    try:
        status, reason = _connect(
            connection, f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        )
    except (OSError, h11.ProtocolError) as error:
        connection.close()
        raise ConnectFailed(f"{host}:{port}: {error}") from error
    if status == "200":
        return connection
    connection.close()
    known = {REFUSED: Refused, UNKNOWN: NameUnknown}
    raise known.get(status, ConnectFailed)(reason)


def _connect(connection: socket.socket, authority: str) -> tuple[str, str]:
    """Ask for the tunnel; gives the status and its reason, having read no byte beyond them."""
    wire = h11.Connection(h11.CLIENT)
    request = h11.Request(method="CONNECT", target=authority, headers=[("Host", authority)])
    connection.sendall((wire.send(request) or b"") + (wire.send(h11.EndOfMessage()) or b""))
    while (event := wire.next_event()) is h11.NEED_DATA:
        # A server that speaks first, as of mail, may do so at once: no byte of it is taken here.
        wire.receive_data(connection.recv(1))
    if isinstance(event, h11.Response):
        return str(event.status_code), event.reason.decode("ascii", "replace")
    raise h11.RemoteProtocolError("the egress closed the connection")
