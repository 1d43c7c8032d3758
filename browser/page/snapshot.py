"""Snapshots, FIND and expand over one view of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.errors import RefError
from browser.page.budget import Choice, choose
from browser.text import BM25, content_words
from browser.types import Snapshot

if TYPE_CHECKING:
    from browser.page.lines import Line
    from browser.page.view import View

BYTES_LIMIT = 200_000  # whatever the page, a snapshot stays below
FIND_CHARS = 4_000
FIND_LINES = 20
EXPAND_CHARS = 12_000


def snapshot_of(view: View, budget: int | None, query: str | None) -> tuple[Snapshot, Choice]:
    """Render a view within a budget of tokens (None: all of it)."""
    choice = choose(view.lines, budget, query)
    if budget is None and _size(choice.rendered) > BYTES_LIMIT:
        choice = choose(view.lines, BYTES_LIMIT // 5, query)
    text = "\n".join(choice.rendered)
    shown = {ref: what for i in sorted(choice.kept) for ref, what in view.lines[i].refs.items()}
    if view.cut:
        text += "\n(the page goes on: it is too large to be shown whole)"
    encoded = text.encode("utf-8", "replace")
    if len(encoded) > BYTES_LIMIT:
        text = encoded[:BYTES_LIMIT].decode("utf-8", "ignore")
    snapshot = Snapshot(view.url, view.title, text, shown, bool(choice.folds) or view.cut)
    return snapshot, choice


def _size(rendered: list[str]) -> int:
    return sum(len(text.encode("utf-8", "replace")) + 1 for text in rendered)


def find_in(view: View, text: str) -> str:
    """Find lines that hold `text` as it stands, as a role, or by its words; in page order."""
    needle = " ".join(text.split()).casefold()
    exact = [i for i, line in enumerate(view.lines) if needle and needle in line.text.casefold()]
    by_role = [i for i, line in enumerate(view.lines) if _has_role(line, needle)]
    index = BM25([content_words(line.text) for line in view.lines])
    ranked = [number for number, _ in index.best(content_words(text), FIND_LINES)]
    hits = list(dict.fromkeys([*exact, *by_role, *ranked]))
    if not hits:
        return f"nothing on this page matches {text!r}"
    return _shown(view.lines, hits)


def _has_role(line: Line, needle: str) -> bool:
    return any(what.split(" ", 1)[0] == needle for what in line.refs.values())


def _shown(lines: list[Line], hits: list[int]) -> str:
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


def _end_of(lines: list[Line], start: int) -> int:
    end = start + 1
    while end < len(lines) and lines[end].depth > lines[start].depth:
        end += 1
    return end


def _lines_from(lines: list[Line], start: int, end: int) -> str:
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
