"""Typed relationships between pages, one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PATH = "graph/relationships.jsonl"
TYPES = frozenset(
    "related part_of cites contradicts supports causes precedes similar sequential causal".split()
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relationship: `source` and `target` are pages, `type` is one of `TYPES`."""

    source: str
    target: str
    type: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no relationship; `number` counts from 1."""

    number: int
    reason: str


def read(text: str) -> tuple[list[tuple[int, Relation]], list[BadLine]]:
    """Read the file: relationships with their line numbers, and what is malformed."""
    good: list[tuple[int, Relation]] = []
    bad: list[BadLine] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            good.append((number, _relation(json.loads(line))))
        except (ValueError, RecursionError) as error:
            bad.append(BadLine(number, str(error)))
    return good, bad


def _relation(entry: object) -> Relation:
    if not isinstance(entry, dict):
        raise ValueError("not an object")
    source, target, type_ = (entry.get(name) for name in ("from", "to", "type"))
    if not all(isinstance(value, str) and value for value in (source, target, type_)):
        raise ValueError("from, to and type must be texts")
    return Relation(str(source), str(target), str(type_), str(entry.get("note", "")))


def added(text: str, new: Iterable[Relation]) -> tuple[str, list[Relation]]:
    """Add relationships that are not there yet; returns the new text and what was added."""
    known = {(r.source, r.target, r.type) for _, r in read(text)[0]}
    fresh: list[Relation] = []
    for relation in new:
        name = (relation.source, relation.target, relation.type)
        if name not in known:
            known.add(name)
            fresh.append(relation)
    start = text if not text or text.endswith("\n") else text + "\n"
    return start + "".join(_line(relation) for relation in fresh), fresh


def _line(relation: Relation) -> str:
    entry = asdict(relation)
    named = {"from": entry["source"], "to": entry["target"], "type": entry["type"]}
    if relation.note:
        named["note"] = relation.note
    return json.dumps(named, ensure_ascii=False, separators=(",", ":")) + "\n"
