"""The memory interface: one object, synchronous, safe to share between threads."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa

from agent.jsvalues import ordered, sort_key, to_string, well_formed
from agent.limits import LimitSettings
from agent.memory import kinds, outcomes
from agent.memory.associations import Graph
from agent.memory.conversations import SavedConversation
from agent.memory.database import Store, conversations, memories, seals, stamps, state, turns
from agent.memory.embedders import make_embedder
from agent.memory.entries import SHARED, Entries, MemoryDraft, hit_of, unpack, value_draft
from agent.memory.kinds import expand, named_kind
from agent.memory.layers import SHOWN_WITHOUT_FILTER, relevant
from agent.memory.memory_types import Layers, Origin, ReservedKey, Untrusted
from agent.memory.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent.memory.memory_types import Hit
    from agent.memory.vectors import Embedder
    from agent.types import Report

GRAPH_MEMORIES = 300  # a graph with more would be unreadable


class Memory:
    """A namespace in a store. Open it with `Memory.open`, and close it after use, or use `with`.

    `store`, `namespace` (its number) and `entries` are for other components that share the
    database: consolidation, wiki, sealed log, import and export.
    """

    def __init__(
        self,
        store: Store,
        namespace: int,
        vectors: Vectors | None = None,
        limits: LimitSettings | None = None,
    ) -> None:
        self.limits = limits or LimitSettings()
        self.store = store
        self.namespace = namespace
        self.entries = Entries(store, namespace, vectors)

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        namespace: str = "default",
        *,
        embeddings: Embedder | str | None = None,
        limits: LimitSettings | None = None,
    ) -> Memory:
        """Open a file, a folder (its `memory.db`), `:memory:` or a database URL.

        A missing file or folder is created and is readable only by its owner. With `embeddings` (a
        model, or its name: `local`, `openai/…`, …), searches use meaning as well as words. Raises
        `MemoryUnavailable` if the database cannot be opened, `UsageError` for an unknown model or
        an empty namespace.
        """
        store = Store.open(place)
        try:
            number = store.namespace(namespace)
            if isinstance(embeddings, str):
                embeddings = make_embedder(embeddings, None, os.environ)
            return cls(store, number, Vectors(store, embeddings) if embeddings else None, limits)
        except BaseException:  # interruptions too, since the caller has no store to close
            store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database. No data is lost, since each write is already on disk."""
        self.store.close()

    def add(
        self,
        text: str,
        kind: str = kinds.NOTE,
        key: str | None = None,
        at: datetime | str | float | None = None,
        source: str | None = None,
        *,
        origin: Origin | None = None,
    ) -> int:
        """Write a memory, which is searchable immediately; returns its id.

        `at` is when it happened (a naive time is UTC), `source` is where it happened: memories from
        the same source, or close in time, form a session. `kind` may be a knowledge base (`Domain`,
        `Body`, `Soul`, `Heart`, `Episodic`, `Mind`). With the kind `memory`, this is the same as
        `remember`.
        """
        if kind == kinds.REMEMBERED:
            return self.remember(key or "", text, origin=origin)
        if isinstance(at, str):
            at = datetime.fromisoformat(at)
        if isinstance(at, datetime):
            at = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        origin, kind = origin or Origin(), named_kind(kind)
        draft = MemoryDraft(well_formed(text), kind, key, at=at, source=source, origin=origin)
        return self.entries.add([draft])[0]

    def remember(self, key: str, value: Any, *, origin: Origin | None = None) -> int:
        """Save a value under a key; any earlier value is moved to the history. Returns its id.

        Raises `ReservedKey` for keys that belong to the engine.
        """
        if not key:
            raise ReservedKey("a memory needs a key")
        if key.startswith(("_", "session_")):
            raise ReservedKey(f"the key {key!r} is reserved")
        return self.entries.put(value_draft(kinds.REMEMBERED, key, value, origin))[0]

    def recall(self, key: str) -> Any | None:
        """Return the value saved under a key, or None."""
        row = self.entries.get(kinds.REMEMBERED, key)
        return None if row is None else unpack(row)

    def remembered(self) -> dict[str, Any]:
        """Return all saved values by key, in the order in which they were first written."""
        return self.values(kinds.REMEMBERED)

    def former_values(self, key: str) -> list[Any]:
        """List the former values of a key, oldest first."""
        row = self.entries.get(kinds.REMEMBERED, key)
        return [] if row is None else [unpack(old) for old in self.entries.former_values(row.id)]

    def forget(self, key: str, kind: str = kinds.REMEMBERED) -> bool:
        """Delete the value of this kind and key, and its history; returns whether there was one."""
        return self.entries.delete(kind, key) > 0

    def trusts(self, key: str) -> bool:
        """Return whether the value under a key was written by the user."""
        row = self.entries.get(kinds.REMEMBERED, key)
        return row is not None and bool(row.trusted)

    def values(self, *which: str) -> dict[str, Any]:
        """Return the values of these kinds by key, in the order in which they were first saved."""
        return {row.key: unpack(row) for row in self.entries.all(*which)}

    def saved(self) -> dict[str, Any]:
        """Return saved values, summaries and counters by key, in JavaScript's key order."""
        return ordered(self.values(kinds.REMEMBERED, kinds.SUMMARY, kinds.INTERNAL))

    def skills(self) -> list[dict[str, Any]]:
        """List the learned skills, in the order in which they were learned."""
        return list(self.values(kinds.SKILL).values())

    def save(self, kind: str, values: Mapping[str, Any], *, trusted: bool = True) -> None:
        """Save values of a kind by key; deletes the oldest entries in excess of the limits."""
        origin = Origin(trusted=trusted)
        self.entries.put(*(value_draft(kind, *item, origin) for item in values.items()))
        if kind in (kinds.SUMMARY, kinds.SKILL, kinds.PROJECT):
            self.trim(kind)

    def save_skills(self, skills: Iterable[Mapping[str, Any]]) -> None:
        """Save skills, replacing those with the same name; deletes the oldest over the limit."""
        self.save(kinds.SKILL, {str(skill["name"]): skill for skill in skills})

    def trim(self, *which: str) -> None:
        """Delete entries in excess of the limits for these kinds, oldest first."""
        limits = {
            kinds.PROFILE: self.limits.profile_keys,
            kinds.REMEMBERED: self.limits.memories,
            kinds.SUMMARY: self.limits.session_summaries,
            kinds.SKILL: self.limits.skills,
            kinds.PROJECT: self.limits.projects,
        }
        for kind in which:
            keys = [row.key for row in self.entries.all(kind)]
            # The reference engine keeps skills in a list, and everything else in JavaScript
            # objects.
            if kind == kinds.SUMMARY:
                keys.sort(key=sort_key)
            elif kind != kinds.SKILL:
                keys = list(ordered(dict.fromkeys(keys)))
            for key in keys[: -limits[kind]]:
                self.forget(key, kind)

    def search(
        self,
        query: str,
        limit: int = 10,
        kinds: Sequence[str] | None = None,
    ) -> list[Hit]:
        """Find memories by words, names and dates, best first.

        `kinds` are kinds of memories or knowledge bases (`Domain`, `Body`, `Soul`, `Heart`,
        `Episodic`, `Mind`). A memory with every word of the query scores about 1. The namespace
        `shared` is searched too.
        """
        wanted = None if kinds is None else expand(kinds)
        return self.entries.search(query, limit, wanted, shared=True)

    def similarities(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        """Return the cosine similarity of a question to each text; {} without embeddings."""
        vectors = self.entries.vectors
        return {} if vectors is None else vectors.similarities(question, texts)

    def newest(self, kinds: Sequence[str] | None = None, limit: int | None = 100) -> list[Hit]:
        """List the newest memories of these kinds or knowledge bases in chronological order."""
        return [hit_of(row) for row in self.entries.all(*sorted(expand(kinds or ())), newest=limit)]

    def get(self, memory: int) -> Hit | None:
        """Read a memory of this namespace or the shared one by its id; None if there is none."""
        for row in self.entries.by_ids([memory]):
            return hit_of(row)
        shared = self.entries.open_other(SHARED)
        for row in shared.by_ids([memory]) if shared is not None else ():
            return replace(hit_of(row), shared=True)
        return None

    def delete(self, ids: Sequence[int]) -> int:
        """Permanently delete memories, their history and links; returns how many were deleted."""
        return self.entries.delete(ids=ids)

    def trust(self, memory: int) -> None:
        """Mark a memory in this namespace as written by the user, even if someone else wrote it."""
        found = [row.id for row in self.entries.by_ids([memory])]
        changed = memories.update().where(memories.c.id.in_(found))
        with self.store.write() as connection:
            connection.execute(changed, {"trusted": True})

    def clear(self) -> int:
        """Delete everything in this namespace; returns the number of memories and conversations."""
        talks = sa.select(conversations.c.id).where(conversations.c.namespace == self.namespace)
        with self.store.write() as connection:
            connection.execute(turns.delete().where(turns.c.conversation.in_(talks)))
            for table in (state, seals, stamps):
                connection.execute(table.delete().where(table.c.namespace == self.namespace))
            own = conversations.delete().where(conversations.c.namespace == self.namespace)
            deleted = connection.execute(own).rowcount
        deleted += self.entries.delete()
        self.store.purge()
        return deleted

    def graph(self) -> Graph:
        """Return the memories with the most links, and the links between them."""
        with self.store.read() as connection:
            busiest = self.entries.links.most_linked(connection, GRAPH_MEMORIES)
        hits = [hit_of(row) for row in self.entries.by_ids(busiest)]
        known = {hit.id for hit in hits}
        with self.store.read() as connection:
            links = self.entries.links.links_of_any(connection, sorted(known))
        return Graph(tuple(hits), tuple(link for link in links if {link.one, link.other} <= known))

    def conversation(self, name: str) -> SavedConversation:
        """Return a conversation, which need not exist yet."""
        return SavedConversation(self.store, self.namespace, name)

    def latest_session(self) -> str | None:
        """Return the name of the most recent conversation, or None if there is none."""
        own = sa.select(conversations.c.name).where(conversations.c.namespace == self.namespace)
        newest = own.order_by(conversations.c.updated.desc(), conversations.c.id.desc())
        with self.store.read() as connection:
            return connection.scalar(newest.limit(1))

    def layers(self, question: str, session: str | None = None) -> Layers:
        """Read the layers for a run; without a session there is no conversation history.

        `recalled` contains the relevant memories that are in no other layer.
        """
        entries, limits = self.entries, self.limits
        talk = self.conversation(session) if session else None
        saved: dict[str, dict[str, Any]] = {kinds.REMEMBERED: {}, kinds.SUMMARY: {}}
        for row in entries.all(*saved):
            value = unpack(row)
            saved[row.kind][row.key] = value if row.trusted else Untrusted(to_string(value))
        entries_by_key = {**saved[kinds.REMEMBERED], **saved[kinds.SUMMARY]}
        shown = list(entries_by_key)
        if len(entries_by_key) > SHOWN_WITHOUT_FILTER:
            shown = [key for key, _ in relevant(question, entries_by_key)]
        return Layers(
            condensed=talk.condensed()[0] if talk else "",
            history=tuple(talk.turns(limits.recent_turns)) if talk else (),
            profile=self.values(kinds.PROFILE),
            memories=saved[kinds.REMEMBERED],
            sessions=saved[kinds.SUMMARY],
            skills=tuple(self.skills()),
            recalled=outcomes.recall(entries, question, shown, limits.recalled),
            quotes=talk.quotes_others() if talk else False,
            limits=limits,
        )

    def record_run(
        self, report: Report, steps: Sequence[str] = (), used: Sequence[int] = ()
    ) -> list[int]:
        """Save a run's outcome, verified facts, cited sources and a playbook; returns their ids.

        `used` contains the ids of memories that the run was given (`Layers.recalled`). Asking the
        same question again renews the saved memories and adds none.
        """
        return outcomes.record_run(self.entries, report, steps, used)
