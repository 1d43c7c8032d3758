"""Tavily: a search API made for agents, with a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.search.base import Request
from browser.search.dates import since_day
from browser.search.json_api import Fields, JsonProvider

if TYPE_CHECKING:
    from browser.types import SearchQuery

_MOST = 20


class Tavily(JsonProvider):
    """https://docs.tavily.com/documentation/api-reference/endpoint/search; no paging."""

    name = "tavily"
    url = "https://api.tavily.com/search"
    key_env = "TAVILY_API_KEY"
    fields = Fields(snippet="content", published="published_date")

    def request(self, query: SearchQuery) -> Request:
        """Ask for results alone: no answer, no pictures, no page text."""
        asked: dict[str, object] = {"query": query.text, "max_results": min(query.limit, _MOST)}
        if query.site:
            asked["include_domains"] = [query.site]
        since = since_day(query.since)
        if since is not None:
            asked["start_date"] = since.isoformat()
        return Request(self.endpoint, json=asked, headers={"Authorization": f"Bearer {self.key}"})
