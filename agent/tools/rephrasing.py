"""What a search asks the run's model on the side: its query in other words."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from agent.errors import ReplayDiverged, ResearchError
from agent.guard.budget import RESERVE
from agent.guard.model_client import ModelClient
from agent.journal.events import REPHRASE
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import loose_object
from agent.types import Message

if TYPE_CHECKING:
    from agent.guard.budget import Budget
    from agent.guard.model_client import Record
    from agent.models.base import Model

MOST_QUERIES: Final = 3
"""Of a reply: what three other ways of asking do not find, a fourth has not found either."""
LONGEST: Final = 150
"""Characters of a query: engines cut what is longer."""
REPHRASE_SECONDS: Final = 20.0
"""The search under way has other things to do, too: a model that takes longer is not waited for."""


class Rephrased(NamedTuple):
    """A query in other words; `lang`, two letters, where it is in another language."""

    text: str
    lang: str | None = None


@dataclass(slots=True)
class Rephraser:
    """Asks the run's model for other queries, `most` times a run; what it costs is the run's."""

    model: Model
    budget: Budget
    record: Record
    most: int
    _asked: int = field(default=0, init=False)

    async def ask(self, question: str, query: str, place: str) -> tuple[Rephrased, ...]:
        """Return other queries; none where the model is not asked, fails, or has none.

        It is shown the question and the query alone, nothing that came from the web or memory.
        """
        usd = self.budget.max_usd
        spent = usd is not None and self.budget.spent_usd >= usd * (1 - RESERVE)
        if self._asked >= self.most or spent or not takes(self.model, Task.REPHRASE):
            return ()
        self._asked += 1
        system = prompt(REPHRASE).replace("{most}", str(MOST_QUERIES))
        client = ModelClient(self.model, system, self.budget, self.record)
        shown = Message("user", f"Question: {question}\n\nQuery that found little: {query}")
        try:
            async with asyncio.timeout(REPHRASE_SECONDS):
                reply = await client.ask(f"{REPHRASE}/{place}", [shown])
        except ReplayDiverged:
            raise
        except (ResearchError, TimeoutError) as error:
            self.record("note", place, text=f"{REPHRASE} failed: {error or 'timeout'}")
            return ()
        return read_queries(reply.text, query)


def read_queries(reply: str, asked: str) -> tuple[Rephrased, ...]:
    """Read the queries of a reply; what is none, or the one that was asked, is left out."""
    rows = loose_object(reply).get("queries")
    found: dict[str, Rephrased] = {}
    for row in rows if isinstance(rows, list) else []:
        query, lang = (row.get("query"), row.get("lang")) if isinstance(row, dict) else (row, None)
        text = " ".join(query.split())[:LONGEST] if isinstance(query, str) else ""
        if not isinstance(lang, str) or len(lang) != 2 or not (lang.isascii() and lang.isalpha()):
            lang = None
        if text and text.casefold() != asked.casefold():
            found[text.casefold()] = Rephrased(text, lang and lang.lower())
    return tuple(found.values())[:MOST_QUERIES]
