"""An HTTP client for pages and APIs, through the egress, with size limits and deadlines.

    async with Egress(policy) as egress, HttpClient(egress) as http:
        response = await http.get("https://example.org/", deadline=10)

Requests have the same headers as the browser that is used when HTTP is not enough.
"""

from __future__ import annotations

import asyncio
import json as jsonlib
import sys
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Self
from urllib.parse import urldefrag, urlencode

from browser.errors import BadResponse, ConnectFailed, DeadlineExceeded, NameUnknown, NoAnswer
from browser.net.pace import RequestSlots, retry_after
from browser.net.url import netloc, origin, parse
from browser.retries import WEB, TemporaryFailure, repeat

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from browser.net.egress import Egress
    from browser.net.pace import HostPace
    from browser.net.transport import Connections, Response


# The stable Chrome as of autumn 2026. Sites reject user agents that are years old, but not those a
# few versions behind.
_CHROME = "156"
# Chrome sends these frozen strings on every machine (its "reduced" user agent).
_PLATFORMS = {
    "darwin": ("Macintosh; Intel Mac OS X 10_15_7", "macOS"),
    "win32": ("Windows NT 10.0; Win64; x64", "Windows"),
}
_PLATFORM, _PLATFORM_HINT = _PLATFORMS.get(sys.platform, ("X11; Linux x86_64", "Linux"))

USER_AGENT = (
    f"Mozilla/5.0 ({_PLATFORM}) AppleWebKit/537.36 (KHTML, like Gecko) "
    f"Chrome/{_CHROME}.0.0.0 Safari/537.36"
)
_COMMON_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9",
}
PAGE_HEADERS = {
    **_COMMON_HEADERS,
    "sec-ch-ua": f'"Chromium";v="{_CHROME}", "Google Chrome";v="{_CHROME}", "Not.A/Brand";v="99"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": f'"{_PLATFORM_HINT}"',
    "Upgrade-Insecure-Requests": "1",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-User": "?1",
    "Sec-Fetch-Dest": "document",
}
"""The headers of a GET request, as sent by a browser that opens a page."""
_ACCEPT_JSON = {"Accept": "application/json, */*;q=0.5"}
CLIENT_NAME = "urchin-research"
API_HEADERS = {"User-Agent": CLIENT_NAME, **_ACCEPT_JSON}
"""For public APIs that require clients to identify themselves: Wikimedia, arXiv, GitHub, …"""

MAX_BYTES = 24 * 1024 * 1024
"""Maximum body size in bytes, raw and decoded. Articles are under 5 MB, long PDFs under 20 MB."""
MAX_PER_HOST = 6
"""Maximum number of concurrent requests to a host: as many as a browser makes."""
# Chromium gives up after 20; legitimate redirect chains have at most four or five.
_MAX_REDIRECTS = 10
# Bad Gateway and Service Unavailable, which load balancers return while a server restarts.
_UNAVAILABLE_STATUSES = frozenset({502, 503})
_RATE_LIMIT_STATUS = 429
_METHOD_PRESERVING_STATUSES = frozenset({307, 308})
# Headers that may be forwarded to another origin.
_CROSS_ORIGIN_HEADERS = frozenset(name.lower() for name in (*PAGE_HEADERS, "content-type"))


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    max_bytes: int = MAX_BYTES
    pace: HostPace | None = None
    cached: bool = False

    def redirected(self, status: int, url: str) -> _Call:
        """Return the call that a browser would make after this redirect.

        Security: headers that the caller added, including keys and cookies, are not sent to another
        origin.
        """
        headers = {k: v for k, v in self.headers.items() if k.lower() != "cookie"}
        if origin(url) != origin(self.url):
            headers = {k: v for k, v in headers.items() if k.lower() in _CROSS_ORIGIN_HEADERS}
        if status in _METHOD_PRESERVING_STATUSES:
            return replace(self, url=url, headers=headers)
        headers = {k: v for k, v in headers.items() if k.lower() != "content-type"}
        return replace(self, method="GET", url=url, headers=headers, content=None)


