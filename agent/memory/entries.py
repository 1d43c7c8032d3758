"""One namespace's memories: adding, searching, replacing (with history) and deleting them.

All other namespaces can read the namespace `shared`: searches from any namespace find its memories,
but they can be changed or deleted only in `shared` itself.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from agent import jsvalues
from agent.memory.associations import Links, link_input
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
    rows_by_id,
)
from agent.memory.kinds import BARE, INSIGHT, NAMED, STANDALONE, UNSEARCHED
from agent.memory.memory_types import Hit, Origin
from agent.memory.search import WordSearch, find, index_memories, unindex_memories
from agent.memory.terms import (
    has_speaker,
    index_terms,
    join_terms,
    kind_term,
    memory_terms,
    question_terms,
    traits,
)
from agent.memory.vectors import digest, embedding_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from agent.memory.database import Store
    from agent.memory.vectors import Vectors

SHARED = "shared"
"""The name of the namespace that all others can read."""
RUNS = "runs"
"""Name of the note that stores the end times of the last two runs."""
SESSION_GAP = 3_600.0  # seconds of inactivity after which a new session starts
# maximum number of bare insights that a search skips to make room for other memories
MAX_BARE_INSIGHTS = 20
# seconds that a search spends on embedding new memories; consolidation embeds the rest
EMBEDDING_SECONDS = 3.0
_TURN_ID = re.compile(r"(.*\d)\D+\d+", re.DOTALL)
_TAKE_IDS = (
    namespaces.update()
    .where(namespaces.c.id == sa.bindparam("namespace"))
    .values(last=namespaces.c.last + sa.bindparam("count"))
    .returning(namespaces.c.last)
)


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory to be written; `value` is JSON if the value is more than plain text.

    `searched` is the text to index, if different from `text`. `at` is when it happened, in seconds
    since the epoch (default: now).
    """

    text: str
    kind: str
    key: str | None = None
    value: str | None = None
    at: float | None = None
    source: str | None = None
    origin: Origin = field(default_factory=Origin)
    searched: str | None = None


class PreviousMemory(NamedTuple):
    """The last memory written; `session` is the id of the first memory in its session."""

    id: int
    session: int
    at: float
    source: str | None


def pack(value: Any) -> tuple[str, str | None]:
    """Convert a value to the text to index, and to JSON if it is not a plain string."""
    # NUL and lone surrogates can only be stored as JSON escapes.
    if isinstance(value, str) and jsvalues.well_formed(value) == value and "\x00" not in value:
        return value, None
    if isinstance(value, str | dict | list):
        return jsvalues.well_formed(json.dumps(value, ensure_ascii=False)), json.dumps(value)
    return jsvalues.to_string(value), json.dumps(value)


def value_draft(kind: str, key: str, value: Any, origin: Origin | None = None) -> MemoryDraft:
    """Create a draft of a memory that stores any JSON value under a key."""
    text, packed = pack(value)
    return MemoryDraft(text, kind, key, packed, origin=origin or Origin())


def unpack(row: Any) -> Any:
    """Return a row's value exactly as it was passed to `pack`."""
    return row.text if row.value is None else json.loads(row.value)


def details(row: Any) -> dict[str, Any]:
    """Return the details that a run or consolidation stored with a memory; {} if there are none."""
    value = {} if row is None or row.value is None else json.loads(row.value)
    return value if isinstance(value, dict) else {}


def hit_of(row: Any, score: float = 0.0) -> Hit:
    """Convert a row to a search hit."""
    at, origin = datetime.fromtimestamp(row.at, UTC), Origin(row.run, row.url, row.trusted)
    hit = Hit(row.id, row.key, row.text, row.kind, round(score, 4), at, row.source, origin)
    if row.kind != INSIGHT or not (value := details(row)):
        return hit
    bare = value["type"] in BARE and not value.get("worded")
    return replace(hit, confidence=value["confidence"], bare=bare)


