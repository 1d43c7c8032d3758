"""Pages and API answers over HTTP, through the egress: capped, with one deadline over all of it.

    async with Egress(policy) as egress, HttpClient(egress) as http:
        response = await http.get("https://example.org/", deadline=10)

Requests carry the headers of the browser that reads a page where HTTP does not suffice.
"""

from __future__ import annotations

import asyncio
import json as jsonlib
import random
import sys
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urldefrag, urlencode

from browser.errors import BadResponse, ConnectFailed, DeadlineExceeded, NameUnknown
from browser.net.decode import ACCEPT_ENCODING, Body
from browser.net.pace import RequestSlots, retry_after
from browser.net.url import join, netloc, origin, parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import httpx2

    from browser.net.egress import Egress
    from browser.net.pace import HostPace
    from browser.net.transport import CachingTransport, Connections


# The stable Chrome of autumn 2026. Sites turn away user agents that are years old, not those
# a few versions behind.
_VERSION = "156"
# Chrome sends these frozen strings whatever the machine (its "reduced" user agent).
_PLATFORMS = {
    "darwin": ("Macintosh; Intel Mac OS X 10_15_7", "macOS"),
    "win32": ("Windows NT 10.0; Win64; x64", "Windows"),
}
_PLATFORM, _HINT = _PLATFORMS.get(sys.platform, ("X11; Linux x86_64", "Linux"))

USER_AGENT = (
    f"Mozilla/5.0 ({_PLATFORM}) AppleWebKit/537.36 (KHTML, like Gecko) "
    f"Chrome/{_VERSION}.0.0.0 Safari/537.36"
)
ROBOTS_AGENT = "Urchin"
"""The product token that robots.txt rules are looked up under (RFC 9309, 2.2.1)."""

_COMMON = {
    "User-Agent": USER_AGENT,
    "Accept-Encoding": ACCEPT_ENCODING,
    "Accept-Language": "en-US,en;q=0.9",
}
PAGE_HEADERS = {
    **_COMMON,
    "sec-ch-ua": f'"Chromium";v="{_VERSION}", "Google Chrome";v="{_VERSION}", "Not.A/Brand";v="99"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": f'"{_HINT}"',
    "Upgrade-Insecure-Requests": "1",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-User": "?1",
    "Sec-Fetch-Dest": "document",
}
"""What accompanies a GET: a person opening a page."""

API_HEADERS = {**_COMMON, "Accept": "application/json, */*;q=0.5"}
"""What accompanies a POST."""


def merged(ours: Mapping[str, str], given: Mapping[str, str] | None) -> dict[str, str]:
    """Lay the caller's headers over ours, whatever their case."""
    overridden = {name.lower() for name in given or ()}
    return {k: v for k, v in ours.items() if k.lower() not in overridden} | dict(given or {})


def with_params(url: str, params: Mapping[str, str] | None) -> str:
    """Add parameters to what the URL's query already holds."""
    parsed = parse(url)
    if parsed is None or not params:
        return parsed.href if parsed else url
    head = parsed.href.removesuffix(parsed.fragment).rstrip("?&")
    return f"{head}{'&' if parsed.query else '?'}{urlencode(params)}"


MAX_BYTES = 24 * 1024 * 1024
"""Cap on a body, raw and decoded. Articles stay below 5 MB, long PDF reports below 20."""

# Chromium gives up after 20; honest chains have at most four or five.
_MAX_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
PER_HOST, OVERALL = 6, 48
"""Requests under way at once: what a browser asks one host, and what one machine has use for."""
# Bad gateway and unavailable: the two that load balancers send while a server restarts.
_BUSY = frozenset({502, 503})
_BACKOFF_S, _LONGEST_BACKOFF_S = 0.3, 2.0
# A server that wants more patience (s) than this gets its answer taken as it is.
_PATIENCE_S = 3.0
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
    pace: HostPace | None = None
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
        cache: Path | None = None,
        fresh: bool = False,
    ) -> None:
        self._egress = egress
        self._timeout = timeout
        self._attempts = retries + 1
        self._slots = RequestSlots(per_host=per_host, overall=OVERALL)
        self._cache = cache
        self._fresh = fresh
        self._caching: CachingTransport | None = None
        self._connections: Connections | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connections:
            await self._connections.aclose()

    async def get(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        max_bytes: int = MAX_BYTES,
        pace: HostPace | None = None,
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
        kind, content = "application/json", jsonlib.dumps(json).encode()
        if form is not None:
            kind, content = "application/x-www-form-urlencoded", urlencode(form).encode()
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
        """Ask, and a GET again where nothing came of it or the server asks for a moment.

        The last answer or error is the outcome.
        """
        attempts = self._attempts if call.method == "GET" else 1
        for attempt in range(attempts):
            wanted = 0.0
            try:
                answer = await self._in_turn(call, max_bytes)
            except NameUnknown:
                raise
            except ConnectFailed:
                if attempt + 1 == attempts:
                    raise
            else:
                wanted = retry_after(answer.headers) or 0.0
                if answer.status not in _BUSY or wanted > _PATIENCE_S or attempt + 1 == attempts:
                    return answer
            # full jitter, so that many requests do not come back together
            backoff = random.uniform(0, min(_LONGEST_BACKOFF_S, _BACKOFF_S * 2**attempt))
            await asyncio.sleep(max(backoff, wanted))
        raise AssertionError("a client asks at least once")

    async def _in_turn(self, call: _Call, max_bytes: int) -> Response:
        """Wait for a place, and for the host's own pace where the call keeps to one."""
        name = netloc(call.url)
        while True:
            if call.pace:
                await call.pace.wait(name, call.until)
            async with self._slots.slot(name):
                if call.pace and not await call.pace.take(name):
                    continue
                answer = await self._exchange(call, max_bytes)
            if call.pace:
                await call.pace.note(name, answer.status, answer.headers)
            return answer

    async def _exchange(self, call: _Call, max_bytes: int) -> Response:
        """Send one request and read its answer; of a redirect, only the head."""
        from browser.net.transport import AGE, typed_errors  # noqa: PLC0415 - see `_open`

        connections = self._open()
        with typed_errors(call.url):
            place = self._place(call.url) if call.cached and self._caching else None
            answer = await connections.send(
                call.method, call.url, call.headers, call.content, place
            )
            async with aclosing(answer):
                age = answer.extensions.get(AGE)
                head = Response(call.url, answer.status_code, answer.headers, age=age)
                if _redirect_target(head):
                    await _discard(answer)
                    return head
                return replace(head, body=await _read(answer, max_bytes))

    def _open(self) -> Connections:
        """Return the connections; httpx2 takes 0.1 s to import, so a run without HTTP does not."""
        from browser.net import transport  # noqa: PLC0415 - see above

        if self._connections is None:
            way_out: httpx2.AsyncBaseTransport = transport.EgressTransport(self._egress.proxy_url)
            if self._cache is not None:
                way_out = transport.CachingTransport(way_out, self._cache, fresh=self._fresh)
                self._caching = way_out
            self._connections = transport.Connections(way_out)
        return self._connections

    def _place(self, url: str) -> str:
        from browser.net.transport import place_of  # noqa: PLC0415 - as above

        parsed = parse(url)
        named = parsed is not None and self._egress.guard.is_named(parsed.host, parsed.port)
        return place_of(urldefrag(parsed.href if parsed else url)[0], named=named)


async def _read(answer: httpx2.Response, limit: int) -> bytes:
    body = Body(answer.headers.get("content-encoding", ""), limit)
    async for data in answer.aiter_raw():
        body.feed(data)
    return body.content()


async def _discard(answer: httpx2.Response) -> None:
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
