"""httpx2 through the egress proxy: connections, TLS, cookies; one exchange at a time.

A body is decoded in small pieces and only up to a limit: kilobytes must not become gigabytes.
httpx2's errors do not leave this module; `typed_errors` turns them into `browser.errors`.
"""

from __future__ import annotations

import json
import os
import ssl
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zlib import crc32

import httpx2

from browser.errors import BadResponse, ConnectFailed, FetchError, NoAnswer, TooLarge
from browser.net.guard import VERDICT_HEADER, error_from_verdict
from browser.net.page_cache import CACHE_AGE_EXTENSION, CACHE_KEY_EXTENSION, CachingTransport
from browser.net.url import join

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from pathlib import Path


_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# A redirect's body is read up to this size, so that the connection can be reused.
_REDIRECT_BYTES = 64 * 1024
# Eight pools of eight connections instead of one large pool, with each host always in the same
# pool: for every request, httpcore2 iterates over all of a pool's connections, and again for each
# idle one. This halves the time for 200 pages.
_POOLS = 8
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30.0)


# The name of the extension that marks a truncated body.
TRUNCATED_KEY = "urchin.cut"


@dataclass(frozen=True, slots=True)
class Response:
    """A response: `url` is the final URL, `body` is decoded.

    `headers` are case-insensitive; repeated ones are joined with `, `. `age` is a cached page's age
    in seconds, 0 if the server has just confirmed it; None if it is not from the cache.
    `is_truncated` means that the connection ended before the body was complete.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)
    age: float | None = None
    is_truncated: bool = False

    @property
    def ok(self) -> bool:
        """Whether the status is a success (2xx)."""
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """The `Content-Type` header with its parameters, or ""."""
        return self.headers.get("content-type", "")

    def json(self) -> Any:
        """Parse the body. Raises BadResponse if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise BadResponse(f"{self.url} did not return JSON: {error}") from error

    @property
    def redirect(self) -> str | None:
        """The URL to redirect to, or None. Raises BadResponse for an invalid one."""
        location = self.headers.get("location")
        if self.status not in _REDIRECTS or not location:
            return None
        if target := join(self.url, location):
            return target
        raise BadResponse(f"{self.url} redirects to an invalid address: {location[:200]!r}")


