"""Sources with preset answers, and a clock that a test advances."""

from __future__ import annotations

from dataclasses import dataclass, field

from browser.search.provider import SearchSource
from browser.types import Outcome, SearchPage, SearchQuery, SearchResult

QUERY = SearchQuery("tides at Port Elm")
HOUR = 3600.0


@dataclass
class Clock:
    """Time that passes only when the test advances it."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Fixed(SearchSource):
    """A source with preset answers."""

    name: str
    page: SearchPage
    lifetime: float = HOUR
    interval: float = 0.0
    local: bool = False
    asked: list[str] = field(default_factory=list)

    @property
    def identity(self) -> str:
        return self.name

    async def search(self, query: SearchQuery, http: object, *, deadline: float) -> SearchPage:
        self.asked.append(query.text)
        return self.page


def hits(*urls: str, snippet: str = "") -> SearchPage:
    found = (SearchResult(u, f"Title of {u}", snippet, "x", n) for n, u in enumerate(urls, 1))
    return SearchPage(Outcome.OK, tuple(found))


def failing(outcome: Outcome, retry_after: float | None = None) -> SearchPage:
    return SearchPage(outcome, detail="as told", retry_after=retry_after)