class Entries:
    """One namespace's memories, whose ids run from `first` to `last`."""

    def __init__(self, store: Store, namespace: int, vectors: Vectors | None = None) -> None:
        self._store = store
        self.namespace = namespace
        self._first = namespace << NAMESPACE_SHIFT
        self._last = self._first + (1 << NAMESPACE_SHIFT) - 1
        self._in_namespace = memories.c.id.between(self._first, self._last)
        self._active = sa.select(memories).where(self._in_namespace, memories.c.state == "active")
        self.links = Links(store, self._first, self._last)
        self.notes = Notes(store, namespace)
        self.vectors = vectors

    def add(self, drafts: Sequence[MemoryDraft]) -> list[int]:
        """Write memories in one transaction; returns their ids."""
        with self._store.write() as connection:
            return self._insert(connection, drafts)

    def put(self, *drafts: MemoryDraft) -> list[int]:
        """Write memories, each under its key, in one transaction; returns their ids.

        An earlier value of a key is moved to the history.
        """
        ids = []
        with self._store.write() as connection:
            for draft in drafts:
                row = connection.execute(self._named(draft.kind, draft.key)).first()
                if row is None:
                    ids += self._insert(connection, [draft])
                else:
                    self._replace(connection, row, draft)
                    ids.append(row.id)
        return ids

    def get(self, kind: str, key: str) -> Any | None:
        """Return the row with this kind and key, or None."""
        with self._store.read() as connection:
            return connection.execute(self._named(kind, key)).first()

    def all(self, *kinds: str, newest: int | None = None) -> list[Any]:
        """List memories of these kinds (default: all), or only the newest, in order of creation."""
        query = self._active.where(memories.c.kind.in_(kinds)) if kinds else self._active
        newest_first = query.order_by(memories.c.id.desc()).limit(newest)
        with self._store.read() as connection:
            return list(reversed(connection.execute(newest_first).all()))

    def after(self, memory: int, limit: int) -> list[Any]:
        """List the searchable memories written after a given one."""
        query = self._active.where(memories.c.id > memory, memories.c.terms != "")
        with self._store.read() as connection:
            return list(connection.execute(query.order_by(memories.c.id).limit(limit)))

    def by_ids(self, ids: Iterable[int]) -> list[Any]:
        """Read the active memories in this namespace with these ids, in id order."""
        own = [id_ for id_ in ids if self._first <= id_ <= self._last]
        with self._store.read() as connection:
            rows = rows_by_id(connection, own)
        return [rows[id_] for id_ in own if id_ in rows and rows[id_].state == "active"]

    def former_values(self, memory: int) -> list[Any]:
        """List a memory's former values, oldest first."""
        query = sa.select(history).where(history.c.memory == memory).order_by(history.c.id)
        with self._store.read() as connection:
            return list(connection.execute(query))

    def open_other(self, name: str) -> Entries | None:
        """Open another namespace; None if it is this one, or does not exist yet."""
        number = self._store.known_namespace(name)
        if number is None or number == self.namespace:
            return None
        return Entries(self._store, number, self.vectors)

    def archive(self, ids: Collection[int]) -> int:
        """Archive memories, so that searches no longer find them; nothing is deleted."""
        with self._store.write() as connection:
            rows = [row for row in rows_by_id(connection, ids).values() if row.state == "active"]
            unindex_memories(connection, [(row.id, row.terms) for row in rows])
            which = memories.c.id.in_([row.id for row in rows])
            connection.execute(memories.update().where(which), {"state": "archived"})
        return len(rows)

    def delete(
        self, kind: str | None = None, key: str | None = None, ids: Collection[int] | None = None
    ) -> int:
        """Permanently delete memories with their history, links and embeddings; returns the count.

        Deletes the memories with a given kind, key or ids; by default, all in the namespace.
        """
        which: list[sa.ColumnElement[bool]] = [self._in_namespace]
        if kind is not None:
            which.append(memories.c.kind == kind)
        if key is not None:
            which.append(memories.c.key == key)
        if ids is not None:
            which.append(memories.c.id.in_(ids))
        doomed = sa.select(memories.c.id).where(*which)  # a query, since there may be very many ids
        with self._store.write() as connection:
            found = connection.execute(sa.select(memories).where(*which))
            rows = {row.id: row for row in found}
            if not rows:
                return 0
            active = [row for row in rows.values() if row.state == "active"]
            unindex_memories(connection, [(row.id, row.terms) for row in active])
            former = sa.select(history.c.memory, history.c.text).where(history.c.memory.in_(doomed))
            texts = [(row.id, row.text) for row in rows.values()]
            texts += [(row.memory, row.text) for row in connection.execute(former)]
            names = {
                digest(embedding_text(rows[id_].kind, rows[id_].key, text)) for id_, text in texts
            }
            if names:
                embedded = embeddings.delete().where(embeddings.c.digest == sa.bindparam("name"))
                connection.execute(embedded, [{"name": name} for name in names])
            # pgvector's vectors are deleted with the memories by a cascade.
            for column in (
                codes.c.memory, restated.c.memory, history.c.memory, links.c.one, links.c.other,
                memories.c.id,
            ):  # fmt: skip
                connection.execute(column.table.delete().where(column.in_(doomed)))
        if rows:
            self._store.purge()
        return len(rows)

    def search(
        self,
        text: str,
        limit: int,
        kinds: Collection[str] | None = None,
        *,
        shared: bool = False,
        associations: bool = True,
    ) -> list[Hit]:
        """Find memories that are relevant to `text`, best first.

        With `shared`, the results include memories of the shared namespace, marked as such.
        """
        if self.vectors is not None and text.strip():
            self.vectors.catch_up(self.namespace, time.monotonic() + EMBEDDING_SECONDS)
        last_id = sa.select(namespaces.c.last).where(namespaces.c.id == self.namespace)
        with self._store.read() as connection:
            last = connection.execute(last_id).scalar_one()
            words = WordSearch(connection, self._first + 1, last, kinds)
            links = self.links if associations else None
            found = find(words, text, self.vectors, links)[: limit + MAX_BARE_INSIGHTS]
            rows = rows_by_id(connection, [id_ for _, id_ in found])
        # Another process may have deleted some of them in the meantime.
        hits = [hit_of(rows[id_], score) for score, id_ in found if id_ in rows]
        other = self.open_other(SHARED) if shared else None
        if other is not None:
            theirs = other.search(text, limit, kinds, associations=associations)
            hits += [replace(hit, shared=True) for hit in theirs]
        return sorted(hits, key=lambda hit: (hit.bare, -hit.score))[:limit]

    def _named(self, kind: str, key: str | None) -> sa.Select[Any]:
        named = sa.and_(memories.c.key == key, memories.c.kind == kind)
        return sa.select(memories).where(named, self._in_namespace).order_by(memories.c.id)

    def _insert(self, connection: sa.Connection, drafts: Sequence[MemoryDraft]) -> list[int]:
        if not drafts:
            return []
        latest = sa.select(*memories.c["id", "session", "at", "source"]).where(self._in_namespace)
        newest = connection.execute(latest.order_by(memories.c.id.desc()).limit(1)).first()
        previous = PreviousMemory(*newest) if newest else None
        wanted = {"namespace": self.namespace, "count": len(drafts)}
        last = int(connection.execute(_TAKE_IDS, wanted).scalar_one())
        rows = []
        for number, draft in enumerate(drafts, last - len(drafts) + 1):
            row = _columns(draft)
            session = _session_of(number, draft, row["at"], previous)
            previous = PreviousMemory(number, session, row["at"], draft.source)
            rows.append({**row, "id": number, "session": session})
        connection.execute(memories.insert(), rows)
        self.links.connect(connection, [link_input(row) for row in rows])
        index_memories(connection, [(row["id"], row["terms"]) for row in rows])
        return [row["id"] for row in rows]

    def _replace(self, connection: sa.Connection, row: Any, draft: MemoryDraft) -> None:
        new = _columns(draft)
        if (row.text, row.value) != (draft.text, draft.value):
            kept = ("text", "value", "source", "run", "url", "trusted", "written")
            former = {name: getattr(row, name) for name in kept}
            former |= {"memory": row.id, "replaced": new["written"]}
            connection.execute(history.insert(), former)
            connection.execute(restated.delete().where(restated.c.memory == row.id))
            connection.execute(restated.insert(), {"memory": row.id})
        connection.execute(memories.update().where(memories.c.id == row.id), new)
        if row.state == "active":
            unindex_memories(connection, [(row.id, row.terms)])
        index_memories(connection, [(row.id, new["terms"])])


