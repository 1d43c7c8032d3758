"""httpx2 through the egress: connections, TLS, pools, and a page cache by RFC 9111.

Nothing above it knows httpx2's errors. The cache is a transport that wraps `EgressTransport`, one
file for one namespace on this machine. What a server lets be kept is kept, and asked about again
once it is stale. Never kept are errors, what cookies or keys took part in, what is `private`, and
pages without a word on freshness or a validator; walls that come as pages are dropped by `forget`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import ssl
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Final
from zlib import crc32

import httpx2

from browser.errors import (
    BadResponse,
    BrowserError,
    ConnectFailed,
    FetchError,
    NameUnknown,
    NoAnswer,
    Refused,
)
from browser.net.guard import REFUSED, UNANSWERED, UNKNOWN, VERDICT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


PLACE: Final = "urchin.cache"
"""The request extension that names the cache's entry; requests without it go round the cache."""
AGE: Final = "urchin.age"
"""The response extension that tells a cached page's age (s); 0 where the server confirmed it."""

# A client keeps as many connections as the limits above it let through at once, for a page's while.
# httpcore2 looks at each connection of a pool, and at all of them again for each idle one, at every
# request: eight pools of eight, a host always in the same, halve the time that 200 pages take us.
_POOLS = 8
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30.0)


class EgressTransport(httpx2.AsyncBaseTransport):
    """Sends requests through the proxy at `proxy_url`, which decides what may be reached.

    TLS is set up at the first https request: its certificate store takes 20-50 ms to load,
    which a run on plain HTTP need not spend.
    """

    def __init__(self, proxy_url: str) -> None:
        self._proxy_url = proxy_url
        self._pools: dict[tuple[str, int], httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request. Raises what httpx2 raises; `typed_errors` makes it ours."""
        response = await self._pool(request.url).handle_async_request(request)
        if response.headers.get(VERDICT) is None:
            return response
        await response.aclose()
        raise _verdict(response.headers[VERDICT], response.reason_phrase)

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()

    def _pool(self, url: httpx2.URL) -> httpx2.AsyncHTTPTransport:
        place = url.scheme, crc32(url.netloc) % _POOLS
        if place not in self._pools:
            secure = url.scheme == "https"
            self._pools[place] = httpx2.AsyncHTTPTransport(
                verify=certificates() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                proxy=self._proxy_url,
                http2=secure,
                limits=_LIMITS,
            )
        return self._pools[place]


class Connections:
    """Connections and cookies. httpx2's own client is left out: it parses `Location` by itself."""

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        self._transport = transport
        self._cookies = httpx2.Cookies()

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        place: str | None = None,
    ) -> httpx2.Response:
        """Return the head of the answer; its owner reads `aiter_raw()` and closes it.

        `place` names the entry of a cache that may answer.
        """
        # no timeouts here: the caller's deadline spans the whole of a call
        extensions = {PLACE: place} if place else {}
        request = httpx2.Request(
            method, url, headers=dict(headers), content=content, extensions=extensions
        )
        self._cookies.set_cookie_header(request)
        response = await self._transport.handle_async_request(request)
        response.request = request
        self._cookies.extract_cookies(response)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


