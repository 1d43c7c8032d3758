"""Serves HTTP behind a token, on the loopback interface unless another address is set.

Requests from other websites are refused, since they have no token. Requests with a foreign Origin
header, or with a Host name that was made to resolve to this address (DNS rebinding), are refused
before the token is checked.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import contextmanager, suppress
from importlib import resources
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from jinja2 import Template
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

Scope = MutableMapping[str, Any]
Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]
App = Callable[[Any, Receive, Send], Awaitable[None]]
HOST: Final = "127.0.0.1"
MAX_LOGIN_BYTES: Final = 8_192
"""Maximum size of the login form's body, which contains one token and is not yet authorized."""
MAX_BODY_BYTES: Final = 16 * 1024 * 1024
"""Maximum size of a request body, which may contain a chat with images and is read into memory."""
MAX_DISCARD_S: Final = 2.0
"""Seconds for which the rest of a body that is too large is read and discarded."""
NO_STORE: Final = {"cache-control": "no-store"}


@contextmanager
def listening_socket(port: int, host: str = HOST) -> Iterator[socket.socket]:
    """Listen on a port during the block; 0 chooses a free one. Raises `UsageError` if it is in use.

    Clients can connect as soon as they know the address; their connections wait until the server
    accepts them.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
            listening.listen()
        except OSError as error:
            raise UsageError(
                f"cannot listen on port {port}: {error.strerror}", hint="Choose another --port."
            ) from error
        yield listening


def local_hosts(port: int) -> list[str]:
    """Return the Host headers that a browser on this machine sends to a loopback port."""
    return [f"{HOST}:{port}", f"localhost:{port}", f"[::1]:{port}"]


class TokenAuth:
    """ASGI middleware: passes on requests with the token, answers others with 401 or 403.

    403 means that the request comes from another website. `hosts` are the accepted Host headers
    (None: all). Programs send the token as a bearer token. A browser logs in with the form on the
    401 page, or once with `/?ticket=…`: URLs stay in the browser's history, so they never contain
    the token. After that, the browser sends `cookie` ("" disables browser logins); requests
    that change something also need an Origin header. `open_paths` need no token, but the Host
    header must be one of `hosts`.
    """

    def __init__(
        self,
        app: App,
        token: str,
        hosts: Iterable[str] | None = None,
        *,
        cookie: str = "",
        ticket: str = "",
        open_paths: frozenset[str] = frozenset(),
    ) -> None:
        self._app = BodyLimit(app)
        self._bearer = f"Bearer {token}"
        self._hosts = None if hosts is None else frozenset(hosts)
        self._cookie = cookie
        # The browser stores a hash instead of the token, because a hash is of no use anywhere else.
        self._session = hmac.new(token.encode(), b"a browser's session", "sha256").hexdigest()
        self._ticket = ticket
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or respond with a login page or refusal."""
        if scope["type"] == "http":
            answer = await self._login_or_refusal(Request(scope, receive))
            await (answer or self._app)(scope, receive, send)
        elif scope["type"] == "lifespan":  # the servers do not use WebSockets
            await self._app(scope, receive, send)

    async def _login_or_refusal(self, request: Request) -> Response | None:
        """Return the response that logs in or refuses a request; None if the request may pass."""
        status = self._refusal_status(request)
        if status != 403 and await self._is_login(request):
            headers = {"referrer-policy": "no-referrer", **NO_STORE}
            answer = RedirectResponse("/", 303, headers)
            answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict")
            return answer
        return self._refuse(request, status) if status else None

    def _refusal_status(self, request: Request) -> int:
        """Return 401 or 403; 0 if the request may pass."""
        headers = request.headers
        host, origin = headers.get("host", "").lower(), headers.get("origin", "").lower()
        same_origin = not origin or origin.partition("://")[2] == host
        if self._hosts is not None and (host not in self._hosts or not same_origin):
            return 403
        # `request.url` is not used here: it is built from the client's Host header.
        bearer = headers.get("authorization", "").encode("latin-1")
        if request.scope["path"] in self._open_paths or _is_secret(bearer, self._bearer):
            return 0
        session = request.cookies.get(self._cookie, "").encode()
        if not (self._cookie and _is_secret(session, self._session)):
            return 401
        # Browsers also send cookies with requests triggered by other sites (CSRF).
        read_only = request.method in ("GET", "HEAD")
        site = headers.get("sec-fetch-site", "none")
        return 0 if site in ("same-origin", "none") and (read_only or origin) else 403

    async def _is_login(self, request: Request) -> bool:
        """Return whether the request is a login form with the token, or has the one-time ticket."""
        if not self._cookie or request.scope["path"] != "/":
            return False
        if request.method == "POST":
            body = b""
            with suppress(ClientDisconnect):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > MAX_LOGIN_BYTES:
                        break
            token = dict(parse_qsl(body.decode("latin-1"))).get("token", "")
            return _is_secret(f"Bearer {token}".encode(), self._bearer)
        ticket = request.scope.get("query_string", b"").removeprefix(b"ticket=")
        valid = bool(self._ticket) and _is_secret(ticket, self._ticket)
        self._ticket = "" if valid else self._ticket
        return valid

    def _refuse(self, request: Request, status: int) -> Response:
        """Return the refusal: a page with the login form for browsers, JSON for programs."""
        headers = {"x-content-type-options": "nosniff", "content-security-policy": _LOGIN_POLICY}
        headers |= NO_STORE | ({"www-authenticate": "Bearer"} if status == 401 else {})
        kind, message = _REFUSALS[status]
        if "text/html" in request.headers.get("accept", ""):
            can_log_in = bool(self._cookie) and status == 401
            page = _LOGIN_PAGE.render(style=_LOGIN_STYLE, message=message, can_log_in=can_log_in)
            return HTMLResponse(page, status, headers)
        return JSONResponse({"error": {"message": message, "type": kind}}, status, headers)


