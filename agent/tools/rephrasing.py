"""Asks the run's model to rephrase a search query that found too few results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from agent.guard.budget import RESERVE_SHARE
from agent.guard.model_client import ModelClient
from agent.journal.events import REPHRASE
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.loose_json import loose_object
from agent.types import Message

if TYPE_CHECKING:
    from agent.guard.budget import Budget
    from agent.guard.model_client import Record
    from agent.models.base import Model

MAX_QUERIES: Final = 3
"""Maximum number of queries from a reply: a fourth query never found anything new."""
MAX_QUERY_CHARS: Final = 150
"""Maximum length of a query in characters: engines truncate longer ones."""
REPHRASE_SECONDS: Final = 20.0
"""Timeout for the model in seconds, as the search has to finish within its call's timeout."""


class Rephrased(NamedTuple):
    """A rephrased query; `lang` is its two-letter language code if the language differs."""

    text: str
    lang: str | None = None


@dataclass(slots=True)
class Rephraser:
    """Asks the run's model for alternative queries, within the run's budget.

    At most `max_requests` requests are made in a run.
    """

    model: Model
    budget: Budget
    record: Record
    max_requests: int
    _asked: int = field(default=0, init=False)

    async def ask(self, question: str, query: str, place: str) -> tuple[Rephrased, ...]:
        """Return alternative queries; empty if the model is not asked, fails, or suggests none.

        The model sees only the question and the query, and nothing from the web or memory, because
        its queries are sent to search engines.
        """
        usd = self.budget.max_usd
        is_spent = usd is not None and self.budget.spent_usd >= usd * (1 - RESERVE_SHARE)
        if self._asked >= self.max_requests or is_spent or not takes(self.model, Task.REPHRASE):
            return ()
        self._asked += 1
        system = prompt(REPHRASE).replace("{most}", str(MAX_QUERIES))
        client = ModelClient(self.model, system, self.budget, self.record)
        message = Message("user", f"Question: {question}\n\nQuery that found little: {query}")
        reply = await client.try_ask(
            f"{REPHRASE}/{place}", [message], f"{REPHRASE} failed", seconds=REPHRASE_SECONDS
        )
        return parse_queries(reply.text, query) if reply else ()


def parse_queries(reply: str, original: str) -> tuple[Rephrased, ...]:
    """Parse the queries in a reply, omitting invalid ones, duplicates and the original."""
    rows = loose_object(reply).get("queries")
    found: dict[str, Rephrased] = {}
    for row in rows if isinstance(rows, list) else []:
        query, lang = row, None
        if isinstance(row, dict):
            query, lang = row.get("query"), row.get("lang")
        if not isinstance(query, str):
            continue
        text = " ".join(query.split())[:MAX_QUERY_CHARS]
        if not isinstance(lang, str) or len(lang) != 2 or not (lang.isascii() and lang.isalpha()):
            lang = None
        if text and text.casefold() != original.casefold():
            found[text.casefold()] = Rephrased(text, lang.lower() if lang else None)
    return tuple(found.values())[:MAX_QUERIES]
