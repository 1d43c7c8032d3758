"""Ranges in running text: `aged 13 to 17`, `between 1989 and 1993`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.normalise import Token

_TO = frozenset({"to", "-", "until", "till", "bis"})


class Range(NamedTuple):
    """Two numbers given as the ends of a range: `aged 13 to 17`, `between 1989 and 1993`."""

    low: float
    high: float
    place: int


def find_ranges(tokens: Sequence[Token]) -> list[Range]:
    """Find the ranges of a sentence; a score (`beat them 23 to 14`) falls and is none."""
    found: list[Range] = []
    for i, token in enumerate(tokens[:-2]):
        joint, end = tokens[i + 1].form, tokens[i + 2]
        between = i > 0 and tokens[i - 1].form in {"between", "zwischen"}
        if joint not in _TO and not (between and joint in {"and", "und"}):
            continue
        if token.kind == end.kind == "number" and (token.value or 0.0) < (end.value or 0.0):
            found.append(Range(token.value or 0.0, end.value or 0.0, i))
    return found
