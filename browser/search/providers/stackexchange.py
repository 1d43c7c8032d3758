"""Stack Exchange: questions and answers, by its API."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import TYPE_CHECKING

from browser.search.base import Request
from browser.search.dates import since_day
from browser.search.json_api import JsonProvider, text_at
from browser.search.tidy import without_marks
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery


class StackExchange(JsonProvider):
    """https://api.stackexchange.com/docs; a query's `site` chooses among its 180 sites."""

    name = "stackexchange"
    url = "https://api.stackexchange.com/2.3/search/advanced"
    key_env = "STACKEXCHANGE_KEY"
    needs_key = False
    rows = "items"

    def request(self, query: SearchQuery) -> Request:
        """Ask one site, Stack Overflow by default, for questions by relevance."""
        site = (query.site or "stackoverflow.com").removesuffix(".com")
        asked = {
            "q": query.text,
            "site": site.removesuffix(".stackexchange"),
            "order": "desc",
            "sort": "relevance",
            "pagesize": str(query.limit),
            "page": str(query.page),
            "filter": "withbody",
        }
        since = since_day(query.since)
        if since is not None:
            asked["fromdate"] = str(int(datetime.combine(since, time(), UTC).timestamp()))
        if self.key:
            asked["key"] = self.key
        return Request(self.endpoint, params=asked)

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Take a question; `body` is HTML."""
        del url
        created = text_at(row, "creation_date")
        moment = datetime.fromtimestamp(int(created), UTC) if created.isdigit() else None
        return SearchResult(
            url=text_at(row, "link"),
            title=without_marks(text_at(row, "title")),
            snippet=without_marks(text_at(row, "body|excerpt"))[:400],
            published=moment.isoformat() if moment else None,
        )
