"""From what was filled in to what stays: values with evidence, valid where that can be had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.types import Verdict, VerdictState
from agent.values.holding import held
from agent.values.schema import pointer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.evidence import Evidence
    from agent.types import Passage
    from agent.values.schema import Schema

Path = tuple[str | int, ...]
_GONE = object()
"""Stands in the place of a value that is left out."""


@dataclass(frozen=True, slots=True)
class Draft:
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
class Weighed:
    """What is left of a draft: `notes` say what was left out, and what the schema still wants."""

    data: Any = None
    values: list[Value] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def weighed(draft: Draft, schema: Schema, evidence: Evidence) -> Weighed:
    """Keep the values that have evidence; the others become null, or are absent."""
    sifting = _Sifting(draft, evidence)
    data = sifting.rebuilt(draft.data, (), ())
    wrong = {where for where, _ in schema.errors(data)}
    for path in sifting.empty:
        if pointer(path) in wrong:
            _remove(data, path)
    said = (f"{where or '/'}: left out: {why}" for where, why in sifting.left_out)
    still = (f"{where or '/'}: {message}" for where, message in schema.errors(data))
    return Weighed(data, sifting.values, [*said, *still])


class _Sifting:
    """Builds an instance anew of the values that have evidence.

    `left_out` says where a value stood that has none, and why; `empty` where there is none now.
    """

    def __init__(self, draft: Draft, evidence: Evidence) -> None:
        self._draft = draft
        self._evidence = evidence
        self.values: list[Value] = []
        self.left_out: list[tuple[str, str]] = []
        self.empty: list[Path] = []

    def rebuilt(self, node: Any, old: Path, new: Path) -> Any:
        """Build a node anew; `old` and `new` are where it stood, and where it does now."""
        if isinstance(node, dict):
            built = {
                key: self.rebuilt(inner, (*old, key), (*new, key)) for key, inner in node.items()
            }
            return {key: None if inner is _GONE else inner for key, inner in built.items()}
        if isinstance(node, list):
            return self._rebuilt_list(node, old, new)
        return None if node is None else self._value(node, old, new)

    def _rebuilt_list(self, node: list[Any], old: Path, new: Path) -> list[Any]:
        items: list[Any] = []
        for number, inner in enumerate(node):
            known = len(self.values)
            place = (*new, len(items))
            item = self.rebuilt(inner, (*old, number), place)
            bare = item is _GONE or (isinstance(item, dict) and len(self.values) == known)
            if not bare:
                items.append(item)
            else:
                self.empty = [path for path in self.empty if path[: len(place)] != place]
        return items

    def _value(self, value: Any, old: Path, new: Path) -> Any:
        verdict, passages = _verdict(old, value, self._draft, self._evidence)
        if verdict.state in (VerdictState.UNCITED, VerdictState.CONTRADICTED):
            self.left_out.append((pointer(old), verdict.reason))
            self.empty.append(new)
            return _GONE
        sources = tuple(dict.fromkeys(passage.source for passage in passages))
        self.values.append(Value(pointer(new), value, verdict, sources))
        return value


def _verdict(
    path: Path, value: Any, draft: Draft, evidence: Evidence
) -> tuple[Verdict, list[Passage]]:
    named = (draft.citations.get(pointer(path[:end])) for end in range(len(path), -1, -1))
    ids = next((ids for ids in named if ids), ())
    passages = [passage for each in ids if (passage := evidence.passage(each)) is not None]
    said = " ".join(str(part) for part in path if isinstance(part, str))
    titles = [source.title for p in passages if (source := evidence.source(p.source)) is not None]
    return held(value, said, passages, titles), passages


def _remove(data: Any, path: Path) -> None:
    for part in path[:-1]:
        data = data[part]
    if path and isinstance(data, dict):
        data.pop(path[-1], None)
