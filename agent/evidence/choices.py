"""One of a kind: the weekday, the colour, the relative that a claim names against the page's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.alignment import Alignment
from agent.evidence.slots import NEVER, against, find_rival, name_roots, plain_words
from agent.evidence.thesaurus import exclusive

if TYPE_CHECKING:
    from agent.evidence.findings import Finding
    from agent.evidence.statements import Ground, Sentence


_POINT = "ern"
"""What sets `western` apart from `west`, which says the same of a side."""


class _Choice(NamedTuple):
    """A word of a group of which one at most is true, and where it stands."""

    root: str
    place: int


@dataclass(frozen=True, slots=True)
class _ChoiceSlot:
    choice: _Choice
    group: frozenset[str]
    claim: Sentence
    least_absent: float = 0.5
    least_elsewhere: float = NEVER

    def holds(self, value: _Choice, /) -> bool:
        return value.root == self.choice.root

    def rivals(self, value: _Choice, /) -> bool:
        return value.root in self.group and value.root not in self.claim.roots


def check_choices(claim: Sentence, ground: Ground) -> Finding | None:
    """Find the first word of an exclusive group for which the page has another of the group."""
    for group in exclusive():
        for mine in _choices(claim, group):
            if mine.root.endswith(_POINT) and mine.root.removesuffix(_POINT) in ground:
                continue
            words = [root for root in plain_words(claim) if root != mine.root]
            if not words:
                continue
            values = [_choices(s.sentence, group) for s in ground.statements]
            alignment = Alignment(words, ground, name_roots(claim))
            found = find_rival(_ChoiceSlot(mine, group, claim), values, alignment)
            if found:
                return against(ground, found[0], found[1].place, claim, mine.place)
    return None


def _choices(sentence: Sentence, group: frozenset[str]) -> list[_Choice]:
    if group.isdisjoint(sentence.roots):
        return []
    return [_Choice(t.root, i) for i, t in enumerate(sentence.tokens) if t.root in group]
