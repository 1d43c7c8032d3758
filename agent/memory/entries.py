"""Memories, one by one: added, replaced with their history kept, forgotten for good."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.memory.drafts import Draft, columns
from agent.memory.embeddings import digest
from agent.memory.finding import Finding
from agent.memory.hits import meaning, rows_of
from agent.memory.links import Links
from agent.memory.notes import Notes
from agent.memory.placing import Place, place
from agent.memory.schema import (
    NAMESPACE_SHIFT,
    codes,
    embeddings,
    history,
    links,
    memories,
    namespaces,
    restated,
    seals,
    stamps,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agent.memory.by_meaning import ByMeaning
    from agent.memory.embeddings import Vectors
    from agent.memory.store import Store
    from agent.memory.types import Hit

_INSERT = memories.insert()
_BEFORE = (
    sa.select(*memories.c["id", "session", "at", "source"])
    .where(memories.c.id.between(sa.bindparam("first"), sa.bindparam("last")))
    .order_by(memories.c.id.desc())
    .limit(1)
)
_TAKE = (
    namespaces.update()
    .where(namespaces.c.id == sa.bindparam("namespace"))
    .values(last=namespaces.c.last + sa.bindparam("count"))
    .returning(namespaces.c.last)
)


class Entries:
    """The memories of one namespace."""

    def __init__(self, store: Store, namespace: int, vectors: Vectors | None = None) -> None:
        self._store = store
        self._namespace = namespace
        self.links = Links(store)
        self.notes = Notes(store, namespace)
        self.vectors = vectors
        first, after = namespace << NAMESPACE_SHIFT, (namespace + 1) << NAMESPACE_SHIFT
        self._bounds = {"first": first, "last": after - 1}
        self._own = memories.c.id.between(first, after - 1)
        self._by_meaning = self._meaning_by(vectors)
        self._finding = Finding(store, namespace, first, self.links, self._by_meaning)

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

    def all(self, kinds: Sequence[str] | None, newest: int | None = None) -> list[Any]:
        """List memories of some kinds, or the newest of them, in the order of their writing."""
        query = self._of(kinds).where(memories.c.state == "active").order_by(memories.c.id.desc())
        with self._store.read() as connection:
            return list(reversed(connection.execute(query.limit(newest)).all()))

    def newest(self) -> Any | None:
        """Find the memory that was written last."""
        query = sa.select(memories).where(self._own).order_by(memories.c.id.desc()).limit(1)
        with self._store.read() as connection:
            return connection.execute(query).first()

    def after(self, memory: int, limit: int) -> list[Any]:
        """List memories that were written after one, those that can be found."""
        query = sa.select(memories).where(self._own, memories.c.id > memory)
        query = query.where(memories.c.state == "active", memories.c.terms != "")
        with self._store.read() as connection:
            return list(connection.execute(query.order_by(memories.c.id).limit(limit)))

    def other(self, name: str) -> Entries | None:
        """Give those of another namespace; None where it is this one, or nobody opened it yet."""
        number = self._store.known_namespace(name)
        if number is None or number == self._namespace:
            return None
        return Entries(self._store, number, self.vectors)

    def by_ids(self, ids: Sequence[int]) -> list[Any]:
        """Read memories in use, in the order of the ids; those that are gone are left out.

        So are those of other namespaces.
        """
        first, last = self._bounds["first"], self._bounds["last"]
        with self._store.read() as connection:
            rows = rows_of(connection, [id_ for id_ in ids if first <= id_ <= last])
        return [rows[id_] for id_ in ids if id_ in rows and rows[id_].state == "active"]

    def archive(self, ids: Collection[int]) -> int:
        """Take memories out of use: no search finds them, nothing of them is lost."""
        with self._store.write() as connection:
            rows = [row for row in rows_of(connection, ids).values() if row.state == "active"]
            self._unindex(connection, rows)
            which = memories.c.id.in_([row.id for row in rows])
            connection.execute(memories.update().where(which), {"state": "archived"})
        return len(rows)

    def fade(self, now: float) -> int:
        """Let the links of this namespace decay; returns how many are gone."""
        return self.links.fade(now, **self._bounds)

    def catch_up(self, deadline: float) -> int:
        """Embed what is new until the time is up; returns how many, 0 where there is no model."""
        return 0 if self._by_meaning is None else self._by_meaning.catch_up(deadline)

    def _meaning_by(self, vectors: Vectors | None) -> ByMeaning | None:
        if vectors is None:
            return None
        from agent.memory.by_meaning import ByMeaning  # noqa: PLC0415 - few bring a model

        bounds = (self._bounds["first"], self._bounds["last"])
        return ByMeaning(self._store, self.notes, bounds, vectors)

    def clear(self) -> int:
        """Delete everything for good: memories, what the engine noted, the sealed log."""
        with self._store.write() as connection:
            for table in (state, seals, stamps):
                connection.execute(table.delete().where(table.c.namespace == self._namespace))
        return self.delete(None)

    def busiest(self, limit: int) -> list[Any]:
        """List the memories in use that have the most links, the most first."""
        with self._store.read() as connection:
            ids = self.links.busiest(connection, **self._bounds, limit=limit)
        return self.by_ids(ids)

    def count(self) -> int:
        """Count the memories in use."""
        query = sa.select(sa.func.count()).where(self._own, memories.c.state == "active")
        with self._store.read() as connection:
            return connection.scalar(query) or 0

    def earlier(self, memory: int) -> list[Any]:
        """List the former values of a memory, oldest first."""
        query = sa.select(history).where(history.c.memory == memory).order_by(history.c.id)
        with self._store.read() as connection:
            return list(connection.execute(query))

    def delete(self, kinds: Sequence[str] | None, key: str | None = None) -> int:
        """Delete for good, with their history; returns how many there were."""
        query = self._of(kinds)
        return self._delete_all(query if key is None else query.where(memories.c.key == key))

    def delete_ids(self, ids: Sequence[int]) -> int:
        """Delete these for good, with their history; returns how many there were."""
        return self._delete_all(self._of(None).where(memories.c.id.in_(ids)))

    def _delete_all(self, query: sa.Select[Any]) -> int:
        with self._store.write() as connection:
            rows = list(connection.execute(query))
            self._delete(connection, rows)
        if rows:
            self._store.purge()
        return len(rows)

    def _of(self, kinds: Sequence[str] | None) -> sa.Select[Any]:
        query = sa.select(memories).where(self._own)
        return query if kinds is None else query.where(memories.c.kind.in_(kinds))

    def search(
        self,
        text: str,
        limit: int,
        kinds: Collection[str] | None,
        *,
        associations: bool = True,
    ) -> list[Hit]:
        """Find memories that bear on a text, best first."""
        return self._finding.search(text, limit, kinds, associations=associations)

    def insert(self, connection: sa.Connection, drafts: Sequence[Draft]) -> list[int]:
        """Write memories inside a transaction that is already open."""
        if not drafts:
            return []
        previous = connection.execute(_BEFORE, self._bounds).first()
        before = Place(*previous) if previous else None
        last = self._take_ids(connection, len(drafts))
        now, rows = time.time(), []
        for number, draft in enumerate(drafts, last - len(drafts) + 1):
            before = place(number, draft, now, before)
            rows.append({**columns(draft, now), "id": number, "session": before.session})
        connection.execute(_INSERT, rows)
        self._index(connection, rows)
        return [row["id"] for row in rows]

    def _take_ids(self, connection: sa.Connection, count: int) -> int:
        wanted = {"namespace": self._namespace, "count": count}
        return int(connection.execute(_TAKE, wanted).scalar_one())

    def _named(self, kinds: Sequence[str], key: str | None) -> sa.Select[Any]:
        named = sa.and_(memories.c.key == key, memories.c.kind.in_(kinds))
        return sa.select(memories).where(named, self._own).order_by(memories.c.id)

    def _replace(self, connection: sa.Connection, row: Any, draft: Draft) -> None:
        now = time.time()
        if (row.text, row.value) != (draft.text, draft.value):
            former = {c.name: getattr(row, c.name) for c in history.c if hasattr(row, c.name)}
            former.pop("id")
            connection.execute(history.insert(), {**former, "memory": row.id, "replaced": now})
            connection.execute(restated.delete().where(restated.c.memory == row.id))
            connection.execute(restated.insert(), {"memory": row.id})
        new = columns(draft, now)
        connection.execute(memories.update().where(memories.c.id == row.id), new)
        self._unindex(connection, [row])
        self._index(connection, [{"id": row.id, **new}])

    def _delete(self, connection: sa.Connection, rows: Sequence[Any]) -> None:
        ids = [row.id for row in rows]
        self._unindex(connection, rows)
        self._forget_vectors(connection, rows)
        connection.execute(history.delete().where(history.c.memory.in_(ids)))
        linked = sa.or_(links.c.one.in_(ids), links.c.other.in_(ids))
        connection.execute(links.delete().where(linked))
        connection.execute(memories.delete().where(memories.c.id.in_(ids)))

    def _forget_vectors(self, connection: sa.Connection, rows: Sequence[Any]) -> None:
        """Delete what memories became for the sake of their meaning, as they are and as they were.

        The vectors of pgvector go with the memories.
        """
        ids, by_id = [row.id for row in rows], {row.id: row for row in rows}
        former = sa.select(history.c.memory, history.c.text).where(history.c.memory.in_(ids))
        texts = [(row.id, row.text) for row in rows]
        texts += [(row.memory, row.text) for row in connection.execute(former)]
        names = {digest(meaning(by_id[i].kind, by_id[i].key, text)) for i, text in texts}
        connection.execute(embeddings.delete().where(embeddings.c.digest.in_(names)))
        for table in (codes, restated):
            connection.execute(table.delete().where(table.c.memory.in_(ids)))

    def _index(self, connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
        found = [(row["id"], row["terms"]) for row in rows if row["terms"]]
        if found:
            self._store.index.add(connection, found)

    def _unindex(self, connection: sa.Connection, rows: Sequence[Any]) -> None:
        found = [(row.id, row.terms) for row in rows if row.terms and row.state == "active"]
        if found:
            self._store.index.remove(connection, found)
