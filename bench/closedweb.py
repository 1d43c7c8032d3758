"""Asks questions over a closed web, each in a real run of the extractive model.

    python -m bench.closedweb FOLDER [--data FOLDER] [--mixed] [--only N] [--every N]
        [--depth D] [--split] [--misses]

FOLDER contains `serve.py` (pages and a SearXNG-like endpoint on loopback); the folder given by
`--data` (default: FOLDER itself) contains `docs.jsonl`, `questions.jsonl` (id, kind, question,
answer, aliases?) and `unanswerable.jsonl` (id, question).

Prints how often the gold answer is in the answer's first sentence, and how often anywhere in it;
how many answers are right; how often the answer or one of the first three passages shown instead
contains it; how many sentences answers have; what is refused; how many quotes are literally on the
saved page; the Brier score of the confidence beside that of a constant (the share of right
answers); and seconds. `--split` also prints the shares shown in both halves of ten random splits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING, Any

from agent import Report, research

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TARGETS_MISSED = 8
ANSWERS_RIGHT = 0.95
SHOWN = {"single": 0.75, "multi": 0.45}
"""Minimum shares of questions whose answer is given, or is in a passage that is shown."""
PASSAGES = 3
"""First passages that count as shown."""
UNANSWERABLE_REFUSED = 0.90
MEAN_SENTENCES, MEDIAN_SECONDS = 1.4, 2.0


@dataclass(frozen=True, slots=True)
class Result:
    """One question's run, with the answer's sentence (from 0) that has the gold answer, or None."""

    question: dict[str, Any]
    report: Report
    place: int | None
    quotes: int
    literal: int
    seconds: float

    @property
    def kind(self) -> str:
        """Single, multi or unanswerable."""
        return str(self.question["kind"])

    @property
    def refused(self) -> bool:
        """Ended as not found."""
        return self.report.status == "not_found"

    @property
    def answered(self) -> bool:
        """Ended with an answer."""
        return self.report.status == "answered"

    @property
    def shown(self) -> bool:
        """The gold answer is given, or is in one of the first passages that are shown."""
        if self.place is not None or self.kind == "unanswerable":
            return self.place is not None
        texts = [f"{one.heading} {one.text}" for one in self.report.closest[:PASSAGES]]
        return any(has_gold(text, self.question) for text in texts)

    @property
    def right(self) -> bool:
        """The gold answer is in the answer, or there is none and nothing was answered."""
        return self.refused if self.kind == "unanswerable" else self.place is not None


def main() -> int:
    """Ask all questions; return 0 if the targets are met, otherwise 8."""
    options = _options()
    data = options.data or options.folder
    questions = load(data)[: options.only][:: options.every]
    with served(options.folder, mixed=options.mixed, data=data) as address:
        results = asyncio.run(ask_all(questions, address, options.depth))
    met = report(results)
    if options.split:
        splits(results)
    for result in results if options.misses else ():
        if not (result.shown or result.right):
            print(f"\n{result.kind} {result.question['question']}")
            print(f"  gold {result.question.get('answer')}\n  {result.report.answer}")
    return 0 if met else TARGETS_MISSED


def load(folder: Path) -> list[dict[str, Any]]:
    """Read the questions, the unanswerable ones last."""
    files = (folder / "questions.jsonl", folder / "unanswerable.jsonl")
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@contextmanager
def served(folder: Path, *, mixed: bool = False, data: Path | None = None) -> Iterator[str]:
    """Serve the closed web until the block ends; yields `127.0.0.1:PORT`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(folder / "serve.py"), "--port", str(port)]
    command += ["--data", str(data)] if data else []
    server = subprocess.Popen(command + ["--mixed"] * mixed, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        if not server.stdout.readline():
            raise SystemExit(f"{folder / 'serve.py'} did not start")
        _until_it_answers(f"http://127.0.0.1:{port}/stats")
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


async def ask_all(
    questions: Iterable[dict[str, Any]], address: str, depth: str = "standard"
) -> list[Result]:
    """Ask the questions one after another, so that the seconds are those of a single run."""
    with tempfile.TemporaryDirectory() as folder:
        return [await ask(question, address, Path(folder), depth) for question in questions]


async def ask(
    question: dict[str, Any], address: str, folder: Path, depth: str = "standard"
) -> Result:
    """Run one question to its report, and look for the gold answer in it."""
    began = time.perf_counter()
    found = await research(
        question["question"],
        model="extractive",
        search=["searxng"],
        searxng_url=f"http://{address}",
        allow_private=[address],
        memory=False,
        data_dir=folder,
        depth=depth,
    )
    took = time.perf_counter() - began
    texts = saved_texts(folder / "runs" / found.run)
    quotes = [_spaced(quote) for source in found.sources for quote in source.quotes]
    literal = sum(any(quote in text for text in texts) for quote in quotes)
    return Result(question, found, gold_place(found, question), len(quotes), literal, took)


def gold_place(found: Report, question: dict[str, Any]) -> int | None:
    """Return the first sentence in an answer that contains the gold answer, in whole words."""
    if found.status != "answered" or not question.get("answer"):
        return None
    said = enumerate(sentence.text for sentence in found.sentences)
    return next((n for n, text in said if has_gold(text, question)), None)


def has_gold(text: str, question: dict[str, Any]) -> bool:
    """Whether a text contains the gold answer, in whole words."""
    wanted = (question["answer"], *question.get("aliases", []))
    return any(f" {plain(gold)} " in f" {plain(text)} " for gold in wanted)


def report(results: list[Result]) -> bool:
    """Print the figures; return whether the targets are met."""
    met: list[bool] = []

    def line(name: str, value: float, target: float, more: str, *, least: bool = True) -> None:
        met.append(value >= target if least else value <= target)
        sign = "≥" if least else "≤"
        print(f"{name:22}{value:7.3f}  ({sign} {target}{'' if met[-1] else ', MISSED'}) {more}")

    for kind, wanted in SHOWN.items():
        asked = [r for r in results if r.kind == kind]
        if asked:
            share = sum(r.shown for r in asked) / len(asked)
            told = sum(r.answered for r in asked)
            line(f"{kind}, answer shown", share, wanted, f"of {len(asked)}, {told} answered")
    answered = [r for r in results if r.answered]
    if answered:
        share = sum(r.right for r in answered) / len(answered)
        line("answers right", share, ANSWERS_RIGHT, f"of {len(answered)}")
        length = fmean(len(r.report.sentences) for r in answered)
        line("sentences, mean", length, MEAN_SENTENCES, "", least=False)
    nothing = [r for r in results if r.kind == "unanswerable"]
    if nothing:
        share = sum(r.refused for r in nothing) / len(nothing)
        line("unanswerable refused", share, UNANSWERABLE_REFUSED, f"of {len(nothing)}")
    quotes, literal = sum(r.quotes for r in results), sum(r.literal for r in results)
    line("quotes literal", literal / quotes if quotes else 1.0, 1.0, f"of {quotes}")
    seconds = sorted(r.seconds for r in results)
    ninth = quantiles(seconds, n=10)[-1] if len(seconds) > 1 else seconds[0]
    line("seconds, median", median(seconds), MEDIAN_SECONDS, f"p90 {ninth:.2f}", least=False)
    brier(answered)
    steps = [r.report.steps for r in results]
    failed = sum(r.report.status not in ("answered", "not_found") for r in results)
    print(f"steps                 median {median(steps):.0f}, most {max(steps)}; failed {failed}")
    return all(met)


def brier(answered: list[Result]) -> None:
    """Print how well confidence tells right answers from wrong ones, compared with a constant."""
    pairs = [(r.report.confidence, r.place is not None) for r in answered]
    told = [(value, right) for value, right in pairs if value is not None]
    if not told:
        print("Brier                 no number was given")
        return
    rate = fmean(right for _, right in told)
    score = fmean((value - right) ** 2 for value, right in told)
    print(f"Brier                 {score:.3f} (a constant {rate * (1 - rate):.3f}) of {len(told)}")


def splits(results: list[Result], times: int = 10) -> None:
    """Print, for each kind, the shares shown in the halves of random splits."""
    for kind in SHOWN:
        of_kind = [r for r in results if r.kind == kind]
        shares: list[float] = []
        for seed in range(times):
            shuffled = random.Random(seed).sample(of_kind, len(of_kind))
            half = len(shuffled) // 2
            halves = (shuffled[:half], shuffled[half:])
            shares += [sum(r.shown for r in part) / len(part) for part in halves if part]
        print(f"{kind:13} halves: " + " ".join(f"{share:.0%}" for share in sorted(shares)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="another folder of pages and questions")
    parser.add_argument("--mixed", action="store_true", help="cookie bars, asides, scripts")
    parser.add_argument("--only", type=int, help="the first N questions")
    parser.add_argument("--every", type=int, help="every Nth question")
    parser.add_argument("--depth", default="standard", help="quick, standard or deep")
    parser.add_argument("--split", action="store_true", help="figures of random halves")
    parser.add_argument("--misses", action="store_true", help="print what went wrong")
    return parser.parse_args()


def _until_it_answers(url: str, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=seconds):
                return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > until:
                raise


def saved_texts(run: Path) -> list[str]:
    """Read the texts of the pages that a run saved."""
    events = (json.loads(line) for line in (run / "journal.jsonl").read_text("utf-8").splitlines())
    sources = (e.get("data", e) for e in events if e.get("type") == "source.added")
    return [_spaced((run / "blobs" / s["text"]).read_text("utf-8")) for s in sources]


def plain(text: str) -> str:
    """Fold a text to its words, without case and punctuation."""
    return " ".join(re.sub(r"\W+", " ", text.casefold()).split())


def _spaced(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
