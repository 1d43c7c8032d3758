"""The sealed log: milestones, decisions and incidents in a chain of hashes.

Each entry's hash covers its content and the hash before it, so that no entry can be changed, left
out or put in without breaking every later one. Who notes the head elsewhere can also tell that
nothing was cut off or written anew from the start.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.errors import UsageError
from agent.memory.database import seals, stamps
from agent.sealing import TimestampInvalid, check, is_proof, stamper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agent.memory.memory_api import Memory
    from agent.sealing import Stamp
    from agent.types import Report

CATEGORIES = ("milestone", "decision", "incident")
_WORDS = {
    "milestone": """contract created deploy deployed first initialized launch launched live mainnet
        migration production release released shipped token""",
    "decision": "chose configured decided disabled enabled migrated replaced switched upgraded",
}
_INCIDENT = frozenset(
    "crash critical down emergency failed outage panic revert rollback timeout".split()
)
"""The reference engine's words, looked for as words, and in its order: incidents, which only a run
that failed can be, then milestones, then decisions. Of 110 research questions with their answers
seven in a hundred have one."""
GENESIS = "0" * 64
"""What the first entry has before it."""


@dataclass(frozen=True, slots=True)
class Seal:
    """An entry of the sealed log; `hash` covers the entry and, through `previous`, all before it.

    `number` counts from 1; `at` is ISO 8601 in UTC.
    """

    number: int
    at: str
    category: str
    content: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class SealCheck:
    """What checking the sealed log came to; it holds where there is no `reason` that it does not.

    `stamps` holds the number of each entry that was stamped, all up to which are older than the
    stamp's time, and the stamp.
    """

    entries: int
    head: str
    reason: str = ""
    stamps: tuple[tuple[int, Stamp], ...] = ()


class SealedLog:
    """The sealed log of the namespace of a memory."""

    def __init__(self, memory: Memory) -> None:
        self._store = memory.store
        self._namespace = memory.namespace
        self._own = sa.select(seals).where(seals.c.namespace == memory.namespace)

    def append(self, category: str, content: str) -> Seal:
        """Seal a text; raises `UsageError` for a category that there is not."""
        if category not in CATEGORIES:
            raise UsageError(
                f"no such category: {category!r}", hint=f"Choose one of {', '.join(CATEGORIES)}."
            )
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        with self._store.write() as connection:
            last = connection.execute(self._own.order_by(seals.c.number.desc()).limit(1)).first()
            number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
            sealed = _hash(number, at, category, content, previous)
            seal = Seal(number, at, category, content, previous, sealed)
            connection.execute(seals.insert(), {"namespace": self._namespace, **asdict(seal)})
        return seal

    def entries(self) -> list[Seal]:
        """List the log, oldest first."""
        with self._store.read() as connection:
            rows = connection.execute(self._own.order_by(seals.c.number)).all()
        return [Seal(*(getattr(row, field.name) for field in fields(Seal))) for row in rows]

    def stamp(self, authority: str, *, proxy: str | None = None) -> Seal:
        """Have the head stamped by the authority at this URL, which sees nothing but the hash.

        Raises `UsageError` where nothing is sealed yet, and what stamping raises.
        """
        last = self._last()
        digest = bytes.fromhex(last.hash)
        self._keep(last, stamper("rfc3161").stamp(digest, authority, proxy=proxy))
        return last

    def anchor(
        self, urls: Sequence[str], *, proxy: str | None = None
    ) -> tuple[Seal, tuple[str, ...]]:
        """Have the head taken down by OpenTimestamps calendars at these URLs.

        Gives also which calendars did not, and why. Raises as `stamp` does.
        """
        last = self._last()
        digest, calendars = bytes.fromhex(last.hash), stamper("opentimestamps")
        proof, missing = calendars.stamp(digest, urls, proxy=proxy)
        self._keep(last, proof)
        return last, missing

    def complete(self, urls: Sequence[str] = (), *, proxy: str | None = None) -> tuple[str, ...]:
        """Take the blocks that calendars promised into the proofs; gives what is missing."""
        missing: list[str] = []
        for row in self._stamped():
            if is_proof(row.token):
                proof, left = stamper("opentimestamps").complete(row.token, urls, proxy=proxy)
                missing += left
                with self._store.write() as connection:
                    change = stamps.update().where(stamps.c.id == row.id)
                    connection.execute(change, {"token": proof})
        return tuple(missing)

    def verify(
        self,
        head: str | None = None,
        roots: Path | None = None,
        blocks: Mapping[int, bytes] | None = None,
    ) -> SealCheck:
        """Walk the chain; `head` is a hash noted earlier, which must still be part of it.

        Stamps must be of entries of the chain, by an authority that `roots` (a file of
        certificates, those that browsers trust unless told) vouch for, or lead to Bitcoin blocks
        whose headers stand in `blocks` by height.
        """
        log = self.entries()
        previous, found = GENESIS, []
        for number, seal in enumerate(log, 1):
            expected = _hash(number, seal.at, seal.category, seal.content, previous)
            if (seal.number, seal.previous, seal.hash) != (number, previous, expected):
                return SealCheck(len(log), previous, f"entry {number} is not what was sealed")
            previous = seal.hash
        if head is not None and head not in {GENESIS, *(seal.hash for seal in log)}:
            return SealCheck(len(log), previous, "the noted head is not in the log")
        numbers = {seal.hash: seal.number for seal in log}
        for row in self._stamped():
            if row.hash not in numbers:
                return SealCheck(len(log), previous, "an entry that was stamped is gone")
            try:
                said = check(row.token, bytes.fromhex(row.hash), roots, blocks)
            except TimestampInvalid as error:
                return SealCheck(len(log), previous, f"{error}. {error.hint}")
            found.append((numbers[row.hash], said))
        return SealCheck(len(log), previous, stamps=tuple(found))

    def _stamped(self) -> Sequence[Any]:
        query = sa.select(stamps).where(stamps.c.namespace == self._namespace)
        with self._store.read() as connection:
            return connection.execute(query.order_by(stamps.c.id)).all()

    def _keep(self, entry: Seal, token: bytes) -> None:
        row = {"namespace": self._namespace, "hash": entry.hash, "token": token}
        with self._store.write() as connection:
            connection.execute(stamps.insert(), row)

    def _last(self) -> Seal:
        """Give the entry that is the head; raises `UsageError` where nothing is sealed."""
        log = self.entries()
        if not log:
            raise UsageError("nothing is sealed yet", hint="`research memory seal` adds an entry.")
        return log[-1]


def category_of(report: Report) -> str | None:
    """Name what a run came to: an incident, a milestone, a decision, or nothing to seal."""
    failed = report.status in ("failed", "not_found")
    said = report.error.message if failed and report.error else report.answer
    words = set(re.findall(r"\w+", f"{report.question} {said}".casefold()))
    if failed:
        return "incident" if words & _INCIDENT else None
    return next((name for name, known in _WORDS.items() if words & set(known.split())), None)


def seal_run(memory: Memory, report: Report) -> Seal | None:
    """Seal what a run came to, once, where it is of a category that the memory's settings name.

    Sealed are the run's name and a SHA-256 of question and answer (a line each), not their words:
    what is sealed can never be forgotten.
    """
    category = category_of(report)
    if category is None or category not in memory.limits.sealed:
        return None
    digest = hashlib.sha256(f"{report.question}\n{report.answer}".encode()).hexdigest()
    log, said = SealedLog(memory), f"run {report.run} {report.status}: sha256 {digest}"
    if any(seal.content == said for seal in log.entries()):
        return None
    return log.append(category, said)


def _hash(number: int, at: str, category: str, content: str, previous: str) -> str:
    """Hash `previous ‖ canonical JSON of the entry` (sorted keys, no spaces, UTF-8)."""
    entry = {"at": at, "category": category, "content": content, "number": number}
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(previous.encode() + text.encode("utf-8", "surrogatepass")).hexdigest()
