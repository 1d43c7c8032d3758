"""Replays recorded runs offline and counts how many reproduce their reports byte for byte.

`python -m bench.replays [HOW MANY]` records runs of every kind (live pages, PDF, memories,
subtasks, failures, fallbacks, native calls, …), and the extractive model on the bundled questions
until there are that many (50). They are replayed in a process that cannot open sockets or start
processes, in a network namespace without interfaces if the machine supports it. Exits with 8 if one
differs.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from agent.journal.runs import Runs
from fixtures.server import serve
from tests.agent.models.wire import OpenAIProvider, running
from tests.offline import digest, namespaces, replayed_offline
from tests.recordings import KINDS, Studio

RUNS = 50
TARGETS_MISSED = 8
QUESTIONS = Path(__file__).parents[1] / "fixtures" / "questions.jsonl"


async def record(data: Path, wanted: int) -> None:
    """Record runs of every kind, and of the extractive model up to the number requested."""
    questions = [json.loads(line)["question"] for line in QUESTIONS.read_text().splitlines()]
    with serve() as site, running(OpenAIProvider, "/v1") as provider:
        studio = Studio(site, provider, data)
        for kind in KINDS:
            await kind(studio)
        for question in questions[: wanted - len(KINDS)]:
            await studio.ask(question=question)


def main(wanted: int = RUNS) -> int:
    """Record, replay, compare and print."""
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(record(Path(scratch), wanted))
        folders = [run.path for run in Runs(Path(scratch))]
        began = time.perf_counter()
        now = replayed_offline(folders)
        seconds = time.perf_counter() - began
        then = [digest((folder / "report.json").read_bytes()) for folder in folders]
        statuses = [
            json.loads((folder / "report.json").read_bytes())["status"] for folder in folders
        ]
    same = sum(a == b for a, b in zip(then, now, strict=True))
    where = "a namespace without interfaces" if namespaces() else "all sockets refused"
    print(f"{same} of {len(folders)} runs replay to the same bytes, {where} (target all)")
    print("how they had ended:", dict(Counter(statuses)))
    print(f"{1000 * seconds / len(folders):.0f} ms a run, the start of Python included")
    for before, after in zip(then, now, strict=True):
        if before != after:
            print(f"  not the same: {after}")
    return 0 if same == len(folders) else TARGETS_MISSED


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
