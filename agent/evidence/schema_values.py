"""Which of the values stay that were filled into a schema.

Numbers, dates and short texts are looked for in code; what does not stand in what is cited for them
follows from the passages by the word of a judge, or is left out. Of longer texts, and of yes or no,
a verdict may stay open.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agent.evidence.facts import facts_of
from agent.evidence.passages import columns_of, nearest_quote
from agent.evidence.schema import pointer
from agent.evidence.verify import verify_claim
from agent.types import Verdict, VerdictState
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
"""Characters up to which a text is a name or a term, which has to stand there as it is."""
_GONE = object()
"""Stands in the place of a value that is left out."""
_ISO_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ValuesDraft:
    """An instance as it was filled in, and passage ids by the JSON pointers they stand for."""

    data: Any
    citations: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Value:
    """A value that stays, where it stands, and what carries it; `sources` are run numbers."""

    pointer: str
    value: Any
    verdict: Verdict
    sources: tuple[int, ...]


@dataclass(slots=True)
class CheckedValues:
    """What is left of a draft: `notes` say what was left out, and what the schema still wants."""

    data: Any = None
    values: list[Value] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_values(
    draft: ValuesDraft, schema: Schema, evidence: Evidence, judge: Judge | None = None
) -> CheckedValues:
    """Keep the values that have evidence; the others become null, or are absent.

    `judge` is asked of each value that does not stand there, as a claim such as `country: Kenya`.
    """
    check = _ValuesCheck(draft, evidence, judge)
    data = check.rebuild(draft.data, (), ())
    wrong = {where for where, _ in schema.errors(data)}
    for path in check.empty:
        if pointer(path) in wrong:  # null is none of its types: it is absent
            holder = data
            for part in path[:-1]:
                holder = holder[part]
            if path and isinstance(holder, dict):
                holder.pop(path[-1], None)
    still = (f"{where or '/'}: {message}" for where, message in schema.errors(data))
    return CheckedValues(data, check.values, [*check.left_out, *still])


class _ValuesCheck:
    """Builds an instance anew of the values that have evidence.

    `left_out` says of each value that has none where it stood, and why; `empty` where there is
    none now.
    """

    def __init__(self, draft: ValuesDraft, evidence: Evidence, judge: Judge | None) -> None:
        self._draft = draft
        self._evidence = evidence
        self._judge = judge
        self.values: list[Value] = []
        self.left_out: list[str] = []
        self.empty: list[ValuePath] = []

    def rebuild(self, node: Any, old: ValuePath, new: ValuePath) -> Any:
        """Build a node anew; `old` and `new` are where it stood, and where it does now."""
        if isinstance(node, dict):
            built = {k: self.rebuild(inner, (*old, k), (*new, k)) for k, inner in node.items()}
            return {key: None if inner is _GONE else inner for key, inner in built.items()}
        if isinstance(node, list):
            items: list[Any] = []
            for number, inner in enumerate(node):
                known, place = len(self.values), (*new, len(items))
                item = self.rebuild(inner, (*old, number), place)
                if item is _GONE or (isinstance(item, dict) and len(self.values) == known):
                    self.empty = [path for path in self.empty if path[: len(place)] != place]
                else:
                    items.append(item)
            return items
        return None if node is None else self._value(node, old, new)

    def _value(self, value: Any, old: ValuePath, new: ValuePath) -> Any:
        """Check a value against the passages cited for it, or for what it is a part of."""
        cited = (self._draft.citations.get(pointer(old[:end])) for end in range(len(old), -1, -1))
        ids = next((ids for ids in cited if ids), ())
        passages = [p for p in map(self._evidence.passage, ids) if p is not None]
        sources = [s for p in passages if (s := self._evidence.source(p.source)) is not None]
        name = " ".join(str(part) for part in old if isinstance(part, str))
        verdict = _check(value, name, passages, [source.title for source in sources])
        open_ = verdict.state not in (VerdictState.SUPPORTED, VerdictState.UNCITED)
        if open_ and self._judge is not None:
            shown = ("no", "yes")[value] if isinstance(value, bool) else value
            judged = self._judge(f"{name.replace('_', ' ')}: {shown}", passages)
            if judged and judged.state is VerdictState.SUPPORTED:
                quote = judged.quote or nearest_quote(f"{name} {value}", passages)
                verdict = replace(judged, quote=quote)
            elif judged:
                refused = VerdictState.CONTRADICTED if _has_to_stand(value) else judged.state
                verdict = replace(judged, state=refused)
        if verdict.state in (VerdictState.UNCITED, VerdictState.CONTRADICTED):
            self.left_out.append(f"{pointer(old) or '/'}: left out: {verdict.reason}")
            self.empty.append(new)
            return _GONE
        numbers = tuple(dict.fromkeys(source.n for source in sources))
        self.values.append(Value(pointer(new), value, verdict, numbers))
        return value


def _check(value: Any, name: str, passages: Sequence[Passage], titles: Sequence[str]) -> Verdict:
    """Check a value in code against the passages cited for it; `name` is what the field is called.

    Numbers, dates and short texts have to stand there, names perhaps in the title of the page; of
    longer texts and of yes or no a verdict may stay open. The quote is a sentence of a passage,
    literally.
    """
    if not passages:
        return Verdict(VerdictState.UNCITED, reason="no passage of the run is cited")
    for passage in passages:
        if quote := _quote(value, name, passage):
            return Verdict(VerdictState.SUPPORTED, quote, "it stands there", passage=passage.id)
    if isinstance(value, str) and any(stands_in(value, title) for title in titles):
        quote = nearest_quote(f"{name} {value}", passages)
        return Verdict(VerdictState.SUPPORTED, quote, "it stands in the title of the page")
    if _has_to_stand(value):
        reason = "it does not stand in what is cited for it"
        return Verdict(VerdictState.CONTRADICTED, "", reason)
    claim = value if isinstance(value, str) else f"{name}: {'yes' if value else 'no'}"
    verdict = verify_claim(claim, passages)
    return replace(verdict, quote=verdict.quote or nearest_quote(claim, passages), missing=())


def _has_to_stand(value: Any) -> bool:
    return not isinstance(value, bool) and (not isinstance(value, str) or len(value) <= SHORT)


def _quote(value: Any, name: str, passage: Passage) -> str:
    """Give the words that hold a value; of a row with a column for the field, only that counts."""
    field_stems = frozenset(content_words(name.rpartition(" ")[2].replace("_", " ")))
    text = passage.text
    named = [cell for head, cell in columns_of(passage) if field_stems & set(content_words(head))]
    if named:
        return text.strip() if any(stands_in(value, cell) for cell in named) else ""
    pieces = [*(text[start:end] for start, end in sentences(text)), text.strip()]
    return next((piece for piece in pieces if stands_in(value, piece)), "")


def stands_in(value: Any, text: str) -> bool:
    """Tell whether a number, a date or words stand in a text, however they are written there."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        facts = facts_of(text)
        found = [figure.value for figure in facts.figures]
        found += [float(date.year) for date in facts.dates if date.year]
        wanted = (value, 100 * value) if 0 < value < 1 else (value,)  # a share may be per cent
        return any(math.isclose(one, other) for one in found for other in wanted)
    date = _ISO_DATE.fullmatch(value)
    if date is not None:
        parts = [int(part) for part in date.groups() if part]
        return any(list(one[: len(parts)]) == parts for one in facts_of(text).dates)
    # A space at both ends: no word is found inside another.
    return f" {' '.join(words(value))} " in f" {' '.join(words(text))} "
