"""Whether the evidence is too thin to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.keyless.asking import GENERIC
from agent.keyless.names import name_stems, pieces
from agent.keyless.owned import owned

if TYPE_CHECKING:
    from agent.keyless.owned import Owned
    from agent.keyless.ranking import Ranking, Scored

# Fitted on half of a set of answerable and unanswerable questions, tested on the other half,
# twenty times over; the optimum is wide.
TOO_MUCH = 2.0
MISSING_NAMES = 2.0
LEAST_COVERED = 0.6
LONG_NAME = 4
"""Words of a name that is still told by all but one of them."""
_UNMET = 0.5
MADE_UP_FOR = 2
"""Other words met that make up for a thing of which no sentence says whose it is: where a question
says much about what it wants, a sentence that says nearly all of it has it in words of its own."""
_NAME, _WORD, _GENERIC = 2.0, 1.0, 0.4


@dataclass(frozen=True, slots=True)
class Doubt:
    """What speaks against an answer.

    `unmet` are the question's telling words that neither the sentences nor what stands around
    them say; `unseen` its names that stand nowhere in what was read; `covered` the share (0-1)
    of the question that is met; `on_topic` whether a page quoted is about something named in it;
    `beside_the_point` that of the words that say what is asked about the names none is met;
    `astray` that no sentence says of the one thing that is asked for whose it is.
    """

    unmet: tuple[str, ...]
    unseen: tuple[str, ...]
    names: int
    covered: float
    on_topic: bool
    beside_the_point: bool
    astray: bool

    @property
    def amount(self) -> float:
        """In unmet words: all names unseen count as two, a page on the topic makes up for one."""
        unseen = MISSING_NAMES * len(self.unseen) / max(1, self.names)
        return len(self.unmet) + unseen - self.on_topic

    @property
    def too_much(self) -> bool:
        """Whether to refuse rather than answer."""
        thin = self.amount >= TOO_MUCH or self.covered < LEAST_COVERED
        return thin or self.beside_the_point or self.astray

    @property
    def none(self) -> bool:
        """Whether nothing at all is open."""
        return not self.unmet and not self.unseen


def doubt(ranking: Ranking, group: list[Scored]) -> Doubt:
    """Weigh what the question says against what the sentences of an answer say."""
    question = ranking.question
    best = {t: max((x.match[k] for x in group), default=0.0) for k, t in enumerate(question.terms)}
    telling = [t for t in question.terms if t not in GENERIC]
    unmet = [t for t in telling if best[t] < _UNMET]
    said_of_names = [t for t in telling if t not in question.name_terms]
    names = [(n, name_stems(n)) for n in question.telling_names]
    return Doubt(
        unmet=tuple(question.word_of(t) for t in unmet),
        unseen=tuple(n for n, s in names if not _seen(n, s, ranking)),
        names=len(names),
        covered=_covered(ranking, list(best.values())),
        on_topic=any(s <= x.sentence.title_stems for _, s in names for x in group),
        beside_the_point=bool(said_of_names) and set(said_of_names) <= set(unmet),
        astray=any(
            len(set(said_of_names) - set(unmet) - {pair.thing}) < MADE_UP_FOR
            and not _says_whose(ranking, group, pair)
            for pair in owned(question.text)
        ),
    )


def _says_whose(ranking: Ranking, group: list[Scored], pair: Owned) -> bool:
    """Whether a sentence speaks of the thing, and it or its page's title of the owner.

    Of a row of a table the column's name says it.
    """
    said = ranking.forms(pair.thing) | {pair.thing}
    near = (
        x.sentence.title_stems | (x.sentence.around if x.sentence.is_row else x.sentence.own)
        for x in group
    )
    return any(said & stems and pair.owner <= stems for stems in near)


def _seen(name: str, stems: frozenset[str], ranking: Ranking) -> bool:
    """Whether a source speaks of a name: as a whole, but for one word of many, or of its parts."""
    sources = ranking.evidence.sources_of
    if sources(stems):
        return True
    if len(stems) >= LONG_NAME and any(sources(stems - {s}) for s in stems):
        return True
    parts = [name_stems(part) for part in pieces(name)[1:]]
    return bool(parts) and all(map(sources, parts))


def _covered(ranking: Ranking, best: list[float]) -> float:
    weights = [
        _NAME if t in ranking.question.name_terms else _GENERIC if t in GENERIC else _WORD
        for t in ranking.question.terms
    ]
    total = sum(weights)
    return sum(w * m for w, m in zip(weights, best, strict=True)) / total if total else 0.0
