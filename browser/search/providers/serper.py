"""Serper: Google's results as JSON, with a key."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from browser.search.base import Request, with_site
from browser.search.dates import nearest_range
from browser.search.json_api import Fields, JsonProvider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.types import SearchQuery


class Serper(JsonProvider):
    """https://serper.dev; `organic` holds the web results, advertisements stand elsewhere."""

    name = "serper"
    url = "https://google.serper.dev/search"
    verified = True
    key_env = "SERPER_API_KEY"
    rows = "organic"
    fields = Fields(url="link", published="date")

    def __init__(self, *, url: str | None = None, key: str | None = None) -> None:
        super().__init__(url=url, key=key)
        self._given_path = bool(url) and urlsplit(url or "").path not in ("", "/")

    def request(self, query: SearchQuery) -> Request:
        """Ask for web results."""
        asked: dict[str, object] = {"q": with_site(query), "num": query.limit, "page": query.page}
        asked |= {"gl": query.region.lower()} if query.region else {}
        asked |= {"hl": query.lang} if query.lang else {}
        within = nearest_range(query.since) if query.since else ""
        asked |= {"tbs": f"qdr:{within[0]}"} if within else {}
        return Request(self.endpoint, json=asked, headers={"X-API-KEY": self.key})

    def requests(self, query: SearchQuery) -> Iterator[Request]:
        """Ask at the address; where a stand-in was named by host alone, try its `/serper` too."""
        request = self.request(query)
        yield request
        parts = urlsplit(self.endpoint)
        if not self._given_path and parts.netloc != urlsplit(self.url).netloc:
            other = urlunsplit(parts._replace(path="/serper"))
            yield Request(other, json=request.json, headers=request.headers)
