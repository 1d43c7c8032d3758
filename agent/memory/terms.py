"""The words of a memory as the search index knows them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.memory.irregular import BASE
from browser.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Collection

SPEAKER = "by"
"""Begins the term that says who speaks; the rest is hexadecimal, so that no word looks like it."""
KIND = "kd"
"""Begins the term that says of what kind a memory is."""
# `Ann:`, `[12 May] Mary-Ann O'Neil:`: up to three words before a colon, at the start. French sets a
# space before it, Chinese and Japanese have one of their own and set none behind.
_SPEAKER = re.compile(
    r"\s*(?:[\[(][^\])]{1,40}[\])]\s*)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})"
    r"(?:[ \u00a0\u202f]?:\s+|：\s*)(?=\S)"
)


def index_terms(text: str, empty: Collection[str] = ()) -> list[str]:
    """Stems of the words that carry meaning, in ASCII, in order, repeats kept.

    Words of other scripts are spelt in hexadecimal, so that every database cuts them alike; `empty`
    are further words to leave out.
    """
    left_out = STOP_WORDS.union(empty) if empty else STOP_WORDS
    found = (BASE.get(word, word) for word in words(text) if word not in left_out)
    return [_ascii(stem(word)) for word in found]


def memory_terms(text: str) -> list[str]:
    """Index terms of a memory, before them a speaker term for a name before a colon."""
    match = _SPEAKER.match(text)
    names = [speaker_term(_ascii(stem(word))) for word in words(match[1])] if match else []
    return [*names, *index_terms(text)]


def has_speaker(text: str) -> bool:
    """Tell whether a text begins with a name and a colon."""
    return _SPEAKER.match(text) is not None


def speaker_term(term: str) -> str:
    """Spell the term that marks memories in which someone of this name speaks."""
    return SPEAKER + term.encode().hex()


def kind_term(kind: str) -> str:
    """Spell the term that marks memories of a kind."""
    return KIND + kind.encode().hex()


def _ascii(word: str) -> str:
    return word if word.isascii() else "x" + word.encode().hex()
