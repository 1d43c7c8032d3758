"""Which lines of a page to show when not all fit: what the question needs, then what is new.

Greedy by worth per character. A line is worth what it brings: words not shown yet, words of the
question (BM25), controls, headings; less in navigation and footers, less for each further row of
many alike. What is left out stands as one line with a ref that `expand` opens.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from browser.text import BM25, content_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.page.lines import Line

DEFAULT_BUDGET = 3_000
"""Tokens (characters / 4): the median page then comes whole or nearly so."""

FOLD_COST = 34  # characters of a fold's line
# Relative worth, tuned on saved pages for the share of distinct words shown at the default budget.
_HEADING = 6.0
_CONTROL = 3.0
_QUERY = 4.0
_LANDMARK = {"navigation": 0.6, "contentinfo": 0.5, "complementary": 0.7, "banner": 0.8}
_ROWS_SHOWN = 4  # rows of a group before further ones count for less
_ROW_FACTOR = 0.5
_HIDDEN_FACTOR = 0.2


@dataclass(slots=True)
class Fold:
    """A run of lines that were left out, `start` to `end` in the view's lines."""

    ref: str
    start: int
    end: int
    text: str


@dataclass(slots=True)
class Choice:
    """What is shown: rendered lines in order, and the folds between them."""

    rendered: list[str] = field(default_factory=list)
    folds: dict[str, Fold] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)


def choose(lines: Sequence[Line], budget: int | None, query: str | None = None) -> Choice:
    """Choose lines for `budget` tokens; None shows all."""
    rendered = [line.rendered() for line in lines]
    limit = None if budget is None else budget * 4
    if limit is None or sum(len(text) + 1 for text in rendered) <= limit:
        return Choice(rendered, kept=set(range(len(lines))))
    kept = _pick(lines, rendered, limit, query)
    return _fold(lines, rendered, kept)


def _pick(
    lines: Sequence[Line], rendered: Sequence[str], limit: int, query: str | None
) -> set[int]:
    vocabulary = [frozenset(words(line.text)) for line in lines]
    static = _static_worth(lines, query)
    kept: set[int] = set()
    seen: set[str] = set()
    spent = 0
    folds = _folds_cost(kept, len(lines))
    heap = [
        (-_worth(vocabulary[i], seen, static[i], len(rendered[i])), i) for i in range(len(lines))
    ]
    heapq.heapify(heap)
    while heap:
        negative, index = heapq.heappop(heap)
        current = _worth(vocabulary[index], seen, static[index], len(rendered[index]))
        if heap and current < -negative - 1e-9 and current < -heap[0][0]:
            heapq.heappush(heap, (-current, index))
            continue
        cost = len(rendered[index]) + 1 + _fold_change(kept, index, len(lines))
        if spent + folds + cost > limit:
            continue
        kept.add(index)
        seen |= vocabulary[index]
        spent += cost
    return kept


def _folds_cost(kept: set[int], total: int) -> int:
    return FOLD_COST if total and not kept else 0


def _fold_change(kept: set[int], index: int, total: int) -> int:
    """How showing a line changes what the folds cost: it may split a fold, shrink it or end it."""
    before = index > 0 and index - 1 not in kept
    after = index < total - 1 and index + 1 not in kept
    return FOLD_COST * (before + after - 1)


def _static_worth(lines: Sequence[Line], query: str | None) -> list[tuple[float, float]]:
    """For each line a factor on its new words and a bonus that does not shrink."""
    asked = content_words(query) if query else []
    scores = BM25([content_words(line.text) for line in lines]).scores(asked) if asked else []
    return [
        (_factor(line), _bonus(line) + (_QUERY * scores[i] if scores else 0.0))
        for i, line in enumerate(lines)
    ]


def _factor(line: Line) -> float:
    factor = _HIDDEN_FACTOR if line.hidden else 1.0
    for name, weight in _LANDMARK.items():
        if name in line.region:
            factor *= weight
    if line.group and line.group[1] > _ROWS_SHOWN:
        factor *= _ROW_FACTOR
    return factor


def _bonus(line: Line) -> float:
    bonus = _HEADING if line.kind.startswith("h") else 0.0
    if any(not what.startswith(("link", "clickable", "hoverable")) for what in line.refs.values()):
        bonus += _CONTROL
    return bonus * _factor(line)


def _worth(
    vocabulary: frozenset[str], seen: set[str], static: tuple[float, float], length: int
) -> float:
    factor, bonus = static
    return (factor * len(vocabulary - seen) + bonus) / (length + 8)


def _fold(lines: Sequence[Line], rendered: Sequence[str], kept: set[int]) -> Choice:
    choice = Choice(kept=kept)
    start = 0
    for index in range(len(lines) + 1):
        if index < len(lines) and index not in kept:
            continue
        if index > start:
            ref = f"x{len(choice.folds) + 1}"
            fold = Fold(ref, start, index, _fold_text(ref, lines[start:index]))
            choice.folds[ref] = fold
            choice.rendered.append(fold.text)
        if index < len(lines):
            choice.rendered.append(rendered[index])
        start = index + 1
    return choice


def _fold_text(ref: str, left_out: Sequence[Line]) -> str:
    grouped = {line.group[0] for line in left_out if line.group}
    what = "rows alike" if len(grouped) == 1 and all(line.group for line in left_out) else "lines"
    return f"[{ref}: {len(left_out)} more {what}]"