@cache
def certificates() -> ssl.SSLContext:
    """Return whom we trust: SSL_CERT_FILE or SSL_CERT_DIR where set, else the system's store."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    import truststore  # noqa: PLC0415 - only where the system's store is asked

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _verdict(status: str, reason: str) -> BrowserError:
    known = {REFUSED: Refused, UNKNOWN: NameUnknown, UNANSWERED: NoAnswer}
    return known.get(status, ConnectFailed)(reason)


@contextmanager
def typed_errors(url: str) -> Iterator[None]:
    """Turn every error of httpx2 into one of ours that names `url`."""
    try:
        yield
    except httpx2.ProxyError as error:
        status, _, reason = str(error).partition(" ")  # so httpcore2 words a refused CONNECT
        raise _verdict(status, reason or status) from error
    except (httpx2.ConnectError, httpx2.ReadError, httpx2.WriteError) as error:
        raise ConnectFailed(f"{url}: {error or type(error).__name__}") from error
    except httpx2.RemoteProtocolError as error:
        # a kept connection that the server has closed meanwhile is as good as none
        hung_up = "disconnected" in str(error)
        raise (ConnectFailed if hung_up else BadResponse)(f"{url}: {error}") from error
    except (httpx2.ProtocolError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise BadResponse(f"{url}: {error}") from error
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise FetchError(f"{url}: {error or type(error).__name__}") from error


# What is asked for again after a month is a new page.
_LIFETIME_S = 30 * 24 * 3600
_MOST_BYTES = 256 * 1024 * 1024
_LARGEST_KEPT = 8 * 1024 * 1024
_MAGIC = b"SQLite format 3\0"
_AS_SENT = "urchin.headers"
_PERSONAL = frozenset(("cookie", "authorization"))
_FRESHNESS = ("max-age", "s-maxage", "no-cache", "must-revalidate", "immutable", "public")
_FORBIDDING = ("no-store", "private")


class CachingTransport(httpx2.AsyncBaseTransport):
    """Wraps the way out. `fresh` goes round what is kept, and keeps what comes in its place."""

    def __init__(self, way_out: httpx2.AsyncBaseTransport, path: Path, *, fresh: bool) -> None:
        # it takes 60 ms to load, and a model client that borrows `certificates` keeps no pages
        from hishel import AsyncSqliteStorage, CacheOptions  # noqa: PLC0415
        from hishel.httpx2 import AsyncCacheTransport  # noqa: PLC0415

        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _drop_broken(path)
        # A cache that cannot be written, or is closed under a call that was cancelled, is no matter
        # for the terminal: pages are fetched then. An MCP server has a handler of its own for all.
        logging.getLogger("hishel").addHandler(logging.NullHandler())
        logging.getLogger("hishel").propagate = False
        self._way_out = way_out
        self._fresh = fresh
        self._kept = AsyncSqliteStorage(
            database_path=path, default_ttl=_LIFETIME_S, max_size=_MOST_BYTES,
            max_stream_size=_LARGEST_KEPT,
        )  # fmt: skip
        self._cached = AsyncCacheTransport(
            _Judge(way_out), storage=self._kept, rfc=CacheOptions(shared=False)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer from what is kept, or send the request on."""
        place = request.extensions.get(PLACE)
        if place is None or request.method != "GET" or not _PERSONAL.isdisjoint(request.headers):
            return await self._way_out.handle_async_request(request)
        if self._fresh:
            await self.forget(place)
        request.extensions = {**request.extensions, "caching": {"key": place}}
        response = await self._cached.handle_async_request(request)
        if (sent := response.extensions.get(_AS_SENT)) is not None:
            response.headers = sent
        status = response.extensions["caching"]
        if status["from_cache"]:
            response.extensions[AGE] = 0.0 if status["revalidated"] else _age(response.headers)
        return response

    async def forget(self, place: str) -> None:
        """Drop what is kept of a page: what came was no page."""
        for entry in await self._kept.get_entries(place):
            await self._kept.remove_entry(entry.id)

    async def aclose(self) -> None:
        """Close the file, and all connections."""
        await self._cached.aclose()


class _Judge(httpx2.AsyncBaseTransport):
    """Writes on each answer whether and how long it may be kept, where its server was unclear."""

    def __init__(self, way_out: httpx2.AsyncBaseTransport) -> None:
        self._way_out = way_out

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._way_out.handle_async_request(request)
        sent, now = response.headers, time.time()
        response.extensions[_AS_SENT] = sent
        response.headers = headers = httpx2.Headers(sent)
        # The library trusts `Date` alone: where it is missing, or time passed in caches on the way.
        headers["date"] = _http_date(now - _seconds(sent.get("age")))
        if not _may_keep(response):
            headers["cache-control"] = "no-store"
        elif not _says_how_long(sent):
            headers["cache-control"] = "no-cache"
        return response

    async def aclose(self) -> None:
        await self._way_out.aclose()


def _drop_broken(path: Path) -> None:
    """Begin anew where the file is no database: what it held can be fetched again."""
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            sound = file.read(len(_MAGIC)) == _MAGIC
        if not sound:
            path.unlink()


def place_of(url: str, *, named: bool) -> str:
    """Name a page's entry. Pages of private hosts that were named are kept apart from others."""
    return hashlib.sha256(f"{'named' if named else 'public'} {url}".encode()).hexdigest()


def _may_keep(response: httpx2.Response) -> bool:
    if response.status_code == 304:
        return True
    control = response.headers.get("cache-control", "").lower()
    if response.status_code != 200 or "set-cookie" in response.headers:
        return False
    if any(word in control for word in _FORBIDDING):
        return False
    validated = "etag" in response.headers or "last-modified" in response.headers
    return validated or _says_how_long(response.headers)


def _says_how_long(headers: httpx2.Headers) -> bool:
    control = headers.get("cache-control", "").lower()
    return "expires" in headers or any(word in control for word in _FRESHNESS)


def _seconds(value: str | None) -> float:
    return float(value) if value and value.isdecimal() else 0.0


def _http_date(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(seconds, UTC), usegmt=True)


def _age(headers: httpx2.Headers) -> float:
    return max(0.0, time.time() - parsedate_to_datetime(headers["date"]).timestamp())
