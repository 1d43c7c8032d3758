"""Bing's result page."""

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

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).date()


class Bing(HtmlProvider):
    """`li.b_algo` in `#b_results`, for fifteen years now."""

    name = "bing"
    url = "https://www.bing.com/search"
    verified = True
    ads = ".b_ad, .b_adTop, .b_adBottom"
    containers = "#b_results"
    nothing = re.compile(
        r"There are no results for|No results found for|Es gibt keine Ergebnisse"
        r"|Aucun résultat pour|No hay resultados para",
    )
    nothing_at = "li.b_no"
    layouts = (
        Layout(
            item="li.b_algo",
            link="h2 a[href], a[href]:has(h2)",
            title="h2",
            snippet=(".b_caption p", "p[class*=b_lineclamp], p[class*=b_algoSlug]", ".b_snippet"),
        ),
    )

    def request(self, query: SearchQuery) -> Request:
        """Ask for the page."""
        asked = {"q": with_site(query), "count": str(query.limit)}
        if query.lang:
            asked["setlang"] = query.lang
        if query.region:
            asked["cc"] = query.region.lower()
        if query.page > 1:
            asked["first"] = str((query.page - 1) * query.limit + 1)
        since = since_day(query.since)
        if since is not None:
            today = datetime.now(UTC).date()
            days = f"{(since - _EPOCH).days}_{(today - _EPOCH).days}"
            asked["filters"] = f'ex1:"ez5_{days}"'
        return Request(self.endpoint, params=asked, headers=self.headers(query.lang))