class HttpClient:
    """Sends any number of concurrent requests; keeps connections and cookies.

    `timeout` is a call's default deadline (s), `retries` how often a failed GET is repeated. No
    error is raised for an HTTP status. `cache` is the file of a page cache, used by calls with
    `cached`; `fresh` replaces its entries.
    """

    def __init__(
        self,
        egress: Egress,
        *,
        timeout: float = 20.0,
        retries: int = 2,
        per_host: int = MAX_PER_HOST,
        cache: Path | None = None,
        fresh: bool = False,
    ) -> None:
        self._egress = egress
        self._timeout = timeout
        self._attempts = retries + 1
        self._slots = RequestSlots(per_host=per_host)
        self._cache = cache
        self._fresh = fresh
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

        Raises Refused, DeadlineExceeded (`deadline` in seconds covers redirects, retries and the
        body), ConnectFailed, NoAnswer, TooLarge, BadResponse. With a `pace`, this waits until the
        host may be contacted; with `cached`, a cached page that is still fresh under RFC 9111 is
        not requested again.
        """
        parsed = parse(url)
        if parsed is not None:
            url = parsed.href
            if params:
                base = url.removesuffix(parsed.fragment).rstrip("?&")
                url = f"{base}{'&' if parsed.query else '?'}{urlencode(params)}"
        headers = _merge_headers(PAGE_HEADERS, headers)
        call = _Call("GET", url, headers, max_bytes=max_bytes, pace=pace, cached=cached)
        return await self._call_within(deadline, call)

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
        """Send `json` or `form` to `url`, once. Raises the same errors as `get`."""
        kind, content = "application/json", jsonlib.dumps(json).encode()
        if form is not None:
            kind, content = "application/x-www-form-urlencoded", urlencode(form).encode()
        headers = _merge_headers({**_COMMON_HEADERS, **_ACCEPT_JSON, "Content-Type": kind}, headers)
        return await self._call_within(deadline, _Call("POST", url, headers, content, max_bytes))

    async def forget(self, url: str) -> None:
        """Remove `url` from the cache, for example after a block page."""
        if self._connections:
            await self._connections.forget(self._cache_key(url))

    async def _call_within(self, deadline: float | None, call: _Call) -> Response:
        """Follow redirects as a browser does, checking each address, until the deadline."""
        seconds = self._timeout if deadline is None else deadline
        history: list[str] = []
        try:
            async with asyncio.timeout(seconds) as limit:
                while True:
                    self._egress.guard.check_url(call.url)
                    response = await self._send_with_retries(call, limit.when() or 0.0)
                    target = response.redirect
                    if target is None:
                        return response
                    history.append(call.url)
                    if len(history) > _MAX_REDIRECTS:
                        message = f"{history[0]} redirects more than {_MAX_REDIRECTS} times"
                        raise BadResponse(message)
                    call = call.redirected(response.status, target)
        except TimeoutError as error:
            requested = history[0] if history else call.url
            raise DeadlineExceeded(f"{requested} took more than {seconds:g} s") from error

    async def _send_with_retries(self, call: _Call, until: float) -> Response:
        """Send a call; a GET is repeated after a connection error or if the server is busy.

        The last response is returned, or the last error raised. A POST is never repeated: it may
        have taken effect.
        """

        async def attempt() -> Response:
            try:
                response = await self._send_in_turn(call, until)
            except NameUnknown:
                raise
            except (ConnectFailed, NoAnswer) as error:
                raise TemporaryFailure(error) from error
            after = retry_after(response.headers)
            if response.status in _UNAVAILABLE_STATUSES or (
                response.status == _RATE_LIMIT_STATUS and after is not None
            ):
                raise TemporaryFailure(None, after, response)
            return response

        if call.method != "GET":
            return await self._send_in_turn(call, until)
        return await repeat(replace(WEB, attempts=self._attempts), attempt)

    async def _send_in_turn(self, call: _Call, until: float) -> Response:
        """Send a call once a slot is free and the host's turn has come (for a call with a pace)."""
        name = netloc(call.url)
        while True:
            if call.pace:
                await call.pace.wait(name, until)
            async with self._slots.slot(name):
                # Another request may have taken the turn while this one was waiting for its slot.
                if call.pace and not await call.pace.take(name):
                    continue
                response = await self._open_connections().exchange(
                    call.method,
                    call.url,
                    call.headers,
                    call.content,
                    max_bytes=call.max_bytes,
                    cache_key=self._cache_key(call.url) if call.cached else None,
                )
            if call.pace:
                await call.pace.note(name, response.status, response.headers)
            return response

    def _open_connections(self) -> Connections:
        """Create the connections on the first request: importing httpx2 takes 0.1 s."""
        from browser.net.transport import Connections  # noqa: PLC0415 - see above

        if self._connections is None:
            self._connections = Connections(self._egress.proxy_url, self._cache, fresh=self._fresh)
        return self._connections

    def _cache_key(self, url: str) -> str:
        """The key of a page's entry in the cache.

        Security: pages of private hosts that the user allowed by name have separate keys, so that
        a run without that permission never reads them from the cache.
        """
        parsed = parse(url)
        named = parsed is not None and self._egress.guard.is_named(parsed.host, parsed.port)
        page = urldefrag(parsed.href if parsed else url)[0]
        return sha256(f"{'named' if named else 'public'} {page}".encode()).hexdigest()


def _merge_headers(defaults: Mapping[str, str], own: Mapping[str, str] | None) -> dict[str, str]:
    """Merge headers; the caller's `own` headers replace defaults; names are case-insensitive."""
    own = own or {}
    overridden = {name.lower() for name in own}
    return {k: v for k, v in defaults.items() if k.lower() not in overridden} | dict(own)
