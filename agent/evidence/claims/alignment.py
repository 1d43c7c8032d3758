"""Which statements of the page a set of words is about, by rarity-weighted matching."""

from __future__ import annotations

import functools
import itertools
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from agent.evidence.language.thesaurus import synonyms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from agent.evidence.language.statements import Ground

SYNONYM = 0.8
"""What a synonym counts: it may stand for the word, or for something else."""

KIN = 0.7
"""What a word of the same family (`finance`, `financial`) or a misspelt name counts."""

BEFORE, AFTER = 0.4, 0.2
"""What a word counts that stands in the sentence before, where subjects are named, or after."""

REFERRED = 0.8
"""What a name counts in a statement that refers back to it (`He …`) within `ANTECEDENT`."""

ANTECEDENT = 3
"""Statements back in which a pronoun's name is looked for."""

IN_ORDER = 0.5
"""What two neighbouring words of the question add where they are neighbours on the page too."""

PRONOUNS = frozenset("he she it they his her its their him them".split())

_KIN_PREFIX = 4
_KIN_LENGTH = 5
_KIN_RATIO = 0.8


class Alignment:
    """How well each statement of a ground covers some words.

    `score[i]` is the share of their weight, 0 to 1, that statement i and its neighbours cover;
    `own[i]` is statement i alone. `fit[i]` adds to the score what stands in the same order as
    asked, for ranking. Words that stand nowhere on the page are in `missing`; `share_known` is
    the weight of the others.
    """

    def __init__(
        self, words: Sequence[str], ground: Ground, names: AbstractSet[str] = frozenset()
    ) -> None:
        terms = list(dict.fromkeys(words))
        kin = {term: forms_on_page(term, ground) for term in terms}
        self.missing = [term for term in terms if not kin[term]]
        self._terms = {term: kin[term] for term in terms if kin[term]}
        self._names = names
        self._ground = ground
        self._weights = {term: ground.weight(term) for term in self._terms}
        total = sum(self._weights.values()) or 1.0
        unknown = sum(ground.weight(term) for term in self.missing)
        self.share_known = total / (total + unknown) if self._terms else 0.0
        rows = [self._row(s.sentence.content) for s in ground.statements]
        self.own = [sum(row.values()) / total for row in rows]
        self.score = [self._with_neighbours(rows, i) / total for i in range(len(rows))]
        pairs = [p for p in itertools.pairwise(words) if p[0] in kin and p[1] in kin]
        self.fit = [
            score + self._in_order(pairs, statement.sentence.phrase) / total
            for score, statement in zip(self.score, ground.statements, strict=True)
        ]

    def best(self) -> int:
        """Index of the statement that fits best; ties go to the earlier."""
        return max(range(len(self.fit)), key=lambda i: (self.fit[i], -i))

    def _row(self, content: frozenset[str]) -> dict[str, float]:
        row: dict[str, float] = {}
        for term, kin in self._terms.items():
            if term in content:
                row[term] = self._weights[term]
            else:
                strength = max((kin[root] for root in kin.keys() & content), default=0.0)
                if strength:
                    row[term] = strength * self._weights[term]
        return row

    def _with_neighbours(self, rows: list[dict[str, float]], i: int) -> float:
        before = rows[i - 1] if i else {}
        after = rows[i + 1] if i + 1 < len(rows) else {}
        refers = not PRONOUNS.isdisjoint(self._ground.statements[i].sentence.roots)
        earlier = rows[max(0, i - ANTECEDENT) : i] if refers else []
        total = 0.0
        for term in self._terms:
            found = max(
                rows[i].get(term, 0.0), BEFORE * before.get(term, 0.0), AFTER * after.get(term, 0.0)
            )
            if term in self._names:
                found = max(found, *(REFERRED * row.get(term, 0.0) for row in earlier), 0.0)
            total += found
        return total

    def _in_order(
        self, pairs: list[tuple[str, str]], phrase: AbstractSet[tuple[str, str]]
    ) -> float:
        return sum(
            IN_ORDER * min(self._weights.get(one, 0.0), self._weights.get(other, 0.0))
            for one, other in pairs
            if (one, other) in phrase
        )


def forms_on_page(term: str, ground: Ground) -> Mapping[str, float]:
    """Roots of the page that can stand for a term, with what each counts."""
    if term not in ground.forms:
        ground.forms[term] = _forms(term, ground)
    return ground.forms[term]


def _forms(term: str, ground: Ground) -> dict[str, float]:
    found = {other: SYNONYM for other in synonyms(term) if other in ground}
    if term.isalpha() and len(term) >= _KIN_LENGTH:
        for other in ground.vocabulary(term[:_KIN_PREFIX]):
            if other not in found and _is_kin(term, other):
                found[other] = KIN
    if term in ground:
        found[term] = 1.0
    return found


@functools.lru_cache(maxsize=65_536)
def _is_kin(one: str, other: str) -> bool:
    """Whether two roots with the same beginning belong together: `relat` and `relation`."""
    shorter, longer = sorted((one, other), key=len)
    if longer == f"{shorter}less":
        return False
    if longer.startswith(shorter) and len(longer) - len(shorter) <= 4:
        return True
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= _KIN_RATIO
