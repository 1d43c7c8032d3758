"""Claims about one row of a table, held against the row's own cells."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.claims.findings import Finding, contradicts
from agent.evidence.language.normalise import tokenise, words_of
from agent.evidence.language.vocabulary import FUNCTION, NEGATORS, root_set
from agent.evidence.passages import HEADING_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.figures import Figure
    from agent.evidence.language.statements import Ground, Sentence, Statement
    from agent.types import Passage

COUNTABLE = 12
"""A number up to here stands in a claim for many reasons; its column must be named."""

PLACES = root_set("place rank position pos")
"""What heads the column that an ordinal is of: `finished third`."""

WHOLE_REACH = 4
"""Tokens before a whole among which its `of` stands."""

_COMPARING = frozenset("than after before later earlier behind ahead".split())
"""Forms by which a claim sets one row against another: `seven metres more than the next`."""

_CELLS = " | "


Cell = tuple[str, ...]
"""The roots of a cell's words."""

_YES_OR_NO: dict[Cell, bool] = {("yes",): True, ("ye",): True, ("no",): False, ("none",): False}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table under its header cells."""

    statement: Statement
    header: tuple[Cell, ...]
    cells: tuple[Cell, ...]


def check_tables(claim: Sentence, ground: Ground) -> Finding | None:
    """Find that a claim about one row has another row's cell, or another figure than its own.

    A claim that sets two rows side by side has cells of both, and what lies between them.
    """
    if any(token.form in _COMPARING for token in claim.words):
        return None
    for rows in _tables(ground):
        for key in _key_columns(rows):
            about = [row for row in rows if _holds(claim.roots, row.cells[key])]
            wrong = _wrong(claim, about[0], rows, key, ground) if len(about) == 1 else None
            if wrong:
                return contradicts((about[0].statement,), f"in this row the table has “{wrong}”")
    return None


def columns(passage: Passage) -> list[tuple[str, str]]:
    """Give the cells of a table's row, each after its column's name; empty without such names."""
    if passage.kind != "table":
        return []
    header = passage.heading.rsplit(HEADING_SEPARATOR, 1)[-1].split(_CELLS)
    cells = [cell.strip() for cell in passage.text.strip().strip("|").split("|")]
    return list(zip(header, cells, strict=True)) if 1 < len(header) == len(cells) else []


def _wrong(claim: Sentence, row: Row, rows: Sequence[Row], key: int, ground: Ground) -> str | None:
    return (
        _foreign(claim, row, rows, key) or _other_figure(claim, row, ground) or _denied(claim, row)
    )


def _tables(ground: Ground) -> list[list[Row]]:
    tables: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for statement in ground.statements:
        row = read_row(statement)
        if row is not None:
            tables[statement.passage.source, statement.passage.heading].append(row)
    return list(tables.values())


def read_row(statement: Statement) -> Row | None:
    """Read a statement as a row under its columns; None where it is none."""
    named = [] if statement.sentence.start else columns(statement.passage)
    if not named:
        return None
    header, cells = zip(*((_cell(name), _cell(cell)) for name, cell in named), strict=True)
    return Row(statement, header, cells)


def _cell(text: str) -> Cell:
    return tuple(token.root for token in words_of(tokenise(text)))


def _key_columns(rows: Sequence[Row]) -> Iterator[int]:
    """Find the columns that name the rows: those of words, each of them once."""
    for column in range(len(rows[0].cells)):
        cells = [row.cells[column] for row in rows]
        worded = all(any(root.isalpha() for root in cell) for cell in cells)
        if worded and len(set(cells)) == len(cells):
            yield column


def _holds(roots: Sequence[str], cell: Cell) -> bool:
    """Whether a cell's words stand in the claim, one after the other."""
    size = len(cell)
    return size > 0 and any(tuple(roots[i : i + size]) == cell for i in range(len(roots)))


def _foreign(claim: Sentence, row: Row, rows: Sequence[Row], key: int) -> str | None:
    """Find a cell of another row in the claim that this row has not; give what it has there."""
    for column in _columns(row, key):
        own = row.cells[column]
        if _holds(claim.roots, own):
            continue
        others = {other.cells[column] for other in rows} - set(row.cells)
        headed = not set(row.header[column]).isdisjoint(claim.roots)
        if any(_holds(claim.roots, cell) and (headed or _tells(cell)) for cell in others):
            return " ".join(own)
    return None


def _tells(cell: Cell) -> bool:
    """Whether a cell found in a claim was taken from the table: no lone little word or number."""
    little = len(cell) == 1 and cell[0].isdigit() and float(cell[0]) <= COUNTABLE
    return not little and any(root not in FUNCTION for root in cell)


def _columns(row: Row, key: int) -> Iterator[int]:
    return (column for column, cell in enumerate(row.cells) if cell and column != key)


def _other_figure(claim: Sentence, row: Row, ground: Ground) -> str | None:
    """Find a figure of the claim whose noun heads a column in which the row has another."""
    for figure in claim.figures:
        if _is_whole(figure, claim):
            continue
        nouns = _heading(figure, ground)
        for header, cell in zip(row.header, row.cells, strict=True):
            named = not nouns.isdisjoint(header)
            if named and len(cell) == 1 and not _says(figure, cell[0]):
                return cell[0]
    return None


def _is_whole(figure: Figure, claim: Sentence) -> bool:
    """Whether a figure is what others are a part of: `52 of the fleet's 76 cars`."""
    before = claim.tokens[max(0, figure.place - WHOLE_REACH) : figure.place]
    return any(token.form == "of" for token in before)


def _heading(figure: Figure, ground: Ground) -> frozenset[str]:
    """Give the words that head a figure's column; the `first boat` is no number of boats."""
    if figure.unit is not None and figure.unit.dimension == "rank":
        return PLACES
    forms = (form for noun in figure.nouns for form in forms_on_page(noun, ground))
    return figure.nouns | frozenset(forms)


def _says(figure: Figure, cell: str) -> bool:
    figure = figure._replace(unit=None)
    if not cell.replace(".", "").isdigit():
        return True
    other = figure._replace(value=float(cell), bound="exact")
    return figure.says(other) or figure.rounds(other)


def _denied(claim: Sentence, row: Row) -> str | None:
    """Find a column of yes and no that the claim names and says the contrary of."""
    denies = not NEGATORS.isdisjoint(claim.roots)
    for header, cell in zip(row.header, row.cells, strict=True):
        said = _YES_OR_NO.get(cell)
        if said is not None and _holds(claim.roots, header) and said == denies:
            return f"{' '.join(cell)}” for “{' '.join(header)}"
    return None
