"""A question asked as well as it can be: in its language, of several engines, in other words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.search.chain import ChainResult
from browser.search.languages import question_language
from browser.search.merge import merge
from browser.search.rewrite import is_hard, rewrites

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from browser.search.chain import Chain
    from browser.types import SearchAttempt, SearchQuery

# Further ways of asking where nothing was found; a third one has never found what two had not.
MOST_REWRITES = 2


async def ask(
    chain: Chain, query: SearchQuery, *, engines: int = 1, fresh: bool = False
) -> ChainResult:
    """Ask a chain, `engines` of it at once where the question is hard (`is_hard`).

    The query's language is told from its words where none was named, unless it is English, which
    engines take for granted. Where everybody says that nothing was found, other forms are asked:
    without the language, as keywords, with the names in quotes. The trail has all of them.
    """
    several = engines if is_hard(query.text) else 1
    attempts: list[SearchAttempt] = []
    for asked in _forms(query):
        result = await chain.search(asked, several=several, fresh=fresh)
        attempts += (_told(attempt, asked, query) for attempt in result.attempts)
        if result.results or not result.answered:
            break
    return ChainResult(result.results, tuple(attempts))


def joined(answers: Sequence[ChainResult], limit: int) -> ChainResult:
    """Merge the answers to several ways of asking; the trail has all of them, in order."""
    found = [answer.results for answer in answers if answer.results]
    trail = tuple(attempt for answer in answers for attempt in answer.attempts)
    return ChainResult(merge(found, limit), trail)


def _told(attempt: SearchAttempt, asked: SearchQuery, query: SearchQuery) -> SearchAttempt:
    """Say in the trail which language was asked for, where nobody had named it."""
    if asked.lang == query.lang:
        return attempt
    detail = f"{attempt.detail}; pages in {asked.lang}".removeprefix("; ")
    return replace(attempt, detail=detail)


def _forms(query: SearchQuery) -> Iterator[SearchQuery]:
    """The query as it is, then the forms in which it may find more."""
    told = None if query.lang else question_language(query.text)
    yield replace(query, lang=query.lang or (None if told == "en" else told))
    if told not in (None, "en"):
        yield query
    for text in rewrites(query.text)[1 : 1 + MOST_REWRITES]:
        yield replace(query, text=text)
