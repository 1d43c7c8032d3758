"""Associations: typed links between memories, which grow with use and fade without it.

A link is worth something to a search only when it is proven, that is, when both ends served one
verified answer: likeness of words is what the search sees by itself. Others fill short lists.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import sqlalchemy as sa

from agent.memory.schema import links

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.memory.store import Store

HALF_LIFE = 30 * 86_400.0  # seconds in which an unused link loses half its strength
FAINT = 0.15  # links below are pruned
REINFORCEMENT = 0.1
FULL = 0.9  # a link that is stronger grows no more
FOLLOWED = 0.3  # links below are not followed by a search
_IDS: sa.BindParameter[int] = sa.bindparam("ids", expanding=True)
_TOUCHING = (
    sa.select(links)
    .where(sa.or_(links.c.one.in_(_IDS), links.c.other.in_(_IDS)))
    .order_by(links.c.strength.desc(), links.c.one)
)


class LinkKind(StrEnum):
    """Why two memories are linked; where several hold, the first of these."""

    CAUSAL = "causal"
    SEQUENTIAL = "sequential"
    SIMILAR = "similar"
    RELATED = "related"


@dataclass(frozen=True, slots=True)
class Link:
    """A link, without direction; `strength` is between 0 and 1."""

    one: int
    other: int
    kind: LinkKind
    strength: float
    proven: bool = False


class Links:
    """The links of a store; ids say which namespace they belong to."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, new: Iterable[Link]) -> int:
        """Write links; one that exists keeps the greater strength. Returns how many are new."""
        with self._store.write() as connection:
            return sum(self._write(connection, link) for link in new if link.one != link.other)

    def reinforce(self, ids: Sequence[int]) -> None:
        """Strengthen the links among memories that served a verified answer together."""
        ordered = sorted(set(ids))
        pairs = [(one, other) for at, one in enumerate(ordered) for other in ordered[at + 1 :]]
        grown = links.c.strength + REINFORCEMENT
        proven = {"proven": True, "touched": time.time()}
        with self._store.write() as connection:
            for one, other in pairs:
                self._write(connection, Link(one, other, LinkKind.RELATED, FOLLOWED))
                stronger = links.update().where(_pair(one, other), links.c.strength <= FULL)
                connection.execute(stronger.values(strength=grown))
                connection.execute(links.update().where(_pair(one, other)), proven)

    def of(self, connection: sa.Connection, ids: Sequence[int]) -> list[Link]:
        """List the links that touch any of these memories, strongest first."""
        rows = connection.execute(_TOUCHING, {"ids": list(ids)}).all()
        return [
            Link(row.one, row.other, LinkKind(row.kind), row.strength, row.proven) for row in rows
        ]

    def busiest(self, connection: sa.Connection, first: int, last: int, limit: int) -> list[int]:
        """List the memories of a range of ids that have the most links, the most first."""
        ends = sa.union_all(
            sa.select(links.c.one.label("id")).where(links.c.one.between(first, last)),
            sa.select(links.c.other.label("id")).where(links.c.one.between(first, last)),
        ).subquery()
        most = sa.select(ends.c.id).group_by(ends.c.id)
        ordered = most.order_by(sa.func.count().desc(), ends.c.id.desc()).limit(limit)
        return [row.id for row in connection.execute(ordered)]

    def fade(self, now: float, first: int, last: int) -> int:
        """Let a namespace's links decay since they were last touched; returns how many went."""
        own = links.c.one.between(first, last)
        gone = 0
        with self._store.write() as connection:
            for row in connection.execute(sa.select(links).where(own)).all():
                left = row.strength * 0.5 ** (max(0.0, now - row.touched) / HALF_LIFE)
                if left < FAINT:
                    connection.execute(links.delete().where(_pair(row.one, row.other)))
                    gone += 1
                elif row.strength - left > 0.01:
                    new = {"strength": left, "touched": now}
                    connection.execute(links.update().where(_pair(row.one, row.other)), new)
        return gone

    def _write(self, connection: sa.Connection, link: Link) -> bool:
        one, other = sorted((link.one, link.other))
        known = connection.execute(sa.select(links).where(_pair(one, other))).first()
        if known is None:
            row = {
                "one": one,
                "other": other,
                "kind": link.kind.value,
                "strength": link.strength,
                "proven": link.proven,
                "touched": time.time(),
            }
            connection.execute(links.insert(), row)
            return True
        if link.strength > known.strength:
            new = {"strength": link.strength, "touched": time.time()}
            connection.execute(links.update().where(_pair(one, other)), new)
        return False


def _pair(one: int, other: int) -> sa.ColumnElement[bool]:
    return sa.and_(links.c.one == one, links.c.other == other)
