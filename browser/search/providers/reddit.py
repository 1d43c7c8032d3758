"""Reddit: posts, by the JSON form of its search page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from browser.search.base import Request
from browser.search.dates import nearest_range
from browser.search.json_api import JsonProvider, dig, text_at
from browser.search.tidy import without_marks
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery

_SNIPPET = 400


class Reddit(JsonProvider):
    """Turned away (403) from many data centres; no paging without a cursor."""

    name = "reddit"
    url = "https://www.reddit.com/search.json"
    interval = 2.0
    rows = "data.children"

    def request(self, query: SearchQuery) -> Request:
        """Ask for posts by relevance."""
        asked = {"q": query.text, "limit": str(query.limit), "sort": "relevance", "raw_json": "1"}
        within = nearest_range(query.since) if query.since else ""
        asked |= {"t": within} if within else {}
        return Request(self.endpoint, params=asked)

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Take the discussion, not what it links to."""
        del url
        created = dig(row, "data.created_utc")
        moment = datetime.fromtimestamp(created, UTC) if isinstance(created, int | float) else None
        where = text_at(row, "data.subreddit_name_prefixed")
        title = without_marks(text_at(row, "data.title"))
        return SearchResult(
            url=f"https://www.reddit.com{text_at(row, 'data.permalink')}",
            title=f"{title} ({where})" if where else title,
            snippet=without_marks(text_at(row, "data.selftext"))[:_SNIPPET],
            published=moment.isoformat() if moment else None,
        )
