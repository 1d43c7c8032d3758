"""Whether a sentence holds something of the kind that is asked for, beyond the question's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.keyless.asking import Kind
from agent.keyless.names import name_stems, names, numbers
from agent.keyless.places import is_adjective, is_country, is_state

if TYPE_CHECKING:
    from agent.keyless.question import Question

_MONTH = (
    r"(?:Jan(?:uary|\.)|Feb(?:ruary|\.)|March|Mar\.|April|Apr\.|May|June|July|August|Aug\."
    r"|Sept(?:ember|\.)|Oct(?:ober|\.)|Nov(?:ember|\.)|Dec(?:ember|\.))"
)
_HOUR = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_YEAR = r"\b(?:1\d{3}|20\d\d)s?\b"
_MONTHS = re.compile(rf"\b{_MONTH}")
_CLOCK = (
    r"\b\d{1,2}:\d\d\b|\b(?:noon|midnight|o['’]clock)\b"
    rf"|\b(?:quarter|half|five|ten|twenty|minutes) (?:past|to) {_HOUR}\b"
)
_POINT_IN_TIME = re.compile(
    rf"{_YEAR}|{_CLOCK}|\b{_MONTH} \d|\d {_MONTH}|\b\d+(?:st|nd|rd|th) century\b|\b\d{{3}}\b"
)
_WHOLE_DATE = re.compile(rf"(?:\d{{1,2}} )?\b{_MONTH} (?:\d{{1,2}}(?:,|\b) ?)?(?:{_YEAR})?|{_YEAR}")
_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|hundreds?|thousands?|million|billion|dozens?|half|third|quarter|none|majority|once|twice"
    r"|first|second|both|couple|pair|single)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|from|near|to|of|between|on|into|along) (?:the )?[A-ZÀ-Þ]")


def has_candidate(text: str, question: Question) -> float:
    """1 where a candidate of the asked kind stands in the text, 0 where none does.

    0.5 where the question does not say what kind it wants.
    """
    match question.kind:
        case Kind.DATE:
            pattern = _MONTHS if "month" in question.focus else _POINT_IN_TIME
            return float(any(m[0] not in question.text for m in pattern.finditer(text)))
        case Kind.NUMBER:
            return float(_has_number(text, question))
        case Kind.PERSON:
            return float(any(not _is_place(n) for n in new_names(text, question)))
        case Kind.PLACE:
            return float(_has_place(text, question))
        case Kind.THING:
            return 0.5


def new_names(text: str, question: Question) -> list[str]:
    """Names of the text that the question does not already hold."""
    known = frozenset(question.terms)
    return [n for n in names(text) if not name_stems(n) <= known]


def _is_place(name: str) -> bool:
    return is_country(name) or is_state(name) or is_adjective(name)


def _has_number(text: str, question: Question) -> bool:
    """Dates are no answer to "how many"."""
    rest = _WHOLE_DATE.sub(" ", text)
    known = set(numbers(question.text))
    return any(n not in known for n in numbers(rest)) or _NUMBER_WORD.search(rest) is not None


def _has_place(text: str, question: Question) -> bool:
    found = new_names(text, question)
    if "countri" in question.focus:
        return any(is_country(n) or is_adjective(n) for n in found)
    if "state" in question.focus:
        return any(is_state(n) for n in found)
    return _PLACE.search(text) is not None and bool(found)
