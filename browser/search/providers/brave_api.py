"""Brave's search API, with a key."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from browser.search.base import Request, with_site
from browser.search.dates import since_day
from browser.search.json_api import Fields, JsonProvider

if TYPE_CHECKING:
    from browser.types import SearchQuery

_MOST, _LAST_OFFSET = 20, 9


class BraveApi(JsonProvider):
    """https://api-dashboard.search.brave.com/app/documentation; `web` is absent without results."""

    name = "brave_api"
    url = "https://api.search.brave.com/res/v1/web/search"
    verified = True
    key_env = "BRAVE_API_KEY"
    interval = 1.0
    rows = "web.results"
    fields = Fields(snippet="description", published="page_age|age")
    empty_without_rows = ("query", "mixed")

    def request(self, query: SearchQuery) -> Request:
        """Ask for web results."""
        asked = {
            "q": with_site(query),
            "count": str(min(query.limit, _MOST)),
            "offset": str(min(query.page - 1, _LAST_OFFSET)),
            "result_filter": "web",
            "text_decorations": "false",
        }
        asked |= {"search_lang": query.lang} if query.lang else {}
        asked |= {"country": query.region.upper()} if query.region else {}
        since = since_day(query.since)
        if since is not None:
            today = datetime.now(UTC).date().isoformat()
            asked["freshness"] = f"{since.isoformat()}to{today}"
        return Request(self.endpoint, params=asked, headers={"X-Subscription-Token": self.key})
