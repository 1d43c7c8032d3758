"""Whether a sentence holds something of the kind that is asked for, beyond the question's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.models.extractive.names import name_stems, names, numbers
from agent.models.extractive.question import Kind

if TYPE_CHECKING:
    from agent.models.extractive.question import Question

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"\b(?:1\d{{3}}|20\d\d)s?\b|\b(?:{_MONTHS})\b|\b\d+(?:st|nd|rd|th) century\b")
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|hundred|thousand|million|billion|dozen|half|third|quarter|none|no|majority|once|twice)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|from|near|to|of|between|on|into|along) (?:the )?[A-ZÀ-Þ]")


def has_candidate(text: str, question: Question) -> float:
    """1 where a candidate of the asked kind stands in the text, 0 where none does, else 0.5."""
    kind = question.kind
    if kind is Kind.DATE:
        return float(any(m[0] not in question.text for m in _DATE.finditer(text)))
    if kind is Kind.NUMBER:
        known = set(numbers(question.text))
        return float(
            any(n not in known for n in numbers(text))
            or _NUMBER.search(re.sub(r"\d", "", text)) is not None
        )
    if kind in (Kind.PERSON, Kind.NAME):
        return float(bool(new_names(text, question)))
    if kind is Kind.PLACE:
        return float(_PLACE.search(text) is not None and bool(new_names(text, question)))
    return 0.5


def new_names(text: str, question: Question) -> list[str]:
    """Names of the text that the question does not already hold."""
    known = frozenset(question.terms)
    return [n for n in names(text) if not name_stems(n) <= known]
