"""Measures how well memory search works: `python -m bench.recall DATA`.

DATA is a folder with `locomo_dev.json`: long conversations, questions, and the turns that contain
the answers. Measures the recall of that evidence through `Memory.open` with its defaults: by words
alone, with associations and consolidation, and with local embeddings; each also with weights tuned
on the other conversations.
"""

from __future__ import annotations

import itertools
import json
import re
import statistics
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from agent.memory import Memory
from agent.memory import search as ranking
from agent.memory.consolidation import consolidate
from agent.memory.embedders import PACKAGE, MiniLm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

TARGETS_MISSED = 8
RECALL, MRR, RECALL_EMBEDDED = 82.0, 0.67, 83.0
EMBEDDING_WEIGHTS = (0.3, 0.4, 0.5, 0.6)
GRID = {
    "SESSION_WEIGHT": (0.03, 0.06, 0.1),
    "SPEAKER_BONUS": (0.25, 0.35, 0.45),
    "LENGTH_BONUS": (0.05, 0.15),
    "MONTH_BONUS": (0.3, 0.6),
}


@dataclass
class Talk:
    """A conversation in a memory: turns by memory id, and questions with their evidence."""

    place: Path
    memory: Memory
    turns: dict[int, str]
    questions: list[tuple[str, set[str]]]


def main() -> int:
    """Measure; return 8 if a target is missed, 2 if there is no data."""
    files = [Path(a) / "locomo_dev.json" for a in sys.argv[1:]]
    if not files:
        print("usage: python -m bench.recall DATA", file=sys.stderr)
        return 2
    with TemporaryDirectory() as scratch:
        good = [recall(file, Path(scratch)) for file in files]
    return 0 if all(good) else TARGETS_MISSED


def recall(path: Path, scratch: Path) -> bool:
    """Measure by words alone, then with everything else enabled."""
    talks = [_talk(row, scratch / f"talk{n}.db") for n, row in enumerate(_rows(path))]
    words = _mean([_score(talk) for talk in talks])
    good = words[0] >= RECALL and words[1] >= MRR
    print(f"by words: {_told(words)} {_mark(good)}")
    held = _mean([_held_out(talks, talk) for talk in talks])
    print(f"weights tuned without the conversation measured: {_told(held)}")
    return good and _consolidated(talks, words) and _embedded(talks) and _proven(talks)


def _consolidated(talks: Sequence[Talk], before: tuple[float, float]) -> bool:
    """Consolidate until everything is linked, then measure with and without associations."""
    for talk in talks:
        while consolidate(talk.memory.entries, 30.0).linked:
            pass
    linked = _mean([_score(talk) for talk in talks])
    alone = _mean([_score(talk, associations=False) for talk in talks])
    good = all(
        now >= then for then in (before, alone) for now, then in zip(linked, then, strict=True)
    )
    print(f"consolidated: {_told(linked)}, without associations {_told(alone)} {_mark(good)}")
    return good


def _proven(talks: Sequence[Talk]) -> bool:
    """Mark every other question's evidence as used in a verified answer; measure both halves.

    Memories used together are found together when the question is repeated, and questions that were
    never asked lose nothing.
    """
    for talk in talks:
        ids = {turn: id_ for id_, turn in talk.turns.items()}
        for _, gold in talk.questions[::2]:
            talk.memory.entries.links.reinforce([ids[turn] for turn in gold])
    halves = []
    for name, first in (("asked before", 0), ("never asked", 1)):
        on, off = (
            _mean([_score(talk, associations=linked)[first::2] for talk in talks])
            for linked in (True, False)
        )
        halves.append(all(now >= then for now, then in zip(on, off, strict=True)))
        told = f"{_told(on)}, without associations {_told(off)}"
        print(f"questions {name}: {told} {_mark(halves[-1])}")
    return all(halves)


