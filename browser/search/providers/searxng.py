"""SearXNG, a metasearch engine of one's own: JSON where the instance allows it, else its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.net.http import PAGE_HEADERS
from browser.search.base import Request, with_site
from browser.search.dates import nearest_range
from browser.search.json_api import Fields, JsonProvider
from browser.search.outcomes import wall_of
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from browser.types import SearchQuery

_AS_JSON = {"format": "json"}


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
        """Ask for JSON; its limiter lets browsers through only."""
        headers = {**PAGE_HEADERS, "Accept": "application/json"}
        return Request(self.endpoint, params=parameters(query) | _AS_JSON, headers=headers)

    def requests(self, query: SearchQuery) -> Iterator[Request]:
        """Ask for JSON, then for the page."""
        yield self.request(query)
        yield Request(self.endpoint, params=parameters(query), headers=PAGE_HEADERS)

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Take a bare 403 to the JSON form for what it is: that form is off."""
        page = super().refusal(body, status, url, headers)
        if page is not None and status == 403 and "format=json" in url and not wall_of(body):
            return SearchPage(Outcome.ERROR, detail="HTTP 403: this instance has JSON switched off")
        return page

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
