"""The shape of a Markdown answer: which lines make claims, and which are left as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agent.evidence.passages import cells_of, is_rule, line_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

UnitKind = Literal["prose", "row", "verbatim"]

_PREFIX = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")

NOT_KNOWN = "What is not known"
"""Heading of a part that says what research did not find: there is nothing to cite for it."""


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A piece of an answer: `prefix` (list bullet, quote mark), `text`, `suffix` (line ends).

    `verbatim` units (code, rules, blank lines) make no claim and are not touched. Headings, the
    head of a table and a line that ends with a colon make none either (`claims` is false), but
    their markers are read. `head` are the cells that name the columns of a row.
    """

    kind: UnitKind
    prefix: str
    text: str
    suffix: str
    claims: bool = True
    head: tuple[str, ...] = ()


def units(answer: str) -> Iterator[AnswerPart]:
    """Cut an answer into units; joined again they are the answer, character for character."""
    silent = False
    for unit in _units(answer):
        if line_kind(unit.text) == "heading":
            silent = unit.text.strip("# ") == NOT_KNOWN
        yield replace(unit, claims=False) if silent else unit


def _units(answer: str) -> Iterator[AnswerPart]:
    fenced = False
    pending: list[str] = []
    head: tuple[str, ...] = ()
    lines = answer.splitlines(keepends=True)
    for number, line in enumerate(lines):
        fence = line.lstrip().startswith(("```", "~~~"))
        plain = not (fenced or fence) and _is_prose(line)
        if plain and (not pending or not _is_item(line)):
            pending.append(line)
            continue
        if pending:
            yield _prose("".join(pending))
            pending = []
        if plain:
            pending.append(line)
        elif fenced or fence:
            fenced ^= fence
            yield AnswerPart("verbatim", "", line, "", claims=False)
        else:
            headed = number + 1 < len(lines) and "-" in lines[number + 1]
            unit = _single(line, head, is_head=headed and is_rule(lines[number + 1]))
            head = _next_head(unit, line, head)
            yield unit
    if pending:
        yield _prose("".join(pending))


def _next_head(unit: AnswerPart, line: str, head: tuple[str, ...]) -> tuple[str, ...]:
    if unit.kind == "row":
        return head if unit.claims else tuple(cells_of(unit.text))
    return head if is_rule(line) else ()


def _is_prose(line: str) -> bool:
    ruled = not line.strip(" \t\r\n|:*_+=-")
    return bool(line.strip()) and _kind(line.rstrip()) in {"text", "list"} and not ruled


def _kind(line: str) -> str:
    """Tell what a line is; a row of a table may have its markers behind its last bar."""
    row = line.lstrip().startswith("|") and line.count("|") > 1
    return "table" if row else line_kind(line)


def _is_item(line: str) -> bool:
    prefix = _PREFIX.match(line)
    return prefix is not None and bool(prefix[0].strip(" \t>"))


def _single(line: str, head: tuple[str, ...], *, is_head: bool) -> AnswerPart:
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    kind = _kind(body)
    if kind == "table" and not is_rule(line):
        return AnswerPart("row", "", body, end, claims=not is_head, head=() if is_head else head)
    if kind == "heading":
        return AnswerPart("prose", "", body, end, claims=False)
    return AnswerPart("verbatim", "", line, "", claims=False)


def _prose(text: str) -> AnswerPart:
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    body = text[start:].rstrip()
    lead_in = body.endswith(":")
    return AnswerPart("prose", text[:start], body, text[start + len(body) :], claims=not lead_in)
