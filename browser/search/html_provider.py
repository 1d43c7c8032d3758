"""Search engines that return HTML result pages; `result_page.py` parses the pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from browser.net.http import PAGE_HEADERS
from browser.search.provider import SearchProvider
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.search.layouts import Headings, Layout
    from browser.types import SearchQuery


class HtmlProvider(SearchProvider):
    """An engine whose result page is parsed: the first layout that yields results is used.

    `ads` selects elements that are removed first. `no_results` matches the sentence saying that
    nothing was found. `shell` matches the empty page for clients that do not run scripts, if the
    engine rejects robots in that way.
    """

    is_api = False
    layouts: tuple[Layout | Headings, ...] = ()
    ads: ClassVar[str] = ""
    no_results: ClassVar[re.Pattern[str] | None] = None
    shell: ClassVar[re.Pattern[str] | None] = None

    def headers(self, query: SearchQuery) -> dict[str, str]:
        """Return browser headers with the query's language."""
        lang = query.lang
        language = f"{lang},en;q=0.5" if lang and lang != "en" else "en-US,en;q=0.9"
        return {**PAGE_HEADERS, "Accept-Language": language}

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Also recognise the pages to which engines redirect suspected robots."""
        if re.match(r"https?://consent\.", url):
            return SearchPage(Outcome.BLOCKED, detail="a consent page")
        # Startpage redirects robots there; DuckDuckGo answers them with 202.
        if "/sp/captcha" in url or status == 202:
            return SearchPage(Outcome.BLOCKED, detail=f"HTTP {status}, a bot check")
        return super().refusal(body, status, url, headers)

    def parse(self, body: str, url: str) -> SearchPage:
        """Parse with the first layout that fits; distinguish "no results" from a block page."""
        # Imported here because it loads BeautifulSoup, which SearXNG's JSON does not need.
        from browser.search.result_page import parse_page  # noqa: PLC0415

        return parse_page(
            body,
            self.url or url,
            self.layouts,
            ads=self.ads,
            no_results=self.no_results,
            shell=self.shell,
        )
