"""What reading needs of the rooms beside it: an HTTP client, and a browser with live pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class HttpResponse(Protocol):
    """What the reader needs of a response."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


class Http(Protocol):
    """What the reader needs of the HTTP client."""

    async def get(self, url: str, *, deadline: float) -> HttpResponse:
        """Get a URL; raises BrowserError where no response came."""
        ...


class Tab(Protocol):
    """What the reader needs of a live page."""

    @property
    def url(self) -> str:
        """The address as it is now."""
        ...

    async def html(self) -> str:
        """The DOM, with what stands in frames and open shadow roots."""
        ...

    async def close(self) -> None:
        """Close the page."""
        ...


class BrowserSession(Protocol):
    """What the reader needs of the browser."""

    async def open(self, url: str, *, deadline: float) -> Tab:
        """Open a URL in a page of its own and let it settle."""
        ...
