"""Long paragraphs in pieces, so that a budget can take the part that is needed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.page.lines import Line

LONG = 500  # characters; shorter lines are left whole
PIECE = 350  # a piece ends at the first sentence or control after this
_WHOLE_KINDS = ("h", "row", "th", "board", "region", "frame")  # a row in pieces would be no row
_BRACKET_LOST = 800  # a bracket still open after this is one of the text, not of a control
_REF = re.compile(r"\[((?:f\d+)?e\d+)\b")


def split_long(line: Line) -> list[Line]:
    """Cut a long line at sentences and between controls, never inside a control."""
    if len(line.text) <= LONG or line.kind.startswith(_WHOLE_KINDS):
        return [line]
    parts = [line.text[start:end].strip() for start, end in _spans(line.text)]
    return [_piece(line, part, first=not number) for number, part in enumerate(parts) if part]


def _piece(line: Line, text: str, *, first: bool) -> Line:
    named = {ref: line.refs[ref] for ref in _REF.findall(text) if ref in line.refs}
    kind = line.kind if first else "p"
    return replace(line, text=text, kind=kind, refs=named)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = depth = opened = 0
    for at, char in enumerate(text):
        if char == "[":
            depth, opened = depth + 1, at
        elif char == "]":
            depth = max(0, depth - 1)
        elif char == " " and at - start >= PIECE and _ends(text, at):
            if depth and at - opened < _BRACKET_LOST:
                continue
            yield start, at
            start, depth = at + 1, 0
    yield start, len(text)


def _ends(text: str, at: int) -> bool:
    return text[at - 1] in ".!?…。]" or text[at + 1 : at + 2] == "["
