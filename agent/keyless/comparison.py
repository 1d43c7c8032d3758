"""Questions that name two things to choose from: both sides are quoted."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.keyless.asking import Kind
from agent.keyless.candidates import has_candidate
from agent.keyless.chains import WORDS
from agent.keyless.names import name_stems

if TYPE_CHECKING:
    from agent.keyless.question import Question
    from agent.keyless.ranking import Ranking, Scored

NAMED, COMPARED = 0.3, 1.0
"""What it adds that a sentence names its side itself, and that it holds what is compared."""

_OR = re.compile(r"\bor\b")
_IN_TIME = re.compile(
    r"\b(?:first|earlier|earliest|older|oldest|younger|youngest|later|latest|newer|before|after"
    r"|more recent(?:ly)?)\b"
)
_IN_SIZE = re.compile(
    r"\b(?:more|most|fewer|less|larger|largest|longer|longest|higher|highest|taller|bigger"
    r"|smaller|shorter|heavier|faster|deeper|older)\b"
)
_NEAR_BEFORE, _NEAR_AFTER = 2, 3
"""Words between `or` and the names on its sides: "the Scotch Collie or rather the …"."""


def sides(question: Question) -> tuple[str, str] | None:
    """The two names of "…, A or B?", or None where the question offers no such choice."""
    match = _OR.search(question.text)
    if match is None:
        return None
    before = [(question.text.rfind(n, 0, match.start()) + len(n), n) for n in question.names]
    after = [(question.text.find(n, match.end()), n) for n in question.names]
    left = max(((end, n) for end, n in before if end >= len(n)), default=None)
    right = min(((at, n) for at, n in after if at >= 0), default=None)
    if left is None or right is None:
        return None
    gaps = (
        question.text[left[0] : match.start()].split(),
        question.text[match.end() : right[0]].split(),
    )
    near = len(gaps[0]) <= _NEAR_BEFORE and len(gaps[1]) <= _NEAR_AFTER
    return (left[1], right[1]) if near else None


def both_sides(ranking: Ranking) -> list[Scored]:
    """The best sentence on each side, where both are spoken of; else none."""
    names = sides(ranking.question)
    if names is None:
        return []
    found = [_best(ranking, name_stems(name)) for name in names]
    both = [x for x in found if x]
    fits = sum(x.sentence.length for x in both) <= WORDS
    return both if len(set(map(id, both))) == len(names) and fits else []


def _best(ranking: Ranking, name: frozenset[str]) -> Scored | None:
    question = _asking_what_is_compared(ranking.question)

    def worth(x: Scored) -> float:
        compared = has_candidate(x.sentence.text, question)
        return x.score + NAMED * (name <= x.sentence.own) + COMPARED * compared

    about = [x for x in ranking.scored if name <= x.sentence.title_stems]
    speaking = about or [x for x in ranking.scored if name <= x.sentence.own]
    return max(speaking, key=worth, default=None)


def _asking_what_is_compared(question: Question) -> Question:
    """Older or earlier is a matter of dates, larger one of numbers."""
    if _IN_TIME.search(question.text):
        return replace(question, kind=Kind.DATE)
    return replace(question, kind=Kind.NUMBER) if _IN_SIZE.search(question.text) else question
