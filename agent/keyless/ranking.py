"""How well each sentence bears on the question."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.keyless.asking import GENERIC, Kind
from agent.keyless.candidates import has_candidate
from agent.keyless.names import name_stems
from agent.keyless.relations import alike, related

if TYPE_CHECKING:
    from agent.keyless.evidence import Evidence, Sentence
    from agent.keyless.question import Question

LONGEST = 60
"""Words of a sentence that can still be quoted; a longer one is passed over, never cut."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The figures that rank, found on questions over encyclopedia pages; all are flat optima.

    `name` and `generic` weigh a term against an ordinary word; `context` is what a term is worth
    that stands around a sentence, `related` one that stands in it in other words, `partial` one
    of a name of which the rest is missing; `kind` is added where a candidate of the asked kind
    stands, `bigram` where the question's words stand side by side.
    """

    name: float = 1.5
    generic: float = 0.4
    context: float = 0.5
    related: float = 0.5
    partial: float = 0.6
    kind: float = 0.15
    bigram: float = 0.15


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A sentence with its score; `match` says how far each term of the question is met (0-1)."""

    sentence: Sentence
    match: tuple[float, ...] = field(repr=False)
    kind: float
    bigram: float
    score: float


class Ranking:
    """All sentences that can be quoted, best first (`scored`)."""

    def __init__(self, question: Question, evidence: Evidence, weights: Weights = WEIGHTS) -> None:
        self.question = question
        self.evidence = evidence
        self.weights = weights
        # Dates in brackets say that someone was born, but not where.
        self._asks_where = question.kind is Kind.PLACE
        self.weight = {t: evidence.idf(t) * self._importance(t) for t in question.terms}
        self._total = sum(self.weight.values()) or 1.0
        self._pair_total = sum(self._pair(p) for p in question.bigrams) or 1.0
        self._forms = {t: _other_forms(t, evidence.vocabulary) for t in question.terms}
        self._long_names = [n for n in map(name_stems, question.names) if len(n) > 1]
        quotable = (s for s in evidence.sentences if s.length <= LONGEST)
        self.scored = sorted((self._score(s) for s in quotable), key=lambda x: -x.score)

    def covered(self, group: tuple[Scored, ...] | list[Scored]) -> float:
        """Share (0-1) of the question's weight that some sentences meet together."""
        met = (
            weight * max(x.match[k] for x in group) for k, weight in enumerate(self.weight.values())
        )
        return sum(met) / self._total

    def forms(self, term: str) -> frozenset[str]:
        """The stems that say a term in other words."""
        return self._forms[term]

    def _importance(self, term: str) -> float:
        if term in self.question.name_terms:
            return self.weights.name
        return self.weights.generic if term in GENERIC else 1.0

    def _pair(self, pair: tuple[str, str]) -> float:
        return self.weight[pair[0]] + self.weight[pair[1]]

    def _score(self, sentence: Sentence) -> Scored:
        match = self._match(sentence)
        met = sum(m * w for m, w in zip(match, self.weight.values(), strict=True)) / self._total
        beside = set(itertools.pairwise(sentence.stems))
        bigram = sum(map(self._pair, self.question.bigrams & beside)) / self._pair_total
        kind = has_candidate(sentence.text, self.question)
        score = met + self.weights.bigram * bigram + self.weights.kind * kind
        return Scored(sentence, match, kind, bigram, score)

    def _match(self, sentence: Sentence) -> tuple[float, ...]:
        near = sentence.own | sentence.around
        whole = [n for n in self._long_names if n <= near]
        broken = [n for n in self._long_names if not n <= near]
        return tuple(
            self._met(t, sentence) * (self.weights.partial ** _only_in(t, broken, whole))
            for t in self.question.terms
        )

    def _met(self, term: str, sentence: Sentence) -> float:
        if term in sentence.own or (term in sentence.implied and not self._asks_where):
            return 1.0
        around = self.weights.context if term in sentence.around else 0.0
        if term not in self.question.name_terms and self._forms[term] & sentence.own:
            return max(self.weights.related, around)
        return around


def _only_in(term: str, broken: list[frozenset[str]], whole: list[frozenset[str]]) -> int:
    """In how many incomplete names a term stands; 0 where a complete one has it too."""
    if any(term in n for n in whole):
        return 0
    return sum(term in n for n in broken)


def _other_forms(term: str, vocabulary: frozenset[str]) -> frozenset[str]:
    return related(term) | {v for v in vocabulary if v != term and alike(v, term)}
