"""OpenAlex: scholarly works of all fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.search.base import DAY, Request
from browser.search.dates import since_day
from browser.search.json_api import JsonProvider, text_at
from browser.search.tidy import without_marks
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery

# An abstract is about 250 words; its beginning tells what the work is about.
_SNIPPET_WORDS = 60


class OpenAlex(JsonProvider):
    """https://docs.openalex.org; a key is optional and raises the daily limit."""

    name = "openalex"
    url = "https://api.openalex.org/works"
    key_env = "OPENALEX_API_KEY"
    needs_key = False
    lifetime = DAY

    def request(self, query: SearchQuery) -> Request:
        """Ask for works by relevance."""
        asked = {"search": query.text, "per-page": str(query.limit), "page": str(query.page)}
        filters = []
        since = since_day(query.since)
        if since is not None:
            filters.append(f"from_publication_date:{since.isoformat()}")
        if query.lang:
            filters.append(f"language:{query.lang}")
        if filters:
            asked["filter"] = ",".join(filters)
        if self.key:
            asked["api_key"] = self.key
        return Request(self.endpoint, params=asked)

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Take the publisher's page, else the DOI; the abstract comes as an inverted index."""
        del url
        return SearchResult(
            url=text_at(row, "primary_location.landing_page_url|doi|id"),
            title=without_marks(text_at(row, "display_name|title")),
            snippet=_abstract(row.get("abstract_inverted_index")),
            published=text_at(row, "publication_date") or None,
        )


def _abstract(index: object) -> str:
    if not isinstance(index, dict):
        return ""
    placed = {position: word for word, positions in index.items() for position in positions}
    return " ".join(placed[position] for position in sorted(placed)[:_SNIPPET_WORDS])
