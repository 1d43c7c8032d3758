"""Questions over a closed web: hits, right refusals, literal quotes, seconds.

    python tests/bench/closedweb.py FOLDER [--mixed] [--only N] [--depth D] [--split] [--misses]

FOLDER holds `serve.py` (pages and a SearXNG-like endpoint on loopback), `questions.jsonl` (id,
kind, question, answer, aliases?) and `unanswerable.jsonl` (id, question). Each question is a real
run of the extractive model. A hit: status answered, at most three cited sentences, each literally
on a saved page, of at most 60 words, at most 90 together, with the gold answer in them.

`--split` also prints the figures of both halves of ten random splits, lowest first: how far they
depend on which questions were asked.
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
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from agent import Report, research

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TARGETS_MISSED = 8
SENTENCES, LONGEST, WORDS = 3, 60, 90
TARGETS = {"single": 0.80, "multi": 0.50, "unanswerable": 0.70}
SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Result:
    """One question's run, judged; `right` is a hit, or for the unanswerable a refusal."""

    question: dict[str, Any]
    status: str
    answer: str
    right: bool
    quotes: int
    literal: int
    steps: int
    seconds: float

    @property
    def kind(self) -> str:
        """Single, multi or unanswerable."""
        return str(self.question["kind"])


def main() -> int:
    """Ask all questions; 0 where the targets are met, 8 where not."""
    options = _options()
    questions = load(options.folder)[: options.only]
    with served(options.folder, mixed=options.mixed) as address:
        results = asyncio.run(ask_all(questions, address, options.depth))
    report(results)
    if options.split:
        splits(results)
    if options.misses:
        for result in results:
            if not result.right:
                print(f"\n{result.kind} {result.question['question']}\n  {result.answer}")
    return 0 if met(results) else TARGETS_MISSED


def load(folder: Path) -> list[dict[str, Any]]:
    """Read the questions, the unanswerable ones last."""
    files = (folder / "questions.jsonl", folder / "unanswerable.jsonl")
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@contextmanager
def served(folder: Path, *, mixed: bool) -> Iterator[str]:
    """Serve the closed web until the block ends; gives `127.0.0.1:PORT`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(folder / "serve.py"), "--port", str(port)]
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
    """Ask one after another, so that the seconds are those of one run."""
    with tempfile.TemporaryDirectory() as folder:
        return [await ask(question, address, Path(folder), depth) for question in questions]


async def ask(
    question: dict[str, Any], address: str, folder: Path, depth: str = "standard"
) -> Result:
    """Run one question to its report, and judge it."""
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
    if question["kind"] == "unanswerable":
        right = found.status == "not_found"
    else:
        right = is_hit(found, [question["answer"], *question.get("aliases", [])], texts)
    return Result(
        question=question,
        status=found.status,
        answer=found.answer,
        right=right,
        quotes=len(quotes),
        literal=sum(any(quote in text for text in texts) for quote in quotes),
        steps=found.steps,
        seconds=took,
    )


def is_hit(found: Report, wanted: list[str], texts: list[str]) -> bool:
    """Whether the answer's sentences keep the rules and hold a wanted answer."""
    said = [_spaced(sentence.text) for sentence in found.sentences]
    lengths = [len(text.split()) for text in said]
    kept = (
        found.status == "answered"
        and 0 < len(said) <= SENTENCES
        and max(lengths) <= LONGEST
        and sum(lengths) <= WORDS
        and all(sentence.citations for sentence in found.sentences)
        and all(any(text in page for page in texts) for text in said)
    )
    answer = f" {_plain(' '.join(said))} "
    return kept and any(f" {_plain(text)} " in answer for text in wanted)


def report(results: list[Result]) -> None:
    """Print the figures."""
    for kind, target in TARGETS.items():
        of_kind = [r for r in results if r.kind == kind]
        if of_kind:
            refused = sum(r.status == "not_found" for r in of_kind)
            print(
                f"{kind:13} {_share(of_kind):6.1%} of {len(of_kind)} right (target {target:.0%}),"
                f" {refused} not_found, {sum(r.status == 'failed' for r in of_kind)} failed"
            )
    quotes = sum(r.quotes for r in results)
    literal = sum(r.literal for r in results)
    print(f"quotes        {literal} of {quotes} stand literally in the saved page")
    seconds = sorted(r.seconds for r in results)
    ninth = quantiles(seconds, n=10)[-1] if len(seconds) > 1 else seconds[0]
    print(f"seconds       median {median(seconds):.2f} (target {SECONDS:.0f}), p90 {ninth:.2f}")
    steps = [r.steps for r in results]
    print(f"steps         median {median(steps):.0f}, most {max(steps)}")


def met(results: list[Result]) -> bool:
    """Whether every kind that was asked reaches its target, in time, with literal quotes."""
    return (
        all(
            _share(of_kind) >= target
            for kind, target in TARGETS.items()
            if (of_kind := [r for r in results if r.kind == kind])
        )
        and median(r.seconds for r in results) <= SECONDS
        and all(r.literal == r.quotes for r in results)
    )


def splits(results: list[Result], times: int = 10) -> None:
    """Print, for each kind, the shares of the halves of random splits."""
    for kind in TARGETS:
        of_kind = [r for r in results if r.kind == kind]
        shares: list[float] = []
        for seed in range(times):
            shuffled = random.Random(seed).sample(of_kind, len(of_kind))
            half = len(shuffled) // 2
            shares += [_share(shuffled[:half]), _share(shuffled[half:])]
        print(f"{kind:13} halves: " + " ".join(f"{share:.0%}" for share in sorted(shares)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mixed", action="store_true", help="cookie bars, asides, scripts")
    parser.add_argument("--only", type=int, help="the first N questions")
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


def _share(results: list[Result]) -> float:
    return sum(r.right for r in results) / len(results) if results else 0.0


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\W+", " ", text.casefold()).split())


if __name__ == "__main__":
    sys.exit(main())
