"""An HTTP client for services, with the guarded proxy and retries, but without redirects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import httpx2

from agent.errors import NotSent
from browser.errors import ConnectFailed, NoAnswer
from browser.net.http import CLIENT_NAME
from browser.net.pace import retry_after
from browser.net.transport import EgressTransport, typed_errors
from browser.retries import SERVICE, TemporaryFailure, repeat

if TYPE_CHECKING:
    from browser.net.egress import Egress

# Too many requests, or unavailable: the request was not processed.
_NOT_PROCESSED_STATUSES = frozenset({429, 503})
# Server errors: the request may have been processed.
_UNKNOWN_OUTCOME_STATUSES = frozenset({500, 502, 504})


class ServiceClient:
    """Calls one service; used with `async with`.

    A call that must not happen twice is retried only if it was certainly not processed: no
    connection, or status 429 or 503.
    """

    def __init__(self, egress: Egress, *, timeout: float = 30.0) -> None:
        self._http = httpx2.AsyncClient(
            transport=EgressTransport(egress.proxy_url),
            headers={"User-Agent": CLIENT_NAME},
            timeout=timeout,
            follow_redirects=False,  # only the server that the user named may receive the text
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def call(
        self, method: str, url: str, *, repeatable: bool = False, **request: Any
    ) -> httpx2.Response:
        """Make a call with httpx2's arguments and retries; return a response with any status.

        `repeatable` means that a second call is harmless. Raises `Refused` or `ConnectFailed` if
        the call had no effect, and `NotSent` if this is unknown or the service asks for too long a
        wait.
        """
        temporary = (
            _NOT_PROCESSED_STATUSES | _UNKNOWN_OUTCOME_STATUSES
            if repeatable
            else _NOT_PROCESSED_STATUSES
        )

        async def attempt() -> httpx2.Response:
            try:
                response = await self._try_once(method, url, repeatable=repeatable, **request)
            except ConnectFailed as error:
                raise TemporaryFailure(error) from error
            if response.status_code not in temporary:
                return response
            wait = _requested_wait(response)
            if wait is not None and wait > SERVICE.max_retry_after:
                message = f"{response.url.host} asks clients to wait {wait:.0f} s"
                raise NotSent(message, hint="Try again later.")
            raise TemporaryFailure(None, wait, response)

        return await repeat(SERVICE, attempt)

    async def _try_once(
        self, method: str, url: str, *, repeatable: bool, **request: Any
    ) -> httpx2.Response:
        parsed = httpx2.URL(url)
        # Errors show only the scheme and host, as some services have the token in the path.
        origin = f"{parsed.scheme}://{parsed.netloc.decode()}"
        with typed_errors(origin):
            try:
                return await self._http.request(method, url, **request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError):
                raise
            except (httpx2.TransportError, NoAnswer) as error:
                if repeatable:
                    raise ConnectFailed(f"{origin}: {error or type(error).__name__}") from error
                message = f"{origin} did not respond; it may or may not have accepted the message"
                raise NotSent(message) from error


def _requested_wait(response: httpx2.Response) -> float | None:
    """Return the wait in seconds that a service requests in the header or JSON body, or None.

    Telegram puts the number under `parameters` in the body, Discord at the top level.
    """
    seconds = retry_after(response.headers)
    if seconds is not None or "json" not in response.headers.get("content-type", ""):
        return seconds
    try:
        body = response.json()
    except ValueError:
        return None
    parameters = body.get("parameters", body) if isinstance(body, dict) else {}
    value = parameters.get("retry_after") if isinstance(parameters, dict) else None
    return float(value) if isinstance(value, int | float) else None
