"""Filling in a schema: by the model from the passages of the run, or by rules without one.

Without a language model numbers, dates, one of several choices and names are looked for in the
sentences that speak of the field; yes or no, lists, and texts of one's own words are left out.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import ReplayDiverged, ResearchError
from agent.evidence.facts import facts_of
from agent.evidence.schema import pointer
from agent.evidence.schema_values import CheckedValues, ValuesDraft, check_values, stands_in
from agent.evidence.store import format_passage
from agent.guard.model_client import ModelClient
from agent.journal.events import JUDGE, VALUES
from agent.keyless.question import AnswerKind, analyse
from agent.loop.judge import CITED, cited_passages
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import inert, loose_object
from agent.types import Message
from browser.text.sentences import sentences
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.schema import Field, Schema
    from agent.evidence.store import Evidence
    from agent.loop.gate import Gate
    from agent.types import Passage

EACH = 4
"""Passages looked up for a field: its value stands in one, and the others tell it from its like."""
ROOM = 24_000
"""Characters of passages, about 6,000 tokens: what the answer rests on, and the fields' own."""
BY_RULES = 8
"""Passages that rules look at for a field."""
_WORDS_OF_A_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(slots=True)
class SchemaFiller:
    """Fills in a schema from what a run has read.

    The model is asked once, and a second time to correct what was wrong. `gate` has the evidence,
    the model, and the judge of what code leaves open.
    """

    schema: Schema
    gate: Gate

    async def fill(self, question: str, answer: str) -> CheckedValues:
        """Give the values; `answer` is the model's own text, with the ids of passages."""
        gate, work = self.gate, self.gate.work
        if not gate.evidence.sources:
            return CheckedValues(notes=["/: nothing was read"])
        if not takes(work.model, Task.VALUES):
            return await self._check(by_rules(self.schema, question, gate.evidence), 1)
        asker = ModelClient(work.model, prompt(VALUES), work.budget, gate.record)
        messages = [Message("user", self._request(question, answer))]
        try:
            async with asyncio.timeout(work.budget.seconds_left(reserve=False)):
                reply = (await asker.ask(f"{VALUES}/1", messages)).text
                first = await self._check(_draft(reply), 1)
                if not first.notes:
                    return first
                wrong = "\n".join(f"- {inert(note)}" for note in first.notes)
                again = prompt("values-again").replace("{notes}", wrong)
                messages += Message("assistant", reply), Message("user", again)
                reply = (await asker.ask(f"{VALUES}/2", messages)).text
                second = await self._check(_draft(reply), 2)
                return second if len(second.values) >= len(first.values) else first
        except ReplayDiverged:
            raise
        except (ResearchError, TimeoutError) as error:
            gate.record("note", VALUES, text=f"the values were not filled in: {error or 'timeout'}")
            return CheckedValues(notes=[f"/: {error or 'no time was left'}"])

    async def _check(self, draft: ValuesDraft, time: int) -> CheckedValues:
        """Check a draft by code, then with the judge's verdicts on what that leaves open."""
        evidence = self.gate.evidence
        claims: dict[str, Sequence[Passage]] = {}
        found = check_values(draft, self.schema, evidence, claims.__setitem__)
        verdicts = await self.gate.decide(claims, f"{JUDGE}/{VALUES}/{time}")
        return check_values(draft, self.schema, evidence, verdicts) if claims else found

    def _request(self, question: str, answer: str) -> str:
        """Write what the model is asked; what the answer cites comes before what fields need."""
        evidence, room = self.gate.evidence, ROOM
        found = {passage.id: passage for passage in cited_passages(answer, evidence)}
        for field in self.schema.fields():
            query = f"{field.said} {field.name.replace('*', '')} {question}"
            found.update((passage.id, passage) for passage in evidence.search(query, EACH))
        lines: list[str] = []
        for passage in found.values():
            line = f"{passage.id} {format_passage(passage, evidence)}"
            if len(line) > room:
                break
            room -= len(line)
            lines.append(line)
        passages = inert("\n".join(lines))
        return "\n\n".join(
            [
                f"Question: {question}",
                f"Answer:\n{answer}",
                f"Schema:\n{self.schema.text}",
                f'Passages:\n<web source="read">\n{passages}\n</web>',
            ]
        )


def _draft(reply: str) -> ValuesDraft:
    found = loose_object(reply)
    cited: Any = found.get("citations")
    rows = cited.items() if isinstance(cited, dict) else ()
    citations = {str(where): CITED.findall(str(ids)) for where, ids in rows}
    return ValuesDraft(found.get("data"), citations)


def by_rules(schema: Schema, question: str, evidence: Evidence) -> ValuesDraft:
    """Fill in what can be found; the rest is absent."""
    data: dict[str, Any] = {}
    citations: dict[str, list[str]] = {}
    for field in schema.fields():
        found = None if "*" in field.path or not field.path else _find(field, question, evidence)
        if found is not None:
            holder = data
            for part in field.path[:-1]:
                holder = holder.setdefault(part, {})
            holder[field.path[-1]] = found[0]
            citations[pointer(field.path)] = [found[1]]
    return ValuesDraft(data, citations)


def _find(field: Field, question: str, evidence: Evidence) -> tuple[Any, str] | None:
    """Give a value and its passage: from the sentence that speaks most of field and question."""
    spelt = " ".join(part for name in field.path for part in _WORDS_OF_A_NAME.findall(name))
    wording = f"{spelt} {field.said}"  # of `firstLit` and `first_lit`: `first lit`
    own, asked = frozenset(content_words(wording)), frozenset(content_words(question))
    best: tuple[tuple[int, int], Any, str] | None = None
    for passage in evidence.search(f"{wording} {question}", BY_RULES):
        source = evidence.source(passage.source)
        title = frozenset(content_words(source.title if source else ""))
        for start, end in sentences(passage.text):
            sentence = passage.text[start:end]
            stems = frozenset(content_words(sentence))
            rank = (len(own & stems), len(asked & (stems | title)))
            if not rank[0] or (best is not None and rank <= best[0]):
                continue
            value = _value(field, wording, sentence, question)
            if value is not None:
                best = (rank, value, passage.id)
    return best and (best[1], best[2])


def _value(field: Field, wording: str, sentence: str, question: str) -> Any:
    """Read the one value of a field's kind in a sentence; None where it has none, or several."""
    facts = facts_of(sentence)
    if field.choices:
        found: list[Any] = [choice for choice in field.choices if stands_in(choice, sentence)]
    elif field.kind in ("integer", "number"):
        said = wording.casefold().split()
        named = [figure for figure in facts.figures if figure.measure in said]
        numbers = [figure.value for figure in named or facts.figures]
        if "year" in said:
            numbers = [float(date.year) for date in facts.dates if date.year]
        whole = {int(number) if number == int(number) else number for number in numbers}
        whole = {number for number in whole if not stands_in(number, question)}
        found = [n for n in whole if field.kind == "number" or isinstance(n, int)]
    elif field.kind == "string" and field.format.startswith("date"):
        days = ((date.year, date.month, date.day) for date in facts.dates)
        return next((f"{y:04}-{m:02}-{d:02}" for y, m, d in days if y and m and d), None)
    elif analyse(f"which {wording}").kind in (AnswerKind.PERSON, AnswerKind.PLACE):
        known, own = set(content_words(question)), set(content_words(wording))
        new = [name for name in facts.names if not known.issuperset(content_words(name))]
        behind = [n for n in new if own & {*content_words(sentence.partition(n)[0])[-1:]}]
        found = new if len(new) == 1 else behind
    else:
        return None
    return found[0] if len(found) == 1 else None
