"""What a page says, clause by clause, to be set against a clause of a claim."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.language.clauses import Clause, clauses, subject_of, whole_clause
from agent.evidence.language.vocabulary import CONTRASTS

if TYPE_CHECKING:
    from agent.evidence.language.statements import Ground, Statement

KEPT = 64
"""Grounds whose clauses are kept."""


class Side(NamedTuple):
    """A clause of the page in its statement, or (`whole`) all of a statement that denies nothing.

    `denies` says whether any clause of the statement denies something.
    """

    statement: Statement
    clause: Clause
    denies: bool
    whole: bool


@functools.lru_cache(maxsize=KEPT)
def told_by(ground: Ground) -> tuple[Side, ...]:
    """Give what a ground says in its prose, clause by clause."""
    prose = (s for s in ground.statements if _states(s))
    return tuple(side for statement in prose for side in _sides(statement, ground))


def _sides(statement: Statement, ground: Ground) -> list[Side]:
    """Give a statement's clauses, and the whole of it where nothing in it is denied."""
    parts = [_with_subject(part, ground, statement) for part in clauses(statement.sentence.tokens)]
    denies = any(part.denials for part in parts)
    whole = [] if denies or len(parts) < 2 else whole_clause(statement.sentence.tokens)
    sides = [Side(statement, part, denies, whole=False) for part in parts if not part.supposed]
    return sides + [Side(statement, part, denies, whole=True) for part in whole]


def _with_subject(clause: Clause, ground: Ground, statement: Statement) -> Clause:
    """Give a clause about `it` or `they` the words of the statement before, which name it."""
    if not clause.refers:
        return clause
    named = set(ground.topic)
    if statement.place:
        before = ground.statements[statement.place - 1].sentence
        named |= {token.root for token in subject_of(before.tokens)}
    return replace(clause, content={**dict.fromkeys(sorted(named), False), **clause.content})


def _states(statement: Statement) -> bool:
    roots = statement.sentence.roots
    contrasts = not CONTRASTS.isdisjoint(roots) and "expect" not in roots
    return statement.passage.kind != "table" and not contrasts
