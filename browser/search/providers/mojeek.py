"""Mojeek, an engine with an index of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.search.base import Request
from browser.search.dates import since_day
from browser.search.layouts import Layout
from browser.search.page import HtmlProvider

if TYPE_CHECKING:
    from browser.types import SearchQuery

_PAGE = 10


class Mojeek(HtmlProvider):
    """Its html page, which needs no script."""

    name = "mojeek"
    url = "https://www.mojeek.com/search"
    verified = True
    ads = ".ads, .ad, .sponsored"
    containers = "ul[class*=results]"
    nothing = re.compile(r"No pages found(?: matching)?|no results found", re.IGNORECASE)
    layouts = (
        Layout(
            item="ul[class*=results] > li",
            link="h2 > a[href], a.title[href]",
            snippet=("p.s", "p:not(.i, .more)"),
        ),
    )

    def request(self, query: SearchQuery) -> Request:
        """Ask for the page; Mojeek has parameters for site, date and language."""
        asked = {"q": query.text}
        if query.page > 1:  # to name the first page's place is what robots do
            asked["s"] = str((query.page - 1) * _PAGE + 1)
        if query.site:
            asked["site"] = query.site
        if query.lang:
            asked |= {"lb": query.lang, "lbb": "100"}
        if query.region:
            asked |= {"arc": query.region.lower()}
        since = since_day(query.since)
        if since is not None:
            asked["since"] = f"{since:%Y%m%d}"
        return Request(self.endpoint, params=asked, headers=self.headers(query.lang))
