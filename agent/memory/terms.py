"""The words of a memory as the search index knows them."""

from __future__ import annotations

from browser.text import content_words


def index_terms(text: str) -> list[str]:
    """Stems of the words that carry meaning, in ASCII, in order, repeats kept.

    Words of other scripts are spelt in hexadecimal, so that every database cuts them alike.
    """
    return [_ascii(word) for word in content_words(text)]


def _ascii(word: str) -> str:
    return word if word.isascii() else "x" + word.encode().hex()
