"""Memories of one namespace: added, searched, replaced with their history kept, forgotten for good.

The namespace `shared` is read from every other one: what is kept there is found everywhere, and
changed or deleted by nobody but who opens it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.errors import UsageError
from agent.memory.database import (
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
from agent.memory.graph import Graph, Links
from agent.memory.records import MemoryDraft, Notes, Place, columns, hit_of, meaning, place, rows_of
from agent.memory.search import STARTS, WordSearch, follow, weighed
from agent.memory.term_index import Range
from agent.memory.vectors import ByMeaning, digest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agent.memory.conversations import Conversations
    from agent.memory.database import Store
    from agent.memory.types import Hit
    from agent.memory.vectors import Vectors

DRAWN = 300  # memories in a graph; more is no picture
SHARED = "shared"
"""The name of the namespace that all others read."""

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
        bounds = (first, after - 1)
        self._by_meaning = ByMeaning(store, self.notes, bounds, vectors) if vectors else None

    def add(self, drafts: Sequence[MemoryDraft]) -> list[int]:
        """Write memories in one transaction; returns their ids."""
        with self._store.write() as connection:
            return self.insert(connection, drafts)

    def put(self, draft: MemoryDraft) -> int:
        """Write under a key; an earlier value goes into the history."""
        return self.put_all([draft])[0]

    def put_all(self, drafts: Sequence[MemoryDraft]) -> list[int]:
        """Write several, each under its key, in one transaction."""
        with self._store.write() as connection:
            return [self._put(connection, draft) for draft in drafts]

    def _put(self, connection: sa.Connection, draft: MemoryDraft) -> int:
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
        return self._by_meaning.catch_up(deadline) if self._by_meaning else 0

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
        """Find memories of this namespace that bear on a text, best first."""
        asked = self._by_meaning.asked(text) if self._by_meaning else None
        query = sa.select(namespaces.c.last).where(namespaces.c.id == self._namespace)
        with self._store.read() as connection:
            where = Range(self._bounds["first"] + 1, connection.execute(query).scalar_one())
            words = WordSearch(connection, self._store.index, where, kinds)
            if self._by_meaning is None or asked is None:
                scored = words.find(text)
                found = [(score, row.id) for score, row in scored]
            else:
                near = self._by_meaning.near(connection, asked, where)
                scored = words.find(text, near)
                found = [(score, row.id) for score, row in scored]
                found = self._by_meaning.reorder(connection, asked, found, near)
            known = {row.id: row for _, row in scored}
            if associations and found:
                starts = [id_ for _, id_ in found[:STARTS]]
                reached = follow(found, self.links.of(connection, starts))
                rows = self._store.index.rows(connection, sorted(reached)) if reached else []
                known |= {row.id: row for row in rows if kinds is None or row.kind in kinds}
                found += [(score, id_) for id_, score in reached.items() if id_ in known]
            best = [(weighed(score, known[id_]), id_) for score, id_ in found]
            best = sorted(best, key=lambda pair: (-pair[0], pair[1]))[:limit]
            texts = rows_of(connection, [id_ for _, id_ in best])
        return [hit_of(texts[id_], score) for score, id_ in best]

    def search_all(
        self,
        text: str,
        limit: int,
        kinds: Collection[str] | None = None,
        *,
        associations: bool = True,
    ) -> list[Hit]:
        """Search this namespace and the shared one, ranked together; hits of the latter say so."""
        found = self.search(text, limit, kinds, associations=associations)
        other = self.other(SHARED)
        if other is None:
            return found
        theirs = other.search(text, limit, kinds, associations=associations)
        every = [*found, *(replace(hit, shared=True) for hit in theirs)]
        return sorted(every, key=lambda hit: -hit.score)[:limit]

    def insert(self, connection: sa.Connection, drafts: Sequence[MemoryDraft]) -> list[int]:
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

    def _replace(self, connection: sa.Connection, row: Any, draft: MemoryDraft) -> None:
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


class Control:
    """What can be done with the memories of one namespace as a whole."""

    def __init__(self, store: Store, entries: Entries, conversations: Conversations) -> None:
        self._store = store
        self._entries = entries
        self._conversations = conversations

    def list(self, kinds: Sequence[str] | None = None, limit: int | None = 100) -> list[Hit]:
        """List the newest memories, oldest of them first."""
        return [hit_of(row, 0.0) for row in self._entries.all(kinds, limit)]

    def get(self, memory: int) -> Hit | None:
        """Read a memory of this namespace, or of the shared one, by its id."""
        rows = self._entries.by_ids([memory])
        if rows:
            return hit_of(rows[0], 0.0)
        shared = self._entries.other(SHARED)
        rows = shared.by_ids([memory]) if shared is not None else []
        return replace(hit_of(rows[0], 0.0), shared=True) if rows else None

    def delete(self, ids: Sequence[int]) -> int:
        """Delete memories, their history and their links for good; returns how many there were."""
        return self._entries.delete_ids(ids)

    def trust(self, memory: int) -> None:
        """Take a memory for the person's own word, whoever wrote it."""
        with self._store.write() as connection:
            changed = memories.update().where(memories.c.id == memory)
            connection.execute(changed, {"trusted": True})

    def clear(self) -> int:
        """Delete all of this namespace for good, conversations and log too; returns how many."""
        gone = self._entries.clear() + self._conversations.delete()
        self._store.purge()
        return gone

    def graph(self, limit: int = DRAWN) -> Graph:
        """Gather the memories that have the most links, and the links among them."""
        memories = [hit_of(row, 0.0) for row in self._entries.busiest(limit)]
        ids = {hit.id for hit in memories}
        with self._store.read() as connection:
            links = self._entries.links.of(connection, sorted(ids))
        among = tuple(link for link in links if {link.one, link.other} <= ids)
        return Graph(tuple(memories), among, self._entries.count())

    def backup(self, place: str | os.PathLike[str]) -> None:
        """Copy the database to a new file while others go on writing; SQLite only."""
        if not self._store.sqlite:
            raise UsageError("a Postgres memory is backed up by its server", hint="Use pg_dump.")
        path = Path(place)
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.close(handle)
        with self._store.read() as connection, closing(sqlite3.connect(path)) as copy:
            source = connection.connection.driver_connection
            assert isinstance(source, sqlite3.Connection)
            source.backup(copy)
