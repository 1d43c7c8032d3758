"""The sealed log: milestones, decisions and incidents in a chain of hashes.

Each entry's hash covers its content and the hash before it, so that no entry can be changed, left
out or put in without breaking every later one. Who notes the head elsewhere can also tell that
nothing was cut off or written anew from the start.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.errors import UsageError
from agent.memory.schema import seals, stamps
from agent.memory.types import Seal, SealCheck, Stamped
from agent.timestamp import TimestampInvalid, check, stamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent.memory.store import Store

CATEGORIES = ("milestone", "decision", "incident")
GENESIS = "0" * 64
"""What the first entry has before it."""


class SealedLog:
    """The sealed log of one namespace."""

    def __init__(self, store: Store, namespace: int) -> None:
        self._store = store
        self._namespace = namespace

    def append(self, category: str, content: str) -> Seal:
        """Seal a text; raises `UsageError` for a category that there is not."""
        if category not in CATEGORIES:
            raise UsageError(
                f"no such category: {category!r}", hint=f"Choose one of {', '.join(CATEGORIES)}."
            )
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        with self._store.write() as connection:
            last = connection.execute(self._own().order_by(seals.c.number.desc()).limit(1)).first()
            number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
            sealed = _hash(number, at, category, content, previous)
            seal = Seal(number, at, category, content, previous, sealed)
            connection.execute(seals.insert(), {"namespace": self._namespace, **_row(seal)})
        return seal

    def entries(self) -> list[Seal]:
        """List the log, oldest first."""
        with self._store.read() as connection:
            rows = connection.execute(self._own().order_by(seals.c.number)).all()
        return [Seal(**{name: getattr(row, name) for name in Seal.__slots__}) for row in rows]

    def stamp(self, authority: str, *, proxy: str | None = None) -> Stamped:
        """Have the head stamped by the authority at this URL, which sees nothing but the hash.

        Raises `UsageError` where nothing is sealed yet, and what `agent.timestamp` raises.
        """
        log = self.entries()
        if not log:
            raise UsageError("nothing is sealed yet", hint="`research memory seal` adds an entry.")
        token = stamp(bytes.fromhex(log[-1].hash), authority, proxy=proxy)
        row = {"namespace": self._namespace, "hash": log[-1].hash, "token": token}
        with self._store.write() as connection:
            connection.execute(stamps.insert(), row)
        return Stamped(log[-1].number, datetime.now(UTC), authority)

    def verify(self, head: str | None = None, roots: Path | None = None) -> SealCheck:
        """Walk the chain; `head` is a hash noted earlier, which must still be part of it.

        Stamps must be of entries of the chain, by an authority that `roots` (a file of
        certificates, those that browsers trust unless told) vouch for.
        """
        log = self.entries()
        previous = GENESIS
        for number, seal in enumerate(log, 1):
            expected = _hash(number, seal.at, seal.category, seal.content, previous)
            if (seal.number, seal.previous, seal.hash) != (number, previous, expected):
                reason = f"entry {number} is not what was sealed"
                return SealCheck(False, len(log), previous, number, reason)
            previous = seal.hash
        if head is not None and head not in {GENESIS, *(seal.hash for seal in log)}:
            return SealCheck(False, len(log), previous, None, "the noted head is not in the log")
        try:
            return SealCheck(True, len(log), previous, stamps=self._stamps(log, roots))
        except TimestampInvalid as error:
            return SealCheck(False, len(log), previous, None, f"{error}. {error.hint}")

    def _stamps(self, log: Sequence[Seal], roots: Path | None) -> tuple[Stamped, ...]:
        """Check the stamps, oldest first; raises `TimestampInvalid`."""
        numbers = {seal.hash: seal.number for seal in log}
        query = sa.select(stamps).where(stamps.c.namespace == self._namespace)
        with self._store.read() as connection:
            rows = connection.execute(query.order_by(stamps.c.id)).all()
        found = []
        for row in rows:
            if row.hash not in numbers:
                raise TimestampInvalid("an entry that was stamped is gone", hint="")
            said = check(row.token, bytes.fromhex(row.hash), roots)
            found.append(Stamped(numbers[row.hash], said.when, said.authority))
        return tuple(found)

    def _own(self) -> sa.Select[Any]:
        return sa.select(seals).where(seals.c.namespace == self._namespace)


def _row(seal: Seal) -> dict[str, int | str]:
    return {name: getattr(seal, name) for name in Seal.__slots__}


def _hash(number: int, at: str, category: str, content: str, previous: str) -> str:
    """Hash `previous ‖ canonical JSON of the entry` (sorted keys, no spaces, UTF-8)."""
    entry = {"at": at, "category": category, "content": content, "number": number}
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(previous.encode() + text.encode("utf-8", "surrogatepass")).hexdigest()
