"""What a question asks for, as far as the words tell: terms, dates, whether it asks when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from agent.memory.retrieval.function_words import function_words
from agent.memory.terms import index_terms
from browser.text import words

MAX_TERMS = 24  # a question has fewer; a pasted page must not become a thousand lookups

_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b", re.IGNORECASE)
_MAY = re.compile(r"(?<![.?!] )(?<!^)\bMay\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|(?:what|which) (?:date|day|week|month|year|time))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` in the order of the question, each once; `pairs` are neighbours among them."""

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    asks_when: bool = False


def parse(text: str) -> Query:
    """Read a question."""
    empty = function_words(words(text))
    found = index_terms(text, empty)
    terms = tuple(dict.fromkeys(found))[:MAX_TERMS]
    months = {_MONTHS.index(m.casefold()) + 1 for m in _MONTH.findall(text)}
    if 5 in months and not _MAY.search(text):
        months.discard(5)  # "may I", "may have"
    return Query(
        terms,
        tuple((a, b) for a, b in pairwise(found) if a != b)[:MAX_TERMS],
        frozenset(months),
        frozenset(int(year) for year in _YEAR.findall(text)),
        bool(_ASKS_WHEN.search(text)),
    )