class EgressTransport(httpx2.AsyncBaseTransport):
    """Sends requests through the proxy at `proxy_url`, which decides which hosts may be reached.

    TLS is set up on the first https request: loading the certificate store takes 20-50 ms.
    """

    def __init__(self, proxy_url: str) -> None:
        self._proxy_url = proxy_url
        self._pools: dict[tuple[str, int], httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request. Raises httpx2's errors and the guard's errors."""
        pool_key = request.url.scheme, crc32(request.url.netloc) % _POOLS
        if pool_key not in self._pools:
            secure = request.url.scheme == "https"
            self._pools[pool_key] = httpx2.AsyncHTTPTransport(
                verify=certificates() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                proxy=self._proxy_url,
                http2=secure,
                limits=_LIMITS,
            )
        response = await self._pools[pool_key].handle_async_request(request)
        if (verdict := response.headers.get(VERDICT_HEADER)) is None:
            return response
        await response.aclose()
        raise error_from_verdict(verdict, response.reason_phrase)

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()


class Connections:
    """Connections, cookies, and the page cache in the file `cache`, if one is given.

    httpx2's client is not used, because it does not parse `Location` like a browser.
    """

    def __init__(self, proxy_url: str, cache: Path | None = None, *, fresh: bool = False) -> None:
        self._transport: httpx2.AsyncBaseTransport = EgressTransport(proxy_url)
        self._cache = None
        if cache is not None:
            self._cache = self._transport = CachingTransport(self._transport, cache, fresh=fresh)
        self._cookies = httpx2.Cookies()

    async def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        *,
        max_bytes: int,
        cache_key: str | None = None,
    ) -> Response:
        """Send one request and read its response; for a redirect, only the head.

        `cache_key` names the cache entry that may be used. There are no timeouts here: the caller's
        deadline covers the entire call.
        """
        request = httpx2.Request(method, url, headers=dict(headers), content=content)
        if cache_key:
            request.extensions[CACHE_KEY_EXTENSION] = cache_key
        self._cookies.set_cookie_header(request)
        with typed_errors(url):
            response = await self._transport.handle_async_request(request)
            response.request = request
            self._cookies.extract_cookies(response)
            async with aclosing(response):
                status, headers = response.status_code, response.headers
                age = response.extensions.get(CACHE_AGE_EXTENSION)
                head = Response(url, status, headers, age=age)
                if head.redirect:
                    await _discard(response)
                    return head
                body = await read_body(response, max_bytes)
                cut = TRUNCATED_KEY in response.extensions
                return Response(url, status, headers, body, age=age, is_truncated=cut)

    async def forget(self, cache_key: str) -> None:
        """Remove a page's cache entry."""
        if self._cache:
            await self._cache.forget(cache_key)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


async def _discard(response: httpx2.Response) -> None:
    """Read and ignore a redirect's body, so that the connection can be reused."""
    read = 0
    async for data in response.aiter_raw():
        read += len(data)
        if read > _REDIRECT_BYTES:
            return


async def read_body(response: httpx2.Response, limit: int) -> bytes:
    """Read and decode a body; the `limit` in bytes applies both before and after decoding.

    For a truncated body, the part that was received is returned, and the response's extensions
    contain TRUNCATED_KEY. Raises TooLarge, and BadResponse for a broken or chained encoding (`gzip,
    gzip`): no legitimate server sends those, and each layer multiplies the compression ratio.
    """
    names = response.headers.get("content-encoding", "").lower().split(",")
    encodings = [name for name in map(str.strip, names) if name not in {"", "identity", "none"}]
    if len(encodings) > 1:
        raise BadResponse(f"chained content encodings are refused: {', '.join(encodings)[:100]}")
    if encodings == ["x-gzip"]:  # an older name that httpx2 does not know
        response.headers = httpx2.Headers({**response.headers, "content-encoding": "gzip"})
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _CappedStream(response.stream, limit)
    body = BytesIO()
    try:
        # httpx2 decodes at most a megabyte at a time.
        async for piece in response.aiter_bytes():
            _check_size(body.tell() + len(piece), limit)
            body.write(piece)
    except httpx2.RemoteProtocolError:
        if not body.tell():
            raise
        response.extensions[TRUNCATED_KEY] = True
    except httpx2.DecodingError as error:
        raise BadResponse(f"the body is not valid {encodings[0]}: {error}") from error
    return body.getvalue()


class _CappedStream(httpx2.AsyncByteStream):
    """Streams a body, up to `limit` bytes; bytes after the encoded data count too."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for data in self._stream:
            size += len(data)
            _check_size(size, self._limit)
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"the body is larger than {limit:,} bytes")


@cache
def certificates() -> ssl.SSLContext:
    """Return the trusted certificates: from SSL_CERT_FILE or SSL_CERT_DIR, or the system's."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    import truststore  # noqa: PLC0415 - only needed for the system's store

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@contextmanager
def typed_errors(url: str) -> Iterator[None]:
    """Turn every httpx2 error into one of `browser.errors`, with `url` in its message."""
    try:
        yield
    except httpx2.ProxyError as error:
        status, _, reason = str(error).partition(" ")  # httpcore2's message for a refused CONNECT
        raise error_from_verdict(status, reason or status) from error
    except httpx2.ConnectError as error:
        raise ConnectFailed(f"{url}: {error or type(error).__name__}") from error
    except (httpx2.ReadError, httpx2.WriteError) as error:
        raise NoAnswer(f"{url}: {error or type(error).__name__}") from error
    except httpx2.RemoteProtocolError as error:
        # A server may close an idle connection while we reuse it, or in the middle of a response.
        disconnected = "disconnected" in str(error)
        raise (NoAnswer if disconnected else BadResponse)(f"{url}: {error}") from error
    except (httpx2.ProtocolError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise BadResponse(f"{url}: {error}") from error
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise FetchError(f"{url}: {error or type(error).__name__}") from error
