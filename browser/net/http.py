"""Pages and API answers over HTTP, through the egress: capped, with one deadline over all of it.

async with Egress(policy) as egress, HttpClient(egress) as http:
response = await http.get("https://example.org/", deadline=10)
"""

from __future__ import annotations

import asyncio
import json as jsonlib
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urldefrag

from browser.errors import BadResponse, DeadlineExceeded
from browser.net.decode import Body
from browser.net.identity import API_HEADERS, PAGE_HEADERS
from browser.net.limits import Limits
from browser.net.request import encoded, merged, with_params
from browser.net.url import join, netloc, origin, parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import httpx

    from browser.net.cache import CachingTransport
    from browser.net.egress import Egress
    from browser.net.pace import Pace
    from browser.net.transport import Session

MAX_BYTES = 24 * 1024 * 1024
"""Cap on a body, raw and decoded. Articles stay below 5 MB, long PDF reports below 20."""

# Chromium gives up after 20; honest chains have at most four or five.
_MAX_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
PER_HOST, OVERALL = 6, 48
"""Requests under way at once: what a browser asks one host, and what one machine has use for."""
_KEEPING_METHOD = frozenset({307, 308})
# A redirect's body is read to keep the connection; one that is longer than a courtesy is not.
_REDIRECT_BYTES = 64 * 1024
_SAFE_ELSEWHERE = frozenset(name.lower() for name in (*PAGE_HEADERS, "content-type"))


@dataclass(frozen=True, slots=True)
class Response:
    """What came: `url` is the final one, `body` decoded, `history` the URLs that led there.

    `headers` are case-insensitive; a repeated one is joined with `, `. `age` tells of a cached
    page how many seconds ago it came, 0 where the server has just confirmed it; else it is None.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)
    history: tuple[str, ...] = ()
    age: float | None = None

    @property
    def ok(self) -> bool:
        """Say whether the status is a success (2xx)."""
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """The `Content-Type` header with its parameters, or an empty string."""
        return self.headers.get("content-type", "")

    @property
    def text(self) -> str:
        """The body as UTF-8; for pages in other charsets see `browser.extract`."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Parse the body. Raises BadResponse where it is no JSON."""
        try:
            return jsonlib.loads(self.body)
        except ValueError as error:
            raise BadResponse(f"{self.url} did not answer with JSON: {error}") from error


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    pace: Pace | None = None
    until: float = 0.0
    cached: bool = False

    def redirected(self, status: int, url: str) -> _Call:
        """Return the call that a browser makes after a redirect.

        What the caller added for one origin, keys and cookies among it, does not go to another.
        """
        headers = {k: v for k, v in self.headers.items() if k.lower() != "cookie"}
        if origin(url) != origin(self.url):
            headers = {k: v for k, v in headers.items() if k.lower() in _SAFE_ELSEWHERE}
        if status in _KEEPING_METHOD:
            return replace(self, url=url, headers=headers)
        headers = {k: v for k, v in headers.items() if k.lower() != "content-type"}
        return replace(self, method="GET", url=url, headers=headers, content=None)


