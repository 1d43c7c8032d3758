"""Asks the questions about the bundled web, each in a real run of the extractive model.

    python -m bench.bundled [--misses]

Prints, by what a question needs (one page, two, a PDF, a script, a click …), how many were answered
with the gold answer in at most three cited sentences or, if there is no answer, ended as not found;
and the median seconds.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import research
from browser.text.words import words
from fixtures.server import Site, serve

if TYPE_CHECKING:
    from agent import Report

QUESTIONS = Path(__file__).parents[1] / "fixtures" / "questions.jsonl"
MOST_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question, how its run ended, and whether that was right."""

    question: dict[str, Any]
    report: Report
    seconds: float

    @property
    def right(self) -> bool:
        if self.question["answer"] is None:
            return self.report.status == "not_found"
        cited = [s.text for s in self.report.sentences if s.citations]
        gold = " ".join(words(self.question["answer"]))
        return (
            self.report.status == "answered"
            and len(self.report.sentences) <= MOST_SENTENCES
            and gold in " ".join(word for text in cited for word in words(text))
        )


async def main(*, show_misses: bool) -> None:
    """Ask all questions one after another and print the table."""
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    with serve() as site, tempfile.TemporaryDirectory() as folder:
        tried = [await ask(question, site, folder) for question in questions]
    by_need: dict[str, list[QuestionResult]] = defaultdict(list)
    for one in tried:
        by_need[one.question["needs"]].append(one)
    for need, group in [*by_need.items(), ("all", tried)]:
        seconds = statistics.median(one.seconds for one in group)
        print(f"{need:14} {sum(one.right for one in group):3} / {len(group):<3} {seconds:6.2f} s")
    for one in tried:
        if show_misses and not one.right:
            print(f"\n{one.question['needs']}: {one.question['question']}")
            print(f"  gold {one.question['answer']}, got {one.report.status}: {one.report.answer}")


async def ask(question: dict[str, Any], site: Site, folder: str) -> QuestionResult:
    began = time.perf_counter()
    report = await research(
        question["question"],
        model="extractive",
        search=["searxng"],
        searxng_url=site.url,
        allow_private=[site.address],
        data_dir=folder,
        memory=False,
    )
    return QuestionResult(question, report, time.perf_counter() - began)


if __name__ == "__main__":
    asyncio.run(main(show_misses="--misses" in sys.argv))
