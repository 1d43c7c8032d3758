"""Snapshots, FIND and expand over one view of the page."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from browser.errors import RefError
from browser.page.view import REF
from browser.text.words import BM25, content_words, words
from browser.types import FindResult, Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.page.view import PageLine, View


BYTES_LIMIT = 200_000  # whatever the page, a snapshot stays below
FIND_CHARS = 4_000
FIND_LINES = 20
ROW_LINES = 6  # of a row that FIND shows whole
EXPAND_CHARS = 12_000


def snapshot_of(view: View, budget: int | None, query: str | None) -> tuple[Snapshot, Choice]:
    """Render a view within a budget of tokens (None: all of it)."""
    choice = choose(view.lines, budget, query)
    if budget is None and _size(choice.rendered) > BYTES_LIMIT:
        choice = choose(view.lines, BYTES_LIMIT // 5, query)
    text = "\n".join(choice.rendered)
    shown = {ref: what for i in sorted(choice.kept) for ref, what in view.lines[i].refs.items()}
    if view.begun:
        text = "(from where the page is scrolled to; SCROLL to top for its beginning)\n" + text
    if view.cut:
        text += "\n(the page goes on: FIND looks through all of it, SCROLL shows what follows)"
    encoded = text.encode("utf-8", "replace")
    if len(encoded) > BYTES_LIMIT:
        text = encoded[:BYTES_LIMIT].decode("utf-8", "ignore")
    snapshot = Snapshot(
        view.url, view.title, text, shown, bool(choice.folds) or view.cut or view.begun
    )
    return snapshot, choice


def _size(rendered: list[str]) -> int:
    return sum(len(text.encode("utf-8", "replace")) + 1 for text in rendered)


_OUTSIDE = r"(?!(?<=\d)\d)"  # of a number, which is found as a whole: no 12 in 1234


def find_in(lines: list[PageLine], text: str) -> FindResult:
    """Find lines that hold `text` as it stands, as a role, or by its words; in page order.

    It is found where a line holds it, has the role, or holds all of its words.
    """
    needle = " ".join(text.split()).casefold()
    exact = [i for i, line in enumerate(lines) if needle and _says(line, needle)]
    by_role = [i for i, line in enumerate(lines) if _has_role(line, needle)]
    stems = [content_words(line.text) for line in lines]
    asked = content_words(text)
    ranked = [number for number, _ in BM25(stems).best(asked, FIND_LINES)]
    rows = [number for i in exact for number in _row(lines, i)]
    hits = list(dict.fromkeys([*rows, *by_role, *ranked]))
    telling = len(set(asked)) > 1 or len(text.split()) == 1  # one word left of many tells nothing
    figures = [word for word in needle.split() if any(map(str.isdigit, word))]  # as they stand
    by_words = telling and any(
        set(asked) <= set(stems[i]) and all(_says(lines[i], word) for word in figures)
        for i in ranked
    )
    found = bool(exact or by_role or by_words)
    if not hits:
        return FindResult(f"nothing on this page matches {text!r}", found=False)
    shown = _shown(lines, hits)
    return FindResult(shown if found else f"nothing here says {text!r}; nearest:\n{shown}", found)


def _says(line: PageLine, text: str) -> bool:
    return bool(re.search(_OUTSIDE + re.escape(text) + _OUTSIDE, line.text.casefold()))


def _row(lines: list[PageLine], at: int) -> range:
    """The lines of the repeated row that a line stands in, with what can be done there."""
    start, end = at, at + 1
    while lines[at].group and start and lines[start - 1].group == lines[at].group:
        start -= 1
    while lines[at].group and end < len(lines) and lines[end].group == lines[at].group:
        end += 1
    return range(start, end) if end - start <= ROW_LINES else range(at, at + 1)


def _has_role(line: PageLine, needle: str) -> bool:
    return any(what.split(" ", 1)[0] == needle for what in line.refs.values())


def _shown(lines: list[PageLine], hits: list[int]) -> str:
    chosen: list[int] = []
    spent = 0
    for hit in hits[: FIND_LINES * 2]:
        spent += len(lines[hit].text)
        if chosen and spent > FIND_CHARS:
            break
        chosen.append(hit)
    parts: list[str] = []
    region = ""
    for hit in sorted(chosen):
        line = lines[hit]
        if line.region and line.region != region:
            parts.append(f"in {line.region}:")
        region = line.region
        parts.append(line.rendered()[:FIND_CHARS])
    if len(chosen) < len(hits):
        parts.append(f"({len(hits) - len(chosen)} more lines match)")
    return "\n".join(parts)


def expand_in(view: View, choice: Choice, ref: str) -> str:
    """Show what a fold left out, all options of a select, or all lines around an element."""
    fold = choice.folds.get(ref)
    if fold:
        return _lines_from(view.lines, fold.start, fold.end)
    for number, line in enumerate(view.lines):
        if ref in line.options:
            return "\n".join(line.options[ref])
        if ref in line.values:
            return line.values[ref][:EXPAND_CHARS]
        if ref in line.refs:
            return _lines_from(view.lines, number, _end_of(view.lines, number))
    raise RefError(f"{ref} is no fold and no element of the last snapshot")


def listed(lines: list[PageLine]) -> str:
    """Show lines as they stand, as many as there is room for."""
    return _lines_from(lines, 0, len(lines))


def _end_of(lines: list[PageLine], start: int) -> int:
    end = start + 1
    while end < len(lines) and lines[end].depth > lines[start].depth:
        end += 1
    return end


def _lines_from(lines: list[PageLine], start: int, end: int) -> str:
    parts: list[str] = []
    spent = 0
    for number in range(start, end):
        text = lines[number].rendered()
        spent += len(text) + 1
        if parts and spent > EXPAND_CHARS:
            parts.append(f"({end - number} more lines: use FIND)")
            break
        parts.append(text)
    return "\n".join(parts)


DEFAULT_BUDGET = 3_000
"""Tokens (characters / 4): the median page then comes whole or nearly so."""

FOLD_COST = 34  # characters of a fold's line
# Relative worth, tuned on saved pages for the share of distinct words shown at the default budget.
_HEADING = 6.0
_CONTROL = 3.0
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


def choose(lines: Sequence[PageLine], budget: int | None, query: str | None = None) -> Choice:
    """Choose lines for `budget` tokens; None shows all."""
    rendered = [line.rendered() for line in lines]
    limit = None if budget is None else budget * 4
    if limit is None or sum(len(text) + 1 for text in rendered) <= limit:
        return Choice(rendered, kept=set(range(len(lines))))
    kept = _pick(lines, rendered, limit, query)
    return _fold(lines, rendered, kept)


def _pick(
    lines: Sequence[PageLine], rendered: Sequence[str], limit: int, query: str | None
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


def _static_worth(lines: Sequence[PageLine], query: str | None) -> list[tuple[float, float, float]]:
    """For each line a factor on its new words, a bonus that does not shrink, and its relevance.

    Relevance is that of the whole line, whatever its length: 58 of 60 sought things are then shown
    within 700 tokens, and 52 where it counts by the character as the rest does.
    """
    asked = content_words(query) if query else []
    scores = BM25([content_words(line.text) for line in lines]).scores(asked) if asked else []
    return [
        (_factor(line), _bonus(line), scores[i] if scores else 0.0) for i, line in enumerate(lines)
    ]


def _factor(line: PageLine) -> float:
    factor = _HIDDEN_FACTOR if line.hidden else 1.0
    for name, weight in _LANDMARK.items():
        if name in line.region:
            factor *= weight
    if line.group and line.group[1] > _ROWS_SHOWN:
        factor *= _ROW_FACTOR
    return factor


def _bonus(line: PageLine) -> float:
    bonus = _HEADING if line.kind.startswith("h") else 0.0
    if any(not what.startswith(("link", "clickable", "hoverable")) for what in line.refs.values()):
        bonus += _CONTROL
    return bonus * _factor(line)


def _worth(
    vocabulary: frozenset[str], seen: set[str], static: tuple[float, float, float], length: int
) -> float:
    factor, bonus, relevance = static
    return relevance + (factor * len(vocabulary - seen) + bonus) / (length + 8)


def _fold(lines: Sequence[PageLine], rendered: Sequence[str], kept: set[int]) -> Choice:
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


def _fold_text(ref: str, left_out: Sequence[PageLine]) -> str:
    grouped = {line.group[0] for line in left_out if line.group}
    what = "rows alike" if len(grouped) == 1 and all(line.group for line in left_out) else "lines"
    return f"[{ref}: {len(left_out)} more {what}]"


# Beyond this many lines a diff by matching is slow, and a page so different is better shown anew.
_DIFF_LINES = 4_000
_LONG_LINE = 120  # characters; of a longer line only the changed parts are shown
_SEGMENTS = re.compile(r"\[[^\[\]]*\]|[^\s\[]+\s*|\s+|\[")
_GONE_SHOWN = 3  # of a run of lines that went, the first few say which


def changes(before: View | None, after: View, budget: int, query: str | None) -> str:
    """Describe the change between two views: a diff, or the new snapshot where that is shorter.

    `+` lines are new, `-` lines are gone, `~` lines changed, `>` lines moved below another one;
    where all lines are as they were, what looks otherwise is named. An empty string says that
    nothing visible changed.
    """
    snapshot, _ = snapshot_of(after, budget, query)
    if before is None or before.url.split("#")[0] != after.url.split("#")[0]:
        return snapshot.text
    old = [line.uncovered() for line in before.lines]
    new = [line.uncovered() for line in after.lines]
    if old == new:
        return "\n".join(f"~ [{ref}] looks otherwise: {how}" for ref, how in after.restyled)
    if len(old) + len(new) > _DIFF_LINES:
        return snapshot.text
    text = "\n".join([*_diff(old, new), *_newly_covered(before, after)])
    return text if len(text) <= len(snapshot.text) else snapshot.text


def _newly_covered(before: View, after: View) -> list[str]:
    """A line for all that what opened lies above: each alone would say only that."""
    were = {line.uncovered() for line in before.lines if line.covered}
    count = sum(bool(line.covered) and line.uncovered() not in were for line in after.lines)
    return [f"({count} lines are covered by what opened)"] if count else []


def _diff(old: Sequence[str], new: Sequence[str]) -> list[str]:
    out: list[str] = []
    kept, came = ([" ".join(REF.findall(text)) or text for text in lines] for lines in (old, new))
    steps = SequenceMatcher(None, kept, came, autojunk=False).get_opcodes()
    moved = _moved(old, new, steps)
    for tag, i1, i2, j1, j2 in steps:
        if tag == "equal" or (tag == "replace" and j2 - j1 == i2 - i1):
            pairs = zip(old[i1:i2], new[j1:j2], strict=True)
            out += [f"~ {_changed(a, b)}" for a, b in pairs if a != b]
            continue
        for at in range(j1, j2):
            above = f" (now below: {new[at - 1].strip()[:60]})" if at else " (now first)"
            out.append(f"> {new[at].strip()}{above}" if new[at] in moved else f"+ {new[at]}")
        gone = [f"- {text[:80]}" for text in old[i1:i2] if text not in moved]
        out += gone[:_GONE_SHOWN]
        if len(gone) > _GONE_SHOWN:
            out.append(f"- ({len(gone) - _GONE_SHOWN} more lines went)")
    return out


def _moved(
    old: Sequence[str], new: Sequence[str], steps: Sequence[tuple[str, int, int, int, int]]
) -> frozenset[str]:
    """Lines with a control that went at one place and came at another, as they were."""
    apart = [
        step for step in steps if step[0] != "equal" and step[2] - step[1] != step[4] - step[3]
    ]
    gone = {text for _, i1, i2, _, _ in apart for text in old[i1:i2]}
    came = {text for _, _, _, j1, j2 in apart for text in new[j1:j2]}
    return frozenset(text for text in gone & came if "[" in text)


def _changed(old: str, new: str) -> str:
    """Reduce a long line to the controls and words in it that changed."""
    if len(new) <= _LONG_LINE:
        return new.strip()
    before, after = _SEGMENTS.findall(old), _SEGMENTS.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    came = ["".join(after[j1:j2]).strip() for _, _, _, j1, j2 in steps if j2 > j1]
    went = "".join("".join(before[i1:i2]) for _, i1, i2, _, _ in steps).strip()
    if came:
        return "… " + " … ".join(came) + " …"
    return f"… (without {went[:_LONG_LINE]}) …" if went else new.strip()
