"""Conversations: turns in order, and what is condensed of the older ones."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from agent.jsvalues import well_formed
from agent.memory.database import conversations, turns
from agent.memory.memory_types import Session, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.database import Store

TITLE_LENGTH = 80


class Conversations:
    """The conversations of one namespace; each has a name that people can type."""

    def __init__(self, store: Store, namespace: int) -> None:
        self._store = store
        self._namespace = namespace

    def append(self, session: str, new: Sequence[Turn]) -> None:
        """Add turns at the end, opening the conversation if it is new."""
        with self._store.write() as connection:
            self._append(connection, session, new)

    def replace(self, session: str, new: Sequence[Turn]) -> None:
        """Put these turns in place of those that a conversation has."""
        with self._store.write() as connection:
            number = self._open(connection, session, time.time())
            connection.execute(turns.delete().where(turns.c.conversation == number))
            self._append(connection, session, new)

    def _append(self, connection: sa.Connection, session: str, new: Sequence[Turn]) -> None:
        now = time.time()
        number = self._open(connection, session, now)
        rows = [
            {
                "conversation": number,
                "role": turn.role,
                "text": well_formed(turn.text),
                "at": turn.at.timestamp() if turn.at else now,
            }
            for turn in new
        ]
        if rows:
            connection.execute(turns.insert(), rows)

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
        return [Turn(row.role, row.text, _time(row.at)) for row in reversed(rows)]

    def list(self) -> list[Session]:
        """List the conversations, the one last spoken in first."""
        first = sa.func.min(sa.case((turns.c.role == "user", turns.c.id)))
        counted = (
            sa.select(turns.c.conversation, sa.func.count().label("number"), first.label("first"))
            .group_by(turns.c.conversation)
            .subquery()
        )
        query = (
            sa.select(conversations, counted.c.number, turns.c.text)
            .outerjoin(counted, counted.c.conversation == conversations.c.id)
            .outerjoin(turns, turns.c.id == counted.c.first)
            .where(conversations.c.namespace == self._namespace)
            .order_by(conversations.c.updated.desc(), conversations.c.id.desc())
        )
        with self._store.read() as connection:
            rows = connection.execute(query).all()
        return [
            Session(
                row.name,
                (row.text or "")[:TITLE_LENGTH],
                row.number or 0,
                _time(row.started),
                _time(row.updated),
            )
            for row in rows
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


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
