"""Startpage: results of others without their tracking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.search.base import Request, with_site
from browser.search.dates import nearest_range
from browser.search.layouts import Layout
from browser.search.page import HtmlProvider
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery

# What its form calls the languages asked for most.
_LANGUAGES = {
    "de": "deutsch", "en": "english", "es": "espanol", "fr": "francais", "it": "italiano",
    "nl": "nederlands", "pl": "polski", "pt": "portugues",
}  # fmt: skip


class Startpage(HtmlProvider):
    """Its page before and after 2024."""

    name = "startpage"
    url = "https://www.startpage.com/sp/search"
    ads = "[class*=sponsored], .ad, #gcsa-top, #gcsa-bottom, [data-testid=adResult], [id^=adBlock]"
    containers = "[class*=w-gl], .mainline-results, #main"
    nothing = re.compile(r"no (?:web )?results (?:were )?(?:found|for this search)", re.IGNORECASE)
    layouts = (
        Layout(
            item=":is(div, section):is(.result, .w-gl__result)",
            link="a[href]:is([class*=result-title], [class*=result-link],"
            " [data-testid=gl-title-link])",
            title="h2, h3, [class*=result-title]",
            snippet=("[class*=description]", "p"),
        ),
    )

    def request(self, query: SearchQuery) -> Request:
        """Send the form as the page does."""
        form = {"query": with_site(query), "cat": "web", "t": "device", "abp": "1"}
        language = _LANGUAGES.get(query.lang or "en", "english")
        form |= {"language": language, "lui": language, "page": str(query.page)}
        within = nearest_range(query.since) if query.since else ""
        form |= {"with_date": within[0]} if within else {}
        headers = self.headers(query.lang)
        if query.region:
            place = f"{query.lang or 'en'}_{query.region.upper()}"
            headers["Cookie"] = f"preferences=search_results_regionEEE{place}"
        return Request(self.endpoint, form=form, headers=headers)

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Know the page to which it sends those it takes for robots."""
        if "/sp/captcha" in url:
            return SearchPage(Outcome.BLOCKED, detail="a check for robots")
        return super().refusal(body, status, url, headers)
