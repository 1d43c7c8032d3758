"""A cache of pages by RFC 9111, for one namespace on this machine, behind the guard.

What a server lets be kept is kept, and asked about again once it is stale. Never kept are errors,
what cookies or keys took part in, what is `private`, and pages without a word on freshness or a
validator; walls that come as pages are forgotten again by `forget`.
"""

from __future__ import annotations

import hashlib
import logging
import time
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING

import httpx
from hishel import AsyncSqliteStorage, CacheOptions
from hishel.httpx import AsyncCacheTransport

from browser.net.transport import AGE, PLACE

if TYPE_CHECKING:
    from pathlib import Path

# What is asked for again after a month is a new page.
_LIFETIME_S = 30 * 24 * 3600
_MOST_BYTES = 256 * 1024 * 1024
_LARGEST_PAGE = 8 * 1024 * 1024
_MAGIC = b"SQLite format 3\0"
_AS_SENT = "urchin.headers"
_PERSONAL = frozenset(("cookie", "authorization"))
_FRESHNESS = ("max-age", "s-maxage", "no-cache", "must-revalidate", "immutable", "public")
_FORBIDDING = ("no-store", "private")


class CachingTransport(httpx.AsyncBaseTransport):
    """Wraps the way out. `fresh` goes round what is kept, and keeps what comes in its place."""

    def __init__(self, way_out: httpx.AsyncBaseTransport, path: Path, *, fresh: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _drop_broken(path)
        # A cache that cannot be written is no matter for the terminal: pages are fetched then.
        logging.getLogger("hishel").addHandler(logging.NullHandler())
        self._way_out = way_out
        self._fresh = fresh
        self._kept = AsyncSqliteStorage(
            database_path=path, default_ttl=_LIFETIME_S, max_size=_MOST_BYTES,
            max_stream_size=_LARGEST_PAGE,
        )  # fmt: skip
        self._cached = AsyncCacheTransport(
            _Judge(way_out), storage=self._kept, rfc=CacheOptions(shared=False)
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
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


class _Judge(httpx.AsyncBaseTransport):
    """Writes on each answer whether and how long it may be kept, where its server was unclear."""

    def __init__(self, way_out: httpx.AsyncBaseTransport) -> None:
        self._way_out = way_out

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._way_out.handle_async_request(request)
        sent, now = response.headers, time.time()
        response.extensions[_AS_SENT] = sent
        response.headers = headers = httpx.Headers(sent)
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


def _may_keep(response: httpx.Response) -> bool:
    if response.status_code == 304:
        return True
    control = response.headers.get("cache-control", "").lower()
    if response.status_code != 200 or "set-cookie" in response.headers:
        return False
    if any(word in control for word in _FORBIDDING):
        return False
    validated = "etag" in response.headers or "last-modified" in response.headers
    return validated or _says_how_long(response.headers)


def _says_how_long(headers: httpx.Headers) -> bool:
    control = headers.get("cache-control", "").lower()
    return "expires" in headers or any(word in control for word in _FRESHNESS)


def _seconds(value: str | None) -> float:
    return float(value) if value and value.isdecimal() else 0.0


def _http_date(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(seconds, UTC), usegmt=True)


def _age(headers: httpx.Headers) -> float:
    return max(0.0, time.time() - parsedate_to_datetime(headers["date"]).timestamp())
