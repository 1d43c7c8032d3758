"""German text, as far as it is read differently: numbers, and nouns whose capitals name nobody."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+")
_GERMAN = frozenset(
    """der die das den dem des ein eine einen einem einer und oder ist sind war waren wird wurde
    wurden hat haben hatte im am vom zum zur mit von bei auf aus nach seit nicht kein keine sich
    es er sie als auch nur noch wie bis um rund etwa""".split()
)
_ENGLISH = frozenset(
    "the of and is are was were be been has have had to for from by with at on an a it as".split()
)
_THOUSANDS = re.compile(r"(?<![\d.,])([1-9]\d{0,2}(?:\.\d{3})+)(?!\.?\d)")
_DECIMAL = re.compile(r"(?<![\d,.])(\d+),(\d+)(?![\d,])")


def is_german(text: str) -> bool:
    """Whether a sentence has more of the little words of German than of English."""
    words = [word.casefold() for word in _WORD.findall(text)]
    german = sum(word in _GERMAN for word in words)
    return german > 0 and german > sum(word in _ENGLISH for word in words)


def english_numbers(text: str) -> str:
    """Write the numbers of a German text as English does: `1.240` → `1,240`, `3,8` → `3.8`."""
    text = _DECIMAL.sub(r"\1.\2", text)
    return _THOUSANDS.sub(lambda m: m[1].replace(".", ","), text)
