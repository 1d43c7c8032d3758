"""Brave Search's result page."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from browser.search.base import Request, with_site
from browser.search.dates import since_day
from browser.search.layouts import Layout
from browser.search.page import HtmlProvider

if TYPE_CHECKING:
    from browser.types import SearchQuery

_WEB = "div[data-type=web], div.snippet[data-pos]:not([data-type])"


class Brave(HtmlProvider):
    """`div.snippet` with `data-type="web"`, before and after the move to Svelte."""

    name = "brave"
    url = "https://search.brave.com/search"
    verified = True
    ads = "[data-type=ad], #search-ad, #infobox, #rh-column"
    containers = "#results"
    nothing = re.compile(r"Too few matches were found|No results found|not find any results")
    layouts = (
        Layout(
            item=f":is({_WEB}):not(.standalone)",
            link="a[href]:has([class*=title]), a[href]",
            title="[class*=snippet-title], .title",
            snippet=(
                ".snippet-description",
                ".generic-snippet .content",
                ".generic-snippet",
                ".snippet-content, [class*=description]",
            ),
        ),
    )

    def request(self, query: SearchQuery) -> Request:
        """Ask for the page; `tf` is a range of days."""
        asked = {"q": with_site(query), "source": "web"}
        if query.page > 1:
            asked["offset"] = str(query.page - 1)
        since = since_day(query.since)
        if since is not None:
            asked["tf"] = f"{since.isoformat()}to{datetime.now(UTC).date().isoformat()}"
        headers = self.headers(query.lang)
        if query.region:
            headers["Cookie"] = f"country={query.region.lower()}; useLocation=0"
        return Request(self.endpoint, params=asked, headers=headers)