class BodyLimit:
    """ASGI middleware: answers 413 to a body that is too large, without reading all of it."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or respond with 413."""
        body = _CappedBody(receive, send)
        if scope["type"] == "http":
            length = dict(scope["headers"]).get(b"content-length", b"")
            body.size = int(length) if length.isdigit() else 0
        if not body.too_large:
            body.size = 0
            try:
                await self._app(scope, body.receive, body.send)
            # An incomplete body can make the app fail with any exception. The 413 below replaces
            # that failure; all other exceptions are raised again.
            except Exception:
                if not body.too_large:
                    raise
        if body.too_large and not body.answered:
            message = f"the request body is larger than {MAX_BODY_BYTES >> 20} MB"
            error = {"type": "too_large", "message": message, "hint": "Send less data per request."}
            answer = JSONResponse({"error": error}, 413, {"connection": "close"})
            head = {"type": "http.response.start", "status": 413, "headers": answer.raw_headers}
            await send(head)
            await send({"type": "http.response.body", "body": answer.body, "more_body": True})
            await self._discard(receive)
            await send({"type": "http.response.body", "body": b""})

    async def _discard(self, receive: Receive) -> None:
        """Discard the rest of the body for a while, so that the client receives the response.

        If a connection is closed with unread data, it is reset, and the client may lose the
        response.
        """
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_DISCARD_S):
                while size <= MAX_BODY_BYTES:
                    message = await receive()
                    size += len(message.get("body", b""))
                    if not message.get("more_body"):
                        break


class _CappedBody:
    """Counts a body's bytes as they arrive, and ends the body early if it is too large."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.size = 0
        self.answered = False

    @property
    def too_large(self) -> bool:
        return self.size > MAX_BODY_BYTES

    async def receive(self) -> Any:
        message = {} if self.too_large else await self._receive()
        self.size += len(message.get("body", b""))
        return {"type": "http.disconnect"} if self.too_large else message

    async def send(self, message: Any) -> None:
        if self.answered or not self.too_large:
            self.answered = True
            await self._send(message)


def _is_secret(shown: bytes, secret: str) -> bool:
    """Return whether a value equals a secret; compares in constant time."""
    return hmac.compare_digest(shown, secret.encode())


_UNAUTHORIZED: Final = (
    "the token is missing or wrong: send `Authorization: Bearer TOKEN`, or open the address that"
    " `research serve` printed"
)
_REFUSALS: Final = {
    401: ("unauthorized", _UNAUTHORIZED),
    403: ("forbidden", "requests from this Host or Origin are not allowed"),
}
_TEMPLATES = resources.files("agent").joinpath("templates")
_LOGIN_STYLE: Final = _TEMPLATES.joinpath("login.css").read_text("utf-8").strip()
_LOGIN_PAGE: Final = Template(_TEMPLATES.joinpath("login.html").read_text("utf-8"), autoescape=True)
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_LOGIN_STYLE.encode()).digest()).decode()
_LOGIN_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}';"
    " form-action 'self'; frame-ancestors 'none'"
)
