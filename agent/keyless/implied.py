"""What a sentence says by notation alone: `(1923 – 2016)` that someone was born and died."""

from __future__ import annotations

import re

from browser.text import stem

_LIFE = re.compile(
    r"^[^()]{2,80}\([^()]*?\b\d{1,2}[^()]{0,20}\b\d{4} ?[-–—] ?[^()]*?\b\d{4}[^()]*\)"
    r"|^[^()]{2,60}\(\d{4} ?[-–—] ?\d{4}\)"
)
_BIRTH = re.compile(r"\((?:[^()]*[;,] )?(?:b\.|\* ?)\s?[^()]*\d{4}\)")
_WORK = re.compile(
    r"\b(?:is|was) an? (?:[\w-]+ )?\d{4}s? (?:[\w-]+ ){0,5}?"
    r"(?:film|movie|album|song|single|novel|book|series|game|play|musical|documentary|ep|opera)\b",
    re.IGNORECASE,
)
_SAID_BY = (
    (_LIFE, ("born", "birth", "died", "death")),
    (_BIRTH, ("born", "birth")),
    (_WORK, ("released", "published")),
)


def implied(text: str) -> frozenset[str]:
    """Stems of what a reader takes from dates in brackets and from "is a 1964 film"."""
    return frozenset(stem(w) for form, said in _SAID_BY if form.search(text) for w in said)
