"""Wikipedia's own full-text search, in any of its languages."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from browser.search.base import DAY, Request
from browser.search.json_api import JsonProvider
from browser.search.tidy import without_marks
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery


class Wikipedia(JsonProvider):
    """The MediaWiki API; https://www.mediawiki.org/wiki/API:Search."""

    name = "wikipedia"
    url = "https://en.wikipedia.org/w/api.php"
    lifetime = DAY
    rows = "query.search"

    def request(self, query: SearchQuery) -> Request:
        """Search the Wikipedia of the query's language."""
        endpoint = self.endpoint
        if query.lang and endpoint == self.url:
            endpoint = endpoint.replace("//en.", f"//{query.lang}.")
        asked = {
            "action": "query",
            "list": "search",
            "srsearch": query.text,
            "srlimit": str(query.limit),
            "sroffset": str((query.page - 1) * query.limit),
            "srprop": "snippet|timestamp",
            "format": "json",
            "formatversion": "2",
        }
        return Request(endpoint, params=asked)

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Build the address of the article from its title; its timestamp is the last edit."""
        title = str(row.get("title", ""))
        site = urlsplit(url)
        path = quote(title.replace(" ", "_"), safe="/:,;@!$*()'~")
        return SearchResult(
            url=f"{site.scheme}://{site.netloc}/wiki/{path}",
            title=title,
            snippet=without_marks(str(row.get("snippet", ""))),
        )
