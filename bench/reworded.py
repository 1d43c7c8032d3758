"""Measures what is found when reworded: `python -m bench.reworded`.

There are 60 memories and 40 questions that share hardly a word with them (`reworded.jsonl`),
written before anything was tuned on them. Prints how often the requested memory is among the first
ten, and the mean reciprocal rank: by words and their synonyms, and with local embeddings. There is
no target: words alone cannot know that a dentist checks teeth.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

from agent.memory import Memory
from agent.memory.embedders import PACKAGE

DATA = Path(__file__).with_name("reworded.jsonl")
DAYS = 3 * 86_400.0  # between two memories, so that none is the neighbour of another


def main() -> int:
    """Measure and print."""
    print(f"by words: {_told(_ranks(None))}")
    if find_spec(PACKAGE):
        print(f"with local embeddings: {_told(_ranks('local'))}")
    return 0


def _ranks(embeddings: str | None) -> list[int]:
    """Return the rank at which each question finds its memory, from 1; 0 if not at all."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    with Memory.open(":memory:", embeddings=embeddings) as memory:
        ids = [memory.add(row["memory"], at=1.7e9 + DAYS * n) for n, row in enumerate(rows)]
        found = [
            ([hit.id for hit in memory.search(question, 50)], id_)
            for id_, row in zip(ids, rows, strict=True)
            for question in row["questions"]
        ]
    return [hits.index(id_) + 1 if id_ in hits else 0 for hits, id_ in found]


def _told(ranks: list[int]) -> str:
    among = 100 * sum(0 < rank <= 10 for rank in ranks) / len(ranks)
    mrr = sum(1 / rank for rank in ranks if rank) / len(ranks)
    return f"R@10 {among:.0f}, MRR {mrr:.3f} ({len(ranks)} questions)"


if __name__ == "__main__":
    sys.exit(main())
