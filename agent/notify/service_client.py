"""The HTTP interfaces of services: through the guard, without redirects, with patience."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any, Self

import httpx2

from agent.errors import NotSent
from browser.errors import ConnectFailed, NoAnswer
from browser.net.pace import retry_after
from browser.net.transport import EgressTransport, typed_errors

if TYPE_CHECKING:
    from browser.net.egress import Egress

TRIES = 5
BACKOFF_S, _LONGEST_BACKOFF_S = 0.5, 30.0
LONGEST_WAIT_S = 120.0
"""A service that asks for more patience (s) than this is told of, not waited for."""
# Too many requests, and unavailable: neither has done anything yet.
_UNDONE = frozenset({429, 503})
# A server's own faults: what was asked may have been done all the same.
_UNCLEAR = frozenset({500, 502, 504})


class ServiceClient:
    """Calls one service. Used inside `async with`.

    What may not be done twice is asked again only where nothing was done: no connection, 429, 503.
    """

    def __init__(
        self,
        egress: Egress,
        *,
        timeout: float = 30.0,
        backoff: float = BACKOFF_S,
    ) -> None:
        self._http = httpx2.AsyncClient(
            transport=EgressTransport(egress.proxy_url),
            headers={"User-Agent": "urchin-research"},
            timeout=timeout,
            follow_redirects=False,  # the person named one server, and no other gets the text
        )
        self._backoff = backoff

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def call(
        self, method: str, url: str, *, repeatable: bool = False, **request: Any
    ) -> httpx2.Response:
        """Make one call with httpx2's own arguments; gives an answer of any other status.

        `repeatable` says that doing it twice does no harm. Raises Refused, ConnectFailed (nothing
        was done) and `NotSent` where nobody knows, or the service asks to be left alone too long.
        """
        passing = _UNDONE | _UNCLEAR if repeatable else _UNDONE
        for attempt in range(TRIES):
            last = attempt + 1 == TRIES
            wait: float | None = None
            try:
                answer = await self._once(method, url, repeatable=repeatable, **request)
            except ConnectFailed:
                if last:
                    raise
            else:
                if answer.status_code not in passing or last:
                    return answer
                wait = _wait_asked(answer)
                if wait is not None and wait > LONGEST_WAIT_S:
                    said = f"{answer.url.host} asks to be left alone for {wait:.0f} s"
                    raise NotSent(said, hint="Try again later.")
            await asyncio.sleep(backoff_delay(attempt, self._backoff) if wait is None else wait)
        raise AssertionError("a call is made at least once")

    async def _once(
        self, method: str, url: str, *, repeatable: bool, **request: Any
    ) -> httpx2.Response:
        parsed = httpx2.URL(url)
        # Scheme and host alone: the path of some services holds the token.
        place = f"{parsed.scheme}://{parsed.netloc.decode()}"
        with typed_errors(place):
            try:
                return await self._http.request(method, url, **request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError):
                raise
            except (httpx2.TransportError, NoAnswer) as error:
                if repeatable:
                    raise ConnectFailed(f"{place}: {error or type(error).__name__}") from error
                said = f"{place} did not answer: whether it took the message is unknown"
                raise NotSent(said) from error


def backoff_delay(attempt: int, backoff: float = BACKOFF_S) -> float:
    """Seconds before the next try: twice as long each time, with jitter; tries count from 0."""
    longest: float = min(_LONGEST_BACKOFF_S, backoff * 2**attempt)
    return random.uniform(longest / 2, longest)


def _wait_asked(answer: httpx2.Response) -> float | None:
    """Seconds that a service asks for, by the header or, as Telegram and Discord, in the body."""
    said = retry_after(answer.headers)
    if said is not None or "json" not in answer.headers.get("content-type", ""):
        return said
    try:
        body = answer.json()
    except ValueError:
        return None
    within = body.get("parameters", body) if isinstance(body, dict) else {}
    seconds = within.get("retry_after") if isinstance(within, dict) else None
    return float(seconds) if isinstance(seconds, int | float) else None
