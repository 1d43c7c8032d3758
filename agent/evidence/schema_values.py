"""Checks the values that a model filled into a schema, and removes those without evidence.

Numbers, dates and short texts must stand in the passages cited for them, or a judge must say that
they follow from them. Longer texts, yes and no stay even if their verdict is undecided.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agent.evidence.facts import extract_facts
from agent.evidence.passages import named_cells, nearest_quote
from agent.evidence.schema import pointer
from agent.evidence.verify import verify_claim
from agent.types import DataValue, Verdict, VerdictState
from browser.text.sentences import sentences
from browser.text.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.evidence.schema import Schema
    from agent.evidence.store import Evidence
    from agent.evidence.verify import Judge
    from agent.types import Passage

ValuePath = tuple[str | int, ...]
SHORT = 80
"""Up to this many characters, a text is a name or term and must stand on the page literally."""
_REMOVED = object()
"""Placeholder for a value that is left out."""
_ISO_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ValuesDraft:
    """A filled-in instance, and the ids of passages cited for each JSON pointer."""

    data: Any
    citations: Mapping[str, Sequence[str]]


@dataclass(slots=True)
class CheckedValues:
    """A checked draft; `notes` say what was left out, and which schema errors remain.

    The citations of `values` are source numbers of the run.
    """

    data: Any = None
    values: list[DataValue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_values(
    draft: ValuesDraft, schema: Schema, evidence: Evidence, judge: Judge | None = None
) -> CheckedValues:
    """Keep the values that have evidence; others become null, or absent where null is not allowed.

    `judge` decides each value that does not stand there, as a claim such as `country: Kenya`.
    """
    check = _ValuesCheck(draft, evidence, judge)
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


class _ValuesCheck:
    """Rebuilds an instance from the values that have evidence.

    `left_out` says where each other value stood and why it goes; `empty` lists the paths in the
    new instance that have lost their value.
    """

    def __init__(self, draft: ValuesDraft, evidence: Evidence, judge: Judge | None) -> None:
        self._draft = draft
        self._evidence = evidence
        self._judge = judge
        self.values: list[DataValue] = []
        self.left_out: list[str] = []
        self.empty: list[ValuePath] = []

    def rebuild(self, node: Any, old: ValuePath, new: ValuePath) -> Any:
        """Rebuild a node; its path was `old` and is `new`, as removed list items shift others."""
        if isinstance(node, dict):
            built = {k: self.rebuild(inner, (*old, k), (*new, k)) for k, inner in node.items()}
            return {key: None if inner is _REMOVED else inner for key, inner in built.items()}
        if isinstance(node, list):
            items: list[Any] = []
            for number, inner in enumerate(node):
                values_before, place = len(self.values), (*new, len(items))
                item = self.rebuild(inner, (*old, number), place)
                has_values = len(self.values) > values_before
                if item is _REMOVED or (isinstance(item, dict) and not has_values):
                    # The item goes as a whole: its empty paths no longer exist.
                    self.empty = [path for path in self.empty if path[: len(place)] != place]
                else:
                    items.append(item)
            return items
        return None if node is None else self._value(node, old, new)

    def _value(self, value: Any, old: ValuePath, new: ValuePath) -> Any:
        """Check a value against the passages cited for it, or for the nearest object above it."""
        ids: Sequence[str] = ()
        for end in range(len(old), -1, -1):
            if ids := self._draft.citations.get(pointer(old[:end]), ()):
                break
        passages = [p for p in map(self._evidence.passage, ids) if p is not None]
        sources = [s for p in passages if (s := self._evidence.source(p.source)) is not None]
        name = " ".join(str(part) for part in old if isinstance(part, str))
        verdict = _check(value, name, passages, [source.title for source in sources])
        is_open = verdict.state not in (VerdictState.SUPPORTED, VerdictState.UNCITED)
        if is_open and self._judge is not None:
            shown = ("no", "yes")[value] if isinstance(value, bool) else value
            judged = self._judge(f"{name.replace('_', ' ')}: {shown}", passages)
            if judged and judged.state is VerdictState.SUPPORTED:
                quote = judged.quote or nearest_quote(f"{name} {value}", passages)
                verdict = replace(judged, quote=quote)
            elif judged:
                state = VerdictState.CONTRADICTED if _must_be_literal(value) else judged.state
                verdict = replace(judged, state=state)
        if verdict.state in (VerdictState.UNCITED, VerdictState.CONTRADICTED):
            self.left_out.append(f"{pointer(old) or '/'}: left out: {verdict.reason}")
            self.empty.append(new)
            return _REMOVED
        self.values.append(
            DataValue(
                pointer=pointer(new),
                value=value,
                citations=list(dict.fromkeys(source.n for source in sources)),
                verdict=verdict.state,
                quote=verdict.quote,
                reason=verdict.reason,
            )
        )
        return value


def _check(value: Any, name: str, passages: Sequence[Passage], titles: Sequence[str]) -> Verdict:
    """Check a value in code against the passages cited for it; `name` is the field's name.

    Numbers, dates and short texts must stand in a passage, texts at least in a page's title. Longer
    texts, yes and no may stay undecided. The verdict's quote is a literal sentence of a passage.
    """
    if not passages:
        return Verdict(VerdictState.UNCITED, reason="no passage of the run is cited")
    for passage in passages:
        if quote := _quote(value, name, passage):
            return Verdict(VerdictState.SUPPORTED, quote, "it stands there", passage=passage.id)
    if isinstance(value, str) and any(contains_value(value, title) for title in titles):
        quote = nearest_quote(f"{name} {value}", passages)
        return Verdict(VerdictState.SUPPORTED, quote, "it stands in the title of the page")
    if _must_be_literal(value):
        reason = "it does not stand in what is cited for it"
        return Verdict(VerdictState.CONTRADICTED, "", reason)
    claim = value if isinstance(value, str) else f"{name}: {'yes' if value else 'no'}"
    verdict = verify_claim(claim, passages)
    return replace(verdict, quote=verdict.quote or nearest_quote(claim, passages), missing=())


def _must_be_literal(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT
    return not isinstance(value, bool)


def _quote(value: Any, name: str, passage: Passage) -> str:
    """Return the sentence or row that contains a value; empty for none.

    In a row with a column for the field, only that column's cell counts.
    """
    field_stems = frozenset(content_words(name.rpartition(" ")[2].replace("_", " ")))
    text = passage.text
    cells = [cell for head, cell in named_cells(passage) if field_stems & set(content_words(head))]
    if cells:
        return text.strip() if any(contains_value(value, cell) for cell in cells) else ""
    for piece in (*(text[start:end] for start, end in sentences(text)), text.strip()):
        if contains_value(value, piece):
            return piece
    return ""


def contains_value(value: Any, text: str) -> bool:
    """Tell whether a text contains a number, an ISO date or words, in any of their spellings."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        facts = extract_facts(text)
        found = [figure.value for figure in facts.figures]
        found += [float(date.year) for date in facts.dates if date.year]
        # The text may give a share in per cent.
        spellings = (value, 100 * value) if 0 < value < 1 else (value,)
        return any(math.isclose(number, other) for number in found for other in spellings)
    date = _ISO_DATE.fullmatch(value)
    if date is not None:
        parts = [int(part) for part in date.groups() if part]
        return any(list(found[: len(parts)]) == parts for found in extract_facts(text).dates)
    # Spaces at both ends keep a word from being found inside another.
    return f" {' '.join(words(value))} " in f" {' '.join(words(text))} "
