"""Misspelt words of a question, put right by what the pages say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.keyless.question import Question, analyse
from browser.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from agent.keyless.evidence import Evidence

SHORTEST = 6
"""Letters of a word that is put right; a slip in a shorter one is too often another word."""

_WORD = re.compile(r"[^\W\d_]+")


def respelt(question: Question, evidence: Evidence) -> Question:
    """Replace words that stand on no page by the only one that differs in a single slip."""
    changed = {
        word: better
        for word in set(words(question.text)) - STOP_WORDS
        if (better := _better(word, evidence.words, evidence.vocabulary))
    }
    if not changed:
        return question
    return analyse(_WORD.sub(lambda m: _like(m[0], changed.get(m[0].casefold())), question.text))


def one_slip(a: str, b: str) -> bool:
    """Whether one letter too many, too few, wrong, or two swapped make a of b."""
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if start is None:
        return True
    rest_a, rest_b = a[start:], b[start:]
    swapped = rest_a[:2] == rest_b[1::-1] and rest_a[2:] == rest_b[2:]
    return swapped or rest_a[1:] == rest_b[1:] or rest_a[1:] == rest_b or rest_a == rest_b[1:]


def _better(word: str, known: AbstractSet[str], stems: AbstractSet[str]) -> str | None:
    if len(word) < SHORTEST or not word.isalpha() or stem(word) in stems:
        return None
    near = [w for w in known if w[0] == word[0] and one_slip(word, w)]
    return near[0] if len(near) == 1 else None


def _like(word: str, better: str | None) -> str:
    if better is None:
        return word
    return better.capitalize() if word[:1].isupper() else better
