"""How well confidence tells how often answers are right: `python -m tests.bench.confidence [DATA]`.

Asks the questions of the bundled web, and with DATA (a folder like closedweb.py's) those of the
closed web too, as real runs of the keyless model. Printed for each web: how many of the answers of
each band of confidence were right, the Brier score, beside that of a constant, and the expected
calibration error; and for the closed web the same with the curve's two numbers fitted anew on four
fifths and tried on the last (`confidence.py` of the evidence holds those fitted on all of it).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent import research
from agent.evidence.confidence import HALF_SPOKEN_OF, STEEPNESS
from fixtures.server import serve
from tests.bench import bundled, closedweb

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent import Report

BANDS = 5
FOLDS = 5
HALVES = [h / 100 for h in range(40, 90, 2)]
SLOPES = [float(s) for s in range(2, 20)]
TOLERATED = 0.10
"""Expected calibration error above which the confidence says something else than it should."""


@dataclass(frozen=True, slots=True)
class Rated:
    """An answer: its confidence, the share of the question its quotes speak of, and the truth."""

    confidence: float
    coverage: float
    right: bool


def main(folder: Path | None) -> int:
    """Ask and print; 8 where the closed web's confidence is badly calibrated."""
    show("bundled web", asyncio.run(on_the_bundled_web()))
    if folder is None:
        return 0
    rated = asyncio.run(on_the_closed_web(folder))
    show("closed web", rated)
    folded = refitted(rated)
    print(f"refitted in {FOLDS} folds: Brier {brier(folded):.3f}, error {error(folded):.3f}")
    return 0 if error(rated) <= TOLERATED else closedweb.TARGETS_MISSED


async def on_the_bundled_web() -> list[Rated]:
    """Ask the bundled web's questions; an answer where there is none is wrong."""
    lines = bundled.QUESTIONS.read_text(encoding="utf-8").splitlines()
    with serve() as site, tempfile.TemporaryDirectory() as folder:
        tried = [await bundled.ask(json.loads(line), site, folder) for line in lines]
    return [_rated(one.report, right=one.right) for one in tried if _answered(one.report)]


async def on_the_closed_web(folder: Path) -> list[Rated]:
    """Ask the closed web's questions; an answer to the unanswerable is wrong."""
    found: list[Rated] = []
    with closedweb.served(folder, mixed=False) as address, tempfile.TemporaryDirectory() as data:
        for question in closedweb.load(folder):
            report = await research(
                question["question"],
                model="extractive",
                search=["searxng"],
                searxng_url=f"http://{address}",
                allow_private=[address],
                memory=False,
                data_dir=Path(data),
            )
            if _answered(report):
                right = closedweb.gold_place(report, question) is not None
                found.append(_rated(report, right=right))
    return found


def show(name: str, rated: Sequence[Rated]) -> None:
    """Print the table of reliability."""
    share = sum(one.right for one in rated) / len(rated)
    constant = sum((share - one.right) ** 2 for one in rated) / len(rated)
    print(f"\n{name}: {len(rated)} answers, {share:.0%} right")
    print("confidence  answers   said  right")
    for band, ones in banded(rated):
        said, right = mean(o.confidence for o in ones), mean(o.right for o in ones)
        low, high = band / BANDS, (band + 1) / BANDS
        print(f"{low:.1f} - {high:.1f} {len(ones):10} {said:6.0%} {right:6.0%}")
    print(f"Brier {brier(rated):.3f} (a constant: {constant:.3f}), error {error(rated):.3f}")


def banded(rated: Iterable[Rated]) -> list[tuple[int, list[Rated]]]:
    """Sort answers into bands of equal width by their confidence."""

    def band(one: Rated) -> int:
        return min(int(one.confidence * BANDS), BANDS - 1)

    return [(b, list(ones)) for b, ones in itertools.groupby(sorted(rated, key=band), key=band)]


def brier(rated: Sequence[Rated]) -> float:
    """Mean squared distance of confidence and truth; 0 is best."""
    return mean((one.confidence - one.right) ** 2 for one in rated)


def error(rated: Sequence[Rated]) -> float:
    """Expected calibration error: how far the bands' confidence is from their share right."""
    return sum(
        len(ones) * abs(mean(o.confidence for o in ones) - mean(o.right for o in ones))
        for _, ones in banded(rated)
    ) / len(rated)


def refitted(rated: Sequence[Rated]) -> list[Rated]:
    """Rate each fifth of the answers by a curve that was fitted on the others."""
    shuffled = random.Random(0).sample(list(rated), len(rated))
    found: list[Rated] = []
    for fold in range(FOLDS):
        others = [one for i, one in enumerate(shuffled) if i % FOLDS != fold]
        half, slope = min(itertools.product(HALVES, SLOPES), key=lambda c: surprise(*c, others))
        for one in shuffled[fold::FOLDS]:
            rest = one.confidence / curve(HALF_SPOKEN_OF, STEEPNESS, one.coverage)
            value = min(1.0, rest * curve(half, slope, one.coverage))
            found.append(Rated(value, one.coverage, one.right))
    return found


def surprise(half: float, slope: float, rated: Sequence[Rated]) -> float:
    """Mean negative log likelihood of the truth under a curve."""
    likely = (curve(half, slope, one.coverage) for one in rated)
    return mean(
        -math.log(max(p if one.right else 1 - p, 1e-6))
        for p, one in zip(likely, rated, strict=True)
    )


def curve(half: float, slope: float, coverage: float) -> float:
    """The logistic curve that the confidence follows."""
    return 1 / (1 + math.exp(slope * (half - coverage)))


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean; 0 of none."""
    kept = list(values)
    return sum(kept) / len(kept) if kept else 0.0


def _answered(report: Report) -> bool:
    return report.status == "answered"


def _rated(report: Report, *, right: bool) -> Rated:
    return Rated(report.confidence, report.confidence_parts.coverage, right)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
