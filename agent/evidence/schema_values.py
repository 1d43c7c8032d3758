"""Checks the values that a model filled in for a schema, and removes those without evidence.

The object that contains a value is called its record, and is identified by its key (`Kittiwake`).
Numbers, dates and short strings must occur in the passages cited for them, in a place that shows
that they belong to the record: in the field's column of its table row, or in a sentence about it.
Numbers are compared with their units. If the checks are inconclusive, the judge gets the value as a
claim that names the record. Longer strings and yes/no values are kept even if their verdict is
undecided.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agent.evidence.facts import Date, extract_facts, quantities, quantity_at
from agent.evidence.passages import named_cells, nearest_quote, split_row
from agent.evidence.schema import pointer
from agent.evidence.tokens import tokenize
from agent.evidence.units import (
    field_unit,
    find_unit,
    heading_unit,
    is_rounded,
)
from agent.evidence.verify import verify_claim, with_judge
from agent.types import DataValue, Verdict, VerdictState
from browser.text.sentences import sentences
from browser.text.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.evidence.facts import Quantity
    from agent.evidence.schema import Schema
    from agent.evidence.store import Evidence
    from agent.evidence.units import Unit
    from agent.evidence.verify import Judge
    from agent.types import Passage

ValuePath = tuple[str | int, ...]
MAX_LITERAL_CHARS = 80
"""Maximum length in characters of a name or term, which must occur on the page verbatim."""
_REMOVED = object()
"""Placeholder for a removed value."""
_PRONOUNS = ("It ", "Its ", "He ", "She ", "His ", "Her ", "They ", "Their ", "Er ", "Sie ", "Es ")
"""A sentence that begins with one of these is about the previous sentence's subject."""
_NAME_PART_RE = re.compile(r"[A-Z]?[a-z]+[23]?|[A-Z]+[23]?|\d+|[^\W\d_a-zA-Z]+")
_ISO_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ValuesDraft:
    """A filled-in instance, and the ids of passages cited for each JSON pointer."""

    data: Any
    citations: Mapping[str, Sequence[str]]