class HttpClient:
    """Asks for one URL at a time, any number at once, keeping connections and cookies.

    `timeout` is the deadline (s) of a call that names none, `retries` how often a GET is
    asked again. Nothing is raised for an HTTP status. `cache` is the file of a page cache, which
    calls with `cached` use; `fresh` goes round what is in it.
    """

    def __init__(
        self,
        egress: Egress,
        *,
        timeout: float = 20.0,
        retries: int = 2,
        per_host: int = PER_HOST,
        overall: int = OVERALL,
        cache: Path | None = None,
        fresh: bool = False,
    ) -> None:
        self._egress = egress
        self._timeout = timeout
        self._attempts = retries + 1
        self._limits = Limits(per_host=per_host, overall=overall)
        self._cache = cache
        self._fresh = fresh
        self._caching: CachingTransport | None = None
        self._session: Session | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session:
            await self._session.aclose()

    async def get(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        max_bytes: int = MAX_BYTES,
        pace: Pace | None = None,
        cached: bool = False,
    ) -> Response:
        """Fetch `url` with `params` added to its query.

        Raises Refused, DeadlineExceeded (`deadline` in seconds covers redirects, retries and
        the body), ConnectFailed, TooLarge, BadResponse. With a `pace`, waits for the host; with
        `cached`, a page that is kept and still good by RFC 9111 is not asked for again.
        """
        target, headers = with_params(url, params), merged(PAGE_HEADERS, headers)
        call = _Call("GET", target, headers, pace=pace, cached=cached)
        return await self._within(deadline, call, max_bytes)

    async def post(
        self,
        url: str,
        *,
        json: object = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Response:
        """Send `json` or `form` to `url`, once. Raises as `get` does."""
        kind, content = encoded(json, form)
        call = _Call("POST", url, merged({**API_HEADERS, "Content-Type": kind}, headers), content)
        return await self._within(deadline, call, max_bytes)

    async def forget(self, url: str) -> None:
        """Drop what the cache keeps of `url`: what came was a wall, and no page."""
        if self._caching:
            await self._caching.forget(self._place(url))

    async def _within(self, deadline: float | None, call: _Call, max_bytes: int) -> Response:
        seconds = self._timeout if deadline is None else deadline
        try:
            async with asyncio.timeout(seconds) as limit:
                return await self._follow(replace(call, until=limit.when() or 0.0), max_bytes)
        except TimeoutError as error:
            raise DeadlineExceeded(f"{call.url} took more than {seconds:g} s") from error

    async def _follow(self, call: _Call, max_bytes: int) -> Response:
        history: list[str] = []
        while True:
            self._egress.check_url(call.url)
            answer = await self._ask(call, max_bytes)
            target = _redirect_target(answer)
            if target is None:
                return replace(answer, history=tuple(history))
            history.append(call.url)
            if len(history) > _MAX_REDIRECTS:
                raise BadResponse(f"{history[0]} redirects more than {_MAX_REDIRECTS} times")
            call = call.redirected(answer.status, target)

    async def _ask(self, call: _Call, max_bytes: int) -> Response:
        """Ask once, or again where nothing can have come of it."""
        from browser.net.retry import retrying  # noqa: PLC0415 - with httpx, only when asked

        attempts = self._attempts if call.method == "GET" else 1
        return await retrying(attempts)(self._in_turn, call, max_bytes)

    async def _in_turn(self, call: _Call, max_bytes: int) -> Response:
        """Wait for a place, and for the host's own pace where the call keeps to one."""
        name = netloc(call.url)
        while True:
            if call.pace:
                await call.pace.wait(name, call.until)
            async with self._limits.slot(name):
                if call.pace and not call.pace.take(name):
                    continue
                answer = await self._exchange(call, max_bytes)
            if call.pace:
                call.pace.note(name, answer.status, answer.headers)
            return answer

    async def _exchange(self, call: _Call, max_bytes: int) -> Response:
        """Send one request and read its answer; of a redirect, only the head."""
        from browser.net.transport import AGE, typed_errors  # noqa: PLC0415 - see `_open`

        session = self._open()
        with typed_errors(call.url):
            place = self._place(call.url) if call.cached and self._caching else None
            answer = await session.send(call.method, call.url, call.headers, call.content, place)
            async with aclosing(answer):
                age = answer.extensions.get(AGE)
                head = Response(call.url, answer.status_code, answer.headers, age=age)
                if _redirect_target(head):
                    await _discard(answer)
                    return head
                return replace(head, body=await _read(answer, max_bytes))

    def _open(self) -> Session:
        """Return the connections; httpx takes 0.1 s to import, so a run without HTTP does not."""
        if self._session is None:
            from browser.net.transport import EgressTransport, Session  # noqa: PLC0415

            self._session = Session(self._cached(EgressTransport(self._egress.proxy_url)))
        return self._session

    def _cached(self, way_out: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        if self._cache is None:
            return way_out
        from browser.net.cache import CachingTransport  # noqa: PLC0415 - only where one is kept

        self._caching = CachingTransport(way_out, self._cache, fresh=self._fresh)
        return self._caching

    def _place(self, url: str) -> str:
        from browser.net.cache import place_of  # noqa: PLC0415 - as above

        parsed = parse(url)
        named = parsed is not None and self._egress.guard.is_named(parsed.host, parsed.port)
        return place_of(urldefrag(parsed.href if parsed else url)[0], named=named)


async def _read(answer: httpx.Response, limit: int) -> bytes:
    body = Body(answer.headers.get("content-encoding", ""), limit)
    async for data in answer.aiter_raw():
        body.feed(data)
    return body.content()


async def _discard(answer: httpx.Response) -> None:
    """Read a redirect's body, unseen, so that the connection can be kept."""
    read = 0
    async for data in answer.aiter_raw():
        read += len(data)
        if read > _REDIRECT_BYTES:
            return


def _redirect_target(answer: Response) -> str | None:
    location = answer.headers.get("location")
    if answer.status not in _REDIRECTS or not location:
        return None
    target = join(answer.url, location)
    if not target:
        raise BadResponse(f"{answer.url} redirects to what is no address: {location[:200]!r}")
    return target
