"""Measures how well confidence predicts right answers: `python -m bench.confidence [DATA]`.

    … [DATA] [--rows FILE] [--model NAME] [--base-url URL] [--every N]

Asks the bundled web's questions and, with DATA (a folder like closedweb.py's, and its `large`
folder if there is one), those of the closed webs too, as real runs. An answer is right if its first
two sentences contain the gold answer; one that was too weak, if the first passage shown instead
does. An answer to an unanswerable question is wrong; other refusals are not rated.

Prints for each web how many answers in each confidence band were right, the Brier score beside that
of a constant, and the expected calibration error. Then the logistic coefficients in
`agent/evidence/confidence.py` are refitted: on each web and tested on the other, in five folds over
both, and on all of them, for use there. `--rows FILE` stores the closed webs' answers, one JSON
line each, and reads an existing file instead of asking. A model other than the extractive one is
rated by the judge's words: the table by word is printed, for setting `ANSWERS_PROBABILITY`.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import research
from agent.evidence.confidence import FIT_COEFFICIENTS, fit_features, fit_probability
from agent.types import Fit
from bench import bundled, closedweb
from fixtures.server import serve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent import Report

BAND_COUNT = 5
FOLDS = 5
SENTENCES = 2
BUNDLED = "bundled web"
Row = dict[str, Any]


def main() -> int:
    """Ask, or read earlier answers, and print; 8 if confidence is worse than a constant."""
    options = _options()
    kept: Path | None = options.rows
    if kept and kept.exists():
        rows = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    else:
        rows = asyncio.run(asked(options))
    webs: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        webs[row["web"]].append(row)
    for name, of_web in webs.items():
        show(name, of_web, [row["confidence"] for row in of_web])
    closed = {name: of_web for name, of_web in webs.items() if name != BUNDLED}
    if options.model == "extractive":
        refit(closed)
    else:
        by_word(rows)
    rated = [row for of_web in closed.values() for row in of_web if row["confidence"] is not None]
    said = [row["confidence"] for row in rated]
    worse = bool(rated) and brier(rated, said) > brier(rated, [share(rated)] * len(rated))
    return closedweb.TARGETS_MISSED if worse else 0


async def asked(options: argparse.Namespace) -> list[Row]:
    """Ask the questions of every available web."""
    rows = await on_the_bundled_web() if options.model == "extractive" and not options.rows else []
    folders = [options.folder, options.folder / "large"] if options.folder else []
    for folder in folders:
        if (folder / "questions.jsonl").exists():
            rows += await on_a_closed_web(folder, options)
    return rows


async def on_the_bundled_web() -> list[Row]:
    """Ask the bundled web's questions; an answer to an unanswerable question is wrong."""
    lines = bundled.QUESTIONS.read_text(encoding="utf-8").splitlines()
    with serve() as site, tempfile.TemporaryDirectory() as folder:
        tried = [await bundled.ask(json.loads(line), site, folder) for line in lines]
    reports = [one for one in tried if one.report.status == "answered"]
    return [_row(BUNDLED, one.report, right=one.right) for one in reports]


async def on_a_closed_web(folder: Path, options: argparse.Namespace) -> list[Row]:
    """Ask the closed web's questions; an answer to an unanswerable question is wrong."""
    rows: list[Row] = []
    with (
        closedweb.served(options.folder, data=folder) as address,
        tempfile.TemporaryDirectory() as data,
    ):
        for question in closedweb.load(folder)[:: options.every]:
            report = await research(
                question["question"],
                model=options.model,
                base_url=options.base_url,
                search=["searxng"],
                searxng_url=f"http://{address}",
                allow_private=[address],
                memory=False,
                data_dir=Path(data),
            )
            if report.status == "answered" or report.confidence_parts.fit:
                rows.append(_row(folder.name, report, right=_is_right(report, question)))
                if options.rows:  # an interrupted long benchmark keeps what it has
                    with options.rows.open("a", encoding="utf-8") as kept:
                        kept.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
    return rows


def show(name: str, rows: Sequence[Row], said: Sequence[float | None]) -> None:
    """Print the reliability table; answers without a number are counted separately."""
    pairs = [(row, value) for row, value in zip(rows, said, strict=True) if value is not None]
    rated, values = [row for row, _ in pairs], [value for _, value in pairs]
    print(f"\n{name}: {len(rows)} answers, {share(rows):.0%} right, {len(rated)} with a number")
    if not rated:
        return
    print("confidence  answers   said  right")
    for band, ones in group_into_bands(pairs):
        told, right = mean(value for _, value in ones), share([row for row, _ in ones])
        low, high = band / BAND_COUNT, (band + 1) / BAND_COUNT
        print(f"{low:.1f} - {high:.1f} {len(ones):10} {told:6.0%} {right:6.0%}")
    constant = brier(rated, [share(rated)] * len(rated))
    print(
        f"Brier {brier(rated, values):.3f} (a constant: {constant:.3f}), error {error(pairs):.3f}"
    )


