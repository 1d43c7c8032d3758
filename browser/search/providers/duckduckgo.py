"""DuckDuckGo: its html page, made for browsers without scripts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from browser.search.base import Request, with_site
from browser.search.dates import since_day
from browser.search.layouts import Layout
from browser.search.page import HtmlProvider
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery

# The html page shows 10 results first, then 15 more a page.
_FIRST_PAGE, _NEXT_PAGES = 10, 15


class DuckDuckGo(HtmlProvider):
    """The html page, the lite page and the one that scripts draw, by whichever came."""

    name = "duckduckgo"
    url = "https://html.duckduckgo.com/html/"
    verified = True
    ads = ".result--ad, .result:has(.badge--ad), tr.result-sponsored, article[data-testid=ad]"
    containers = "#links, [data-testid=mainline]"
    nothing = re.compile(r"No results\.|No (?:more )?results found|not many results", re.IGNORECASE)
    nothing_at = ".no-results, [data-testid=no-results-message]"
    shell = re.compile(r"DDG\.deep\.|deep_preload_script|nrje\(|is-not-mobile-device|/s\d{4}\.css")
    shell_outcome = Outcome.BLOCKED
    layouts = (
        Layout(
            item="div.result:has(a.result__a)",
            link="a.result__a",
            snippet=(".result__snippet",),
        ),
        Layout(
            item="article[data-testid=result]",
            link="a[data-testid=result-title-a], h2 a[href]",
            snippet=("[data-result=snippet]",),
        ),
        Layout(
            item="tr:has(a.result-link)",
            link="a.result-link",
            snippet=("td.result-snippet",),
            beside=3,
        ),
    )

    def request(self, query: SearchQuery) -> Request:
        """Send the form as the page does."""
        form = {"q": with_site(query), "b": "", "kl": _locale(query)}
        if query.page > 1:
            form["s"] = str(_FIRST_PAGE + (query.page - 2) * _NEXT_PAGES)
            form["dc"] = str(int(form["s"]) + 1)
        since = since_day(query.since)
        if since is not None:
            form["df"] = f"{since.isoformat()}..{datetime.now(UTC).date().isoformat()}"
        return Request(self.endpoint, form=form, headers=self.headers(query.lang))

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Know 202, with which it holds off those it takes for robots."""
        if status == 202:
            return SearchPage(Outcome.BLOCKED, detail="HTTP 202, a check for robots")
        return super().refusal(body, status, url, headers)


def _locale(query: SearchQuery) -> str:
    if not query.region:
        return "wt-wt"
    return f"{query.region.lower()}-{query.lang or 'en'}"
