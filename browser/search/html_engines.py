"""Engines that return markup: result pages, parsed by CSS selectors, and arXiv's Atom feed.

To add one, write a class here (name, url, `layouts`, `parameters`) and add its name to
`engines.py`. This module is loaded when the first of these engines is queried: it needs lxml.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from lxml import etree

from browser.net.http import PAGE_HEADERS
from browser.search.declared import DeclaredProvider
from browser.search.html_provider import HtmlProvider
from browser.search.json_engines import JsonProvider
from browser.search.layouts import Headings, Layout
from browser.search.provider import (
    DAY,
    ResultFieldPaths,
    SearchProvider,
    SearchRequest,
    engines_in,
    text_with_site_operator,
)
from browser.search.query import keywords
from browser.search.refusals import refusal_from_error
from browser.search.results import days_since, nearest_range, since_day
from browser.types import ARXIV_API, Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from browser.search.declared import Declaration
    from browser.types import SearchQuery

_EPOCH = date(1970, 1, 1)
_BRAVE_WEB = "div[data-type=web], div.snippet[data-pos]:not([data-type])"
# Startpage's form values for the most requested languages.
_LANGUAGES = {
    "de": "deutsch", "en": "english", "es": "espanol", "fr": "francais", "it": "italiano",
    "nl": "nederlands", "pl": "polski", "pt": "portugues",
}  # fmt: skip
_ATOM = "{http://www.w3.org/2005/Atom}"


class DuckDuckGo(HtmlProvider):
    """Parses DuckDuckGo's HTML, lite or script-rendered page, whichever is returned."""

    name = "duckduckgo"
    url = "https://html.duckduckgo.com/html/"
    verified = True
    ads = ".result--ad, .result:has(.badge--ad), tr.result-sponsored, article[data-testid=ad]"
    no_results = re.compile(
        r"No results\.|No (?:more )?results found|not many results", re.IGNORECASE
    )
    shell = re.compile(r"DDG\.deep\.|deep_preload_script|nrje\(|is-not-mobile-device|/s\d{4}\.css")
    layouts = (
        Layout("div.result:has(a.result__a)", "a.result__a", snippet=".result__snippet"),
        Layout(
            "article[data-testid=result]",
            "a[data-testid=result-title-a], h2 a[href]",
            snippet="[data-result=snippet]",
        ),
        Layout("tr:has(a.result-link)", "a.result-link", snippet="td.result-snippet", beside=3),
    )

    def request(self, query: SearchQuery) -> SearchRequest:
        """Send the form as the page does; it shows 10 results first, then 15 more per page."""
        locale = f"{query.region.lower()}-{query.lang or 'en'}" if query.region else "wt-wt"
        form = {"q": text_with_site_operator(query), "b": "", "kl": locale}
        if query.page > 1:
            first = 10 + (query.page - 2) * 15
            form |= {"s": str(first), "dc": str(first + 1)}
        if query.since:
            form |= {"df": days_since(query.since, "..")}
        return SearchRequest(self.endpoint, form=form, headers=self.headers(query))


class DuckDuckGoLite(DuckDuckGo):
    """Uses the same form at another URL, in case the HTML page cannot be reached."""

    name = "duckduckgo_lite"
    url = "https://lite.duckduckgo.com/lite/"


class Brave(HtmlProvider):
    """Parses `div.snippet` with `data-type="web"`, which predates and survived the move to Svelte.

    Video cards and groups of links within a result's site are skipped: they have no excerpt.
    """

    name = "brave"
    url = "https://search.brave.com/search"
    verified = True
    ads = "[data-type=ad], #search-ad, #infobox, #rh-column"
    no_results = re.compile(r"Too few matches were found|No results found|not find any results")
    layouts = (
        Layout(
            f":is({_BRAVE_WEB}):not(.standalone)",
            "a[href]:has([class*=title]), a[href]",
            "[class*=snippet-title], .title",
            ".snippet-description",
        ),
    )

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request the page; `tf` is a range of days."""
        return {
            "q": text_with_site_operator(query),
            "source": "web",
            "offset": query.page - 1 or None,
            "tf": days_since(query.since, "to"),
        }

    def headers(self, query: SearchQuery) -> dict[str, str]:
        """Specify the region as the page's settings do."""
        region = (
            {"Cookie": f"country={query.region.lower()}; useLocation=0"} if query.region else {}
        )
        return super().headers(query) | region


