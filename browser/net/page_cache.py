"""A page cache that follows RFC 9111: an httpx2 transport that wraps another one.

Responses are stored in one SQLite file if the server allows it, and revalidated once they are
stale. Errors, exchanges with cookies or keys, `private` responses, and pages with neither a
freshness lifetime nor a validator are never stored. `forget` removes block pages that were cached
as pages.
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

CACHE_KEY_EXTENSION: Final = "urchin.cache"
"""The request extension with the entry's key; requests without it bypass the cache."""
CACHE_AGE_EXTENSION: Final = "urchin.age"
"""The response extension with a cached page's age (s); 0 if the server has just confirmed it."""

# After a month, a page is fetched again instead of being revalidated.
_LIFETIME_S = 30 * 24 * 3600
_MAX_BYTES = 256 * 1024 * 1024
_MAX_BODY_BYTES = 8 * 1024 * 1024
_SQLITE_MAGIC = b"SQLite format 3\0"
_SENT_HEADERS = "urchin.headers"
_PERSONAL_HEADERS = frozenset(("cookie", "authorization"))
_FRESHNESS_DIRECTIVES = (
    "max-age",
    "s-maxage",
    "no-cache",
    "must-revalidate",
    "immutable",
    "public",
)
_NO_STORE_DIRECTIVES = ("no-store", "private")


class CachingTransport(httpx2.AsyncBaseTransport):
    """A cache around the transport `inner`. With `fresh`, stored pages are ignored and replaced."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, path: Path, *, fresh: bool) -> None:
        # Imported here: it takes 60 ms, and model clients import this module without a cache.
        from hishel import AsyncSqliteStorage, CacheOptions  # noqa: PLC0415
        from hishel.httpx2 import AsyncCacheTransport  # noqa: PLC0415

        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.is_file() and path.stat().st_size and not _is_database(path):
            path.unlink()  # it is damaged: its pages can be fetched again
        # If the cache cannot be written, or was closed while a cancelled call used it, the page is
        # simply fetched, so its log messages are suppressed. An MCP server handles all loggers,
        # hence `propagate`.
        logging.getLogger("hishel").addHandler(logging.NullHandler())
        logging.getLogger("hishel").propagate = False
        self._inner = inner
        self._fresh = fresh
        self._storage = AsyncSqliteStorage(
            database_path=path, default_ttl=_LIFETIME_S, max_size=_MAX_BYTES,
            max_stream_size=_MAX_BODY_BYTES,
        )  # fmt: skip
        self._caching = AsyncCacheTransport(
            _ExplicitCaching(inner), storage=self._storage, rfc=CacheOptions(shared=False)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer from the cache, or forward the request."""
        key = request.extensions.get(CACHE_KEY_EXTENSION)
        if (
            key is None
            or request.method != "GET"
            or not _PERSONAL_HEADERS.isdisjoint(request.headers)
        ):
            return await self._inner.handle_async_request(request)
        if self._fresh:
            await self.forget(key)
        request.extensions = {**request.extensions, "caching": {"key": key}}
        response = await self._caching.handle_async_request(request)
        response.headers = response.extensions.get(_SENT_HEADERS, response.headers)
        status = response.extensions["caching"]
        if status["from_cache"]:
            received = parsedate_to_datetime(response.headers["date"]).timestamp()
            age = 0.0 if status["revalidated"] else max(0.0, time.time() - received)
            response.extensions[CACHE_AGE_EXTENSION] = age
        return response

    async def forget(self, key: str) -> None:
        """Remove a page's entry."""
        for entry in await self._storage.get_entries(key):
            await self._storage.remove_entry(entry.id)

    async def aclose(self) -> None:
        """Close the file, and all connections."""
        await self._caching.aclose()


class _ExplicitCaching(httpx2.AsyncBaseTransport):
    """Sets `Date` and `Cache-Control` on each response, so that the library follows our rules."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        sent = response.headers
        response.extensions[_SENT_HEADERS] = sent
        response.headers = headers = httpx2.Headers(sent)
        # The library reads only `Date`, which may be missing, and ignores `Age`.
        age = sent.get("age", "")
        received = time.time() - (float(age) if age.isdecimal() else 0.0)
        headers["date"] = format_datetime(datetime.fromtimestamp(received, UTC), usegmt=True)
        control = sent.get("cache-control", "").lower()
        has_lifetime = "expires" in sent or any(word in control for word in _FRESHNESS_DIRECTIVES)
        may_store = response.status_code == 304 or (
            response.status_code == 200
            and "set-cookie" not in sent
            and not any(word in control for word in _NO_STORE_DIRECTIVES)
            and (has_lifetime or "etag" in sent or "last-modified" in sent)
        )
        if not may_store:
            headers["cache-control"] = "no-store"
        elif not has_lifetime:
            headers["cache-control"] = "no-cache"  # store it, but revalidate each time
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
