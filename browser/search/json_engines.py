"""Engines that return JSON, one class each, with the path to the rows and the parameters.

To add one, write a class here (name, url, `rows`, `fields`, `parameters`). It is used only if the
user names it; `GENERAL_ENGINES` in `engines.py` lists the engines that are used by default.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from browser.search.declared import DeclaredProvider
from browser.search.provider import (
    DAY,
    ResultFieldPaths,
    SearchProvider,
    SearchRequest,
    engines_in,
    text_with_site_operator,
)
from browser.search.refusals import refusal_from_error
from browser.search.results import days_since, nearest_range, since_day, strip_markup
from browser.text.json_paths import alternatives, value_at, values_at
from browser.types import CROSSREF_API, Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from browser.types import SearchQuery

# An abstract is about 250 words.
_SNIPPET_WORDS = 60
_MAX_AUTHORS = 3  # in a snippet; some papers have hundreds
# Tavily takes English country names; results from that country come first.
_COUNTRIES = {
    "AR": "argentina", "AT": "austria", "AU": "australia", "BE": "belgium", "BR": "brazil",
    "CA": "canada", "CH": "switzerland", "CL": "chile", "CN": "china", "CO": "colombia",
    "CZ": "czech republic", "DE": "germany", "DK": "denmark", "ES": "spain", "FI": "finland",
    "FR": "france", "GB": "united kingdom", "GR": "greece", "IE": "ireland", "IL": "israel",
    "IN": "india", "IT": "italy", "JP": "japan", "KR": "south korea", "MX": "mexico",
    "NL": "netherlands", "NO": "norway", "NZ": "new zealand", "PL": "poland", "PT": "portugal",
    "RU": "russia", "SE": "sweden", "TR": "turkey", "UA": "ukraine", "US": "united states",
    "ZA": "south africa",
}  # fmt: skip


class JsonProvider(SearchProvider):
    """An engine whose response has a list of rows at the dotted path `rows`, each with `fields`."""

    rows: str = "results"
    fields: ResultFieldPaths = ResultFieldPaths()
    empty_without_rows: ClassVar[tuple[str, ...]] = ()
    """If an answer has all of these fields but no list, it means "nothing found" in this API."""

    def parse(self, body: str, url: str) -> SearchPage:
        """Parse the rows; anything else is treated as an error message."""
        try:
            data = json.loads(body)
        except ValueError:
            return refusal_from_error(body)
        rows = value_at(data, self.rows) if self.rows else data
        expected = self.empty_without_rows
        if rows is None and expected and isinstance(data, dict) and data.keys() >= set(expected):
            return SearchPage(Outcome.EMPTY)
        if not isinstance(rows, list):
            return refusal_from_error(body)
        results = tuple(self.result(row, url) for row in rows if isinstance(row, dict))
        return SearchPage(Outcome.OK if rows else Outcome.EMPTY, results)

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Make a result from a row; `url` is the address of the answer."""
        address = text_at(row, self.fields.url)
        return SearchResult(
            url=urljoin(url, address) if address else "",
            title=strip_markup(text_at(row, self.fields.title)),
            snippet=strip_markup(text_at(row, self.fields.snippet)),
            published=text_at(row, self.fields.published) or None,
        )


