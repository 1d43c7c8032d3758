"""Other words for those of a question that no memory has: `vehicle` is sought as `car`."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import TYPE_CHECKING

from agent.memory.terms import index_terms
from browser.text import synonym_groups

if TYPE_CHECKING:
    from collections.abc import Iterable

SHARE = 0.4
"""Of what a word weighs that its synonym weighs; flat from 0.3 to 0.5."""
MOST = 24  # synonyms of one question, so that a pasted page is no thousand lookups
_START = 3  # letters that a word and its stem have in common: stemming all words takes too long


def other_words(terms: Iterable[str]) -> list[str]:
    """Give index terms that can stand for these, each once."""
    found: dict[str, None] = {}
    for term in terms:
        for number in _starting().get(term[:_START], ()):
            group = _stems(number)
            if term in group:
                found |= dict.fromkeys(other for other in group if other != term)
    return list(found)[:MOST]


@functools.cache
def _starting() -> dict[str, list[int]]:
    """Index the groups by how their words start."""
    starting: dict[str, list[int]] = defaultdict(list)
    for number, group in enumerate(synonym_groups()):
        for start in {word[:_START] for word in group}:
            starting[start].append(number)
    return dict(starting)


@functools.cache
def _stems(number: int) -> tuple[str, ...]:
    """Give the terms of a group; a word of several parts, such as `hand-in`, is none."""
    found = (index_terms(word) for word in synonym_groups()[number])
    return tuple(dict.fromkeys(terms[0] for terms in found if len(terms) == 1))
