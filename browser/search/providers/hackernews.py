"""Hacker News: stories, by Algolia's API."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import TYPE_CHECKING

from browser.search.base import Request
from browser.search.dates import since_day
from browser.search.json_api import JsonProvider, text_at
from browser.search.tidy import without_marks
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery


class HackerNews(JsonProvider):
    """https://hn.algolia.com/api; a story without an address is its own discussion."""

    name = "hackernews"
    url = "https://hn.algolia.com/api/v1/search"
    rows = "hits"

    def request(self, query: SearchQuery) -> Request:
        """Ask for stories by relevance."""
        asked = {
            "query": query.text,
            "tags": "story",
            "hitsPerPage": str(query.limit),
            "page": str(query.page - 1),
        }
        since = since_day(query.since)
        if since is not None:
            moment = datetime.combine(since, time(), UTC)
            asked["numericFilters"] = f"created_at_i>={int(moment.timestamp())}"
        return Request(self.endpoint, params=asked)

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Take what the story links to; its points and comments are the snippet without a text."""
        del url
        discussion = f"https://news.ycombinator.com/item?id={text_at(row, 'objectID')}"
        said = without_marks(text_at(row, "story_text"))
        counts = (
            f"{text_at(row, 'points') or 0} points, {text_at(row, 'num_comments') or 0} comments"
        )
        return SearchResult(
            url=text_at(row, "url") or discussion,
            title=without_marks(text_at(row, "title")),
            snippet=said or f"{counts} on Hacker News: {discussion}",
            published=text_at(row, "created_at") or None,
        )