class Serper(JsonProvider):
    """Google's results, from an API with a key: https://serper.dev. `organic` excludes ads."""

    name = "serper"
    url = "https://google.serper.dev/search"
    verified = True
    key_variables = ("SERPER_API_KEY",)
    key_header = "X-API-KEY"
    sends = "json"
    rows = "organic"
    fields = ResultFieldPaths(url="link", published="date")

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request web results."""
        within = nearest_range(query.since)
        return {
            "q": text_with_site_operator(query),
            "num": query.limit,
            "page": query.page,
            "gl": (query.region or "").lower(),
            "hl": query.lang,
            "tbs": within and f"qdr:{within[0]}",
        }

    def requests(self, query: SearchQuery) -> Iterator[SearchRequest]:
        """Try the endpoint; if the user gave another host without a path, also try `/serper`."""
        request = self.request(query)
        yield request
        parts, own = urlsplit(self.endpoint), urlsplit(self.url)
        if parts.netloc != own.netloc and parts.path == own.path:
            yield replace(request, url=urlunsplit(parts._replace(path="/serper")))


class Tavily(JsonProvider):
    """https://docs.tavily.com/documentation/api-reference/endpoint/search; no paging."""

    name = "tavily"
    url = "https://api.tavily.com/search"
    verified = True
    key_variables = ("TAVILY_API_KEY",)
    key_header = "Authorization: Bearer "
    sends = "json"
    fields = ResultFieldPaths(snippet="content", published="published_date")

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request only results, at most 20: no answer, no images, no page text."""
        since = since_day(query.since)
        return {
            "query": query.text,
            "max_results": min(query.limit, 20),
            "include_domains": [query.site] if query.site else None,
            "country": _COUNTRIES.get((query.region or "").upper()),
            "start_date": since and since.isoformat(),
        }


class BraveApi(JsonProvider):
    """https://api-dashboard.search.brave.com/app/documentation; `web` is absent without results."""

    name = "brave_api"
    url = "https://api.search.brave.com/res/v1/web/search"
    verified = True
    key_variables = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    key_header = "X-Subscription-Token"
    interval = 1.0
    rows = "web.results"
    fields = ResultFieldPaths(snippet="description", published="page_age || age")
    empty_without_rows = ("query", "mixed")

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request web results: at most 20 per page, up to the tenth page."""
        return {
            "q": text_with_site_operator(query),
            "count": min(query.limit, 20),
            "offset": min(query.page - 1, 9),
            "result_filter": "web",
            "text_decorations": "false",
            "search_lang": query.lang,
            "country": (query.region or "").upper(),
            "freshness": days_since(query.since, "to"),
        }


class WikipediaSearch(JsonProvider):
    """Full-text search of any Wikipedia: https://www.mediawiki.org/wiki/API:Search."""

    name = "wikipedia"
    url = "https://en.wikipedia.org/w/api.php"
    documented = True
    lifetime = DAY
    rows = "query.search"

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request articles; the API has no filters."""
        return {
            "action": "query",
            "list": "search",
            "srsearch": query.text,
            "srlimit": query.limit,
            "sroffset": (query.page - 1) * query.limit,
            "srprop": "snippet|timestamp",
            "format": "json",
            "formatversion": 2,
        }

    def request(self, query: SearchQuery) -> SearchRequest:
        """Search the Wikipedia in the query's language."""
        request = super().request(query)
        if not query.lang or self.endpoint != self.url:
            return request
        return replace(request, url=self.endpoint.replace("//en.", f"//{query.lang}."))

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Build the article's address from its title; the last edit is not a publication date."""
        title = text_at(row, "title")
        path = quote(title.replace(" ", "_"), safe="/:,;@!$*()'~")
        return SearchResult(
            url=urljoin(url, f"/wiki/{path}"),
            title=title,
            snippet=strip_markup(text_at(row, "snippet")),
        )


class OpenAlex(JsonProvider):
    """Scholarly works: https://developers.openalex.org.

    Keys are free; without one, only a few dozen searches per day are allowed.
    """

    name = "openalex"
    url = "https://api.openalex.org/works"
    documented = True
    key_variables = ("OPENALEX_API_KEY",)
    key_parameter = "api_key"
    needs_key = False
    lifetime = DAY
    fields = ResultFieldPaths(
        "primary_location.landing_page_url || doi || id",
        "display_name || title",
        published="publication_date",
    )

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request works, ranked by relevance."""
        since = since_day(query.since)
        filters = [f"from_publication_date:{since.isoformat()}"] if since else []
        filters += [f"language:{query.lang}"] if query.lang else []
        return {
            "search": query.text,
            "per_page": min(query.limit, 100),
            "page": query.page,
            "filter": ",".join(filters),
        }

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Use the publisher's page or else the DOI; the abstract is stored as an inverted index."""
        index = row.get("abstract_inverted_index")
        index = index if isinstance(index, dict) else {}
        placed = {position: word for word, positions in index.items() for position in positions}
        abstract = " ".join(placed[position] for position in sorted(placed)[:_SNIPPET_WORDS])
        return super().result({**row, "snippet": abstract}, url)


class Crossref(JsonProvider):
    """Publications with a DOI: https://api.crossref.org/swagger-ui; no key, no account."""

    name = "crossref"
    url = f"{CROSSREF_API}/works"
    documented = True
    lifetime = DAY
    rows = "message.items"
    fields = ResultFieldPaths("URL || resource.primary.URL", "title.0", "abstract")

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request works, ranked by their relevance to a citation or to words."""
        since = since_day(query.since)
        return {
            "query.bibliographic": query.text,
            "rows": query.limit,
            "offset": (query.page - 1) * query.limit,
            "filter": f"from-pub-date:{since.isoformat()}" if since else None,
        }

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Use the DOI's address; without an abstract, the authors and journal are the snippet."""
        found = super().result(row, url)
        names = [str(name) for name in values_at(row, "author.family")][:_MAX_AUTHORS]
        cited = ", ".join([*names, text_at(row, "container-title.0")])
        date = values_at(row, "issued.date-parts.0")  # [2024, 5, 3], or fewer elements
        written = "-".join(f"{part:02}" for part in date if isinstance(part, int)) or None
        return replace(found, snippet=found.snippet or cited.strip(", "), published=written)


class DeclaredJsonEngine(DeclaredProvider, JsonProvider):
    """A declared engine that returns JSON."""


JSON_PROVIDERS = engines_in(JsonProvider, __name__, globals())


def text_at(row: Mapping[str, object], paths: str) -> str:
    """Return the first string or number at one of the paths (`a.b || c`); "" if there is none."""
    for path in alternatives(paths):
        for value in values_at(row, path)[:1]:
            if isinstance(value, str | int | float) and str(value):
                return str(value)
    return ""
