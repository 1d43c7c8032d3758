"""Filling in a schema without a language model: what a sentence on the field plainly says.

Numbers, dates, one of several choices and names are looked for in the sentences that speak of the
field; yes or no, lists, and texts of one's own words are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent.evidence.facts import facts_of, unit_named
from agent.review.schema import pointer
from agent.review.values_draft import ValuesDraft, stands_in
from browser.text.sentences import sentences
from browser.text.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.evidence.store import Evidence
    from agent.review.schema import Field, Schema

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
    units = {unit for word in words(_wording(field)) if (unit := unit_named(word))}
    figures = [f.value for f in facts.figures if not units or f.unit in units]
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
