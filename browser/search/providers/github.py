"""GitHub: repositories, by its REST API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.search.base import Request
from browser.search.dates import since_day
from browser.search.json_api import Fields, JsonProvider
from browser.search.rewrite import keywords

if TYPE_CHECKING:
    from browser.types import SearchQuery


class GitHub(JsonProvider):
    """https://docs.github.com/rest/search; ten searches a minute without a key, thirty with one."""

    name = "github"
    url = "https://api.github.com/search/repositories"
    key_env = "GITHUB_TOKEN"
    needs_key = False
    interval = 2.0
    rows = "items"
    fields = Fields(url="html_url", title="full_name", snippet="description", published="pushed_at")

    def request(self, query: SearchQuery) -> Request:
        """Ask for repositories by best match."""
        since = since_day(query.since)
        words = [*keywords(query.text), *([f"pushed:>={since.isoformat()}"] if since else [])]
        params = {"q": " ".join(words), "per_page": str(query.limit), "page": str(query.page)}
        headers = {"Accept": "application/vnd.github+json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        return Request(self.endpoint, params=params, headers=headers)
