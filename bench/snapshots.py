"""Compares snapshots with Playwright's own, on the same pages in the same run.

    python -m bench.snapshots [DATA]     (DATA holds `articles` and `platform`)

Prints, for the plain snapshot, ours without a budget and ours at the default budget: tokens
(characters / 4), the share of the page's distinct visible words it contains, refs, milliseconds.
Then, for what a question needs: whether it is in the first snapshot, or found with one FIND.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.shelf import Targets, pages_of, served
from bench.sought import answered, sought_on
from browser.session.session import Browser
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from browser.page.tab import Tab
    from browser.types import Snapshot

ROUNDS = 3  # the median of three rounds is used for each page
VISIBLE_TEXT = "() => document.body ? document.body.innerText : ''"


@dataclass(frozen=True)
class Measure:
    """One kind of snapshot of one page."""

    chars: int
    recall: float
    refs: int
    ms: float


@dataclass(frozen=True)
class Row:
    """One page: Playwright's own snapshot, ours in full, ours at the default budget."""

    plain: Measure
    whole: Measure
    budget: Measure


def recall(visible: set[str], text: str) -> float:
    return len(visible & set(words(text))) / len(visible) if visible else 1.0


async def measured(tab: Tab, visible: set[str]) -> Row:
    """Take each kind of snapshot of a page in turn, so that all meet the same load."""
    looks: dict[str, Callable[[], Awaitable[Any]]] = {
        "plain": lambda: tab.page.aria_snapshot(mode="ai"),
        "whole": lambda: tab.snapshot(budget=None),
        "budget": tab.snapshot,
    }
    times: dict[str, list[float]] = {kind: [] for kind in looks}
    shown: dict[str, str | Snapshot] = {}
    for _ in range(ROUNDS):
        for kind, look in looks.items():
            begun = time.perf_counter()
            shown[kind] = await look()
            times[kind].append(time.perf_counter() - begun)
    return Row(**{kind: _measure(shown[kind], times[kind], visible) for kind in looks})


def _measure(shown: str | Snapshot, times: list[float], visible: set[str]) -> Measure:
    text = shown if isinstance(shown, str) else shown.text
    refs = text.count("[ref=") if isinstance(shown, str) else len(shown.refs)
    return Measure(len(text), recall(visible, text), refs, statistics.median(times) * 1000)


async def measure(base: str, pages: list[Path]) -> tuple[list[Row], list[bool]]:
    """Examine every page, and ask its questions."""
    rows: list[Row] = []
    found: list[bool] = []
    async with Browser.launch() as browser:
        for number, path in enumerate(pages):
            tab = await browser.open(f"{base}/{number}")
            visible = set(words(await tab.page.evaluate(VISIBLE_TEXT)))
            rows.append(await measured(tab, visible))
            found += [await answered(tab, one) for one in sought_on(path.name)]
            await browser.close(tab)
            print(f"{path.name[:28]:28} {_cells(rows[-1])}", flush=True)
    return rows, found


def _cells(row: Row) -> str:
    kinds = {"plain": row.plain, "whole": row.whole, "budget": row.budget}
    return " | ".join(
        f"{kind} {m.chars // 4:>6} tok {m.recall:.2f} {m.refs:>4} refs {m.ms:>4.0f} ms"
        for kind, m in kinds.items()
    )


def summary(what: str, rows: list[Row]) -> None:
    """Print medians and 90th percentiles for a set of pages."""
    print(f"\n{what}, {len(rows)} pages")
    print(f"{'':8}{'tokens':>8}{'p90':>8}{'recall':>8}{'refs':>7}{'ms':>7}{'p90 ms':>8}")
    for kind in ("plain", "whole", "budget"):
        measures = [getattr(row, kind) for row in rows]
        tokens = [m.chars / 4 for m in measures]
        times = [m.ms for m in measures]
        print(
            f"{kind:8}{statistics.median(tokens):>8.0f}{_p90(tokens):>8.0f}"
            f"{statistics.median(m.recall for m in measures):>8.2f}"
            f"{statistics.median(m.refs for m in measures):>7.0f}"
            f"{statistics.median(times):>7.0f}{_p90(times):>8.0f}"
        )


def judge(rows: list[Row], targets: Targets) -> None:
    """Compare the figures with their targets."""
    tokens = [row.budget.chars / 4 for row in rows]
    targets.at_most("tokens at the default budget, median", statistics.median(tokens), 3_000)
    targets.at_most("tokens at the default budget, p90", _p90(tokens), 8_000)
    shares = [row.budget.recall for row in rows]
    targets.at_least("visible words inside it, median", statistics.median(shares), 0.60)
    whole = [row.whole.recall for row in rows]
    targets.at_least("visible words without a budget, mean", statistics.mean(whole), 0.98)
    sizes = [row.whole.chars / row.plain.chars for row in rows if row.plain.chars]
    targets.at_most("characters without a budget / plain, median", statistics.median(sizes), 0.45)
    ratios = [row.budget.ms / row.plain.ms for row in rows]
    targets.at_most("time / plain's, page by page, median", statistics.median(ratios), 1.0)
    targets.at_most("time / plain's, page by page, p90", _p90(ratios), 1.5)
    targets.at_most("time, p90 in ms", _p90([row.budget.ms for row in rows]), 500)


def _p90(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.9))]


def main(data: str | None = None) -> int:
    saved, own = pages_of(data)
    with served([*saved, *own]) as base:
        rows, found = asyncio.run(measure(base, [*saved, *own]))
    if saved:
        summary("saved pages", rows[: len(saved)])
    summary("own pages", rows[len(saved) :])
    print()
    targets = Targets()
    judge(rows[: len(saved)] or rows, targets)
    what = f"what is sought, first or one FIND later (of {len(found)})"
    targets.at_least(what, sum(found) / len(found), 0.95)
    return targets.code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
