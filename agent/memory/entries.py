"""Memories, one by one: added, replaced with their history kept, forgotten for good."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.memory import sqlite
from agent.memory.kinds import UNSEARCHED
from agent.memory.schema import NAMESPACE_SHIFT, history, memories, namespaces
from agent.memory.terms import index_terms
from agent.memory.types import Hit, Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.store import Store

SESSION_GAP = 3_600.0  # seconds of silence after which a conversation is another one
_TURN_ID = re.compile(r"(.*\d)\D+\d+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to be written; `value` is JSON where the value is more than its text.

    Times are seconds since the epoch; `at` is when it happened, now unless told.
    """

    text: str
    kind: str
    key: str | None = None
    value: str | None = None
    at: float | None = None
    source: str | None = None
    origin: Origin = field(default_factory=Origin)
    confidence: float | None = None
    expires: float | None = None


class Entries:
    """The memories of one namespace."""

    def __init__(self, store: Store, namespace: int) -> None:
        self._store = store
        self._namespace = namespace
        self._own = memories.c.id.between(
            namespace << NAMESPACE_SHIFT, ((namespace + 1) << NAMESPACE_SHIFT) - 1
        )

    def add(self, drafts: Sequence[Draft]) -> list[int]:
        """Write memories in one transaction; returns their ids."""
        with self._store.write() as connection:
            return self.insert(connection, drafts)

    def put(self, draft: Draft) -> int:
        """Write under a key; an earlier value goes into the history."""
        return self.put_all([draft])[0]

    def put_all(self, drafts: Sequence[Draft]) -> list[int]:
        """Write several, each under its key, in one transaction."""
        with self._store.write() as connection:
            return [self._put(connection, draft) for draft in drafts]

    def _put(self, connection: sa.Connection, draft: Draft) -> int:
        row = connection.execute(self._named([draft.kind], draft.key)).first()
        if row is None:
            return self.insert(connection, [draft])[0]
        self._replace(connection, row, draft)
        return int(row.id)

    def get(self, kinds: Sequence[str], key: str) -> Any | None:
        """Find the row that bears a key, or None."""
        with self._store.read() as connection:
            return connection.execute(self._named(kinds, key)).first()

    def all(self, kinds: Sequence[str]) -> list[Any]:
        """List the rows of some kinds in the order in which they were first written."""
        query = sa.select(memories).where(self._own, memories.c.kind.in_(kinds))
        query = query.where(memories.c.state == "active").order_by(memories.c.id)
        with self._store.read() as connection:
            return list(connection.execute(query))

    def earlier(self, memory: int) -> list[Any]:
        """List the former values of a memory, oldest first."""
        query = sa.select(history).where(history.c.memory == memory).order_by(history.c.id)
        with self._store.read() as connection:
            return list(connection.execute(query))

    def delete(self, kinds: Sequence[str], key: str | None = None) -> int:
        """Delete for good, with their history; returns how many there were."""
        with self._store.write() as connection:
            query = sa.select(memories).where(self._own, memories.c.kind.in_(kinds))
            if key is not None:
                query = query.where(memories.c.key == key)
            rows = list(connection.execute(query))
            self._delete(connection, rows)
            return len(rows)

    def search(self, query: str, limit: int, kinds: Sequence[str] | None) -> list[Hit]:
        """Find memories by the words of a query."""
        terms = sorted(set(index_terms(query)))
        if not terms:
            return []
        match = " OR ".join(f'"{term}"' for term in terms)
        found = sa.text(
            "SELECT rowid FROM memory_index WHERE memory_index MATCH :m AND rowid BETWEEN :a AND :b"
        )
        first = self._namespace << NAMESPACE_SHIFT
        with self._store.read() as connection:
            ids = list(connection.scalars(found, {"m": match, "a": first, "b": first + (1 << 40)}))
            query_ = sa.select(memories).where(memories.c.id.in_(ids))
            if kinds is not None:
                query_ = query_.where(memories.c.kind.in_(kinds))
            rows = connection.execute(query_).all()
        scored = [(len(set(terms) & set(row.terms.split())), row) for row in rows]
        scored.sort(key=lambda pair: -pair[0])
        return [Hit(r.id, r.key, r.text, r.kind, float(n)) for n, r in scored[:limit]]

    def insert(self, connection: sa.Connection, drafts: Sequence[Draft]) -> list[int]:
        """Write memories inside a transaction that is already open."""
        if not drafts:
            return []
        newest = sa.select(*memories.c["id", "session", "at", "source"]).where(self._own)
        previous = connection.execute(newest.order_by(memories.c.id.desc()).limit(1)).first()
        before = _Place(*previous) if previous else None
        last = self._take_ids(connection, len(drafts))
        now, rows = time.time(), []
        for number, draft in enumerate(drafts, last - len(drafts) + 1):
            before = _place(number, draft, now, before)
            rows.append({**_columns(draft, now), **asdict(before)})
        connection.execute(memories.insert(), rows)
        self._index(connection, rows)
        return [row["id"] for row in rows]

    def _take_ids(self, connection: sa.Connection, count: int) -> int:
        taken = (
            namespaces.update()
            .where(namespaces.c.id == self._namespace)
            .values(last=namespaces.c.last + count)
            .returning(namespaces.c.last)
        )
        return int(connection.execute(taken).scalar_one())

    def _named(self, kinds: Sequence[str], key: str | None) -> sa.Select[Any]:
        named = sa.and_(memories.c.key == key, memories.c.kind.in_(kinds))
        return sa.select(memories).where(named, self._own).order_by(memories.c.id)

    def _replace(self, connection: sa.Connection, row: Any, draft: Draft) -> None:
        now = time.time()
        if (row.text, row.value) != (draft.text, draft.value):
            former = {c.name: getattr(row, c.name) for c in history.c if hasattr(row, c.name)}
            former.pop("id")
            connection.execute(history.insert(), {**former, "memory": row.id, "replaced": now})
        columns = _columns(draft, now)
        connection.execute(memories.update().where(memories.c.id == row.id), columns)
        self._unindex(connection, [row])
        self._index(connection, [{"id": row.id, **columns}])

    def _delete(self, connection: sa.Connection, rows: Sequence[Any]) -> None:
        ids = [row.id for row in rows]
        self._unindex(connection, rows)
        connection.execute(history.delete().where(history.c.memory.in_(ids)))
        connection.execute(memories.delete().where(memories.c.id.in_(ids)))

    def _index(self, connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
        found = [(row["id"], row["terms"]) for row in rows if row["terms"]]
        if found and self._store.sqlite:
            sqlite.add_to_index(connection, found)

    def _unindex(self, connection: sa.Connection, rows: Sequence[Any]) -> None:
        found = [(row.id, row.terms) for row in rows if row.terms and row.state == "active"]
        if found and self._store.sqlite:
            sqlite.remove_from_index(connection, found)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a memory stands in its conversation; `session` is the id of the first one there."""

    id: int
    session: int
    at: float
    source: str | None


def _place(number: int, draft: Draft, now: float, before: _Place | None) -> _Place:
    place = _Place(number, number, now if draft.at is None else draft.at, draft.source)
    if before is not None and _goes_on(before, place):
        return replace(place, session=before.session)
    return place


def _goes_on(before: _Place, place: _Place) -> bool:
    """Tell whether a memory belongs to the session of the one before it.

    Silence ends a session, and so does another source; but where each memory has a source of its
    own (`D1:1`, `D1:2`, or one that stood alone), the source names the turn, not the session.
    """
    if abs(place.at - before.at) > SESSION_GAP:
        return False
    alone = before.session == before.id
    return alone or None in (before.source, place.source) or _stem(before) == _stem(place)


def _stem(place: _Place) -> str | None:
    match = _TURN_ID.fullmatch(place.source or "")
    return match[1] if match else place.source


def _columns(draft: Draft, now: float) -> dict[str, Any]:
    searched = draft.text if draft.key is None else f"{draft.key} {draft.text}"
    return {
        "kind": draft.kind,
        "key": draft.key,
        "text": draft.text,
        "value": draft.value,
        "at": now if draft.at is None else draft.at,
        "written": now,
        "source": draft.source,
        "run": draft.origin.run,
        "url": draft.origin.url,
        "trusted": draft.origin.trusted,
        "state": "active",
        "terms": "" if draft.kind in UNSEARCHED else " ".join(index_terms(searched)),
        "confidence": draft.confidence,
        "expires": draft.expires,
    }
