"""Memories of one namespace: added, searched, replaced with their history kept, forgotten for good.

The namespace `shared` is read from every other one: what is kept there is found everywhere, and
changed or deleted by nobody but who opens it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.memory.associations import STARTS, Links, follow
from agent.memory.database import (
    NAMESPACE_SHIFT,
    Notes,
    codes,
    embeddings,
    history,
    links,
    memories,
    namespaces,
    restated,
    rows_of,
)
from agent.memory.records import MemoryDraft, Place, columns, hit_of, meaning, place
from agent.memory.term_index import Range
from agent.memory.vectors import ByMeaning, digest
from agent.memory.word_search import WordSearch, weighed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agent.memory.database import Store
    from agent.memory.memory_types import Hit
    from agent.memory.vectors import Vectors

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
        self.bounds = {"first": first, "last": after - 1}
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
        first, last = self.bounds["first"], self.bounds["last"]
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

    def catch_up(self, deadline: float) -> int:
        """Embed what is new until the time is up; returns how many, 0 where there is no model."""
        return self._by_meaning.catch_up(deadline) if self._by_meaning else 0

    def earlier(self, memory: int) -> list[Any]:
        """List the former values of a memory, oldest first."""
        query = sa.select(history).where(history.c.memory == memory).order_by(history.c.id)
        with self._store.read() as connection:
            return list(connection.execute(query))

    def delete(self, kinds: Sequence[str] | None, key: str | None = None) -> int:
        """Delete for good, with their history; returns how many there were."""
        query = self._of(kinds)
        return self._delete(query if key is None else query.where(memories.c.key == key))

    def delete_ids(self, ids: Sequence[int]) -> int:
        """Delete these for good, with their history; returns how many there were."""
        return self._delete(self._of(None).where(memories.c.id.in_(ids)))

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
            where = Range(self.bounds["first"] + 1, connection.execute(query).scalar_one())
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
        previous = connection.execute(_BEFORE, self.bounds).first()
        before = Place(*previous) if previous else None
        wanted = {"namespace": self._namespace, "count": len(drafts)}
        last = int(connection.execute(_TAKE, wanted).scalar_one())
        now, rows = time.time(), []
        for number, draft in enumerate(drafts, last - len(drafts) + 1):
            before = place(number, draft, now, before)
            rows.append({**columns(draft, now), "id": number, "session": before.session})
        connection.execute(_INSERT, rows)
        self._index(connection, rows)
        return [row["id"] for row in rows]

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

    def _delete(self, query: sa.Select[Any]) -> int:
        """Delete memories, with all that they were and became for the sake of their meaning.

        The vectors of pgvector go with the memories.
        """
        with self._store.write() as connection:
            rows = list(connection.execute(query))
            ids, by_id = [row.id for row in rows], {row.id: row for row in rows}
            self._unindex(connection, rows)
            former = sa.select(history.c.memory, history.c.text).where(history.c.memory.in_(ids))
            texts = [(row.id, row.text) for row in rows]
            texts += [(row.memory, row.text) for row in connection.execute(former)]
            names = {digest(meaning(by_id[i].kind, by_id[i].key, text)) for i, text in texts}
            connection.execute(embeddings.delete().where(embeddings.c.digest.in_(names)))
            for column in (
                codes.c.memory, restated.c.memory, history.c.memory, links.c.one, links.c.other,
                memories.c.id,
            ):  # fmt: skip
                connection.execute(column.table.delete().where(column.in_(ids)))
        if rows:
            self._store.purge()
        return len(rows)

    def _index(self, connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
        found = [(row["id"], row["terms"]) for row in rows if row["terms"]]
        if found:
            self._store.index.add(connection, found)

    def _unindex(self, connection: sa.Connection, rows: Sequence[Any]) -> None:
        found = [(row.id, row.terms) for row in rows if row.terms and row.state == "active"]
        if found:
            self._store.index.remove(connection, found)
