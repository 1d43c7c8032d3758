"""Claims that read out rows of a table: carried where each value stands in the column it is given.

`MV Kittiwake was built in 1998 and carries 180 passengers, Slow Joan in 1961 and 40` reads two rows
under the columns `Built` and `Passengers`. All of a claim must be told by its rows, their columns
and little words that add nothing; anything else, a limit or a denial, is for others to decide.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.claims.findings import Finding, supports
from agent.evidence.claims.tables import read_row
from agent.evidence.language.statements import read_claim
from agent.evidence.language.vocabulary import ARTICLES, root_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from agent.evidence.claims.tables import Cell, Row
    from agent.evidence.language.statements import Ground

_PLAIN = ARTICLES | root_set(
    """is was were are be been has have had it its she her he his they their which that who and also
    in on at of for from to with by as can could while whereas"""
)
"""What a claim may say beside the rows; `before`, `or`, `not`, `only` are none of these."""

_HOLDING = root_set(
    "have hold carry take seat count number measure weigh rank list give stand come total amount"
)
"""Verbs that only lead from a thing to its value."""

_YEARS = range(1000, 2100)


class _Part(NamedTuple):
    """What a claim says of one row: its words from the row's name up to the next one's."""

    row: Row
    roots: tuple[str, ...]
    brackets: frozenset[int]
    """Places of words that follow an opening bracket."""


class _Value(NamedTuple):
    """A cell that the claim gives, from word `start` to `end`, and its column."""

    start: int
    end: int
    column: int


def check_rows(claim: str, ground: Ground) -> Finding | None:
    """Find that rows of a table carry a claim; None where they do not plainly do so."""
    parts = list(_parts(claim, ground))
    before: tuple[int, ...] = ()
    for one, part in itertools.pairwise([None, *parts]):
        assert part is not None
        same = one is not None and one.row.header == part.row.header
        given = _Reading(part, ground, before if same else ()).given()
        if not given:
            return None
        before = given
    statements = [part.row.statement for part in parts]
    return supports(statements, "the table says it under these columns") if parts else None


def tells_of_several(claim: str, ground: Ground) -> bool:
    """Whether a claim names more than one row, so that a value of one says nothing on another's."""
    return len(list(_parts(claim, ground))) > 1


def _parts(claim: str, ground: Ground) -> Iterator[_Part]:
    """Cut a claim where the rows that it names begin; what stands before the first is part of it.

    A name that several rows have names none.
    """
    read = read_claim(claim)
    opened = itertools.accumulate((token.kind != "punct" for token in read.tokens), initial=0)
    brackets = {
        place for place, token in zip(opened, read.tokens, strict=False) if token.raw == "("
    }
    rows = [row for statement in ground.statements if (row := read_row(statement)) is not None]
    names = Counter(map(_name, rows))
    once = [row for row in rows if names[_name(row)] == 1]
    named = {start: row for row in once if (start := _place(_name(row), read.roots)) is not None}
    ends = [*sorted(named)[1:], len(read.roots)]
    for start, begin, end in zip(sorted(named), [0, *ends], ends, strict=False):
        yield _Part(named[start], read.roots[begin:end], frozenset(n - begin for n in brackets))


def _name(row: Row) -> Cell:
    """The first cell of words names what a row is about."""
    return next((cell for cell in row.cells if any(map(str.isalpha, cell))), ())


def _place(cell: Cell, roots: Sequence[str]) -> int | None:
    """Where the words of a cell stand, one after the other; None where they do not."""
    return next(_places(cell, roots), None) if cell else None


def _places(cell: Cell, roots: Sequence[str]) -> Iterator[int]:
    size = len(cell)
    return (n for n in range(len(roots) - size + 1) if size and tuple(roots[n : n + size]) == cell)


class _Reading:
    """A part of a claim against its row: which words are its cells, which its columns' names.

    A part may leave out the names of the columns where it gives values in those of the part
    `before` it, in their order.
    """

    def __init__(self, part: _Part, ground: Ground, before: tuple[int, ...]) -> None:
        self._part = part
        self._before = before
        forms = {root: {root, *forms_on_page(root, ground)} for root in {*part.roots} - _PLAIN}
        self._headers = [_naming(header, forms) for header in part.row.header]
        self._values = [
            _Value(start, start + len(cell), column)
            for column, cell in enumerate(part.row.cells)
            for start in _places(cell, part.roots)
        ]

    def given(self) -> tuple[int, ...]:
        """Give the columns whose values the part tells, in its order; none where it tells more."""
        name = self._part.row.cells.index(_name(self._part.row))
        named = next(value for value in self._values if value.column == name)
        rest = [value for value in self._values if value.column != name]
        given = sorted(value for value in rest if self._stands_in_its_column(value))
        if not given:
            given = sorted(rest)
            if tuple(value.column for value in given) != self._before:
                return ()
        return tuple(value.column for value in given) if self._is_all([named, *given]) else ()

    def _is_all(self, values: Sequence[_Value]) -> bool:
        told = {place for value in values for place in range(value.start, value.end)}
        idle = _PLAIN | _HOLDING | frozenset().union(*(self._headers[v.column] for v in values))
        rest = (root for place, root in enumerate(self._part.roots) if place not in told)
        return all(root in idle for root in rest)

    def _stands_in_its_column(self, value: _Value) -> bool:
        return self._columns_near(value) == {value.column} or self._is_year_in_brackets(value)

    def _is_year_in_brackets(self, value: _Value) -> bool:
        """`MV Kittiwake (1998)`, where one column alone has years."""
        years = [column for column, cell in enumerate(self._part.row.cells) if _is_year(cell)]
        return value.start in self._part.brackets and years == [value.column]

    def _columns_near(self, value: _Value) -> set[int]:
        """The columns that the part names nearest to a value; several where they are as near."""
        distances = {
            column: min(abs(place - (value.start if place < value.start else value.end - 1))
                        for place in places)
            for column, header in enumerate(self._headers)
            if (places := self._outside(header))
        }  # fmt: skip
        nearest = min(distances.values(), default=0)
        return {column for column, distance in distances.items() if distance == nearest}

    def _outside(self, header: frozenset[str]) -> list[int]:
        """Where a column's name stands in the part, other than within a cell."""
        inside = {place for value in self._values for place in range(value.start, value.end)}
        roots = enumerate(self._part.roots)
        return [place for place, root in roots if root in header and place not in inside]


def _naming(header: Cell, forms: Mapping[str, AbstractSet[str]]) -> frozenset[str]:
    """The words of a claim that can stand for a word of a column's name."""
    return frozenset(root for root, others in forms.items() if not others.isdisjoint(header))


def _is_year(cell: Cell) -> bool:
    return len(cell) == 1 and cell[0].isdigit() and int(cell[0]) in _YEARS