def by_word(rows: Sequence[Row]) -> None:
    """Print how often answers are right, by the judge's word on them."""
    words: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        words[str(row["parts"]["answers"])].append(row)
    for word, ones in words.items():
        print(f"answers {word:8} {len(ones):4} answers, {share(ones):.0%} right")


def refit(webs: dict[str, list[Row]]) -> None:
    """Fit the extractive model's coefficients on each web, test on the others, then in folds."""
    for name, rows in webs.items():
        others = [row for other, of_web in webs.items() if other != name for row in of_web]
        if others:
            _print_brier_score(f"fitted on the other web, tried on {name}", fitted(others), rows)
    every = [row for rows in webs.values() for row in rows]
    random.Random(0).shuffle(every)
    if not every:
        return
    told: list[float] = []
    order: list[Row] = []
    for fold in range(FOLDS):
        curve = fitted([row for i, row in enumerate(every) if i % FOLDS != fold])
        own = every[fold::FOLDS]
        order += own
        told += [probability(curve, row) for row in own]
    constant = brier(order, [share(order)] * len(order))
    print(
        f"in {FOLDS} folds over both: Brier {brier(order, told):.3f} (a constant: {constant:.3f})"
    )
    print(f"on all: {tuple(round(c, 2) for c in fitted(every))}; in use: {FIT_COEFFICIENTS}")


def _print_brier_score(said: str, curve: tuple[float, ...], rows: Sequence[Row]) -> None:
    told = [probability(curve, row) for row in rows]
    constant = brier(rows, [share(rows)] * len(rows))
    print(f"{said}: Brier {brier(rows, told):.3f} (a constant: {constant:.3f})")


def fitted(
    rows: Sequence[Row], *, rounds: int = 4000, pace: float = 0.3, decay: float = 0.002
) -> tuple[float, ...]:
    """Fit a logistic curve by gradient descent with slight weight decay."""
    fits = [Fit(**row["parts"]["fit"]) for row in rows]
    inputs = [(1.0, *fit_features(fit)) for fit in fits]
    curve = [0.0] * len(inputs[0])
    for _ in range(rounds):
        misses = [
            fit_probability(fit, tuple(curve)) - row["right"]
            for fit, row in zip(fits, rows, strict=True)
        ]
        for n, weight in enumerate(curve):
            slope = sum(miss * one[n] for miss, one in zip(misses, inputs, strict=True)) / len(rows)
            curve[n] -= pace * (slope + (decay * weight if n else 0.0))
    return tuple(curve)


def probability(curve: tuple[float, ...], row: Row) -> float:
    """Return a curve's probability for an answer."""
    return fit_probability(Fit(**row["parts"]["fit"]), curve)


def group_into_bands(
    pairs: Iterable[tuple[Row, float]],
) -> list[tuple[int, list[tuple[Row, float]]]]:
    """Sort answers by confidence into bands of equal width."""

    def band(pair: tuple[Row, float]) -> int:
        return min(int(pair[1] * BAND_COUNT), BAND_COUNT - 1)

    return [(b, list(ones)) for b, ones in itertools.groupby(sorted(pairs, key=band), key=band)]


def brier(rows: Sequence[Row], said: Sequence[float]) -> float:
    """Return the mean squared distance between confidence and truth; 0 is best."""
    return mean((value - row["right"]) ** 2 for row, value in zip(rows, said, strict=True))


def error(pairs: Sequence[tuple[Row, float]]) -> float:
    """Return the expected calibration error: the bands' confidence against their share right."""
    return sum(
        len(ones) * abs(mean(value for _, value in ones) - share([row for row, _ in ones]))
        for _, ones in group_into_bands(pairs)
    ) / len(pairs)


def share(rows: Sequence[Row]) -> float:
    """Return the share of answers that are right."""
    return mean(row["right"] for row in rows)


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean; 0 if empty."""
    kept = list(values)
    return sum(kept) / len(kept) if kept else 0.0


def _is_right(report: Report, question: Row) -> bool:
    """Whether the first sentences, or the first passage in their place, contain the gold answer."""
    if report.status != "answered":
        text = report.closest[0].text if report.closest else ""
        return bool(question.get("answer")) and closedweb.has_gold(text, question)
    place = closedweb.gold_place(report, question)
    return place is not None and place < SENTENCES


def _row(web: str, report: Report, *, right: bool) -> Row:
    fit, confidence = report.confidence_parts.fit, report.confidence
    if report.status != "answered" and fit:
        confidence = fit_probability(fit)
    return {
        "web": web,
        "question": report.question,
        "answer": report.answer,
        "confidence": confidence,
        "parts": report.confidence_parts.model_dump(),
        "right": right,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rows", type=Path, help="keep what was asked here, or read it from here")
    parser.add_argument("--model", default="extractive", help="the model that answers")
    parser.add_argument("--base-url", help="where the model is reached")
    parser.add_argument("--every", type=int, default=1, help="every Nth question alone")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
