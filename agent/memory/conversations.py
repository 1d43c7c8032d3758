"""Conversations: turns in order, and what is condensed of the older ones."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from agent.jsvalues import well_formed
from agent.memory.database import conversations, turns
from agent.memory.memory_types import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.database import Store


class Conversations:
    """The conversations of one namespace; each has a name that people can type."""

    def __init__(self, store: Store, namespace: int) -> None:
        self._store = store
        self._namespace = namespace

    def append(self, session: str, new: Sequence[Turn], *, anew: bool = False) -> None:
        """Add turns at the end, opening the conversation if it is new; `anew` drops what it has."""
        now = time.time()
        with self._store.write() as connection:
            number = self._open(connection, session, now)
            if anew:
                connection.execute(turns.delete().where(turns.c.conversation == number))
            for turn in new:
                at = turn.at.timestamp() if turn.at else now
                row = {"conversation": number, "role": turn.role, "at": at}
                connection.execute(turns.insert(), {**row, "text": well_formed(turn.text)})

    def turns(self, session: str, limit: int | None) -> list[Turn]:
        """List the last turns, oldest first; an unknown conversation has none."""
        query = (
            sa.select(turns)
            .join(conversations, conversations.c.id == turns.c.conversation)
            .where(self._named(session))
            .order_by(turns.c.id.desc())
            .limit(limit)
        )
        with self._store.read() as connection:
            rows = connection.execute(query).all()
        return [
            Turn(row.role, row.text, datetime.fromtimestamp(row.at, UTC)) for row in reversed(rows)
        ]

    def latest(self) -> str | None:
        """Name the conversation last spoken in."""
        query = (
            sa.select(conversations.c.name)
            .where(conversations.c.namespace == self._namespace)
            .order_by(conversations.c.updated.desc(), conversations.c.id.desc())
            .limit(1)
        )
        with self._store.read() as connection:
            return connection.scalar(query)

    def condensed(self, session: str) -> tuple[str, int]:
        """Read the condensed history, and how many turns from the start it covers."""
        query = sa.select(conversations.c.condensed, conversations.c.watermark)
        with self._store.read() as connection:
            row = connection.execute(query.where(self._named(session))).first()
        return (row.condensed, row.watermark) if row else ("", 0)

    def condense(self, session: str, text: str, watermark: int) -> None:
        """Replace the condensed history; `watermark` counts the turns that it covers."""
        with self._store.write() as connection:
            number = self._open(connection, session, time.time())
            connection.execute(
                conversations.update().where(conversations.c.id == number),
                {"condensed": text, "watermark": watermark},
            )

    def delete(self, session: str | None = None) -> int:
        """Delete one conversation, or all, for good; returns how many there were."""
        which = conversations.c.namespace == self._namespace
        if session is not None:
            which = sa.and_(which, conversations.c.name == session)
        with self._store.write() as connection:
            ids = list(connection.scalars(sa.select(conversations.c.id).where(which)))
            connection.execute(turns.delete().where(turns.c.conversation.in_(ids)))
            connection.execute(conversations.delete().where(conversations.c.id.in_(ids)))
        if ids:
            self._store.purge()
        return len(ids)

    def _named(self, session: str) -> sa.ColumnElement[bool]:
        return sa.and_(
            conversations.c.namespace == self._namespace, conversations.c.name == session
        )

    def _open(self, connection: sa.Connection, session: str, now: float) -> int:
        found = connection.scalar(sa.select(conversations.c.id).where(self._named(session)))
        if found is not None:
            named = conversations.c.id == found
            connection.execute(conversations.update().where(named), {"updated": now})
            return int(found)
        row = {"namespace": self._namespace, "name": session, "started": now, "updated": now}
        new = conversations.insert().returning(conversations.c.id)
        return int(connection.execute(new, row).scalar_one())
