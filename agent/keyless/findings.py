"""What the notes come to: the question, the evidence ranked, an answer and the doubt in it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from agent.depth import STANDARD
from agent.keyless.chains import Chains
from agent.keyless.comparison import both_sides
from agent.keyless.doubt import doubt
from agent.keyless.evidence import gather
from agent.keyless.ranking import Ranking
from agent.keyless.reference import asked
from agent.keyless.spelling import respelt

if TYPE_CHECKING:
    from agent.depth import Effort
    from agent.keyless.doubt import Doubt
    from agent.keyless.notebook import Notebook
    from agent.keyless.ranking import Scored

SURE = 1.0
"""Score of a sentence that holds nearly all words of the question, and a candidate."""


class Findings:
    """A view of the notes; each part is worked out when it is first asked for.

    `effort` says how far the model reaches out.
    """

    def __init__(self, notes: Notebook, effort: Effort = STANDARD) -> None:
        self.notes = notes
        self.effort = effort
        self.question = asked(notes)

    @cached_property
    def ranking(self) -> Ranking:
        """The sentences read, ranked for the question with its misspellings put right."""
        evidence = gather(self.notes)
        return Ranking(respelt(self.question, evidence), evidence)

    @cached_property
    def chains(self) -> Chains:
        """The sentences that answer together."""
        return Chains(self.ranking)

    @cached_property
    def chosen(self) -> list[Scored]:
        """The sentences of an answer; empty where nothing was read."""
        return self.chains.selection(both_sides(self.ranking))

    @cached_property
    def doubt(self) -> Doubt:
        """What speaks against that answer."""
        return doubt(self.ranking, self.chosen)

    @cached_property
    def open(self) -> Doubt:
        """What the sentences that hang together best leave open, second opinions aside."""
        best = self.chains.best
        return doubt(self.ranking, list(best[0].group) if best else [])

    @property
    def thin(self) -> bool:
        """Whether to refuse rather than answer."""
        return not self.chosen or self.doubt.too_much

    @property
    def sure(self) -> bool:
        """Whether one sentence alone meets so much that no further hop is needed."""
        return bool(self.chosen) and self.ranking.scored[0].score > SURE
