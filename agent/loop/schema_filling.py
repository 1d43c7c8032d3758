"""Fills in a JSON Schema from a run's passages, with the model or with rules.

Rules find numbers, dates, choices and names in the sentences about a field. Booleans, lists and
free text need a language model.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import ReplayDiverged, ResearchError
from agent.evidence.facts import extract_facts
from agent.evidence.schema import pointer
from agent.evidence.schema_values import CheckedValues, ValuesDraft, check_values, contains_value
from agent.evidence.store import format_passage
from agent.guard.model_client import ModelClient
from agent.journal.events import JUDGE, VALUES
from agent.keyless.question import AnswerKind, analyse
from agent.loop.judge import PASSAGE_ID_RE, cited_passages
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol import inert, loose_object
from agent.types import Message
from browser.text.sentences import sentences
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.schema import Field, Schema
    from agent.evidence.store import Evidence
    from agent.loop.judge import ClaimJudge
    from agent.loop.orchestrator import Orchestrator
    from agent.types import Passage

PASSAGES_PER_FIELD = 4
"""Number of passages retrieved for a field: one contains the value, the others similar values."""
MAX_PASSAGES_CHARS = 24_000
"""Maximum total length of the passages in the request, in characters (about 6,000 tokens)."""
PASSAGES_FOR_RULES = 8
"""Number of passages that code searches for a field's value."""
_NAME_PART_RE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(slots=True)
class SchemaFiller:
    """Fills in a schema from the passages that a run has read.

    The model of `work` is asked once, and a second time to correct errors.
    """

    schema: Schema
    work: Orchestrator
    judge: ClaimJudge

    async def fill(self, question: str, answer: str) -> CheckedValues:
        """Return the values; `answer` is the model's text, with passage ids as citations."""
        work, evidence, record = self.work, self.judge.evidence, self.judge.record
        if not evidence.sources:
            return CheckedValues(notes=["/: nothing was read"])
        if not takes(work.model, Task.VALUES):
            return await self._check(fill_extractively(self.schema, question, evidence), 1)
        asker = ModelClient(work.model, prompt(VALUES), work.budget, record)
        messages = [Message("user", self._request(question, answer))]
        try:
            async with asyncio.timeout(work.budget.seconds_left(reserve=False)):
                reply = (await asker.ask(f"{VALUES}/1", messages)).text
                first = await self._check(_read_draft(reply), 1)
                if not first.notes:
                    return first
                notes = "\n".join(f"- {inert(note)}" for note in first.notes)
                correction = prompt("values-again").replace("{notes}", notes)
                messages += Message("assistant", reply), Message("user", correction)
                reply = (await asker.ask(f"{VALUES}/2", messages)).text
                second = await self._check(_read_draft(reply), 2)
                return second if len(second.values) >= len(first.values) else first
        except ReplayDiverged:
            raise
        except (ResearchError, TimeoutError) as error:
            record("note", VALUES, text=f"the values were not filled in: {error or 'timeout'}")
            return CheckedValues(notes=[f"/: {error or 'no time was left'}"])

    async def _check(self, draft: ValuesDraft, attempt: int) -> CheckedValues:
        """Check a draft with rules, and have the judge decide the values that rules cannot."""
        evidence = self.judge.evidence
        claims: dict[str, Sequence[Passage]] = {}
        checked = check_values(draft, self.schema, evidence, claims.__setitem__)
        if not claims:
            return checked
        await self.judge.decide(claims, f"{JUDGE}/{VALUES}/{attempt}")
        return check_values(draft, self.schema, evidence, self.judge)

    def _request(self, question: str, answer: str) -> str:
        """Write the request, with passages cited by the answer before passages found for fields."""
        evidence, room = self.judge.evidence, MAX_PASSAGES_CHARS
        found = {passage.id: passage for passage in cited_passages(answer, evidence)}
        for field in self.schema.fields():
            query = f"{field.description} {field.name.replace('*', '')} {question}"
            hits = evidence.search(query, PASSAGES_PER_FIELD)
            found.update((passage.id, passage) for passage in hits)
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


