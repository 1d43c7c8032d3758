"""An engine asked in the real browser, for when it turns plain HTTP away."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from browser.errors import BrowserError
from browser.search.base import failed, only_on_site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from browser.net.http import HttpClient
    from browser.search.base import Provider
    from browser.types import SearchPage, SearchQuery

    Render = Callable[[str, float], Awaitable[tuple[str, str]]]

# A page drawn by scripts, in a browser that may have to start first, takes 1-4 s.
INTERVAL = 2.0


class Rendered:
    """An engine's page as the browser draws it, read by the parser of its HTML.

    `render(url, deadline)` opens an address in a tab of its own and gives the final address and
    the drawn HTML; it raises a `BrowserError` where it cannot.
    """

    interval = INTERVAL
    local = False

    def __init__(self, provider: Provider, render: Render | None) -> None:
        self.name = f"{provider.name}_browser"
        self.lifetime = provider.lifetime
        self._provider = provider
        self._render = render

    @property
    def identity(self) -> str:
        """The engine's, told apart from the one asked over HTTP: they are blocked separately."""
        return f"browser/{self._provider.identity}"

    def unavailable(self) -> str:
        """Say that a browser is needed."""
        return "" if self._render is not None else "no browser"

    async def search(self, query: SearchQuery, http: HttpClient, *, deadline: float) -> SearchPage:
        """Open the result page and read it; failures are outcomes."""
        del http
        assert self._render is not None, "`unavailable` says when it cannot be asked"
        request = self._provider.request(query)
        address = f"{request.url}?{urlencode(dict(request.params or request.form or {}))}"
        try:
            url, html = await self._render(address, deadline)
        except BrowserError as error:
            return failed(error)
        page = only_on_site(self._provider.read(html, url=url), query.site)
        named = tuple(replace(r, provider=self.name) for r in page.results[: query.limit])
        return replace(page, results=named)
