"""A saved text cut into passages that can be cited, with exact offsets; and their ranking."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.types import Passage
from browser.text.sentences import sentences
from browser.text.words import BM25, content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LONGEST = 900
"""Characters of a passage at most: about 150 words, what a reader takes in as one point."""

SHORTEST_CUT = 450
"""A long paragraph is not cut before this; pieces come out at about 600-900 characters."""

HEADING_SEPARATOR = " › "

_LIST_ITEM = re.compile(r"\s*(?:[-*•‣◦]|\d{1,3}[.)])\s+\S")
_NAME_AND_VALUE = 2


def split_passages(text: str, source: int, pages: Sequence[int] = ()) -> list[Passage]:
    """Cut the saved text of source number `source` into passages, in reading order.

    A paragraph, heading, list item or table row is one passage; paragraphs longer than `LONGEST`
    are cut between sentences. `pages` holds the offset at which each page begins. A table row's
    `heading` ends with the cells of the row that names the columns, where one does, so that a
    figure keeps its column's name.
    """
    found: list[Passage] = []
    path = _HeadingPath()
    for block in _blocks(text):
        if block.kind == "heading":
            heading = path.enter(text[block.start : block.end])
        else:
            heading = path.under(block.header)
        for start, end in _pieces(text, block.start, block.end):
            found.append(
                Passage(
                    id=passage_id(source, len(found) + 1),
                    source=source,
                    text=text[start:end],
                    start=start,
                    end=end,
                    heading=heading,
                    page=bisect_right(pages, start) or 1 if pages else None,
                    kind=block.kind,
                )
            )
    return found


def passage_id(source: int, number: int) -> str:
    """Name passage `number` of a source, both from 1: `S3¶12`."""
    return f"S{source}¶{number}"


def cells_of(row: str) -> list[str]:
    """Give the cells of a table's row, trimmed."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def leads_in(text: str) -> bool:
    """Tell whether a text ends where what it speaks of follows: code, a list, an answer."""
    return text.rstrip().endswith((":", "?"))


def columns_of(passage: Passage) -> list[tuple[str, str]]:
    """Pair each cell of a row with its column's name; empty where the columns have no names."""
    if passage.kind != "table":
        return []
    names = cells_of(passage.heading.rpartition(HEADING_SEPARATOR)[2])
    cells = cells_of(passage.text)
    return list(zip(names, cells, strict=True)) if len(names) == len(cells) > 1 else []


@dataclass(slots=True)
class _Block:
    kind: str
    start: int
    end: int
    header: str = ""


class _HeadingPath:
    """The headings above the present place, outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, line: str) -> str:
        """Go under a heading line; give the path above it."""
        level = len(line) - len(line.lstrip("#"))
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        above = self.under("")
        self._open.append((level, line.strip("# \t")))
        return above

    def under(self, header: str) -> str:
        """Join the path, with a table's header cells as its last part."""
        parts = [title for _, title in self._open]
        return HEADING_SEPARATOR.join([*parts, header] if header else parts)


def _blocks(text: str) -> Iterator[_Block]:
    block: _Block | None = None
    table: list[_Block] = []
    at = 0
    for line in text.split("\n"):
        content = line.rstrip()
        start, end = at + len(content) - len(content.lstrip()), at + len(content)
        at += len(line) + 1
        kind = line_kind(content) if content else ""
        if table and kind != "table":
            yield from _headed(table, text)
            table = []
        if block and kind == "text" and _continues(block, content):
            block.end = end
            continue
        if block:
            yield block
        block = None
        if kind == "table":
            table.append(_Block(kind, start, end))
        elif kind:
            block = _Block(kind, start, end)
    yield from [block] if block else _headed(table, text)


def line_kind(line: str) -> str:
    """Tell what a line of Markdown is: heading, table, list or text."""
    stripped = line.strip()
    marks = len(stripped) - len(stripped.lstrip("#"))
    if not line[:1].isspace() and 1 <= marks <= 6 and stripped[marks : marks + 1].isspace():
        return "heading"
    if len(stripped) > 1 and stripped[0] == stripped[-1] == "|":
        return "table"
    return "list" if _LIST_ITEM.match(line) else "text"


def is_rule(line: str) -> bool:
    """Tell whether a line only sets a table's head apart: `|---|---|`."""
    return bool(line.strip()) and not line.strip(" \t\r\n|:+-")


def _continues(block: _Block, line: str) -> bool:
    """Tell whether running text goes on with the block above, or with its list item."""
    indented = line[:1] == "\t" or line[:2] == "  "
    return block.kind == "text" or (block.kind == "list" and indented)


