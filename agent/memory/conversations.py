"""Conversations: their turns in order, and a condensed text of the older ones."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from agent.jsvalues import well_formed
from agent.memory.database import Notes, conversations, state, turns
from agent.memory.memory_types import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.database import Store

_PROVENANCE = "heard "
"""Prefix of the name of a conversation's note about provenance."""


class Conversations:
    """The conversations of one namespace; each has a name that people can type."""

    def __init__(self, store: Store, namespace: int) -> None:
        self._store = store
        self._namespace = namespace
        self._notes = Notes(store, namespace)

    def append(self, session: str, new: Sequence[Turn], *, anew: bool = False) -> None:
        """Append turns to a conversation, new or existing; `anew` first deletes its turns."""
        now = time.time()
        with self._store.write() as connection:
            number = self._open(connection, session)
            if anew:
                connection.execute(turns.delete().where(turns.c.conversation == number))
            for turn in new:
                row = {"conversation": number, "role": turn.role, "text": well_formed(turn.text)}
                connection.execute(turns.insert(), {**row, "at": now})

    def turns(self, session: str, limit: int | None) -> list[Turn]:
        """List the last turns, oldest first; [] for an unknown conversation."""
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
        """Return the name of the most recent conversation."""
        own = sa.select(conversations.c.name).where(conversations.c.namespace == self._namespace)
        newest = own.order_by(conversations.c.updated.desc(), conversations.c.id.desc())
        with self._store.read() as connection:
            return connection.scalar(newest.limit(1))

    def condensed(self, session: str) -> tuple[str, int]:
        """Return the condensed history, and how many turns from the start it covers."""
        query = sa.select(conversations.c.condensed, conversations.c.watermark)
        with self._store.read() as connection:
            row = connection.execute(query.where(self._named(session))).first()
        return (row.condensed, row.watermark) if row else ("", 0)

    def condense(self, session: str, text: str, watermark: int) -> None:
        """Replace the condensed history; `watermark` is how many turns it covers."""
        with self._store.write() as connection:
            which = conversations.c.id == self._open(connection, session)
            new = {"condensed": text, "watermark": watermark}
            connection.execute(conversations.update().where(which), new)

    def provenance(self, session: str) -> tuple[bool, str]:
        """Return whether turns may quote others (True if unknown), and the public words.

        Public words are those that left the conversation, or came from the web.
        """
        noted = self._notes.read(_PROVENANCE + session)
        return (bool(noted["quotes"]), str(noted["public"])) if noted else (True, "")

    def add_provenance(self, session: str, public: str, *, quotes: bool) -> None:
        """Add to what `provenance` returns; once turns may quote others, that stays so."""
        known = self._notes.read(_PROVENANCE + session) or {"quotes": False, "public": ""}
        all_words = " ".join(dict.fromkeys(f"{known['public']} {public}".split()))
        note = {"quotes": quotes or known["quotes"], "public": all_words}
        self._notes.write(_PROVENANCE + session, note)

    def delete(self) -> int:
        """Delete all conversations for good; returns how many there were."""
        own = conversations.c.namespace == self._namespace
        ids = sa.select(conversations.c.id).where(own)
        with self._store.write() as connection:
            connection.execute(turns.delete().where(turns.c.conversation.in_(ids)))
            gone = connection.execute(conversations.delete().where(own)).rowcount
            notes = state.c.namespace == self._namespace, state.c.name.startswith(_PROVENANCE)
            connection.execute(state.delete().where(*notes))
        if gone:
            self._store.purge()
        return gone

    def _named(self, session: str) -> sa.ColumnElement[bool]:
        return sa.and_(
            conversations.c.namespace == self._namespace, conversations.c.name == session
        )

    def _open(self, connection: sa.Connection, session: str) -> int:
        """Return the id of a conversation, created if necessary, and mark it as used now."""
        named, now = self._named(session), time.time()
        touch = conversations.update().where(named).values(updated=now)
        found = connection.scalar(touch.returning(conversations.c.id))
        if found is None:
            row = {"namespace": self._namespace, "name": session, "started": now, "updated": now}
            new = conversations.insert().returning(conversations.c.id)
            found = connection.execute(new, row).scalar_one()
        return int(found)
