"""Tests a small local model in guided mode over a closed web.

    python -m bench.guided FOLDER [--model FILE.gguf] [--single STEP] [--refuse STEP] [--start N]

FOLDER is as for `closedweb.py`. The model file is `--model`, else the one named by
URCHIN_BENCH_MODEL, else the first `*.gguf` below it; without one there is nothing to measure. Every
STEP-th question about a page and every STEP-th unanswerable one, from the N-th on, is a real run
with the model's real server; another N asks other questions. An answer is right if it has at most
25 words and contains a gold answer.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median

from agent import research
from agent.models.local import serve_model_file
from bench.closedweb import TARGETS_MISSED, load, served

SHARE, WRONG, REFUSED, SECONDS, WORDS = 0.72, 0.10, 0.80, 15.0, 25
WINDOW = 4_096


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


async def measure(options: argparse.Namespace, file: str, address: str) -> bool:
    """Ask the questions one after another; return whether the targets are met."""
    questions = load(options.folder)
    single = [q for q in questions if q["kind"] == "single"][options.start :: options.single]
    other = [q for q in questions if q["kind"] == "unanswerable"][options.start :: options.refuse]
    asked = [q for pair in itertools.zip_longest(single, other) for q in pair if q]
    rows = []
    async with serve_model_file(file, WINDOW) as base_url:
        with tempfile.TemporaryDirectory() as folder:
            for question in asked:
                began = time.perf_counter()
                report = await research(
                    question["question"],
                    model="bench-1.5b",
                    base_url=base_url,
                    guided=True,
                    model_timeout=600,
                    search=["searxng"],
                    searxng_url=f"http://{address}",
                    allow_private=[address],
                    memory=False,
                    data_dir=Path(folder),
                )
                row = judged(question, report.model_dump(mode="json"))
                row["s"] = round(time.perf_counter() - began, 1)
                rows.append(row)
                if options.rows:
                    print(json.dumps(row, ensure_ascii=False), flush=True)
    return print_figures(rows)


def judged(question: dict[str, object], report: dict[str, object]) -> dict[str, object]:
    """Evaluate one run."""
    answer = str(report["answer"])
    words = len(answer.replace("[1]", "").split())
    gold = [question["answer"], *question.get("aliases", [])]  # type: ignore[misc]
    holds = any(f" {_plain(str(text))} " in f" {_plain(answer)} " for text in gold if text)
    return {
        "kind": question["kind"],
        "question": question["question"],
        "gold": question["answer"],
        "answer": answer,
        "status": report["status"],
        "right": report["status"] == "answered" and holds and words <= WORDS,
        "words": words,
        "verdicts": [s["verdict"] for s in report["sentences"]],  # type: ignore[attr-defined]
        "searches": len(report["searches"]),  # type: ignore[arg-type]
        "calls": report["usage"]["model_calls"],  # type: ignore[index]
    }


def print_figures(rows: list[dict[str, object]]) -> bool:
    """Print the figures."""
    single = [r for r in rows if r["kind"] == "single"]
    other = [r for r in rows if r["kind"] == "unanswerable"]
    right = mean(bool(r["right"]) for r in single) if single else 0.0
    refused = mean(r["status"] == "not_found" for r in other) if other else 0.0
    seconds = median(float(str(r["s"])) for r in rows)
    searched = all(r["searches"] for r in rows)
    gave = sum(r["status"] == "not_found" for r in single)
    of = f"of {len(single)} (target {SHARE:.0%}); {gave} refused"
    wrong = mean(r["status"] != "not_found" and not r["right"] for r in single) if single else 0.0
    print(f"right in ≤ {WORDS} words   {right:6.1%} {of}")
    print(f"wrong               {wrong:6.1%} (target {WRONG:.0%} at most)")
    print(f"refused             {refused:6.1%} of {len(other)} (target {REFUSED:.0%})")
    print(f"seconds, median     {seconds:6.1f} (target {SECONDS:.0f})")
    print(f"a search in each    {searched}")
    is_right = right >= SHARE and wrong <= WRONG
    return is_right and refused >= REFUSED and seconds <= SECONDS and searched


def main() -> int:
    """Measure; 0 if the targets are met or nothing can be measured, 8 if they are missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default=os.environ.get("URCHIN_BENCH_MODEL"))
    parser.add_argument("--single", type=int, default=5)
    parser.add_argument("--refuse", type=int, default=3)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--rows", action="store_true", help="print each run")
    options = parser.parse_args()
    file = options.model or next(map(str, options.folder.glob("**/*.gguf")), None)
    if file is None:
        print("skipped: no model file (URCHIN_BENCH_MODEL=FILE.gguf)")
        return 0
    home = options.folder if (options.folder / "serve.py").is_file() else options.folder.parent
    data = options.folder.resolve() if home is not options.folder else None
    with served(home, data=data) as address:
        good = asyncio.run(measure(options, file, address))
    return 0 if good else TARGETS_MISSED


if __name__ == "__main__":
    sys.exit(main())
