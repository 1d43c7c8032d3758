"""arXiv: preprints, by its Atom API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from browser.search.base import DAY, Provider, Request
from browser.search.dates import since_day
from browser.search.outcomes import error_payload
from browser.search.rewrite import keywords
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from browser.types import SearchQuery

_ATOM = "{http://www.w3.org/2005/Atom}"


class Arxiv(Provider):
    """https://info.arxiv.org/help/api: one request every three seconds."""

    name = "arxiv"
    url = "https://export.arxiv.org/api/query"
    lifetime = DAY
    interval = 3.0

    def request(self, query: SearchQuery) -> Request:
        """Ask for papers that have all the words."""
        asked = " AND ".join(f"all:{word}" for word in keywords(query.text))
        since = since_day(query.since)
        if since is not None:
            asked += f" AND submittedDate:[{since:%Y%m%d}0000 TO 999912312359]"
        start = (query.page - 1) * query.limit
        params = {"search_query": asked, "start": str(start), "max_results": str(query.limit)}
        return Request(self.endpoint, params=params)

    def parse(self, body: str, url: str) -> SearchPage:
        """Read the feed; an error comes as an entry titled `Error`."""
        del url
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        feed = etree.fromstring(body.encode(), parser) if "<feed" in body else None
        if feed is None:
            return error_payload(body)
        results = tuple(_result(entry) for entry in feed.iter(f"{_ATOM}entry"))
        if len(results) == 1 and results[0].title == "Error":
            return error_payload(results[0].snippet)
        return SearchPage(Outcome.OK if results else Outcome.EMPTY, results)


def _result(entry: etree._Element) -> SearchResult:
    """Take the abstract page, without the version, which always shows the newest."""
    address = (entry.findtext(f"{_ATOM}id") or "").replace("http://", "https://")
    return SearchResult(
        url=address,
        title=entry.findtext(f"{_ATOM}title") or "",
        snippet=entry.findtext(f"{_ATOM}summary") or "",
        published=entry.findtext(f"{_ATOM}published"),
    )
