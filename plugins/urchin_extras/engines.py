"""Search engines for one kind of source, used only if named.

They were checked against the documentation, but not tested on saved real responses.
"""

from __future__ import annotations

import textwrap
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING

from browser.search.json_engines import JsonProvider, text_at
from browser.search.provider import ResultFieldPaths
from browser.search.query import keywords
from browser.search.results import nearest_range, since_day, strip_markup
from browser.text.json_paths import value_at
from browser.types import SearchResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery

# Maximum number of characters. Posts and questions are long; their beginning shows their topic.
_SNIPPET_CHARS = 400
_GITHUB_QUERY = 256


class GitHubSearch(JsonProvider):
    """Searches repositories: https://docs.github.com/rest/search.

    Queries are truncated to 256 characters. GitHub allows 10 searches per minute, or 30 with a key.
    """

    name = "github"
    url = "https://api.github.com/search/repositories"
    key_variables = ("GITHUB_TOKEN",)
    key_header = "Authorization: Bearer "
    needs_key = False
    documented = True
    rows = "items"
    fields = ResultFieldPaths("html_url", "full_name", "description", "pushed_at")

    def __init__(self, *, url: str | None = None, key: str | None = None) -> None:
        super().__init__(url=url, key=key)
        self.interval = 2.0 if key else 6.0

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request repositories, best match first."""
        since = since_day(query.since)
        words = textwrap.shorten(" ".join(keywords(query.text)), _GITHUB_QUERY, placeholder="")
        pushed = f" pushed:>={since.isoformat()}" if since else ""
        return {"q": words + pushed, "per_page": query.limit, "page": query.page}


class HackerNewsSearch(JsonProvider):
    """Searches stories: https://hn.algolia.com/api; those without a link lead to a discussion."""

    name = "hackernews"
    url = "https://hn.algolia.com/api/v1/search"
    documented = True
    rows = "hits"

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request stories, ranked by relevance."""
        since = _unix_time(query.since)
        return {
            "query": query.text,
            "tags": "story",
            "hitsPerPage": query.limit,
            "page": query.page - 1,
            "numericFilters": since and f"created_at_i>={since}",
        }

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Return the linked page; without text, the snippet is the story's points and comments."""
        del url
        discussion = f"https://news.ycombinator.com/item?id={text_at(row, 'objectID')}"
        points, comments = text_at(row, "points") or 0, text_at(row, "num_comments") or 0
        counts = f"{points} points, {comments} comments on Hacker News: {discussion}"
        return SearchResult(
            url=text_at(row, "url") or discussion,
            title=strip_markup(text_at(row, "title")),
            snippet=strip_markup(text_at(row, "story_text")) or counts,
            published=text_at(row, "created_at") or None,
        )


class StackExchangeSearch(JsonProvider):
    """Searches one of 180 sites, chosen by `site`: https://api.stackexchange.com/docs."""

    name = "stackexchange"
    url = "https://api.stackexchange.com/2.3/search/advanced"
    key_variables = ("STACKEXCHANGE_KEY",)
    key_parameter = "key"
    needs_key = False
    rows = "items"

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request questions from one site (default: Stack Overflow), ranked by relevance."""
        site = (query.site or "stackoverflow.com").removesuffix(".com")
        return {
            "q": query.text,
            "site": site.removesuffix(".stackexchange"),
            "order": "desc",
            "sort": "relevance",
            "pagesize": query.limit,
            "page": query.page,
            "filter": "withbody",
            "fromdate": _unix_time(query.since),
        }

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Return a question, whose `body` is HTML."""
        del url
        return SearchResult(
            url=text_at(row, "link"),
            title=strip_markup(text_at(row, "title")),
            snippet=strip_markup(text_at(row, "body || excerpt"))[:_SNIPPET_CHARS],
            published=_iso_time(row.get("creation_date")),
        )


class RedditSearch(JsonProvider):
    """Searches posts. Reddit refuses many data centres' requests (403); paging needs a cursor."""

    name = "reddit"
    url = "https://www.reddit.com/search.json"
    interval = 2.0
    rows = "data.children"

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Request posts, ranked by relevance."""
        return {
            "q": query.text,
            "limit": query.limit,
            "sort": "relevance",
            "raw_json": 1,
            "t": nearest_range(query.since),
        }

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Return the discussion, not the page it links to."""
        del url
        where = text_at(row, "data.subreddit_name_prefixed")
        title = strip_markup(text_at(row, "data.title"))
        return SearchResult(
            url=f"https://www.reddit.com{text_at(row, 'data.permalink')}",
            title=f"{title} ({where})" if where else title,
            snippet=strip_markup(text_at(row, "data.selftext"))[:_SNIPPET_CHARS],
            published=_iso_time(value_at(row, "data.created_utc")),
        )


def _unix_time(since: str | None) -> int | None:
    """Return the start of a day in seconds since the epoch."""
    day = since_day(since)
    return int(datetime.combine(day, time(), UTC).timestamp()) if day else None


def _iso_time(seconds: object) -> str | None:
    """Format seconds since the epoch as ISO 8601."""
    if not isinstance(seconds, int | float):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat()
