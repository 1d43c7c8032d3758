"""Filling in a schema: by the model from the passages of the run, or by rules without one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import ReplayDiverged, ResearchError
from agent.evidence.store import placed
from agent.guard.model_client import ModelClient
from agent.journal.events import JUDGE, VALUES
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import inert, loose_object
from agent.review.judge import CITED, OpenClaims, cited_passages
from agent.review.keyless_values import by_rules
from agent.review.values_draft import ValuesDraft, WeighedValues, weighed
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.review.gate import Gate
    from agent.review.schema import Schema
    from agent.types import Passage

EACH = 4
"""Passages looked up for a field: its value stands in one, and the others tell it from its like."""
ROOM = 24_000
"""Characters of passages, about 6,000 tokens: what the answer rests on, and the fields' own."""


@dataclass(slots=True)
class Filling:
    """Fills in a schema from what a run has read; asks the model once, and once more to mend.

    `gate` has what the run read, its model, and the judge that decides, in one request, what code
    leaves open.
    """

    schema: Schema
    gate: Gate

    async def fill(self, question: str, answer: str) -> WeighedValues:
        """Give the values; `answer` is the model's own text, with the ids of passages."""
        gate, work = self.gate, self.gate.work
        if not gate.evidence.sources:
            return WeighedValues(notes=["/: nothing was read"])
        if not takes(work.model, Task.VALUES):
            return await self._weigh(by_rules(self.schema, question, gate.evidence), 1)
        asker = ModelClient(work.model, prompt(VALUES), work.budget, gate.record)
        messages = [Message("user", self._request(question, answer))]
        try:
            async with asyncio.timeout(work.budget.seconds_left(reserve=False)):
                return await self._asked(asker, messages)
        except ReplayDiverged:
            raise
        except (ResearchError, TimeoutError) as error:
            gate.record("note", VALUES, text=f"the values were not filled in: {error or 'timeout'}")
            return WeighedValues(notes=[f"/: {error or 'no time was left'}"])

    async def _asked(self, asker: ModelClient, messages: list[Message]) -> WeighedValues:
        reply = (await asker.ask(f"{VALUES}/1", messages)).text
        first = await self._weigh(_draft(reply), 1)
        if not first.notes:
            return first
        wrong = "\n".join(f"- {inert(note)}" for note in first.notes)
        messages.append(Message("assistant", reply))
        messages.append(Message("user", prompt("values-again").replace("{notes}", wrong)))
        second = await self._weigh(_draft((await asker.ask(f"{VALUES}/2", messages)).text), 2)
        return second if len(second.values) >= len(first.values) else first

    async def _weigh(self, draft: ValuesDraft, time: int) -> WeighedValues:
        """Weigh a draft by code, then with the judge's verdicts on what that leaves open."""
        claims = OpenClaims()
        found = weighed(draft, self.schema, self.gate.evidence, claims)
        verdicts = await self.gate.decide(claims.found, f"{JUDGE}/{VALUES}/{time}")
        return weighed(draft, self.schema, self.gate.evidence, verdicts) if claims.found else found

    def _request(self, question: str, answer: str) -> str:
        lines = "\n".join(self._listed(self._passages(question, answer)))
        parts = [
            f"Question: {question}",
            f"Answer:\n{answer}",
            f"Schema:\n{self.schema.text}",
            f'Passages:\n<web source="read">\n{inert(lines)}\n</web>',
        ]
        return "\n\n".join(parts)

    def _passages(self, question: str, answer: str) -> Iterable[Passage]:
        """What the answer cites first, then the best for each field, each once."""
        found = {passage.id: passage for passage in cited_passages(answer, self.gate.evidence)}
        for field in self.schema.fields():
            words = f"{field.said} {field.name.replace('*', '')} {question}"
            found.update((p.id, p) for p in self.gate.evidence.search(words, EACH))
        return found.values()

    def _listed(self, passages: Iterable[Passage]) -> Iterable[str]:
        room = ROOM
        for passage in passages:
            line = f"{passage.id} {placed(passage, self.gate.evidence)}"
            if len(line) > room:
                return
            room -= len(line)
            yield line


def _draft(reply: str) -> ValuesDraft:
    found = loose_object(reply)
    cited: Any = found.get("citations")
    cited = cited if isinstance(cited, dict) else {}
    citations = {str(where): _ids(ids) for where, ids in cited.items()}
    return ValuesDraft(found.get("data"), citations)


def _ids(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [each for value in values for each in CITED.findall(str(value))]
