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
from agent.evidence.store import format_passage
from agent.guard.model_client import ModelClient
from agent.journal.events import JUDGE, VALUES
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import inert, loose_object
from agent.review.judge import CITED, OpenClaims, cited_passages
from agent.review.schema import ValuesDraft, WeighedValues, pointer, stands_in, weighed
from agent.types import Message
from browser.text.sentences import sentences
from browser.text.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent.evidence.store import Evidence
    from agent.review.gate import Gate
    from agent.review.schema import Field, Schema
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
            line = f"{passage.id} {format_passage(passage, self.gate.evidence)}"
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


PASSAGES = 8
"""Looked at for a field."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_OF_NAMES = frozenset(
    content_words(
        "name person author designer architect engineer builder owner director founder writer "
        "artist place city town country village born birthplace manufacturer company publisher"
    )
)


def by_rules(schema: Schema, question: str, evidence: Evidence) -> ValuesDraft:
    """Fill in what can be found; the rest is absent."""
    data: dict[str, Any] = {}
    citations: dict[str, list[str]] = {}
    for field in schema.fields():
        found = None if "*" in field.path else _found(field, question, evidence)
        if found is not None and field.path:
            _put(data, field.path, found[0])
            citations[pointer(field.path)] = [found[1]]
    return ValuesDraft(data, citations)


def _found(field: Field, question: str, evidence: Evidence) -> tuple[Any, str] | None:
    """Give a value and its passage: from the sentence that speaks most of field and question."""
    own = frozenset(content_words(_wording(field)))
    asked = frozenset(content_words(question))
    best: tuple[tuple[int, int], Any, str] | None = None
    for sentence, title, passage in _sentences(field, question, evidence):
        stems = frozenset(content_words(sentence))
        rank = (len(own & stems), len(asked & (stems | title)))
        if not rank[0] or (best is not None and rank <= best[0]):
            continue
        value = _value(field, _beside(own, sentence), question)
        if value is not None:
            best = (rank, value, passage)
    return best and (best[1], best[2])


def _sentences(
    field: Field, question: str, evidence: Evidence
) -> Iterator[tuple[str, frozenset[str], str]]:
    """Sentences that may hold it, with the stems of their page's title and their passage."""
    query = f"{_wording(field)} {question}"
    for passage in evidence.search(query, PASSAGES):
        source = evidence.source(passage.source)
        title = frozenset(content_words(source.title)) if source else frozenset()
        for span in sentences(passage.text):
            yield passage.text[span.start : span.end], title, passage.id


def _beside(own: frozenset[str], sentence: str) -> str:
    """A row of a table without the cells that only name the field; other sentences as they are."""
    if not sentence.startswith("|"):
        return sentence
    cells = sentence.strip("| ").split(" | ")
    return " | ".join(cell for cell in cells if not own.issuperset(content_words(cell)))


def _value(field: Field, sentence: str, question: str) -> Any:
    if field.choices:
        fitting = [c for c in field.choices if stands_in(c, sentence)]
        return fitting[0] if len(fitting) == 1 else None
    if field.kind in ("integer", "number"):
        return _number(field, sentence, question)
    if field.kind != "string":
        return None
    if field.format.startswith("date"):
        return _date(sentence)
    named = _OF_NAMES & frozenset(content_words(_wording(field)))
    return _name(field, sentence, question) if named else None


def _number(field: Field, sentence: str, question: str) -> float | int | None:
    facts = facts_of(sentence)
    years = [float(date.year) for date in facts.dates if date.year]
    said = {*words(_wording(field))}
    named = [figure.value for figure in facts.figures if figure.measure in said]
    figures = named or [figure.value for figure in facts.figures]
    wants_year = "year" in _spelt_out(field).lower()
    found = [
        value for value in (years if wants_year else figures) if not stands_in(value, question)
    ]
    whole = {value for value in found if field.kind == "number" or value == int(value)}
    # Two figures in one sentence: which of them is meant, rules cannot tell.
    if len(whole) != 1:
        return None
    value = whole.pop()
    return int(value) if value == int(value) else value


def _date(sentence: str) -> str | None:
    for year, month, day, _ in facts_of(sentence).dates:
        if year and month and day:
            return f"{year:04}-{month:02}-{day:02}"
    return None


def _name(field: Field, sentence: str, question: str) -> str | None:
    """Give the one name that the question has not; of several the one behind the field's word."""
    known = frozenset(content_words(question))
    new = [name for name in facts_of(sentence).names if not known.issuperset(content_words(name))]
    own = frozenset(content_words(_wording(field)))
    behind = [name for name in new if own & {*content_words(sentence.partition(name)[0])[-1:]}]
    named = new if len(new) == 1 else behind
    return named[0] if len(named) == 1 else None


def _wording(field: Field) -> str:
    return f"{_spelt_out(field)} {field.said}"


def _spelt_out(field: Field) -> str:
    """`firstLit`, `first_lit`: `first lit`."""
    return " ".join(part for name in field.path for part in _PARTS.findall(name))


def _put(data: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        data = data.setdefault(part, {})
    data[path[-1]] = value
