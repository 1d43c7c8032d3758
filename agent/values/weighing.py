"""From what was filled in to what stays: values with evidence, valid where that can be had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.types import Verdict, VerdictState
from agent.values.holding import held
from agent.values.schema import pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.evidence import Evidence
    from agent.types import Passage
    from agent.values.schema import Schema

Path = tuple[str | int, ...]
_GONE = object()
"""An item of a list of which nothing is left."""


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
    left_out: dict[str, str] = field(default_factory=dict)


def weighed(draft: Draft, schema: Schema, evidence: Evidence) -> Weighed:
    """Keep the values that have evidence; the others become null, or are absent."""
    result = Weighed()
    verdicts = {path: _verdict(path, value, draft, evidence) for path, value in _leaves(draft.data)}
    empty: list[Path] = []
    result.data = _rebuilt(draft.data, (), (), verdicts, result, empty)
    wrong = {where for where, _ in schema.errors(result.data)}
    for path in empty:
        if pointer(path) in wrong:
            _remove(result.data, path)
    said = (f"{where or '/'}: left out: {why}" for where, why in result.left_out.items())
    still = (f"{where or '/'}: {message}" for where, message in schema.errors(result.data))
    result.notes = [*said, *still]
    return result


def _verdict(
    path: Path, value: Any, draft: Draft, evidence: Evidence
) -> tuple[Verdict, list[Passage]]:
    named = (draft.citations.get(pointer(path[:end])) for end in range(len(path), -1, -1))
    ids = next((ids for ids in named if ids), ())
    passages = [passage for each in ids if (passage := evidence.passage(each)) is not None]
    said = " ".join(str(part) for part in path if isinstance(part, str))
    titles = [source.title for p in passages if (source := evidence.source(p.source)) is not None]
    return held(value, said, passages, titles), passages


def _leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(node, dict):
        for key, inner in node.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(node, list):
        for number, inner in enumerate(node):
            yield from _leaves(inner, (*path, number))
    elif node is not None:
        yield path, node


def _rebuilt(
    node: Any,
    old: Path,
    new: Path,
    verdicts: Mapping[Path, tuple[Verdict, list[Passage]]],
    result: Weighed,
    empty: list[Path],
) -> Any:
    """Build the instance anew; `old` and `new` are where the node stood, and where it does now."""
    if isinstance(node, dict):
        built = {
            key: _rebuilt(inner, (*old, key), (*new, key), verdicts, result, empty)
            for key, inner in node.items()
        }
        return {key: None if inner is _GONE else inner for key, inner in built.items()}
    if isinstance(node, list):
        return _rebuilt_list(node, old, new, verdicts, result, empty)
    if node is None:
        return None
    verdict, passages = verdicts[old]
    if verdict.state in (VerdictState.UNCITED, VerdictState.CONTRADICTED):
        result.left_out[pointer(old)] = verdict.reason
        empty.append(new)
        return _GONE
    sources = tuple(dict.fromkeys(passage.source for passage in passages))
    result.values.append(Value(pointer(new), node, verdict, sources))
    return node


def _rebuilt_list(
    node: list[Any],
    old: Path,
    new: Path,
    verdicts: Mapping[Path, tuple[Verdict, list[Passage]]],
    result: Weighed,
    empty: list[Path],
) -> list[Any]:
    items: list[Any] = []
    for number, inner in enumerate(node):
        known = len(result.values)
        place = (*new, len(items))
        item = _rebuilt(inner, (*old, number), place, verdicts, result, empty)
        bare = item is _GONE or (isinstance(item, dict) and len(result.values) == known)
        if not bare:
            items.append(item)
        else:
            empty[:] = [path for path in empty if path[: len(place)] != place]
    return items


def _remove(data: Any, path: Path) -> None:
    for part in path[:-1]:
        data = data[part]
    if path and isinstance(data, dict):
        data.pop(path[-1], None)