class Mojeek(HtmlProvider):
    """An engine with its own index; its HTML page needs no scripts."""

    name = "mojeek"
    url = "https://www.mojeek.com/search"
    verified = True
    ads = ".ads, .ad, .sponsored"
    no_results = re.compile(r"No pages found(?: matching)?|no results found", re.IGNORECASE)
    layouts = (Layout("ul[class*=results] > li", "h2 > a[href], a.title[href]", snippet="p.s"),)

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request the page; Mojeek has parameters for site, date and language."""
        since = since_day(query.since)
        return {
            "q": query.text,
            # only robots send the position for the first page
            "s": (query.page - 1) * 10 + 1 if query.page > 1 else None,
            "site": query.site,
            "lb": query.lang,
            "lbb": "100" if query.lang else None,
            "arc": (query.region or "").lower(),
            "since": f"{since:%Y%m%d}" if since else None,
        }


class Startpage(HtmlProvider):
    """Shows other engines' results without tracking; parses layouts from before and after 2024."""

    name = "startpage"
    url = "https://www.startpage.com/sp/search"
    sends = "form"
    ads = "[class*=sponsored], .ad, #gcsa-top, #gcsa-bottom, [data-testid=adResult], [id^=adBlock]"
    no_results = re.compile(
        r"no (?:web )?results (?:were )?(?:found|for this search)", re.IGNORECASE
    )
    layouts = (
        Layout(
            ":is(div, section):is(.result, .w-gl__result)",
            "a[href]:is([class*=result-title], [class*=result-link], [data-testid=gl-title-link])",
            "h2, h3, [class*=result-title]",
            "[class*=description], p",
        ),
    )

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Send the form as the page does."""
        language = _LANGUAGES.get(query.lang or "en", "english")
        return {
            "query": text_with_site_operator(query),
            "cat": "web",
            "t": "device",
            "abp": "1",
            "language": language,
            "lui": language,
            "page": query.page,
            "with_date": nearest_range(query.since)[:1],
        }

    def headers(self, query: SearchQuery) -> dict[str, str]:
        """Specify the region as the page's settings do."""
        headers = super().headers(query)
        if query.region:
            place = f"{query.lang or 'en'}_{query.region.upper()}"
            headers["Cookie"] = f"preferences=search_results_regionEEE{place}"
        return headers


class Bing(HtmlProvider):
    """Parses `li.b_algo` in `#b_results`, which have been the same for fifteen years."""

    name = "bing"
    url = "https://www.bing.com/search"
    verified = True
    ads = ".b_ad, .b_adTop, .b_adBottom"
    no_results = re.compile(
        r"There are no results for|No results found for|Es gibt keine Ergebnisse"
        r"|Aucun résultat pour|No hay resultados para",
    )
    layouts = (Layout("li.b_algo", "h2 a[href], a[href]:has(h2)", "h2", ".b_caption p"),)

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request the page; dates are days since 1970."""
        since, today = since_day(query.since), datetime.now(UTC).date()
        days = f"{(since - _EPOCH).days}_{(today - _EPOCH).days}" if since else ""
        return {
            "q": text_with_site_operator(query),
            "count": query.limit,
            "setlang": query.lang,
            "cc": (query.region or "").lower(),
            "first": (query.page - 1) * query.limit + 1 if query.page > 1 else None,
            "filters": f'ex1:"ez5_{days}"' if days else None,
        }


class Google(HtmlProvider):
    """Parses headings inside links, which have been stable for years, unlike their classes."""

    name = "google"
    url = "https://www.google.com/search"
    verified = True
    # Includes panels with direct answers: "People also ask", the knowledge panel.
    ads = (
        "#tads, #tadsb, #bottomads, #tvcap, #rhs, [data-text-ad], .commercial-unit-desktop-top,"
        " .related-question-pair, .uEierd"
    )
    no_results = re.compile(
        r"did not match any documents|No results found for|stimmt mit keinem Dokument überein"
        r"|keine mit deiner Suchanfrage|Aucun document ne correspond|no obtuvo ningún resultado"
        r"|non ha prodotto risultati|não encontrou nenhum documento"
        r"|geen overeenkomstige documenten",
    )
    shell = re.compile(
        r"/httpservice/retry/enablejs|enablejs\?sei=|<noscript>.{0,400}enablejs", re.DOTALL
    )
    layouts = (Headings("a[href] h3:not(table *), h3:has(a[href]):not(table *)", 1),)

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request the page."""
        since = since_day(query.since)
        return {
            "q": text_with_site_operator(query),
            "num": query.limit,
            "pws": "0",
            "hl": query.lang or "en",
            "lr": f"lang_{query.lang}" if query.lang else None,
            "gl": (query.region or "").lower(),
            "start": (query.page - 1) * query.limit or None,
            "tbs": f"cdr:1,cd_min:{since:%m/%d/%Y}" if since else None,
        }