@dataclass(slots=True)
class CheckedValues:
    """A checked draft; `notes` lists removed values and remaining schema errors.

    The citations of `values` are source numbers of the run.
    """

    data: Any = None
    values: list[DataValue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_values(
    draft: ValuesDraft, schema: Schema, evidence: Evidence, judge: Judge | None
) -> CheckedValues:
    """Keep the values that have evidence; set others to null, or drop them if null is not allowed.

    `judge` gets values that cannot be decided in code, as claims such as `Heron, built: 1981`.
    """
    check = _ValuesCheck(draft, schema, evidence, judge)
    data = check.rebuild(draft.data, (), ())
    wrong = {where for where, _ in schema.errors(data)}
    for path in check.empty:
        if pointer(path) in wrong:  # the schema does not allow null here
            parent = data
            for part in path[:-1]:
                parent = parent[part]
            if path and isinstance(parent, dict):
                parent.pop(path[-1], None)
    remaining = (f"{where or '/'}: {message}" for where, message in schema.errors(data))
    return CheckedValues(data, check.values, [*check.left_out, *remaining])


@dataclass(frozen=True, slots=True)
class _Record:
    """The object that contains a value.

    `key` is its name in the passages; "" if the entire instance is one record. `others` contains
    the keys of its siblings, `fields` the names of its fields.
    """

    key: str = ""
    others: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _ValueContext:
    """A value with the names on its path, its record, and the passages cited for it."""

    value: Any
    names: tuple[str, ...]
    description: str
    record: _Record
    passages: tuple[Passage, ...]
    titles: tuple[str, ...]
    subject: frozenset[str]

    @property
    def name(self) -> str:
        """The names on the value's path as words: `ships length m`."""
        return " ".join(self.names)

    @property
    def unit(self) -> Unit | None:
        """The unit of the value's field."""
        return field_unit(self.names[-1] if self.names else "", self.description)

    @property
    def stems(self) -> frozenset[str]:
        """The word stems in the name of the value's field, without the unit."""
        return _stems(self.names[-1] if self.names else "")

    @property
    def shown(self) -> str:
        """The value as shown in a claim: with its unit, or as `yes` or `no`."""
        if isinstance(self.value, bool):
            return ("no", "yes")[self.value]
        if not isinstance(self.value, int | float) or self.unit is None:
            return str(self.value)
        unit = _NAME_PART_RE.findall(self.names[-1])[-1]
        return f"{self.value} {unit}" if find_unit(unit) else str(self.value)

    @property
    def claim(self) -> str:
        """A claim that states the value and names its record: `Kittiwake, length: 41 m`."""
        spelt = [_NAME_PART_RE.findall(name) for name in self.names]
        if spelt and len(spelt[-1]) > 1 and self.shown != str(self.value):
            spelt[-1].pop()  # the unit, which follows the value
        names = [" ".join(words) for words in spelt]
        if self.record.key:
            return f"{self.record.key}, {names[-1] if names else 'name'}: {self.shown}"
        return f"{' '.join(names)}: {self.shown}"


class _ValuesCheck:
    """Rebuilds an instance from the values that have evidence.

    `left_out` gives the position of each removed value and the reason; `empty` lists the paths in
    the new instance that lost their values.
    """

    def __init__(
        self, draft: ValuesDraft, schema: Schema, evidence: Evidence, judge: Judge | None
    ) -> None:
        self._draft = draft
        self._evidence = evidence
        self._judge = judge
        self._descriptions = {field.path: field.description for field in schema.fields()}
        self.values: list[DataValue] = []
        self.left_out: list[str] = []
        self.empty: list[ValuePath] = []

    def rebuild(
        self,
        node: Any,
        old: ValuePath,
        new: ValuePath,
        record: _Record = _Record(),
    ) -> Any:
        """Rebuild a node; its path changes from `old` to `new`, as removed items shift others."""
        if isinstance(node, dict):
            record = replace(record, fields=tuple(node))
            named = {k: _name_words(k) for k, inner in node.items() if isinstance(inner, dict)}
            built = {}
            for k, inner in node.items():
                own = record
                if k in named and len(named) > 1:  # {"north": {…}, "south": {…}}
                    others = tuple(name for other, name in named.items() if other != k)
                    own = _Record(named[k], others)
                built[k] = self.rebuild(inner, (*old, k), (*new, k), own)
            return {key: None if inner is _REMOVED else inner for key, inner in built.items()}
        if isinstance(node, list):
            items: list[Any] = []
            keys = _keys(node)
            for number, inner in enumerate(node):
                own = record
                if keys[number]:
                    others = tuple(key for key in keys if key and key != keys[number])
                    own = _Record(keys[number], others)
                values_before, item_path = len(self.values), (*new, len(items))
                item = self.rebuild(inner, (*old, number), item_path, own)
                has_values = len(self.values) > values_before
                if item is _REMOVED or (isinstance(item, dict) and not has_values):
                    # The entire item is removed, so its empty paths no longer exist.
                    self.empty = [
                        path for path in self.empty if path[: len(item_path)] != item_path
                    ]
                else:
                    items.append(item)
            return items
        return None if node is None else self._value(node, old, new, record)

    def _value(self, value: Any, old: ValuePath, new: ValuePath, record: _Record) -> Any:
        """Check a value against the passages cited for it, or for the nearest object above it."""
        ids: Sequence[str] = ()
        for end in range(len(old), -1, -1):
            if ids := self._draft.citations.get(pointer(old[:end]), ()):
                break
        passages = [p for p in map(self._evidence.passage, ids) if p is not None]
        sources = [s for p in passages if (s := self._evidence.source(p.source)) is not None]
        sources = list(dict.fromkeys(sources))
        titles = tuple(source.title for source in sources)
        context = _ValueContext(
            value,
            tuple(part for part in old if isinstance(part, str)),
            self._descriptions.get(tuple("*" if isinstance(p, int) else p for p in old), ""),
            record,
            tuple(passages),
            titles,
            frozenset(content_words(" ".join((self._evidence.question, *titles)))),
        )
        rows = [
            passage
            for source in sources
            for passage in source.passages
            if _is_row_of(passage, record) or _is_property(context, passage)
        ]
        verdict = _check(context, tuple(dict.fromkeys((*passages, *rows))))
        if verdict.state is VerdictState.UNDECIDED:
            pages = [p for source in sources for p in source.passages]
            judged = self._judge(context.claim, passages) if self._judge else None
            verdict = _with_judge(context, verdict, judged, pages)
        if verdict.state in (VerdictState.UNCITED, VerdictState.CONTRADICTED):
            self.left_out.append(f"{pointer(old) or '/'}: left out: {verdict.reason}")
            self.empty.append(new)
            return _REMOVED
        self.values.append(
            DataValue(
                pointer=pointer(new),
                value=value,
                citations=[source.n for source in sources],
                verdict=verdict.state,
                quote=verdict.quote,
                reason=verdict.reason,
            )
        )
        return value


def _keys(items: Sequence[Any]) -> list[str]:
    """Return the key of each list item: the value of the first field that distinguishes them.

    The key is "" if an item is not an object or has no such value.
    """
    rows = [
        {k: str(v) for k, v in item.items() if isinstance(v, str | int | float) and v is not True}
        for item in items
        if isinstance(item, dict)
    ]
    fields = dict.fromkeys(field for row in rows for field in row)
    distinct = (f for f in fields if len({row.get(f) for row in rows}) == len(rows))
    key = next(distinct, next(iter(fields), ""))
    named = (str(item.get(key) or "") if isinstance(item, dict) else "" for item in items)
    return [name if len(name) <= MAX_LITERAL_CHARS else "" for name in named]


def _name_words(name: str) -> str:
    """Write a field's name as words: `northWood`, `north_wood` → `north wood`."""
    return " ".join(_NAME_PART_RE.findall(name)).lower()


def _stems(name: str) -> frozenset[str]:
    parts = _NAME_PART_RE.findall(name)
    if len(parts) > 1 and find_unit(parts[-1]):
        parts = parts[:-1]
    return frozenset(content_words(" ".join(parts)))


def _check(context: _ValueContext, passages: Sequence[Passage]) -> Verdict:
    """Check a value against its cited passages and its record's table rows, without a judge.

    Numbers and dates must occur in a passage, short strings in a passage or a page's title. Longer
    strings and yes/no values may stay undecided. The verdict's quote is a verbatim sentence.
    """
    value, record = context.value, context.record
    if not context.passages:
        return Verdict(VerdictState.UNCITED, reason="no passage from the run is cited")
    if not _must_be_literal(value):
        claim = value if isinstance(value, str) else context.claim
        verdict = verify_claim(claim, context.passages)
        quote = verdict.quote or nearest_quote(claim, context.passages)
        return replace(verdict, quote=quote, missing=())

    rows = [p for p in passages if p.kind == "table" and named_cells(p)]
    if found := _check_rows(context, rows):
        return found
    readings = [_find_in_passage(context, p) for p in passages if p not in rows]
    for state in (VerdictState.SUPPORTED, VerdictState.CONTRADICTED):
        if found := next((r for r in readings if r and r.state is state), None):
            return found
    title = next((t for t in context.titles if contains_value(value, t)), "")
    if title and isinstance(value, str):
        return Verdict(VerdictState.SUPPORTED, title, "the value is in the page's title")
    undecided = (r for r in (*readings, *(_find_in_passage(context, row) for row in rows)) if r)
    if found := next(undecided, None):
        return replace(found, state=VerdictState.UNDECIDED)
    reason = "the value does not appear in the passage cited for it"
    if record.key and not contains_value(str(value), record.key):
        reason = f"the value does not appear in the passages cited for “{record.key}”"
    return Verdict(VerdictState.UNDECIDED, "", reason, missing=(context.shown,))


def _check_rows(context: _ValueContext, rows: Sequence[Passage]) -> Verdict | None:
    """Look up a value in its record's table rows, in the column of its field.

    Returns None if the tables do not decide.
    """
    record, is_key = context.record, str(context.value) == context.record.key
    own = [row for row in rows if _is_row_of(row, record)] if record.key else list(rows)
    contradicted: Verdict | None = None
    for row in _nearest_by_heading(context, own):
        cells = named_cells(row)
        column = [(name, cell) for name, cell in cells if _matches(context, name)]
        if _is_property(context, row):
            column = cells[1:]
        decides = bool(column)
        if not column and (record.key or is_key):
            column = [(name, cell) for name, cell in cells if not _is_of_other_field(context, name)]
        for name, cell in column:
            state, reason = _compare(context, cell, name)
            if state is VerdictState.SUPPORTED:
                return Verdict(state, row.text.strip(), reason, passage=row.id)
            if state is VerdictState.CONTRADICTED and decides:
                contradicted = Verdict(state, row.text.strip(), reason, passage=row.id)
    if contradicted and not any(
        _find_in_passage(context, p) for p in context.passages if p.kind != "table"
    ):
        return contradicted
    return None


def _nearest_by_heading(context: _ValueContext, rows: Sequence[Passage]) -> Sequence[Passage]:
    """Keep the rows whose headings share the most words with the field, as in `passengers_2019`."""
    shared = [len(context.stems & set(content_words(row.heading))) for row in rows]
    return [row for row, n in zip(rows, shared, strict=True) if n == max(shared)]


def _matches(context: _ValueContext, heading: str) -> bool:
    return bool(context.stems & set(content_words(heading)))


def _is_of_other_field(context: _ValueContext, heading: str) -> bool:
    """Return whether a column belongs to another field of the record."""
    own = context.names[-1] if context.names else ""
    words_of = set(content_words(heading))
    return any(_stems(name) & words_of for name in context.record.fields if name != own)


def _is_row_of(passage: Passage, record: _Record) -> bool:
    """Return whether a passage is a table row with a cell that is the record's key."""
    if passage.kind != "table" or not record.key:
        return False
    key = words(record.key)
    return any(words(cell) == key for cell in split_row(passage.text))


def _is_property(context: _ValueContext, passage: Passage) -> bool:
    """Return whether a passage is the field's row in a table of one thing's properties."""
    cells = named_cells(passage) if not context.record.key else []
    return len(cells) == 2 and _matches(context, cells[0][1]) and not _matches(context, cells[1][0])


def _compare(context: _ValueContext, text: str, heading: str = "") -> tuple[VerdictState, str]:
    """Compare a value with a cell or a sentence about its field.

    Returns supported, contradicted (a number in another unit, or a cell with another number), or
    undecided.
    """
    value, wanted = context.value, context.unit
    if isinstance(value, int | float) and wanted is not None:
        unit = heading_unit(heading)
        found = [q if q.unit else q._replace(unit=unit) for q in quantities(text)]
        if decided := _compare_measured(value, wanted, found):
            return decided
        if any(q.unit and q.unit.dimension == wanted.dimension for q in found):
            return _other_value(heading, text)
    if contains_value(value, text):
        return VerdictState.SUPPORTED, "the value appears there"
    return _other_value(heading, text)


def _compare_measured(
    value: float, wanted: Unit, found: Sequence[Quantity]
) -> tuple[VerdictState, str] | None:
    """Compare a number and its unit with those in `found`; None if none of them has this value."""
    refused: tuple[VerdictState, str] | None = None
    for quantity in found:
        if quantity.unit is None:
            continue
        converted = quantity.unit.convert(quantity.value, wanted)
        if converted is not None and math.isclose(converted, value):
            return VerdictState.SUPPORTED, "the value appears there"
        if quantity.unit == wanted:
            continue
        if converted is not None and is_rounded(value, converted):
            return VerdictState.SUPPORTED, f"it is “{quantity.text}”, converted"
        if math.isclose(quantity.value, value):
            reason = f"the page says “{quantity.text}”, in another unit"
            if converted is not None:
                reason += f": that is {converted:.6g} in the field's unit"
            refused = VerdictState.CONTRADICTED, reason
    return refused


def _other_value(heading: str, text: str) -> tuple[VerdictState, str]:
    """Return the result for a value not found: contradicted in a cell, undecided in a sentence."""
    if heading and text.strip():
        return VerdictState.CONTRADICTED, f"the row has “{text}” in the column “{heading}”"
    return VerdictState.UNDECIDED, ""


def _find_in_passage(context: _ValueContext, passage: Passage) -> Verdict | None:
    """Look up a value in a passage's sentences; None if none of them contains it.

    A value in a sentence about its record is supported; in any other sentence, it is undecided.
    """
    text, undecided = passage.text, None
    contradicted: Verdict | None = None
    about = _records_named_in(context, f"{' '.join(context.titles)} {passage.heading}")
    if not context.record.key:  # a page selected for the question is assumed to be about it
        about = about or {""}
    is_key = str(context.value) == context.record.key
    spans = [(0, len(text))] if passage.kind == "table" else sentences(text)
    for start, end in spans:
        sentence = text[start:end]
        named = _records_named_in(context, sentence)
        state, reason = _compare(context, sentence)
        about = named or about
        if state is VerdictState.CONTRADICTED:
            if about == {context.record.key}:
                contradicted = Verdict(state, sentence, reason, passage=passage.id)
            continue
        if state is not VerdictState.SUPPORTED:
            continue
        is_about_it = is_key or about == {context.record.key}
        if is_about_it and not _may_be_of_another_field(context, sentence):
            return Verdict(state, sentence, reason, passage=passage.id)
        whose = f"“{context.record.key}”" if context.record.key else "the question's subject"
        whose = f"“{context.name}”" if is_about_it else whose
        reason = f"the value appears there, but may not belong to {whose}"
        undecided = Verdict(VerdictState.UNDECIDED, sentence, reason, passage=passage.id)
    return contradicted or undecided


def _may_be_of_another_field(context: _ValueContext, sentence: str) -> bool:
    """Return whether a sentence has several numbers of the value's kind, as in `from 829 to 851`.

    Returns False if the field's words are closer to the value than to the other numbers.
    """
    if not isinstance(context.value, int | float) or str(context.value) == context.record.key:
        return False
    tokens = tokenize(sentence)
    numbers = {i: quantity_at(tokens, i, sentence) for i, t in enumerate(tokens) if t.value}
    own = {i for i, number in numbers.items() if _is_number(context, number)}
    kinds = {_kind_of(numbers[i]) for i in own}
    others = {i for i, number in numbers.items() if _kind_of(number) in kinds} - own
    if not (own and others):
        return False
    stems = [frozenset(content_words(token.key)) for token in tokens]
    found = [[i for i, own in enumerate(stems) if word in own] for word in context.stems]
    words_of_field = [positions for positions in found if positions]

    def distance(numbers: set[int]) -> int:
        """Add up the distances from each of the field's words to the nearest of some numbers."""
        return min(sum(min(abs(i - j) for j in word) for word in words_of_field) for i in numbers)

    return not words_of_field or distance(others) <= distance(own)


def _is_number(context: _ValueContext, number: Quantity) -> bool:
    """Return whether a number from the page, converted if necessary, equals the value."""
    value = number.value
    if number.unit and context.unit:
        value = number.unit.convert(value, context.unit) or value
    return math.isclose(value, context.value) or is_rounded(context.value, value)


def _kind_of(number: Quantity) -> str:
    """Return the kind of a number: its dimension, `year`, or "" for a plain number."""
    if number.unit:
        return number.unit.dimension
    return "year" if number.text.isdigit() and 1000 <= number.value < 2200 else ""


def _records_named_in(context: _ValueContext, text: str) -> set[str]:
    """Return the keys of the records named in `text`; {""} means the entire instance."""
    record = context.record
    if record.key:
        named = {k for k in (record.key, *record.others) if contains_value(k, text)}
        # `North Wood` does not name `North`, unless that also appears by itself.
        return {k for k in named if not any(k != o and contains_value(k, o) for o in named)}
    fields = {stem for name in record.fields for stem in _stems(name)}
    names = [name for name in extract_facts(text).names if name not in str(context.value)]
    names = [name for name in names if not fields.issuperset(content_words(name))]
    known = [_is_subject(name, text, context.subject) for name in names]
    if any(known):
        return {""}
    return {"?"} if known and not text.lstrip().startswith(_PRONOUNS) else set()


def _is_subject(name: str, text: str, subject: frozenset[str]) -> bool:
    """Return whether a name refers to the subject; `Type 4` is not a name of `Type 9`."""
    number = re.search(rf"{re.escape(name)}[ -](\d+)\b", text)
    if number and number[1] not in subject:
        return False
    return bool(subject & set(content_words(name)))


def _with_judge(
    context: _ValueContext, verdict: Verdict, judged: Verdict | None, pages: Sequence[Passage]
) -> Verdict:
    """Combine the checks' verdict on a value with a judge's, which must quote the value."""
    must_be_literal = _must_be_literal(context.value)
    if judged is None:
        state = VerdictState.CONTRADICTED if must_be_literal and verdict.missing else verdict.state
        return replace(verdict, state=state)
    missing = (context.shown,) if must_be_literal else ()
    final = with_judge(
        context.claim, replace(verdict, missing=missing), judged, pages, context.titles
    )
    if final.state is VerdictState.SUPPORTED:
        passage = next((p for p in pages if p.id == final.passage), None)
        named = _records_named_around(context, final.quote, passage) if passage else set()
        if named and context.record.key and context.record.key not in named:
            reason = f"the quoted words are about “{min(named)}”"
            return replace(final, state=VerdictState.CONTRADICTED, reason=reason)
        return final
    is_refused = final.decided_by == "judge" or bool(verdict.missing)
    return (
        replace(final, state=VerdictState.CONTRADICTED) if must_be_literal and is_refused else final
    )


def _records_named_around(context: _ValueContext, quote: str, passage: Passage) -> set[str]:
    """Return the keys named in a quote, otherwise in its sentence or in the headings above."""
    text = passage.text
    spans = [(0, len(text))] if passage.kind == "table" else sentences(text)
    sentence = next((text[a:b] for a, b in spans if quote in text[a:b]), text)
    named = (_records_named_in(context, part) for part in (quote, sentence, passage.heading))
    return next(filter(None, named), set())


def _must_be_literal(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_LITERAL_CHARS
    return not isinstance(value, bool)


def contains_value(value: Any, text: str) -> bool:
    """Return whether `text` contains a number, ISO date or words, regardless of their format."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        facts = extract_facts(text)
        found = [number for figure in facts.figures for number in figure.possible_values]
        found += [float(date.year) for date in facts.dates if date.year]
        # The text may give a share as a percentage.
        spellings = (value, 100 * value) if 0 < value < 1 else (value,)
        return any(math.isclose(number, other) for number in found for other in spellings)
    date = _ISO_DATE.fullmatch(value)
    if date is not None:
        year, month, day = (int(part) if part else None for part in date.groups())
        own = Date(year, month, day, value)
        return any(own.matches(found) for found in extract_facts(text).dates)
    # Spaces at both ends prevent matches inside a longer word.
    return f" {' '.join(words(value))} " in f" {' '.join(words(text))} "