def _columns(draft: MemoryDraft) -> dict[str, Any]:
    """Convert a draft to columns, except id and session."""
    now, terms = time.time(), ""
    if draft.kind not in UNSEARCHED:
        named = index_terms(draft.key) if draft.key and draft.kind in NAMED else []
        text = draft.text if draft.searched is None else draft.searched
        found = [kind_term(draft.kind), *memory_terms(text), *named]
        terms = join_terms(found, question_terms(text))
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
        "terms": terms,
        "traits": traits(draft.text),
    }


def _session_of(number: int, draft: MemoryDraft, at: float, previous: PreviousMemory | None) -> int:
    """Return a memory's session: the same as the previous memory's, or a new one.

    Only a conversation turn, which has a time, a source or a speaker, continues a session. A long
    gap or a different source ends a session. If a source numbers a session's turns (`D1:1`,
    `D1:2`), the last number is ignored.
    """
    is_dated = draft.at is not None or draft.source is not None
    can_join = draft.kind not in STANDALONE and draft.origin.run is None
    if previous is None or not can_join or not (is_dated or has_speaker(draft.text)):
        return number
    if abs(at - previous.at) > SESSION_GAP:
        return number
    # A session that has only one memory accepts any source.
    accepts_any = previous.session == previous.id or None in (previous.source, draft.source)
    if accepts_any or _without_turn(previous.source) == _without_turn(draft.source):
        return previous.session
    return number


def _without_turn(source: str | None) -> str | None:
    """Strip the turn number from a source: `D1:2` → `D1`."""
    match = _TURN_ID.fullmatch(source or "")
    return match[1] if match else source