def _embedded(talks: Sequence[Talk]) -> bool:
    """Measure again with local embeddings, and test whether their weight carries over."""
    if find_spec(PACKAGE) is None:
        print("with local embeddings: skipped, the extra `embeddings` is not installed")
        return True
    model = MiniLm()
    for talk in talks:
        talk.memory.close()
        talk.memory = Memory.open(talk.place, embeddings=model)
        consolidate(
            talk.memory.entries, 120.0
        )  # embeds in advance what each search would embed a part of
    scores: dict[float, list[list[tuple[float, float]]]] = {}
    for weight in EMBEDDING_WEIGHTS:
        with _set(ranking, {"MEANING_WEIGHT": weight}):
            scores[weight] = [_score(talk) for talk in talks]
    found = _mean(scores[ranking.MEANING_WEIGHT])
    good = found[0] >= RECALL_EMBEDDED
    print(f"with local embeddings: {_told(found)}, {_milliseconds(talks):.0f} ms {_mark(good)}")
    held = []
    for number in range(len(talks)):
        rest = {w: _mean([s for n, s in enumerate(of) if n != number]) for w, of in scores.items()}
        best = max(rest, key=lambda weight: rest[weight][0] / 100 + rest[weight][1])
        held.append(scores[best][number])
    print(f"their weight tuned without the conversation measured: {_told(_mean(held))}")
    return good


def _milliseconds(talks: Sequence[Talk]) -> float:
    """Return the median search time."""
    took = []
    for talk in talks:
        for question, _ in talk.questions[:30]:
            started = time.perf_counter()
            talk.memory.search(question)
            took.append(1_000 * (time.perf_counter() - started))
    return statistics.median(took)


def _held_out(talks: Sequence[Talk], held: Talk) -> list[tuple[float, float]]:
    rest = [talk for talk in talks if talk is not held]
    grid = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]

    def quality(weights: dict[str, float]) -> float:
        with _set(ranking, weights):
            ten, first = _mean([_score(talk) for talk in rest])
        return ten / 100 + first

    with _set(ranking, max(grid, key=quality)):
        return _score(held)


@contextmanager
def _set(module: ModuleType, values: dict[str, float]) -> Iterator[None]:
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    yield
    for name, value in before.items():
        setattr(module, name, value)


def _score(talk: Talk, *, associations: bool = True) -> list[tuple[float, float]]:
    scores = []
    for question, gold in talk.questions:
        hits = talk.memory.entries.search(question, 50, associations=associations)
        ranked = [talk.turns.get(hit.id, "") for hit in hits]  # an insight is not a turn
        first = next((1 / rank for rank, turn in enumerate(ranked, 1) if turn in gold), 0.0)
        scores.append((100 * len(gold & set(ranked[:10])) / len(gold), first))
    return scores


def _mean(scores: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float]:
    every = [score for talk in scores for score in talk]
    return statistics.mean(s[0] for s in every), statistics.mean(s[1] for s in every)


def _rows(path: Path) -> list[dict[str, object]]:
    return list(json.loads(path.read_text(encoding="utf-8")))


def _talk(row: dict[str, object], place: Path) -> Talk:
    memory, turns = Memory.open(place), {}
    talk = row["conversation"]
    assert isinstance(talk, dict)
    for name in sorted(n for n in talk if re.fullmatch(r"session_\d+", n)):
        stamp = talk[f"{name}_date_time"].upper()
        start = datetime.strptime(stamp, "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)
        for minute, turn in enumerate(talk[name]):
            text = f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption') or ''}"
            at = start + timedelta(minutes=minute)
            turns[memory.add(text, kind="turn", at=at, source=name)] = turn["dia_id"]
    return Talk(place, memory, turns, list(_questions(row["qa"], set(turns.values()))))


def _questions(asked: object, known: set[str]) -> Iterator[tuple[str, set[str]]]:
    assert isinstance(asked, list)
    for entry in asked:
        found = (re.findall(r"D:?(\d+):0*(\d+)", text) for text in entry.get("evidence", []))
        gold = {f"D{session}:{turn}" for pairs in found for session, turn in pairs} & known
        if gold and entry["category"] != 5:  # the fifth category has no answer in the conversation
            yield entry["question"], gold


def _told(score: tuple[float, float]) -> str:
    return f"R@10 {score[0]:.1f}, MRR {score[1]:.3f}"


def _mark(good: bool) -> str:
    return "ok" if good else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
