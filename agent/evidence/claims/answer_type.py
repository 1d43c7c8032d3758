"""What kind of answer a question asks for, and whether an answer can be of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agent.evidence.language.vocabulary import FUNCTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.normalise import Token

Expected = Literal["time", "number", "person", "place", "reason", "thing"]

_TIME_NOUNS = frozenset("year date day month decad centuri time era".split())
_NUMBER_NOUNS = frozenset(
    """number percentag percent proport share fraction amount popul age height high length long
    width wide depth deep size rate price cost temperatur speed distanc""".split()
)
_MEASURED = frozenset("mani much old long fast far tall high deep wide larg big heavi".split())
_TIME_WORDS = frozenset(
    """januari februari march april may june juli august septemb octob novemb decemb spring summer
    autumn winter fall centuri decad earli late mid year month day week hour today yesterday after
    befor dure until sinc era age period night morn when war ago later time""".split()
)
_AMOUNT_WORDS = frozenset(
    """none no half third quarter most all mani few several major majority minor dozen everi each
    doubl tripl twice onc zero more less both million hundr thousand percent lot nearli""".split()
)


def expected_type(question: Sequence[Token]) -> Expected:
    """Read the kind of answer off the question word and the noun after it."""
    forms = [token.form for token in question]
    for place, form in enumerate(forms):
        following = [token.root for token in question[place + 1 : place + 2]]
        if form == "how" and _MEASURED.intersection(following):
            return "number"
        if form in {"what", "which"} and _TIME_NOUNS.intersection(following):
            return "time"
        if form in {"what", "which"} and _NUMBER_NOUNS.intersection(following):
            return "number"
        if form in {"what", "which"}:
            return "thing"
        if form in _BY_WORD:
            return _BY_WORD[form]
    return "thing"


CAUSES = frozenset("becaus due sinc caus reason owe thank result order therefor henc so".split())

_SORTS = frozenset("kind type sort form class species".split())

_BY_WORD: dict[str, Expected] = {
    "when": "time",
    "who": "person",
    "whom": "person",
    "where": "place",
    "why": "reason",
}


def head_noun(question: Sequence[Token]) -> str | None:
    """Give the root of the noun that the answer must be one of: `what kind of forest` → forest."""
    forms = [token.form for token in question]
    place = next((i for i, form in enumerate(forms) if form in {"what", "which"}), None)
    if place is None:
        return None
    if forms[place + 1 : place + 2] and forms[place + 1] in _SORTS:
        place += 2 if forms[place + 2 : place + 3] == ["of"] else 1
    following = question[place + 1 : place + 2]
    return following[0].root if following and following[0].root not in FUNCTION else None


def fits(answer: Sequence[Token], expected: Expected) -> bool:
    """Whether an answer can be of the kind asked for; in doubt it can."""
    numeric = any(token.kind in {"number", "ordinal", "clock"} for token in answer)
    roots = {token.root for token in answer}
    if expected == "time":
        return numeric or bool(roots & _TIME_WORDS)
    if expected == "number":
        return numeric or bool(roots & _AMOUNT_WORDS)
    only_numbers = all(token.kind in {"number", "clock"} for token in answer)
    return not (only_numbers and expected in {"person", "reason"})
