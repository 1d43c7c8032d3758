"""httpx through the egress: connections, TLS and pools. Nothing above it knows httpx's errors.

The cache (RFC 9111, `cache.py`) wraps `EgressTransport`: it is an ordinary transport, too.
"""

from __future__ import annotations

import os
import ssl
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Final
from zlib import crc32

import httpx

from browser.errors import BadResponse, BrowserError, ConnectFailed, FetchError, Refused
from browser.net.proxy import REFUSED, UNKNOWN, VERDICT
from browser.net.resolve import NameUnknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLACE: Final = "urchin.cache"
"""The request extension that names the cache's entry; requests without it go round the cache."""
AGE: Final = "urchin.age"
"""The response extension that tells a cached page's age (s); 0 where the server confirmed it."""

# A client keeps as many connections as the limits above it let through at once, for a page's while.
# httpcore looks at each connection of a pool, and at all of them again for each idle one, at every
# request: eight pools of eight, a host always in the same, halve the time that 200 pages take us.
_POOLS = 8
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30.0)


class EgressTransport(httpx.AsyncBaseTransport):
    """Sends requests through the proxy at `proxy_url`, which decides what may be reached.

    TLS is set up at the first https request: its certificate store takes 20-50 ms to load,
    which a run on plain HTTP need not spend.
    """

    def __init__(self, proxy_url: str) -> None:
        self._proxy_url = proxy_url
        self._pools: dict[tuple[str, int], httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request. Raises what httpx raises; `typed_errors` makes it ours."""
        response = await self._pool(request.url).handle_async_request(request)
        if response.headers.get(VERDICT) is None:
            return response
        await response.aclose()
        raise _verdict(response.headers[VERDICT], response.reason_phrase)

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()

    def _pool(self, url: httpx.URL) -> httpx.AsyncHTTPTransport:
        place = url.scheme, crc32(url.netloc) % _POOLS
        if place not in self._pools:
            secure = url.scheme == "https"
            self._pools[place] = httpx.AsyncHTTPTransport(
                verify=certificates() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                proxy=self._proxy_url,
                http2=secure,
                limits=_LIMITS,
            )
        return self._pools[place]


class Session:
    """Connections and cookies. httpx's own client is left out: it parses `Location` by itself."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport
        self._cookies = httpx.Cookies()

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        place: str | None = None,
    ) -> httpx.Response:
        """Return the head of the answer; its owner reads `aiter_raw()` and closes it.

        `place` names the entry of a cache that may answer.
        """
        # no timeouts here: the caller's deadline spans the whole of a call
        extensions = {PLACE: place} if place else {}
        request = httpx.Request(
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
    known = {REFUSED: Refused, UNKNOWN: NameUnknown}
    return known.get(status, ConnectFailed)(reason)


@contextmanager
def typed_errors(url: str) -> Iterator[None]:
    """Turn every error of httpx into one of ours that names `url`."""
    try:
        yield
    except httpx.ProxyError as error:
        status, _, reason = str(error).partition(" ")  # so httpcore words a refused CONNECT
        raise _verdict(status, reason or status) from error
    except (httpx.ConnectError, httpx.ReadError, httpx.WriteError) as error:
        raise ConnectFailed(f"{url}: {error or type(error).__name__}") from error
    except httpx.RemoteProtocolError as error:
        # a kept connection that the server has closed meanwhile is as good as none
        hung_up = "disconnected" in str(error)
        raise (ConnectFailed if hung_up else BadResponse)(f"{url}: {error}") from error
    except (httpx.ProtocolError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise BadResponse(f"{url}: {error}") from error
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise FetchError(f"{url}: {error or type(error).__name__}") from error