class Yandex(HtmlProvider):
    """Parses `li.serp-item` cards; of a card's short and full snippets, the full one is used."""

    name = "yandex"
    url = "https://yandex.com/search/"
    verified = True
    ads = ".serp-adv-item, .ExtendedText-Toggle"
    no_results = re.compile("По вашему запросу ничего не нашлось")
    layouts = (
        Layout(
            "li.serp-item",
            "a.OrganicTitle-Link[href]",
            ".OrganicTitle-LinkText",
            ".ExtendedText-Full, .OrganicText:not(:has(.ExtendedText-Full))",
        ),
    )

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request the page; pages are numbered from 0."""
        return {
            "text": text_with_site_operator(query),
            "lang": query.lang,
            "p": query.page - 1 or None,
        }


class SearXNG(JsonProvider, HtmlProvider):
    """Queries a SearXNG instance: its JSON API if that is allowed, or else its result page.

    JSON is off by default (403) on many instances. Only result pages with the `simple` theme can be
    parsed.
    """

    name = "searxng"
    is_api = True
    documented = True
    fields = ResultFieldPaths(snippet="content", published="publishedDate")
    no_results = re.compile(r"No results were found|we didn't find any results", re.IGNORECASE)
    layouts = (Layout("article.result", "h3 > a[href], h4 > a[href]", snippet="p.content"),)

    def __init__(self, *, url: str | None = None, key: str | None = None) -> None:
        """Append `/search` to an instance's address, which may itself include a path."""
        base = (url or "").rstrip("/")
        super().__init__(url=f"{base.removesuffix('/search')}/search" if base else None, key=key)

    def unavailable(self) -> str:
        """Report that an instance address is needed."""
        return "" if self.endpoint else "no address; set --searxng-url"

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Translate a query for SearXNG; `since` becomes the nearest time range."""
        region = f"-{query.region.upper()}" if query.lang and query.region else ""
        return {
            "q": text_with_site_operator(query),
            "pageno": query.page,
            "language": f"{query.lang or ''}{region}",
            "time_range": nearest_range(query.since),
        }

    def headers(self, query: SearchQuery) -> dict[str, str]:
        """Send browser headers: the instance's limiter only accepts browsers."""
        del query
        return dict(PAGE_HEADERS)

    def requests(self, query: SearchQuery) -> Iterator[SearchRequest]:
        """Request JSON, then the page."""
        page = self.request(query)
        yield replace(
            page,
            params={**(page.params or {}), "format": "json"},
            headers={**page.headers, "Accept": "application/json"},
        )
        yield page

    def parse(self, body: str, url: str) -> SearchPage:
        """Parse JSON or the page, whichever was returned; report engines that did not respond."""
        if not body.lstrip().startswith("{"):
            return HtmlProvider.parse(self, body, url)
        page = JsonProvider.parse(self, body, url)
        silent = unresponsive_engines(body)
        if not silent or page.outcome not in {Outcome.OK, Outcome.EMPTY}:
            return page
        detail = "no answer from " + ", ".join(f"{name} ({why})" for name, why in silent)
        if page.results:
            return replace(page, detail=detail)
        reasons = " ".join(why for _, why in silent).lower()
        limited = "too many requests" in reasons
        return SearchPage(Outcome.RATE_LIMITED if limited else Outcome.BLOCKED, detail=detail)


def unresponsive_engines(body: str) -> list[tuple[str, str]]:
    """The engines that did not answer a SearXNG instance, with the reasons that it reports."""
    with suppress(ValueError, AttributeError):
        rows = json.loads(body).get("unresponsive_engines") or []
        pairs = [row for row in rows if isinstance(row, list) and len(row) > 1]
        return [(str(name), str(why)) for name, why, *_ in pairs]
    return []


class ArxivSearch(SearchProvider):
    """Searches preprints, at one request every three seconds: https://info.arxiv.org/help/api."""

    name = "arxiv"
    url = ARXIV_API
    documented = True
    lifetime = DAY
    interval = 3.0

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request papers that contain all the words."""
        words = " AND ".join(f"all:{word}" for word in keywords(query.text))
        since = since_day(query.since)
        if since is not None:
            words += f" AND submittedDate:[{since:%Y%m%d}0000 TO 999912312359]"
        start = (query.page - 1) * query.limit
        return {"search_query": words, "start": start, "max_results": query.limit}

    def parse(self, body: str, url: str) -> SearchPage:
        """Read the feed; an error arrives as an entry titled `Error`."""
        del url
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        feed = etree.fromstring(body.encode(), parser) if "<feed" in body else None
        if feed is None:
            return refusal_from_error(body)
        results = tuple(
            SearchResult(
                url=entry.findtext(f"{_ATOM}id", "").replace("http://", "https://"),
                title=entry.findtext(f"{_ATOM}title", ""),
                snippet=entry.findtext(f"{_ATOM}summary", ""),
                published=entry.findtext(f"{_ATOM}published"),
            )
            for entry in feed.iter(f"{_ATOM}entry")
        )
        if len(results) == 1 and results[0].title == "Error":
            return refusal_from_error(results[0].snippet)
        return SearchPage(Outcome.OK if results else Outcome.EMPTY, results)


class DeclaredPage(DeclaredProvider, HtmlProvider):
    """A declared HTML engine: results are matches of `item` or headings with outgoing links."""

    def __init__(
        self, declaration: Declaration, *, url: str | None = None, key: str | None = None
    ) -> None:
        super().__init__(declaration, url=url, key=key)
        at = declaration.fields
        # Without selectors, a result consists of its first link and its longest text.
        link = "a[href]" if at.url == "url" else at.url
        title = "" if at.title == "title" else at.title
        snippet = "" if at.snippet == "snippet" else at.snippet
        self.layouts = (Layout(declaration.item, link, title, snippet),)


HTML_PROVIDERS = engines_in(SearchProvider, __name__, globals())  # type: ignore[type-abstract]