def _read_draft(reply: str) -> ValuesDraft:
    fields = loose_object(reply)
    cited: Any = fields.get("citations")
    rows = cited.items() if isinstance(cited, dict) else ()
    citations = {str(place): PASSAGE_ID_RE.findall(str(ids)) for place, ids in rows}
    return ValuesDraft(fields.get("data"), citations)


def fill_extractively(schema: Schema, question: str, evidence: Evidence) -> ValuesDraft:
    """Fill in the fields for which code finds a value; the others are omitted."""
    data: dict[str, Any] = {}
    citations: dict[str, list[str]] = {}
    for field in schema.fields():
        if "*" in field.path or not field.path:  # inside a list, or the root
            continue
        found = _find_value(field, question, evidence)
        if found is None:
            continue
        value, passage_id = found
        parent = data
        for part in field.path[:-1]:
            parent = parent.setdefault(part, {})
        parent[field.path[-1]] = value
        citations[pointer(field.path)] = [passage_id]
    return ValuesDraft(data, citations)


def _find_value(field: Field, question: str, evidence: Evidence) -> tuple[Any, str] | None:
    """Find a field's value, and the id of its passage.

    Sentences with a value are ranked by the number of the field's words that they contain, then by
    the number of the question's words that they and their page's title contain.
    """
    # Both `firstLit` and `first_lit` become `first lit`.
    spelt = " ".join(part for name in field.path for part in _NAME_PART_RE.findall(name))
    wording = f"{spelt} {field.description}"
    field_words = frozenset(content_words(wording))
    question_words = frozenset(content_words(question))
    best_rank, best = (0, 0), None
    for passage in evidence.search(f"{wording} {question}", PASSAGES_FOR_RULES):
        source = evidence.source(passage.source)
        title = frozenset(content_words(source.title if source else ""))
        for start, end in sentences(passage.text):
            sentence = passage.text[start:end]
            stems = frozenset(content_words(sentence))
            rank = (len(field_words & stems), len(question_words & (stems | title)))
            if not rank[0] or (best is not None and rank <= best_rank):
                continue
            value = _read_value(field, wording, sentence, question)
            if value is not None:
                best_rank, best = rank, (value, passage.id)
    return best


def _read_value(field: Field, wording: str, sentence: str, question: str) -> Any:
    """Read a field's value from a sentence; None unless there is exactly one candidate."""
    facts = extract_facts(sentence)
    if field.choices:
        found: list[Any] = [choice for choice in field.choices if contains_value(choice, sentence)]
    elif field.kind in ("integer", "number"):
        field_words = wording.casefold().split()
        if "year" in field_words:
            numbers = [float(date.year) for date in facts.dates if date.year]
        else:
            # Prefer figures whose unit the field mentions.
            measured = [figure for figure in facts.figures if figure.adjacent_word in field_words]
            numbers = [figure.value for figure in measured or facts.figures]
        values = {int(number) if number == int(number) else number for number in numbers}
        values = {value for value in values if not contains_value(value, question)}
        found = [v for v in values if field.kind == "number" or isinstance(v, int)]
    elif field.kind == "string" and field.format.startswith("date"):
        for date in facts.dates:
            if date.year and date.month and date.day:
                return f"{date.year:04}-{date.month:02}-{date.day:02}"
        return None
    elif analyse(f"which {wording}").kind in (AnswerKind.PERSON, AnswerKind.PLACE):
        asked, field_stems = set(content_words(question)), set(content_words(wording))
        names = [name for name in facts.names if not asked.issuperset(content_words(name))]
        # If there are several names, use one directly after a word of the field ("keeper Ada
        # Brask").
        following = [
            name
            for name in names
            if field_stems.intersection(content_words(sentence.partition(name)[0])[-1:])
        ]
        found = names if len(names) == 1 else following
    else:
        return None
    return found[0] if len(found) == 1 else None
