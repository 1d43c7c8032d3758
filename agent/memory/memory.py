"""Memory as the rest of the program sees it: one object, synchronous, safe to share by threads."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from agent.memory.jsvalues import well_formed
from agent.memory.kinds import NOTE, REMEMBERED, expand
from agent.memory.types import Origin, Turn
from agent.memory.values import pack, unpack

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from agent.memory.control import Control
    from agent.memory.conversations import Conversations
    from agent.memory.embeddings import Embedder
    from agent.memory.entries import Entries
    from agent.memory.rewording import Unworded
    from agent.memory.sealing import SealedLog
    from agent.memory.store import Store
    from agent.memory.types import Dreamed, Hit, Layers, Seal, SealCheck, Session
    from agent.memory.upkeep import Upkeep
    from agent.types import Report

IMPORTED = "imported"
RECENT_TURNS = 30


class Memory:
    """A namespace of a store. Open with `Memory.open`, close when done, or use `with`."""

    def __init__(
        self, store: Store, namespace: int, entries: Entries, conversations: Conversations
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._entries = entries
        self._conversations = conversations

    @property
    def control(self) -> Control:
        """List, read, delete, back up: a person's say over what is kept."""
        from agent.memory.control import Control  # noqa: PLC0415

        return Control(self._store, self._entries, self._conversations)

    @property
    def conversations(self) -> Conversations:
        """The conversations, with what is condensed of them."""
        return self._conversations

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        namespace: str = "default",
        *,
        embeddings: Embedder | str | None = None,
    ) -> Memory:
        """Open a file, a folder (its `memory.db`), `:memory:` or a database URL.

        What is not there is created, readable by its owner alone. With `embeddings` (a model, or
        the name of one: `local`, `openai/…`, …) searching goes by meaning as well as by words.
        Raises `MemoryUnavailable`, and `UsageError` for a model that nobody has and a namespace
        without a name.
        """
        from agent.memory.conversations import Conversations  # noqa: PLC0415 - loads SQLAlchemy
        from agent.memory.embedders import vectors_of  # noqa: PLC0415
        from agent.memory.entries import Entries  # noqa: PLC0415
        from agent.memory.store import Store  # noqa: PLC0415

        with ExitStack() as undo:
            store = Store.open(place)
            undo.callback(store.close)
            number = store.namespace(namespace)
            entries = Entries(store, number, vectors_of(store, embeddings))
            undo.pop_all()
        return cls(store, number, entries, Conversations(store, number))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database. Everything written is already on disk."""
        self._store.close()

    def add(
        self,
        text: str,
        kind: str = NOTE,
        key: str | None = None,
        at: datetime | str | float | None = None,
        source: str | None = None,
        *,
        origin: Origin | None = None,
    ) -> int:
        """Write a memory, searchable at once; returns its id.

        `at` says when it happened (a naive time is UTC), `source` where: memories with the same
        source, or close in time, form a session. Kind `memory` is what `remember` writes.
        """
        from agent.memory.drafts import Draft, seconds  # noqa: PLC0415

        if kind == REMEMBERED:
            return self.remember(key or "", text, origin=origin)
        when, origin = seconds(at), origin or Origin()
        draft = Draft(well_formed(text), kind, key, at=when, source=source, origin=origin)
        return self._entries.add([draft])[0]

    def remember(self, key: str, value: Any, *, origin: Origin | None = None) -> int:
        """Save a value under a key; an earlier one goes into the history.

        Raises `ReservedKey` for keys that belong to the engine.
        """
        from agent.memory.drafts import Draft, check_key  # noqa: PLC0415

        check_key(key)
        text, packed = pack(value)
        return self._entries.put(Draft(text, REMEMBERED, key, packed, origin=origin or Origin()))

    def recall(self, key: str) -> Any | None:
        """Read what was remembered under a key, or None."""
        row = self._entries.get([REMEMBERED], key)
        return None if row is None else unpack(row)

    def remembered(self) -> dict[str, Any]:
        """All that was remembered, by key, in the order in which it was first written."""
        return {row.key: unpack(row) for row in self._entries.all([REMEMBERED])}

    def former_values(self, key: str) -> list[Any]:
        """What a key meant before, oldest first."""
        row = self._entries.get([REMEMBERED], key)
        return [] if row is None else [unpack(old) for old in self._entries.earlier(row.id)]

    def forget(self, key: str) -> bool:
        """Delete what was remembered under a key, and its history, for good."""
        return self._entries.delete([REMEMBERED], key) > 0

    def search(
        self,
        query: str,
        limit: int = 10,
        kinds: Sequence[str] | None = None,
        *,
        associations: bool = True,
    ) -> list[Hit]:
        """Find memories by words, names and dates, best first.

        `kinds` are kinds of memories or knowledge bases (`domain`, `body`, `soul`, `heart`,
        `episodic`, `mind`). A score of 1 is about what has every word of the query. What the
        namespace `shared` holds is found from every other one.
        """
        from agent.memory.sharing import search_all  # noqa: PLC0415

        wanted = None if kinds is None else expand(kinds)
        return search_all(self._entries, query, limit, wanted, associations=associations)

    def near(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        """Give the cosine of a question and each text; nothing where there are no embeddings."""
        vectors = self._entries.vectors
        return {} if vectors is None else vectors.near(question, texts)

    def append_turn(self, session: str, role: str, text: str) -> None:
        """Add a message to a conversation, which is opened if it is new."""
        self._conversations.append(session, [Turn(role, text)])

    def turns(self, session: str, limit: int = RECENT_TURNS) -> list[Turn]:
        """List the last messages of a conversation, oldest first."""
        return self._conversations.turns(session, limit)

    def sessions(self) -> list[Session]:
        """List the conversations, the one last spoken in first."""
        return self._conversations.list()

    def latest_session(self) -> str | None:
        """Name the conversation last spoken in, None if there is none yet."""
        return self._conversations.latest()

    def layers(self, question: str, session: str | None = None) -> Layers:
        """Gather what a run is given; without a session, history begins anew."""
        from agent.memory.gather import gather  # noqa: PLC0415 - loads SQLAlchemy

        return gather(self._entries, self._conversations, question, session)

    def upkeep(self, session: str) -> Upkeep:
        """Give what the jobs after an answer change, for one conversation."""
        from agent.memory.upkeep import Upkeep  # noqa: PLC0415 - loads SQLAlchemy

        return Upkeep(self._entries, self._conversations, session)

    def record_run(
        self, report: Report, steps: Sequence[str] = (), used: Sequence[int] = ()
    ) -> list[int]:
        """Write what a run leaves: outcome, verified facts, cited sources, a playbook of its steps.

        `used` are ids of memories that the run was given (`Layers.recalled`). Asking the same
        again renews these memories and adds none. Returns their ids.
        """
        from agent.memory.runs import record_run  # noqa: PLC0415

        return record_run(self._entries, report, steps, used)

    def reinforce(self, ids: Sequence[int]) -> None:
        """Strengthen the links among memories that served one verified answer."""
        self._entries.links.reinforce([row.id for row in self._entries.by_ids(ids)])

    def dream_due(self) -> bool:
        """Tell at a run's end whether to dream: six hours after the last dream and the last run."""
        from agent.memory.dream import due  # noqa: PLC0415

        return due(self._entries, time.time())

    def dream(self, seconds: float = 2.0) -> Dreamed:
        """Consolidate for at most so many seconds: link, merge, draw insights, retire."""
        from agent.memory.dream import dream  # noqa: PLC0415

        return dream(self._entries, seconds)

    def unworded(self) -> list[Unworded]:
        """List the insights that a model could say better."""
        from agent.memory.rewording import unworded  # noqa: PLC0415

        return unworded(self._entries)

    def reword(self, key: str, text: str) -> None:
        """Put an insight in a model's words; dreams keep them while its evidence is the same."""
        from agent.memory.rewording import reword  # noqa: PLC0415

        reword(self._entries, key, text)

    @property
    def log(self) -> SealedLog:
        """The sealed log, and who says since when its head is as it is."""
        from agent.memory.sealing import SealedLog  # noqa: PLC0415

        return SealedLog(self._store, self._namespace)

    def seal(self, category: str, content: str) -> Seal:
        """Add to the sealed log: a `milestone`, a `decision` or an `incident`."""
        return self.log.append(category, content)

    def verify(
        self,
        head: str | None = None,
        roots: Path | None = None,
        blocks: Mapping[int, bytes] | None = None,
    ) -> SealCheck:
        """Check the sealed log and its stamps, and that it still leads to a head noted elsewhere.

        `roots` is a file of certificates that vouch for the authorities of stamps, `blocks` are
        headers of Bitcoin blocks by height.
        """
        return self.log.verify(head, roots, blocks)

    def sync_wiki(self, folder: str | os.PathLike[str]) -> list[str]:
        """Take up what people edited in a wiki folder, then write what is known into it.

        Returns the paths that changed.
        """
        from agent.memory.wiki import Folder, Wiki  # noqa: PLC0415
        from agent.memory.wiki.publish import sync  # noqa: PLC0415

        return sync(self._entries, Wiki(Folder(folder)))

    def export(self, session: str | None = None) -> dict[str, Any]:
        """Give everything in the reference engine's storage form.

        The conversation is the named one, or the one last spoken in.
        """
        from agent.memory.exchange import export  # noqa: PLC0415

        return export(self._entries, self._conversations, session or self.latest_session())

    def load(self, storage: Mapping[str, Any], session: str = IMPORTED) -> None:
        """Take over a storage in the reference engine's form; raises `BadImport`.

        What has the same key is replaced, its former value kept in the history; the chat history
        becomes the conversation `session`.
        """
        from agent.memory.exchange import load  # noqa: PLC0415

        load(self._entries, self._conversations, storage, session)