def _headed(table: list[_Block], text: str) -> Iterator[_Block]:
    """Give the rows of a table, each with the cells of the row that heads the columns, if one does.

    The rule below such a row in Markdown is none.
    """
    lines = [text[row.start : row.end] for row in table]
    rows = [cells_of(line) for line in lines if not is_rule(line)]
    ruled = len(lines) > 1 and is_rule(lines[1])
    header = " | ".join(rows[0]) if rows and (ruled or _names_columns(rows)) else ""
    first = True
    for row, line in zip(table, lines, strict=True):
        if not is_rule(line):
            row.header = "" if first else header
            first = False
            yield row


def _names_columns(rows: list[list[str]]) -> bool:
    """Tell whether the first row is one of names, and not itself a thing and its values.

    A row of names has no figure but years. Two columns of which the second holds figures as well
    as words are names and values of one thing.
    """
    if any(cell[:1].isdigit() and not _is_year(cell) for cell in rows[0]):
        return False
    values = [row[1] for row in rows[1:] if len(row) == len(rows[0]) == _NAME_AND_VALUE]
    return len({any(map(str.isdigit, value)) for value in values}) < _NAME_AND_VALUE


def _is_year(cell: str) -> bool:
    return len(cell) == 4 and cell.isdigit() and cell[:2] in {"17", "18", "19", "20"}


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST:
        cut = _cut(text, start)
        yield start, start + len(text[start:cut].rstrip())
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip())
    if start < end:
        yield start, end


def _cut(text: str, start: int) -> int:
    """Find where a long block is cut: after a sentence, else at a space, else hard."""
    window = text[start : start + LONGEST]
    for span in reversed(sentences(window)[1:]):
        if span.start >= SHORTEST_CUT:
            return start + span.start
    for separator in ("\n", " "):
        space = window.rfind(separator, SHORTEST_CUT)
        if space > 0:
            return start + space
    return start + LONGEST


HEADING_WEIGHT = 0.5
"""A query word in the headings above counts half its rarity: it says the topic, not the fact."""

NEIGHBOUR_WEIGHT = 0.25
"""Share of a neighbour's score that a passage gets: an answer's subject is often named just
before it (`He was born …`), and scoring such windows finds 15 points more on long dialogues."""


class PassageIndex:
    """An index over the passages of sources, given as (title, passages) in order."""

    def __init__(self, sources: Iterable[tuple[str, Sequence[Passage]]]) -> None:
        self._passages: list[Passage] = []
        self._headings: list[frozenset[str]] = []
        for title, passages in sources:
            topic = frozenset(content_words(title))
            cache: dict[str, frozenset[str]] = {}
            for passage in passages:
                if passage.heading not in cache:
                    cache[passage.heading] = topic | set(content_words(passage.heading))
                self._passages.append(passage)
                self._headings.append(cache[passage.heading])
        self._bm25 = BM25(content_words(passage.text) for passage in self._passages)

    def search(self, query: str, limit: int, source: int | None = None) -> list[Passage]:
        """Give the `limit` best passages; headings alone and repeated texts are left out."""
        scores = self._scores(content_words(query))
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        found: dict[str, Passage] = {}
        for i in ranked:
            if scores[i] <= 0 or len(found) == limit:
                break
            passage = self._passages[i]
            if passage.kind != "heading" and source in (None, passage.source):
                found.setdefault(passage.text, passage)
        return list(found.values())

    def _scores(self, query: list[str]) -> list[float]:
        own = self._bm25.scores(query)
        rarity = {token: self._bm25.idf(token) for token in set(query)}
        for i, heading in enumerate(self._headings):
            if own[i] > 0:
                own[i] += HEADING_WEIGHT * sum(rarity[t] for t in rarity.keys() & heading)
        return [score + NEIGHBOUR_WEIGHT * self._around(own, i) for i, score in enumerate(own)]

    def _around(self, own: list[float], i: int) -> float:
        source = self._passages[i].source
        near = (j for j in (i - 1, i + 1) if 0 <= j < len(own))
        return max((own[j] for j in near if self._passages[j].source == source), default=0.0)


def nearest_quote(sentence: str, passages: Sequence[Passage]) -> str:
    """Give the sentence of the passages that shares most with `sentence`; empty if none does."""
    pieces = [
        passage.text[start:end]
        for passage in passages
        for start, end in (
            [(0, len(passage.text))] if passage.kind == "table" else sentences(passage.text)
        )
    ]
    index = BM25(content_words(piece) for piece in pieces)
    best = index.best(content_words(sentence), 1)
    return pieces[best[0][0]].strip() if best and best[0][1] > 0 else ""
