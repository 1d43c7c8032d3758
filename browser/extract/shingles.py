"""Runs of words by which two renderings of one page are compared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.text import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of scripts that set no spaces between words each character counts as one.
_WORD = re.compile(rf"[^\W{UNSPACED}]+|[{UNSPACED}]")
# Four words are rarely repeated by chance; the measure of article-extraction-benchmark, too.
_LENGTH = 4


def word_list(text: str) -> list[str]:
    """The words of a text as they stand."""
    return _WORD.findall(text)


def shingles(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Every run of four words; none where there are fewer."""
    return [tuple(words[i : i + _LENGTH]) for i in range(len(words) - _LENGTH + 1)]
