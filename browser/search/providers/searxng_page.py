"""The result page of a SearXNG instance, for those that refuse JSON."""

from __future__ import annotations

import re

from browser.search.base import Request, with_site
from browser.search.layouts import Layout
from browser.search.page import HtmlProvider
from browser.types import SearchQuery  # noqa: TC001 - part of a public signature


class SearXNGPage(HtmlProvider):
    """The `simple` theme, and `oscar` before it."""

    name = "searxng"
    containers = "#urls, #main_results, #results"
    nothing = re.compile(r"No results were found|we didn't find any results", re.IGNORECASE)
    layouts = (
        Layout("article.result", "h3 > a[href], h4 > a[href]", snippet=("p.content",)),
        Layout("div.result", ".result_header a[href]", snippet=("p.result-content", "p")),
    )

    def request(self, query: SearchQuery) -> Request:
        """Ask for the page."""
        return Request(self.endpoint, params={"q": with_site(query)})
