"""Cut a saved text into passages that can be cited, with exact offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.types import Passage
from browser.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST = 900
"""Characters of a passage at most: about 150 words, what a reader takes in as one point."""

SHORTEST_CUT = 450
"""A long paragraph is not cut before this; pieces come out at about 600-900 characters."""

HEADING_SEPARATOR = " › "

_HEADING = re.compile(r"(#{1,6})\s+(\S.*)")
_LIST_ITEM = re.compile(r"\s*(?:[-*•‣◦]|\d{1,3}[.)])\s+\S")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"[\s|:+-]+$")
_FIGURE = re.compile(r"(?!(?:1\d|20)\d\d$)[^\w\s]?\s?\d")
_DIGIT = re.compile(r"\d")
_NAME_AND_VALUE = 2
_INDENTED = re.compile(r"(?:\t| {2,})\S")
_INK = re.compile(r"\S")
_LINE = re.compile(r"[^\n]*\n?")


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
        match = _HEADING.match(line)
        level, title = (len(match[1]), match[2].strip("# \t")) if match else (6, line)
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        above = self.under("")
        self._open.append((level, title))
        return above

    def under(self, header: str) -> str:
        """Join the path, with a table's header cells as its last part."""
        parts = [title for _, title in self._open]
        return HEADING_SEPARATOR.join([*parts, header] if header else parts)


def _blocks(text: str) -> Iterator[_Block]:
    block: _Block | None = None
    table: list[_Block] = []
    for line in _LINE.finditer(text):
        content = line[0].rstrip()
        kind = _kind(content) if content.strip() else ""
        if table and kind != "table":
            yield from _headed(table, text)
            table = []
        start = line.start() + len(content) - len(content.lstrip())
        end = line.start() + len(content)
        if block and kind and _continues(block, kind, content):
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


def _headed(table: list[_Block], text: str) -> Iterator[_Block]:
    """Give the rows of a table, each with the cells of the row that heads the columns, if one does.

    The rule below such a row in Markdown is none.
    """
    lines = [text[row.start : row.end] for row in table]
    ruled = [bool(_TABLE_RULE.match(line)) for line in lines]
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    rows = [row for row, is_rule in zip(cells, ruled, strict=True) if not is_rule]
    header = " | ".join(rows[0]) if any(ruled[1:2]) or _names_columns(rows) else ""
    first = True
    for row, is_rule in zip(table, ruled, strict=True):
        if not is_rule:
            row.header = "" if first else header
            first = False
            yield row


def _names_columns(rows: list[list[str]]) -> bool:
    """Whether the first row is one of names, and not itself a thing and its values.

    A row of names has no figure but years. Two columns of which the second holds figures as well
    as words are names and values of one thing.
    """
    if not rows or any(map(_FIGURE.match, rows[0])):
        return False
    values = [row[1] for row in rows[1:] if len(row) == len(rows[0]) == _NAME_AND_VALUE]
    return len({bool(_DIGIT.search(value)) for value in values}) < _NAME_AND_VALUE


def _kind(line: str) -> str:
    if _HEADING.match(line):
        return "heading"
    if _TABLE_ROW.match(line):
        return "table"
    return "list" if _LIST_ITEM.match(line) else "text"


def _continues(block: _Block, kind: str, line: str) -> bool:
    """Whether a line goes on with the block above: running text, or a list item's next line."""
    if kind != "text":
        return False
    return block.kind == "text" or (block.kind == "list" and bool(_INDENTED.match(line)))


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST:
        cut = _cut(text, start)
        yield start, start + len(text[start:cut].rstrip())
        following = _INK.search(text, cut, end)
        start = following.start() if following else end
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
