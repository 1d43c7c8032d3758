"""Claims that read out a row of a table: carried where each value stands in the column it is given.

`MV Kittiwake was built in 1998 and carries 180 passengers` reads the row of that ship under the
columns `Built` and `Passengers`. All of a claim must be told by the row, its columns and little
words that add nothing; anything else, a limit or a denial, is for others to decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.alignment import forms_on_page
from agent.evidence.findings import Finding, supports
from agent.evidence.statements import read_claim
from agent.evidence.tables import read_row
from agent.evidence.vocabulary import ARTICLES, root_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from agent.evidence.statements import Ground
    from agent.evidence.tables import Cell, Row

_PLAIN = ARTICLES | root_set(
    """is was were are be been has have had it its she her he his they their which that who and also
    in on at of for from to with by as can could"""
)
"""What a claim may say beside the row; `before`, `or`, `not`, `only` are none of these."""

_HOLDING = root_set(
    "have hold carry take seat count number measure weigh rank list give stand come total amount"
)
"""Verbs that only lead from a thing to its value."""


class _Value(NamedTuple):
    """A cell that the claim gives, from word `start` to `end`, and its column."""

    start: int
    end: int
    column: int


def check_rows(claim: str, ground: Ground) -> Finding | None:
    """Find that one row of a table carries a claim; None where none plainly does."""
    roots = read_claim(claim).roots
    for statement in ground.statements:
        row = read_row(statement)
        if row is not None and _Reading(roots, row, ground).holds():
            return supports((statement,), "a row of the table has it in this column")
    return None


class _Reading:
    """A claim's words against one row: which are its cells, which its columns' names."""

    def __init__(self, roots: Sequence[str], row: Row, ground: Ground) -> None:
        self._roots = roots
        self._row = row
        forms = {root: {root, *forms_on_page(root, ground)} for root in {*roots} - _PLAIN}
        self._headers = [_naming(header, forms) for header in row.header]
        self._values = list(self._found())

    def holds(self) -> bool:
        """Whether the claim names the row, and gives values of it in their columns, and no more."""
        named = [value for value in self._values if self._names_the_row(value)]
        given = [value for value in self._values if self._columns_near(value) == {value.column}]
        told = {place for value in (*named[:1], *given) for place in range(value.start, value.end)}
        said = frozenset().union(*(self._headers[value.column] for value in given))
        idle = _PLAIN | _HOLDING | said
        rest = (root for place, root in enumerate(self._roots) if place not in told)
        return bool(named and given) and all(root in idle for root in rest)

    def _found(self) -> Iterator[_Value]:
        for column, cell in enumerate(self._row.cells):
            for start in range(len(self._roots) - len(cell) + 1):
                end = start + len(cell)
                if cell and tuple(self._roots[start:end]) == cell:
                    yield _Value(start, end, column)

    def _names_the_row(self, value: _Value) -> bool:
        """The first cell of words names what the row is about."""
        worded = (n for n, cell in enumerate(self._row.cells) if any(map(str.isalpha, cell)))
        return value.column == next(worded, None)

    def _columns_near(self, value: _Value) -> set[int]:
        """The columns that the claim names nearest to a value; several where they are as near."""
        distances = {
            column: min(value.start - place if place < value.start else place - value.end + 1
                        for place in places)
            for column, header in enumerate(self._headers)
            if (places := self._outside(header))
        }  # fmt: skip
        nearest = min(distances.values(), default=0)
        return {column for column, distance in distances.items() if distance == nearest}

    def _outside(self, header: frozenset[str]) -> list[int]:
        """Where a column's name stands in the claim, other than within a cell."""
        inside = {p for value in self._values for p in range(value.start, value.end)}
        return [n for n, root in enumerate(self._roots) if root in header and n not in inside]


def _naming(header: Cell, forms: Mapping[str, AbstractSet[str]]) -> frozenset[str]:
    """The words of a claim that can stand for a word of a column's name."""
    return frozenset(root for root, others in forms.items() if not others.isdisjoint(header))
