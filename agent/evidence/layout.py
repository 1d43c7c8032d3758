"""The shape of a Markdown answer: which lines make claims, and which are left as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

UnitKind = Literal["prose", "row", "verbatim"]

_FENCE = re.compile(r"\s*(```|~~~)")
_PREFIX = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"\s*#{1,6}\s")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"[\s|:*_+=-]+$")
_ITEM = re.compile(r"\s*(?:>\s?)*(?:[-*+•]|\d{1,3}[.)])\s+")


NOT_KNOWN = "What is not known"
"""Heading of a part that says what research did not find: there is nothing to cite for it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of an answer: `prefix` (list bullet, quote mark), `text`, `suffix` (line ends).

    `verbatim` units (code, headings' rules, blank lines) make no claim and are not touched;
    headings are prose whose `claims` is false: their markers are read, nothing is checked.
    """

    kind: UnitKind
    prefix: str
    text: str
    suffix: str
    claims: bool = True


def units(answer: str) -> Iterator[Unit]:
    """Cut an answer into units; joined again they are the answer, character for character."""
    silent = False
    for unit in _units(answer):
        if _HEADING.match(unit.text):
            silent = unit.text.strip("# ") == NOT_KNOWN
        yield replace(unit, claims=False) if silent else unit


def _units(answer: str) -> Iterator[Unit]:
    fenced = False
    pending: list[str] = []
    lines = answer.splitlines(keepends=True)
    for number, line in enumerate(lines):
        fence = bool(_FENCE.match(line))
        if not (fenced or fence) and _goes_on(line, pending):
            pending.append(line)
            continue
        if pending:
            yield _prose("".join(pending))
            pending = []
        if fenced or fence:
            fenced ^= fence
            yield Unit("verbatim", "", line, "", claims=False)
        elif _is_prose(line):
            pending.append(line)
        else:
            yield _single(line, header=_is_rule(lines, number + 1))
    if pending:
        yield _prose("".join(pending))


def _goes_on(line: str, pending: list[str]) -> bool:
    """Whether a line continues the paragraph or list item above it."""
    return bool(pending) and _is_prose(line) and not _ITEM.match(line)


def _is_prose(line: str) -> bool:
    special = _HEADING.match(line) or _ROW.match(line) or _RULE.match(line)
    return bool(line.strip()) and not special


def _is_rule(lines: list[str], number: int) -> bool:
    return number < len(lines) and "-" in lines[number] and bool(_RULE.match(lines[number]))


def _single(line: str, *, header: bool) -> Unit:
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    if _ROW.match(line) and not _RULE.match(line):
        return Unit("row", "", body, end, claims=not header)
    if _HEADING.match(line):
        return Unit("prose", "", body, end, claims=False)
    return Unit("verbatim", "", line, "", claims=False)


def _prose(text: str) -> Unit:
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    body = text[start:].rstrip()
    lead_in = body.endswith(":")
    return Unit("prose", text[:start], body, text[start + len(body) :], claims=not lead_in)
