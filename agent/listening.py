"""Listening for others: on loopback unless told otherwise, and only to who may ask.

A page that some browser shows gets nowhere: it has no token, and a Host that it made up for our
address (DNS rebinding), or the Origin of another site, is refused before the token is looked at.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]
App = Callable[[Any, Receive, Send], Awaitable[None]]
HOST: Final = "127.0.0.1"
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
        self._bearer = f"Bearer {token}"
        self._names = None if names is None else frozenset(names)
        self._cookie = cookie
        self._session = cookie_value(token)
        self._ticket = ticket
        self._open = open_paths

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            request = Request(scope, receive)
            status = self._refusal(request)
            if status != 403 and await self._comes_in(request):
                await self._let_in()(scope, receive, send)
                return
            if status:
                await self._refused(request, status)(scope, receive, send)
                return
        elif scope["type"] != "lifespan":
            return  # nothing here speaks WebSocket
        await self._app(scope, receive, send)

    def _refusal(self, request: Request) -> int:
        headers = request.headers
        host, origin = headers.get("host", "").lower(), headers.get("origin", "").lower()
        ours = not origin or origin.partition("://")[2] == host
        if self._names is not None and (host not in self._names or not ours):
            return 403
        # Not `request.url`, which is put together with the Host that the client sent.
        shown = headers.get("authorization", "").encode("latin-1")
        if request.scope["path"] in self._open or _same(shown, self._bearer):
            return 0
        shown = request.cookies.get(self._cookie, "").encode()
        if not (self._cookie and _same(shown, self._session)):
            return 401
        reads = request.method in ("GET", "HEAD")
        site = headers.get("sec-fetch-site", "none")
        return 0 if site in ("same-origin", "none") and (reads or origin) else 403

    async def _comes_in(self, request: Request) -> bool:
        """Whether a browser shows the token in the form of the door, or the ticket for once."""
        if not self._cookie or request.scope["path"] != "/":
            return False
        if request.method == "POST":
            body = b""
            with suppress(ClientDisconnect):
                async for piece in request.stream():
                    body += piece
                    if len(body) > _LONGEST_FORM:
                        break
            shown = dict(parse_qsl(body.decode("latin-1"))).get("token", "")
            return _same(f"Bearer {shown}".encode(), self._bearer)
        ticket = request.scope.get("query_string", b"").removeprefix(b"ticket=")
        comes = bool(self._ticket) and _same(ticket, self._ticket)
        self._ticket = "" if comes else self._ticket
        return comes

    def _let_in(self) -> Response:
        """Give the browser its cookie, and the address of the page."""
        answer = RedirectResponse("/", 303, {"referrer-policy": "no-referrer", **_KEPT_NOWHERE})
        answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict")
        return answer

    def _refused(self, request: Request, status: int) -> Response:
        """Say that a request may not be made; to a browser with a field for the token."""
        headers = {"x-content-type-options": "nosniff", "content-security-policy": _DOOR_POLICY}
        headers |= _KEPT_NOWHERE | ({"www-authenticate": "Bearer"} if status == 401 else {})
        if "text/html" in request.headers.get("accept", ""):
            field = _FIELD if self._cookie and status == 401 else ""
            return HTMLResponse(_DOOR.format(_SAID[status], field), status, headers)
        kind = "unauthorized" if status == 401 else "forbidden"
        said = {"error": {"message": _SAID[status], "type": kind}}
        return JSONResponse(said, status, headers)


def _same(shown: bytes, known: str) -> bool:
    """Compare what is shown with a secret, in a time that tells nothing of it."""
    return hmac.compare_digest(shown, known.encode())


_KEPT_NOWHERE: Final = {"cache-control": "no-store"}
_SAID: Final = {
    401: "no token, or a wrong one: send `Authorization: Bearer TOKEN`, or open the address that"
    " `research serve` printed",
    403: "this Host or Origin may not ask here",
}
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
)
_FIELD: Final = (
    '<form action="/" method="post" autocomplete="off"><label for="token">Token</label>'
    '<input id="token" name="token" type="password" required autofocus>'
    "<button>Come in</button></form>"
)
_DOOR: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width"><title>Urchin</title>'
    f"<style>{_STYLE.replace('{', '{{').replace('}', '}}')}</style>"
    "<main><h1>Not let in</h1><p>{}</p>{}</main>"
)
"""What a browser sees that is not let in: why, and a field for the token where that helps."""
