"""Tavily: a search API made for agents, with a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.search.base import Request
from browser.search.dates import since_day
from browser.search.json_api import Fields, JsonProvider

if TYPE_CHECKING:
    from browser.types import SearchQuery

_MOST = 20
# It takes countries by their English names; results from there are put first.
_COUNTRIES = {
    "AR": "argentina", "AT": "austria", "AU": "australia", "BE": "belgium", "BR": "brazil",
    "CA": "canada", "CH": "switzerland", "CL": "chile", "CN": "china", "CO": "colombia",
    "CZ": "czech republic", "DE": "germany", "DK": "denmark", "ES": "spain", "FI": "finland",
    "FR": "france", "GB": "united kingdom", "GR": "greece", "IE": "ireland", "IL": "israel",
    "IN": "india", "IT": "italy", "JP": "japan", "KR": "south korea", "MX": "mexico",
    "NL": "netherlands", "NO": "norway", "NZ": "new zealand", "PL": "poland", "PT": "portugal",
    "RU": "russia", "SE": "sweden", "TR": "turkey", "UA": "ukraine", "US": "united states",
    "ZA": "south africa",
}  # fmt: skip


class Tavily(JsonProvider):
    """https://docs.tavily.com/documentation/api-reference/endpoint/search; no paging."""

    name = "tavily"
    url = "https://api.tavily.com/search"
    verified = True
    key_env = "TAVILY_API_KEY"
    fields = Fields(snippet="content", published="published_date")

    def request(self, query: SearchQuery) -> Request:
        """Ask for results alone: no answer, no pictures, no page text."""
        asked: dict[str, object] = {"query": query.text, "max_results": min(query.limit, _MOST)}
        if query.site:
            asked["include_domains"] = [query.site]
        country = _COUNTRIES.get((query.region or "").upper())
        asked |= {"country": country} if country else {}
        since = since_day(query.since)
        if since is not None:
            asked["start_date"] = since.isoformat()
        return Request(self.endpoint, json=asked, headers={"Authorization": f"Bearer {self.key}"})
