"""A conversation: its turns in order, and a condensed version of the older ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import sqlalchemy as sa

from agent.jsvalues import well_formed
from agent.memory.database import Notes, conversations, turns
from agent.memory.memory_types import Turn

if TYPE_CHECKING:
    from agent.memory.database import Store

_PROVENANCE_PREFIX = "heard "
"""Prefix in the name of a conversation's provenance note."""


class SavedConversation:
    """A conversation in a namespace, with a name that users can type; `append` creates it."""

    def __init__(self, store: Store, namespace: int, name: str) -> None:
        self._store = store
        self._row = {"namespace": namespace, "name": name}
        self._named = sa.and_(conversations.c.namespace == namespace, conversations.c.name == name)
        self._notes, self._note = Notes(store, namespace), _PROVENANCE_PREFIX + name

    def append(self, *new: Turn, anew: bool = False) -> None:
        """Append turns; `anew` deletes the existing ones first."""
        now = time.time()
        with self._store.write() as connection:
            number = self._open(connection)
            if anew:
                connection.execute(turns.delete().where(turns.c.conversation == number))
            for turn in new:
                row = {"conversation": number, "role": turn.role, "text": well_formed(turn.text)}
                connection.execute(turns.insert(), {**row, "at": now})

    def turns(self, limit: int | None = None) -> list[Turn]:
        """List the last turns, oldest first; [] if the conversation does not exist yet."""
        query = (
            sa.select(turns)
            .join(conversations, conversations.c.id == turns.c.conversation)
            .where(self._named)
            .order_by(turns.c.id.desc())
            .limit(limit)
        )
        with self._store.read() as connection:
            rows = connection.execute(query).all()
        return [Turn(row.role, row.text) for row in reversed(rows)]

    def condensed(self) -> tuple[str, int]:
        """Return the condensed history and the number of turns, from the first, that it covers."""
        query = sa.select(conversations.c.condensed, conversations.c.watermark)
        with self._store.read() as connection:
            row = connection.execute(query.where(self._named)).first()
        return (row.condensed, row.watermark) if row else ("", 0)

    def condense(self, text: str, watermark: int) -> None:
        """Replace the condensed history, which covers the first `watermark` turns."""
        with self._store.write() as connection:
            which = conversations.c.id == self._open(connection)
            new = {"condensed": text, "watermark": watermark}
            connection.execute(conversations.update().where(which), new)

    def quotes_others(self) -> bool:
        """Return whether any turn may quote text by others; True if unknown."""
        noted = self._notes.read(self._note)
        return bool(noted["quotes"]) if noted else True

    def note_quotes(self, *, quotes: bool) -> None:
        """Record whether a turn may quote text by others; True is never reset."""
        known = self._notes.read(self._note) or {"quotes": False}
        self._notes.write(self._note, {"quotes": quotes or known["quotes"]})

    def _open(self, connection: sa.Connection) -> int:
        """Return the conversation's id, creating it if necessary, and mark it as recently used."""
        now = time.time()
        touch = conversations.update().where(self._named).values(updated=now)
        found = connection.scalar(touch.returning(conversations.c.id))
        if found is None:
            new = conversations.insert().returning(conversations.c.id)
            row = {**self._row, "started": now, "updated": now}
            found = connection.execute(new, row).scalar_one()
        return int(found)
