"""Sentences that answer together: the steps of a hop, the two sides of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.keyless.candidates import new_names
from agent.keyless.names import name_stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.keyless.ranking import Ranking, Scored

MOST = 3
"""Sentences of an answer."""
WORDS = 90
"""Words of an answer, all sentences together."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a chain is worth beside what it covers; found together with `ranking.Weights`.

    `link` is added for each step over a shared name, times its rarity; `hop` taken off for each
    step; `mean` weighs how good the sentences are by themselves. A link through a mere mention
    is worth `mention` of one to the page's own title; a name is rare while at most two sources
    speak of it, half as rare at `common` more. A further sentence counts by what it `covers`
    anew and by being `linked`, and must be worth `fill` of the best. `heads` and `pool` bound the
    search.
    """

    link: float = 0.15
    hop: float = 0.1
    mean: float = 1.0
    mention: float = 0.7
    common: float = 3.0
    fill: float = 0.2
    covers: float = 0.7
    linked: float = 0.45
    heads: int = 20
    pool: int = 60


FIGURES = Figures()
Group = tuple["Scored", ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Sentences that hang together, in the order in which they were found."""

    group: Group
    links: float = 0.0
    score: float = field(default=0.0)

    @property
    def words(self) -> int:
        """Words of all its sentences."""
        return sum(x.sentence.length for x in self.group)


class Chains:
    """A beam search over the ranked sentences; `best` holds the chains found, best first."""

    def __init__(self, ranking: Ranking, figures: Figures = FIGURES) -> None:
        self._ranking = ranking
        self._figures = figures
        self._known = frozenset(ranking.question.terms)
        self._rarity: dict[frozenset[str], float] = {}
        self._new_names: dict[int, list[frozenset[str]]] = {}
        unique = {x.sentence.text: x for x in reversed(ranking.scored)}
        self._pool = [x for x in ranking.scored if unique[x.sentence.text] is x][: figures.pool]
        self.best = sorted(self._search(), key=lambda c: -c.score)

    def selection(self, given: Sequence[Scored] = ()) -> list[Scored]:
        """The sentences given, or the best chain; filled up with what adds most to them.

        Further sentences must be whole ones, no rows of tables, and not much worse by themselves
        than the best of the first: a second opinion on where the answer stands, or a step further.
        """
        chosen = list(given) or (list(self.best[0].group) if self.best else [])
        while len(chosen) < MOST and (further := self._further(chosen)):
            chosen.append(further)
        return chosen

    def _further(self, chosen: list[Scored]) -> Scored | None:
        """The best sentence to set beside others; None where none is good enough by itself."""
        words = sum(x.sentence.length for x in chosen)
        least = self._figures.fill * max((x.score for x in chosen), default=0.0)
        fitting = [
            x
            for x in self._pool
            if x not in chosen
            and not x.sentence.is_row
            and words + x.sentence.length <= WORDS
            and x.score >= least
            and x.sentence.is_whole
        ]
        return max(fitting, key=lambda x: self._gain(x, chosen), default=None)

    def _gain(self, x: Scored, chosen: list[Scored]) -> float:
        """How much a sentence adds: its own worth, what it newly covers, how it hangs together."""
        figures, group = self._figures, tuple(chosen)
        added = self._ranking.covered((*group, x)) - self._ranking.covered(group) if group else 0.0
        link = max((self._link(x, y) for y in group), default=0.0)
        return x.score + figures.covers * added + figures.linked * link

    def _search(self) -> list[Chain]:
        beam = [self._chain((x,), 0.0) for x in self._pool[: self._figures.heads]]
        found = list(beam)
        for _ in range(MOST - 1):
            beam = _distinct([c for chain in beam for c in self._longer(chain)])
            beam = beam[: self._figures.heads]
            found += beam
        return found

    def _longer(self, chain: Chain) -> list[Chain]:
        longer: list[Chain] = []
        for x in self._pool:
            if x in chain.group or chain.words + x.sentence.length > WORDS:
                continue
            link = max(self._link(x, y) for y in chain.group)
            if link or self._belongs(x, chain.group):
                longer.append(self._chain((*chain.group, x), chain.links + link))
        return longer

    def _chain(self, group: Group, links: float) -> Chain:
        weights, figures = self._ranking.weights, self._figures
        score = self._ranking.covered(group)
        score += weights.bigram * max(x.bigram for x in group)
        score += weights.kind * max(x.kind for x in group)
        score += figures.mean * sum(x.score for x in group) / len(group)
        score += figures.link * links - figures.hop * (len(group) - 1)
        return Chain(group, links, score)

    def _belongs(self, x: Scored, group: Group) -> bool:
        """Whether a sentence goes with others without a link.

        It does from the same page, from a page on what is asked about, or with a name of the
        question that was still missing.
        """
        title = x.sentence.title_stems
        if title and title <= self._known:
            return True
        if any(x.sentence.source == y.sentence.source for y in group):
            return True
        return any(
            t in self._ranking.question.name_terms
            and x.match[k] == 1.0
            and all(y.match[k] < 1.0 for y in group)
            for k, t in enumerate(self._ranking.question.terms)
        )

    def _link(self, a: Scored, b: Scored) -> float:
        if a.sentence.source == b.sentence.source:
            return 0.0
        return max(self._leads(a, b), self._leads(b, a))

    def _leads(self, a: Scored, b: Scored) -> float:
        """How firmly a leads to b (0-1): by a name in a, new to the question, that b is about."""
        best = 0.0
        for name in self._names(a):
            if name <= b.sentence.title_stems:
                best = max(best, self._rare(name))
            elif name <= b.sentence.own:
                best = max(best, self._figures.mention * self._rare(name))
        title = b.sentence.title_stems
        if title and not title <= self._known and title <= a.sentence.own:
            best = max(best, self._rare(title))
        return best

    def _names(self, x: Scored) -> list[frozenset[str]]:
        if id(x) not in self._new_names:
            found = new_names(x.sentence.text, self._ranking.question)
            self._new_names[id(x)] = [name_stems(n) for n in found]
        return self._new_names[id(x)]

    def _rare(self, stems: frozenset[str]) -> float:
        if stems not in self._rarity:
            others = max(0, self._ranking.evidence.sources_of(stems) - 2)
            self._rarity[stems] = 1 / (1 + others / self._figures.common)
        return self._rarity[stems]


def _distinct(chains: list[Chain]) -> list[Chain]:
    """Best first, each set of sentences once, whatever its order."""
    found: dict[frozenset[int], Chain] = {}
    for chain in sorted(chains, key=lambda c: -c.score):
        found.setdefault(frozenset(map(id, chain.group)), chain)
    return list(found.values())
