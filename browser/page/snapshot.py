"""What is shown of a view: within a budget, what FIND and a fold ask for, what changed."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from browser.errors import RefError
from browser.page.lines import REF
from browser.text.words import BM25, content_words, words
from browser.types import FindResult, Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.page.lines import PageLine
    from browser.page.view import View

DEFAULT_BUDGET = 3_000
"""Tokens (characters / 4): the median page then comes whole or nearly so."""
BYTES_LIMIT = 200_000  # whatever the page, a snapshot stays below

FOLD_COST = 34  # characters of a fold's line
# Relative worth, tuned on saved pages for the share of distinct words shown at the default budget.
_HEADING = 6.0
_CONTROL = 3.0
_LANDMARK = {"navigation": 0.6, "contentinfo": 0.5, "complementary": 0.7, "banner": 0.8}
_ROWS_SHOWN = 4  # rows of a group before further ones count for less
_ROW_FACTOR = 0.5
_HIDDEN_FACTOR = 0.2


@dataclass(slots=True)
class Choice:
    """What is shown: rendered lines in order, numbers of the lines kept, the folds between them."""

    rendered: list[str]
    kept: set[int]
    folds: dict[str, range] = field(default_factory=dict)


def snapshot_of(view: View, budget: int | None, query: str | None) -> tuple[Snapshot, Choice]:
    """Render a view within a budget of tokens (None: all of it)."""
    choice = choose(view.lines, budget, query)
    if budget is None and _size("\n".join(choice.rendered)) > BYTES_LIMIT:
        choice = choose(view.lines, BYTES_LIMIT // 5, query)
    text = "\n".join(choice.rendered)
    if view.begun:
        text = "(from where the page is scrolled to; SCROLL to top for its beginning)\n" + text
    if view.cut:
        text += "\n(the page goes on: FIND looks through all of it, SCROLL shows what follows)"
    if _size(text) > BYTES_LIMIT:
        text = text.encode("utf-8", "replace")[:BYTES_LIMIT].decode("utf-8", "ignore")
    refs = {ref: what for i in sorted(choice.kept) for ref, what in view.lines[i].refs.items()}
    truncated = bool(choice.folds) or view.cut or view.begun
    return Snapshot(view.url, view.title, text, refs, truncated), choice


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def choose(lines: Sequence[PageLine], budget: int | None, query: str | None = None) -> Choice:
    """Choose lines for `budget` tokens; None shows all."""
    rendered = [line.rendered() for line in lines]
    if budget is None or sum(len(text) + 1 for text in rendered) <= budget * 4:
        return Choice(rendered, set(range(len(lines))))
    choice = Choice([], _most_worth(lines, rendered, budget * 4, query))
    start = 0
    for index in range(len(lines) + 1):
        if index < len(lines) and index not in choice.kept:
            continue
        if index > start:
            ref = f"x{len(choice.folds) + 1}"
            choice.folds[ref] = range(start, index)
            groups = {line.group and line.group[0] for line in lines[start:index]}
            what = "rows alike" if len(groups) == 1 and None not in groups else "lines"
            choice.rendered.append(f"[{ref}: {index - start} more {what}]")
        if index < len(lines):
            choice.rendered.append(rendered[index])
        start = index + 1
    return choice


def _most_worth(
    lines: Sequence[PageLine], rendered: Sequence[str], limit: int, query: str | None
) -> set[int]:
    """Pick lines of `limit` characters in all, folds included, by what each adds to those picked.

    A line is worth its words that no other shows, by the character. What a query asks for counts
    for the line whatever its length: 58 of 60 sought things are then shown within 700 tokens, and
    52 where it counts by the character too.
    """
    vocabulary = [frozenset(words(line.text)) for line in lines]
    asked = content_words(query) if query else []
    index = BM25([content_words(line.text) for line in lines]) if asked else None
    relevance = index.scores(asked) if index else [0.0] * len(lines)
    factors = [_factor(line) for line in lines]
    bonuses = [_bonus(line) * factor for line, factor in zip(lines, factors, strict=True)]
    seen: set[str] = set()

    def worth(i: int) -> float:
        new = len(vocabulary[i] - seen)
        return relevance[i] + (factors[i] * new + bonuses[i]) / (len(rendered[i]) + 8)

    # A line's worth only ever falls, as others show its words: the heap holds what each was worth
    # when last asked, and only the first is asked again.
    kept: set[int] = set()
    spent = FOLD_COST  # nothing is picked yet: all lines are one fold
    heap = [(-worth(i), i) for i in range(len(lines))]
    heapq.heapify(heap)
    while heap:
        before, i = heapq.heappop(heap)
        now = worth(i)
        if heap and now < -before - 1e-9 and now < -heap[0][0]:
            heapq.heappush(heap, (-now, i))
            continue
        # Showing a line may split a fold, shrink it or end it.
        folds = (i > 0 and i - 1 not in kept) + (i < len(lines) - 1 and i + 1 not in kept) - 1
        cost = len(rendered[i]) + 1 + FOLD_COST * folds
        if spent + cost <= limit:
            kept.add(i)
            seen |= vocabulary[i]
            spent += cost
    return kept


def _factor(line: PageLine) -> float:
    factor = _HIDDEN_FACTOR if line.hidden else 1.0
    for name, weight in _LANDMARK.items():
        if name in line.region:
            factor *= weight
    if line.group and line.group[1] > _ROWS_SHOWN:
        factor *= _ROW_FACTOR
    return factor


def _bonus(line: PageLine) -> float:
    passive = ("link", "clickable", "hoverable")
    controls = any(not what.startswith(passive) for what in line.refs.values())
    return _HEADING * line.kind.startswith("h") + _CONTROL * controls


FIND_CHARS = 4_000
FIND_LINES = 20
ROW_LINES = 6  # of a row that FIND shows whole
_NO_DIGIT_BESIDE = r"(?!(?<=\d)\d)"  # a number is found as a whole: no 12 in 1234


def find_in(lines: list[PageLine], text: str) -> FindResult:
    """Find lines that hold `text` as it stands, as a role, or by its words; in page order.

    It is found where a line holds it, has the role, or holds all of its words.
    """
    needle = " ".join(text.split()).casefold()
    exact = [i for i, line in enumerate(lines) if needle and _says(line, needle)]
    by_role = [
        i
        for i, line in enumerate(lines)
        if any(what.split(" ", 1)[0] == needle for what in line.refs.values())
    ]
    stems = [content_words(line.text) for line in lines]
    asked = content_words(text)
    ranked = [number for number, _ in BM25(stems).best(asked, FIND_LINES)]
    hits = list(dict.fromkeys([n for i in exact for n in _row(lines, i)] + by_role + ranked))
    if not hits:
        return FindResult(f"nothing on this page matches {text!r}", found=False)
    telling = len(set(asked)) > 1 or len(text.split()) == 1  # one word left of many tells nothing
    figures = [word for word in needle.split() if any(map(str.isdigit, word))]  # as they stand
    by_words = telling and any(
        set(asked) <= set(stems[i]) and all(_says(lines[i], word) for word in figures)
        for i in ranked
    )
    shown = _listed_by_region(lines, hits)
    if exact or by_role or by_words:
        return FindResult(shown, found=True)
    return FindResult(f"nothing here says {text!r}; nearest:\n{shown}", found=False)


def _says(line: PageLine, text: str) -> bool:
    pattern = _NO_DIGIT_BESIDE + re.escape(text) + _NO_DIGIT_BESIDE
    return bool(re.search(pattern, line.text.casefold()))


def _row(lines: list[PageLine], at: int) -> range:
    """The lines of the repeated row that a line stands in, with what can be done there."""
    start, end, group = at, at + 1, lines[at].group
    while group and start and lines[start - 1].group == group:
        start -= 1
    while group and end < len(lines) and lines[end].group == group:
        end += 1
    return range(start, end) if end - start <= ROW_LINES else range(at, at + 1)


def _listed_by_region(lines: list[PageLine], hits: list[int]) -> str:
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


EXPAND_CHARS = 12_000


def expand_in(view: View, choice: Choice, ref: str) -> str:
    """Show what a fold left out, all options of a select, or all lines inside of an element.

    Raises RefError where the last snapshot has no such ref.
    """
    lines = view.lines
    if fold := choice.folds.get(ref):
        return listed(lines[fold.start : fold.stop])
    for number, line in enumerate(lines):
        if ref in line.options:
            return "\n".join(line.options[ref])
        if ref in line.values:
            return line.values[ref][:EXPAND_CHARS]
        if ref in line.refs:
            end = number + 1
            while end < len(lines) and lines[end].depth > line.depth:
                end += 1
            return listed(lines[number:end])
    raise RefError(f"{ref} is no fold and no element of the last snapshot")


def listed(lines: Sequence[PageLine]) -> str:
    """Show lines as they stand, as many as there is room for."""
    parts: list[str] = []
    spent = 0
    for number, line in enumerate(lines):
        text = line.rendered()
        spent += len(text) + 1
        if parts and spent > EXPAND_CHARS:
            parts.append(f"({len(lines) - number} more lines: use FIND)")
            break
        parts.append(text)
    return "\n".join(parts)


# Beyond this many lines a diff by matching is slow, and a page so different is better shown anew.
_DIFF_LINES = 4_000
_LONG_LINE = 120  # characters; of a longer line only the changed parts are shown
_SEGMENTS = re.compile(r"\[[^\[\]]*\]|[^\s\[]+\s*|\s+|\[")
_GONE_SHOWN = 3  # of a run of lines that went, the first few say which
_GONE_CHARS, _ABOVE_CHARS = 80, 60


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
    parts = _diff(old, new)
    # One line for all that lies under what opened: each alone would say only that.
    were = {line.uncovered() for line in before.lines if line.covered}
    covered = sum(bool(line.covered) and line.uncovered() not in were for line in after.lines)
    if covered:
        parts.append(f"({covered} lines are covered by what opened)")
    text = "\n".join(parts)
    return text if len(text) <= len(snapshot.text) else snapshot.text


def _diff(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Lines are matched by their refs, where they have any, else by what they say."""
    kept, came = ([" ".join(REF.findall(text)) or text for text in lines] for lines in (old, new))
    steps = SequenceMatcher(None, kept, came, autojunk=False).get_opcodes()
    # Runs of equal length are told line by line; in the others lines came and went.
    apart = [
        step for step in steps if step[0] != "equal" and step[2] - step[1] != step[4] - step[3]
    ]
    gone_lines = {text for _, i1, i2, _, _ in apart for text in old[i1:i2]}
    come_lines = {text for _, _, _, j1, j2 in apart for text in new[j1:j2]}
    # What went at one place and came at another as it was has moved, if it has a control.
    moved = {text for text in gone_lines & come_lines if "[" in text}
    out: list[str] = []
    for tag, i1, i2, j1, j2 in steps:
        if tag == "equal" or (tag == "replace" and j2 - j1 == i2 - i1):
            pairs = zip(old[i1:i2], new[j1:j2], strict=True)
            out += [f"~ {_changed_parts(a, b)}" for a, b in pairs if a != b]
            continue
        for at in range(j1, j2):
            above = f"now below: {new[at - 1].strip()[:_ABOVE_CHARS]}" if at else "now first"
            came_text = new[at]
            out.append(
                f"> {came_text.strip()} ({above})" if came_text in moved else f"+ {came_text}"
            )
        gone = [f"- {text[:_GONE_CHARS]}" for text in old[i1:i2] if text not in moved]
        out += gone[:_GONE_SHOWN]
        if len(gone) > _GONE_SHOWN:
            out.append(f"- ({len(gone) - _GONE_SHOWN} more lines went)")
    return out


def _changed_parts(old: str, new: str) -> str:
    """Reduce a long line to the controls and words in it that changed."""
    if len(new) <= _LONG_LINE:
        return new.strip()
    before, after = _SEGMENTS.findall(old), _SEGMENTS.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    came = ["".join(after[j1:j2]).strip() for _, _, _, j1, j2 in steps if j2 > j1]
    if came:
        return "… " + " … ".join(came) + " …"
    went = "".join("".join(before[i1:i2]) for _, i1, i2, _, _ in steps).strip()
    return f"… (without {went[:_LONG_LINE]}) …" if went else new.strip()
