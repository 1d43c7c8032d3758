"""A page cache by RFC 9111: a transport that wraps the way out, one file for one namespace.

What a server lets be kept is kept, and asked about again once it is stale. Never kept are errors,
what cookies or keys took part in, what is `private`, and pages without a word on freshness or a
validator; walls that come as pages are dropped by `forget`.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING, Final

import httpx2

if TYPE_CHECKING:
    from pathlib import Path

KEY: Final = "urchin.cache"
"""The request extension that names the cache's entry; requests without it go round the cache."""
AGE: Final = "urchin.age"
"""The response extension that tells a cached page's age (s); 0 where the server confirmed it."""

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
        if path.is_file() and path.stat().st_size and not _is_database(path):
            path.unlink()  # what it held can be fetched again
        # A cache that cannot be written, or is closed under a call that was cancelled, is no matter
        # for the terminal: pages are fetched then. An MCP server has a handler of its own for all.
        logging.getLogger("hishel").addHandler(logging.NullHandler())
        logging.getLogger("hishel").propagate = False
        self._way_out = way_out
        self._fresh = fresh
        self._storage = AsyncSqliteStorage(
            database_path=path, default_ttl=_LIFETIME_S, max_size=_MOST_BYTES,
            max_stream_size=_LARGEST_KEPT,
        )  # fmt: skip
        self._cached = AsyncCacheTransport(
            _PlainlyMarked(way_out), storage=self._storage, rfc=CacheOptions(shared=False)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer from what is kept, or send the request on."""
        key = request.extensions.get(KEY)
        if key is None or request.method != "GET" or not _PERSONAL.isdisjoint(request.headers):
            return await self._way_out.handle_async_request(request)
        if self._fresh:
            await self.forget(key)
        request.extensions = {**request.extensions, "caching": {"key": key}}
        response = await self._cached.handle_async_request(request)
        response.headers = response.extensions.get(_AS_SENT, response.headers)
        status = response.extensions["caching"]
        if status["from_cache"]:
            came = parsedate_to_datetime(response.headers["date"]).timestamp()
            age = 0.0 if status["revalidated"] else max(0.0, time.time() - came)
            response.extensions[AGE] = age
        return response

    async def forget(self, key: str) -> None:
        """Drop what is kept of a page: what came was no page."""
        for entry in await self._storage.get_entries(key):
            await self._storage.remove_entry(entry.id)

    async def aclose(self) -> None:
        """Close the file, and all connections."""
        await self._cached.aclose()


class _PlainlyMarked(httpx2.AsyncBaseTransport):
    """Writes on each answer whether and how long it may be kept, where its server was unclear."""

    def __init__(self, way_out: httpx2.AsyncBaseTransport) -> None:
        self._way_out = way_out

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._way_out.handle_async_request(request)
        sent = response.headers
        response.extensions[_AS_SENT] = sent
        response.headers = headers = httpx2.Headers(sent)
        # The library trusts `Date` alone: where it is missing, or time passed in caches on the way.
        age = sent.get("age", "")
        came = time.time() - (float(age) if age.isdecimal() else 0.0)
        headers["date"] = format_datetime(datetime.fromtimestamp(came, UTC), usegmt=True)
        control = sent.get("cache-control", "").lower()
        timed = "expires" in sent or any(word in control for word in _FRESHNESS)
        kept = response.status_code == 304 or (
            response.status_code == 200
            and "set-cookie" not in sent
            and not any(word in control for word in _FORBIDDING)
            and (timed or "etag" in sent or "last-modified" in sent)
        )
        if not kept:
            headers["cache-control"] = "no-store"
        elif not timed:
            headers["cache-control"] = "no-cache"
        return response

    async def aclose(self) -> None:
        await self._way_out.aclose()


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
