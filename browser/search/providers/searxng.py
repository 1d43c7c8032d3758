"""SearXNG, a metasearch engine of one's own: JSON where the instance allows it, else its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.search.base import Request, with_site
from browser.search.dates import nearest_range
from browser.search.json_api import Fields, JsonProvider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.types import SearchPage, SearchQuery


class SearXNG(JsonProvider):
    """JSON is off by default (403) on many instances; their page is read instead."""

    name = "searxng"
    fields = Fields(snippet="content", published="publishedDate")

    def __init__(self, *, url: str | None = None, key: str | None = None) -> None:
        super().__init__(url=search_path(url) if url else None, key=key)

    def unavailable(self) -> str:
        """Say that an instance is needed."""
        return "" if self.endpoint else "no address; give --searxng-url"

    def request(self, query: SearchQuery) -> Request:
        """Ask for JSON."""
        return Request(self.endpoint, params={**parameters(query), "format": "json"})

    def requests(self, query: SearchQuery) -> Iterator[Request]:
        """Ask for JSON, then for the page."""
        yield self.request(query)
        yield Request(self.endpoint, params=parameters(query), headers={"Accept": "text/html"})

    def parse(self, body: str, url: str) -> SearchPage:
        """Read JSON or the page, whichever came."""
        if body.lstrip().startswith("{"):
            return super().parse(body, url)
        from browser.search.providers.searxng_page import SearXNGPage  # noqa: PLC0415 - loads lxml

        return SearXNGPage(url=self.endpoint).parse(body, url)


def search_path(url: str) -> str:
    """Put `/search` behind an instance's address, which may itself lie below a path."""
    base = url.rstrip("/")
    return base if base.endswith("/search") else f"{base}/search"


def parameters(query: SearchQuery) -> dict[str, str]:
    """Say a query in SearXNG's parameters; `since` becomes the nearest of its ranges."""
    asked = {"q": with_site(query), "pageno": str(query.page)}
    if query.lang:
        asked["language"] = f"{query.lang}-{query.region.upper()}" if query.region else query.lang
    if query.since:
        asked["time_range"] = nearest_range(query.since)
    return asked
