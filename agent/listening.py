"""Listening for others: on loopback unless told otherwise, and only to who may ask.

A page that some browser shows gets nowhere: it has no token, and a Host that it made up for our
address (DNS rebinding), or the Origin of another site, is refused before the token is looked at.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import contextmanager
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]
App = Callable[[Any, Receive, Send], Awaitable[None]]
HOST: Final = "127.0.0.1"
SHORTEST_TOKEN: Final = 16
"""Characters of a token: who can reach the port can try as many as they like."""
_LONGEST_FORM: Final = 8_192


@contextmanager
def listening_socket(port: int, host: str = HOST) -> Iterator[socket.socket]:
    """Take a port for the length of a block; 0 is any. Raises `UsageError` where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise UsageError(
                f"cannot listen on port {port}: {error.strerror}", hint="Name another --port."
            ) from error
        yield listening


def local_names(port: int) -> list[str]:
    """Give the names by which a browser of this machine calls a port on loopback."""
    return [f"{HOST}:{port}", f"localhost:{port}", f"[::1]:{port}"]


def checked_token(token: str) -> str:
    """Give a token back that is long enough; raises `UsageError`."""
    if len(token) < SHORTEST_TOKEN:
        raise UsageError(f"a token has {SHORTEST_TOKEN} characters at least")
    return token


def cookie_name(port: int) -> str:
    """Name the cookie of a server: browsers share cookies among the ports of a host."""
    return f"urchin-{port}"


def cookie_value(token: str) -> str:
    """Give what a browser keeps in place of the token: a hash of it, which opens no other door."""
    return hmac.new(token.encode(), b"a browser's session", hashlib.sha256).hexdigest()


class Doorkeeper:
    """Lets only requests through that may be made; others get a status and no word of why.

    `names` are the hosts under which it may be called. A program shows the token as a bearer; a
    browser that was let in, `cookie`, and then must say of what changes something that it comes
    from our own page. It comes in by the form of the door, or once by an address with the `ticket`:
    an address stays in a browser's history, so none holds the token. `open_paths` ask for no token;
    they are still bound to the names.
    """

    def __init__(
        self,
        app: App,
        token: str,
        names: Iterable[str] | None = None,
        *,
        cookie: str = "",
        ticket: str = "",
        open_paths: frozenset[str] = frozenset(),
    ) -> None:
        self._app = app
        self._bearer = f"Bearer {token}".encode()
        self._names = None if names is None else frozenset(names)
        self._cookie = cookie
        self._session = cookie_value(token)
        self._ticket = ticket.encode()
        self._open = open_paths

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            status = self._refusal(scope, dict(scope["headers"]))
            if status != 403 and await self._comes_in(scope, receive):
                await self._let_in(send)
                return
            if status:
                await _refuse(scope, send, status, asks=bool(self._cookie))
                return
        elif scope["type"] != "lifespan":
            return  # nothing here speaks WebSocket
        await self._app(scope, receive, send)

    def _refusal(self, scope: MutableMapping[str, Any], headers: dict[bytes, bytes]) -> int:
        host = _host(headers)
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        ours = not origin or origin.partition("://")[2] == host
        if self._names is not None and (host not in self._names or not ours):
            return 403
        if scope["path"] in self._open:
            return 0
        if hmac.compare_digest(headers.get(b"authorization", b""), self._bearer):
            return 0
        if not (self._cookie and self._shows_cookie(headers)):
            return 401
        reads = scope["method"] in ("GET", "HEAD")
        site = headers.get(b"sec-fetch-site", b"none")
        return 0 if site in (b"same-origin", b"none") and (reads or origin) else 403

    async def _comes_in(self, scope: MutableMapping[str, Any], receive: Receive) -> bool:
        """Whether a browser shows the token in the form of the door, or the ticket for once."""
        if not self._cookie or scope["path"] != "/":
            return False
        if scope["method"] == "POST":
            shown = dict(parse_qsl(await _body(receive))).get(b"token", b"")
            return hmac.compare_digest(b"Bearer " + shown, self._bearer)
        ticket = scope.get("query_string", b"").removeprefix(b"ticket=")
        comes = bool(self._ticket) and hmac.compare_digest(ticket, self._ticket)
        self._ticket = b"" if comes else self._ticket
        return comes

    async def _let_in(self, send: Send) -> None:
        """Give the browser its cookie, and the address of the page."""
        cookie = f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        headers += [(b"cache-control", b"no-store"), (b"referrer-policy", b"no-referrer")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _shows_cookie(self, headers: dict[bytes, bytes]) -> bool:
        try:
            cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
        except CookieError:
            return False
        shown = cookies.get(self._cookie)
        return shown is not None and hmac.compare_digest(shown.value, self._session)


async def _body(receive: Receive) -> bytes:
    """Read the form of the door; what is longer than any is cut off."""
    body, more = b"", True
    while more and len(body) < _LONGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _host(headers: dict[bytes, bytes]) -> str:
    return headers.get(b"host", b"").decode("latin-1").lower()


_SAID: Final = {
    401: "no token, or a wrong one: send `Authorization: Bearer TOKEN`, or open the address that"
    " `research serve` printed",
    403: "this Host or Origin may not ask here",
}


async def _refuse(scope: MutableMapping[str, Any], send: Send, status: int, *, asks: bool) -> None:
    kind = b"application/json"
    said = {"message": _SAID[status], "type": "unauthorized" if status == 401 else "forbidden"}
    body = json.dumps({"error": said}).encode()
    if b"text/html" in dict(scope["headers"]).get(b"accept", b""):
        kind, body = b"text/html; charset=utf-8", _door(_SAID[status], asks=asks and status == 401)
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", _DOOR_POLICY),
        *([(b"www-authenticate", b"Bearer")] if status == 401 else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


_STYLE: Final = (
    ":root{color-scheme:light dark}body{margin:0;background:light-dark(#fdfbf7,#171512);"
    "color:light-dark(#1c1a17,#ece7de);font:16px/1.6 system-ui,sans-serif}main{max-width:28rem;"
    "margin:12vh auto;padding:0 1.25rem}h1{font:500 1.9rem/1.25 Palatino,Georgia,serif}"
    "form{display:grid;gap:.5rem}input,button{font:inherit;padding:.5rem .75rem;border-radius:"
    ".6rem;border:1px solid light-dark(#635d54,#b0a798);background:light-dark(#fff,#262320);"
    "color:inherit}button{background:light-dark(#a83a18,#e27a52);color:light-dark(#fff,#1c0d06);"
    "border:0;font-weight:600}"
)
_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_DOOR_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; form-action 'self'; frame-ancestors 'none'"
).encode()
_FIELD: Final = (
    '<form action="/" method="post" autocomplete="off"><label for="token">Token</label>'
    '<input id="token" name="token" type="password" required autofocus>'
    "<button>Come in</button></form>"
)


def _door(said: str, *, asks: bool) -> bytes:
    """Write what a browser sees that is not let in; a field for the token where that helps."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Urchin</title>'
        f"<style>{_STYLE}</style><main><h1>Not let in</h1><p>{said}</p>{_FIELD * asks}</main>"
    ).encode()
