"""Google's result page, with scripts and without."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.search.base import Request, with_site
from browser.search.dates import since_day
from browser.search.layouts import Headings, Layout
from browser.search.page import HtmlProvider
from browser.types import Outcome

if TYPE_CHECKING:
    from browser.types import SearchQuery

# Panels that answer by themselves: people also ask, news and video boxes, the knowledge panel.
_PANELS = (
    "#tads, #tadsb, #bottomads, #tvcap, #rhs, [data-text-ad], .commercial-unit-desktop-top,"
    " .related-question-pair, .uEierd"
)


class Google(HtmlProvider):
    """Headings within links, as the page has had them for years, whatever their classes."""

    name = "google"
    url = "https://www.google.com/search"
    verified = True
    ads = _PANELS
    containers = "#search, #rso"
    nothing = re.compile(
        r"did not match any documents|No results found for|stimmt mit keinem Dokument überein"
        r"|keine mit deiner Suchanfrage|Aucun document ne correspond|no obtuvo ningún resultado"
        r"|non ha prodotto risultati|não encontrou nenhum documento"
        r"|geen overeenkomstige documenten",
    )
    shell = re.compile(
        r"/httpservice/retry/enablejs|enablejs\?sei=|<noscript>.{0,400}enablejs", re.DOTALL
    )
    shell_outcome = Outcome.BLOCKED
    layouts = (
        Headings(
            heading="a[href] h3:not(table *), h3:has(a[href]):not(table *)",
            snippet=("[class*=VwiC3b]", "[data-sncf='1'], [data-sncf='2']", "span.st"),
            fewest=1,
        ),
        Headings(heading="a[href] [role=heading]"),
        Layout(
            item="div:has(> div.kCrYT)",
            link=":scope > .kCrYT > a[href^='/url?']",
            title="a .vvjwJb, a > div:first-of-type",
            snippet=("div.kCrYT ~ div.kCrYT", "div.s3v9rd"),
        ),
    )

    def request(self, query: SearchQuery) -> Request:
        """Ask for the page."""
        asked = {"q": with_site(query), "num": str(query.limit), "pws": "0"}
        asked["hl"] = query.lang or "en"
        if query.lang:
            asked["lr"] = f"lang_{query.lang}"
        if query.region:
            asked["gl"] = query.region.lower()
        if query.page > 1:
            asked["start"] = str((query.page - 1) * query.limit)
        since = since_day(query.since)
        if since is not None:
            asked["tbs"] = f"cdr:1,cd_min:{since:%m/%d/%Y}"
        return Request(self.endpoint, params=asked, headers=self.headers(query.lang))
