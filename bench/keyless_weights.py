"""Fits the extractive scorer's weights on one closed web and tests them on the other.

    python -m bench.keyless_weights FOLDER OTHER

Each folder contains `docs.jsonl` and `questions.jsonl` (see `closedweb.py`). The ten pages that
BM25 finds for a question stand in for its research; no run is made. A grid of the two weights that
matter (what the surroundings say, what the sentence says; the kind of answer is the unit) is
searched on one folder. The best point is printed for both folders, with the share of questions
whose best sentence contains the gold answer, as is the point currently in use.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

from agent.evidence import split_passages
from agent.keyless import ranking
from agent.keyless.question import analyse
from agent.types import Observation, ToolCall
from bench.closedweb import plain
from browser.text.words import BM25, content_words

CONTEXT = (3.0, 5.0, 7.5, 10.0)
SENTENCE = (0.0, 2.0, 3.5, 5.0, 7.5)
PAGES = 10

Case = tuple[str, list[ranking.Candidate], list[str]]


def main(folder: Path, other: Path) -> None:
    """Search the grid on each folder; print its best point's score on both."""
    now = (ranking.CONTEXT_WEIGHT, ranking.SENTENCE_WEIGHT)
    webs = {place.name: cases(place) for place in (folder, other)}
    grid = {
        point: {name: share(of, *point) for name, of in webs.items()}
        for point in itertools.product(CONTEXT, SENTENCE)
    }

    for name in webs:
        best = max(grid, key=lambda point: grid[point][name])
        print(f"best on {name}: {best} " + str({k: round(v, 3) for k, v in grid[best].items()}))
    print(f"as it is: {now} " + str({name: round(share(of, *now), 3) for name, of in webs.items()}))


def cases(folder: Path) -> list[Case]:
    """Read the questions, each with the sentences from the pages found for it."""
    pages = _rows(folder / "docs.jsonl")
    index = BM25(
        [content_words(f"{page['title']} {page['title']} {page['text']}") for page in pages]
    )
    found: list[Case] = []
    for row in _rows(folder / "questions.jsonl"):
        best = index.best(content_words(row["question"]), PAGES)
        read = [_observation(pages[number], n) for n, (number, _) in enumerate(best, 1)]
        wanted = [f" {plain(text)} " for text in (row["answer"], *row.get("aliases", []))]
        found.append((row["question"], ranking.extract_candidates(read), wanted))
    return found


def share(of: list[Case], in_context: float, in_sentence: float) -> float:
    """Return the share of questions whose best sentence contains the gold answer."""
    ranking.CONTEXT_WEIGHT, ranking.SENTENCE_WEIGHT = in_context, in_sentence
    right = 0
    for question, candidates, wanted in of:
        scored = ranking.Ranking(analyse(question), candidates).scored
        said = f" {plain(scored[0].candidate.text)} " if scored else ""
        right += any(text in said for text in wanted)
    return right / len(of)


def _observation(page: dict[str, Any], number: int) -> Observation:
    text = page["text"].replace("\n", "\n\n")
    data = {"url": page["id"], "title": page["title"]}
    return Observation(ToolCall("READ"), data, tuple(split_passages(text, number)))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
