"""The sealed log: milestones, decisions and incidents in a hash chain.

Each entry's hash covers its content and the previous hash, so that no entry can be changed, removed
or inserted without breaking all later ones. Anyone who stores the head elsewhere can also verify
that the log was not truncated or completely rewritten.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.errors import UsageError
from agent.journal.events import GENESIS
from agent.memory.database import seals, stamps
from agent.sealing import TimestampInvalid, check, is_opentimestamps_proof, load_timestamper
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agent.memory.memory_api import Memory
    from agent.sealing import Stamp
    from agent.types import Report

CATEGORIES = ("milestone", "decision", "incident")
# The reference engine's words, matched as complete words in the same order: incidents (failed runs
# only), then milestones, then decisions. Of 110 research questions with answers, 7 % contain one.
_INCIDENT = frozenset(
    "crash critical down emergency failed outage panic revert rollback timeout".split()
)
_WORDS = {
    "milestone": frozenset(
        "contract created deploy deployed first initialized launch launched live mainnet migration "
        "production release released shipped token".split()
    ),
    "decision": frozenset(
        "chose configured decided disabled enabled migrated replaced switched upgraded".split()
    ),
}


@dataclass(frozen=True, slots=True)
class Seal:
    """A sealed log entry; `hash` covers the entry and, through `previous`, all earlier ones.

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
    """The result of checking the sealed log, which is intact if `reason` is empty.

    `stamps` contains (entry number, timestamp) pairs; each timestamp proves that the log up to this
    entry existed at that time.
    """

    entries: int
    head: str
    reason: str = ""
    stamps: tuple[tuple[int, Stamp], ...] = ()


class SealedLog:
    """The sealed log of a namespace."""

    def __init__(self, memory: Memory) -> None:
        self._store = memory.store
        self._namespace = memory.namespace
        self._entries_query = sa.select(seals).where(seals.c.namespace == memory.namespace)

    def append(self, category: str, content: str) -> Seal:
        """Seal an entry; raises `UsageError` for an unknown category."""
        if category not in CATEGORIES:
            raise UsageError(
                f"no such category: {category!r}", hint=f"Choose one of {', '.join(CATEGORIES)}."
            )
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        with self._store.write() as connection:
            last = connection.execute(
                self._entries_query.order_by(seals.c.number.desc()).limit(1)
            ).first()
            number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
            sealed = _hash(number, at, category, content, previous)
            seal = Seal(number, at, category, content, previous, sealed)
            connection.execute(seals.insert(), {"namespace": self._namespace, **asdict(seal)})
        return seal

    def entries(self) -> list[Seal]:
        """List the log, oldest first."""
        query = self._entries_query.with_only_columns(
            *(seals.c[field.name] for field in fields(Seal))
        )
        with self._store.read() as connection:
            return [Seal(*row) for row in connection.execute(query.order_by(seals.c.number))]

    def stamp(self, authority: str, *, proxy: str | None = None) -> Seal:
        """Have the head signed by the authority at this URL, which sees only the hash.

        Raises `UsageError` if nothing has been sealed yet, and the errors of the timestamp service.
        """
        head = self._head()
        token = load_timestamper("rfc3161").stamp(bytes.fromhex(head.hash), authority, proxy=proxy)
        self._save(head, token)
        return head

    def anchor(
        self, urls: Sequence[str], *, proxy: str | None = None
    ) -> tuple[Seal, tuple[str, ...]]:
        """Have the head recorded by OpenTimestamps calendars at these URLs.

        Also returns which calendars failed, and why. Raises the same errors as `stamp`.
        """
        head, calendars = self._head(), load_timestamper("opentimestamps")
        proof, missing = calendars.stamp(bytes.fromhex(head.hash), urls, proxy=proxy)
        self._save(head, proof)
        return head, missing

    def complete(self, urls: Sequence[str] = (), *, proxy: str | None = None) -> tuple[str, ...]:
        """Complete the proofs with blocks from the calendars; returns the parts still missing."""
        missing: list[str] = []
        for row in self._stamped():
            if is_opentimestamps_proof(row.token):
                proof, left = load_timestamper("opentimestamps").complete(
                    row.token, urls, proxy=proxy
                )
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
        """Check the entire chain; `head` is a hash saved earlier, which must still be part of it.

        Timestamps must belong to entries in the chain. They must be signed by an authority that
        `roots` trusts (a certificate file; by default, the certificates that browsers trust), or
        anchored in a Bitcoin block whose header is in `blocks`, which maps heights to headers.
        """
        log = self.entries()
        previous, found = GENESIS, []
        for number, seal in enumerate(log, 1):
            expected = _hash(number, seal.at, seal.category, seal.content, previous)
            if (seal.number, seal.previous, seal.hash) != (number, previous, expected):
                return SealCheck(
                    len(log), previous, f"entry {number} was changed after it was sealed"
                )
            previous = seal.hash
        numbers = {seal.hash: seal.number for seal in log}
        if head is not None and head != GENESIS and head not in numbers:
            return SealCheck(len(log), previous, "the saved head is not in the log")
        for row in self._stamped():
            if row.hash not in numbers:
                return SealCheck(len(log), previous, "a timestamped entry is missing")
            try:
                stamp = check(row.token, bytes.fromhex(row.hash), roots, blocks)
            except TimestampInvalid as error:
                return SealCheck(len(log), previous, f"{error}. {error.hint}")
            found.append((numbers[row.hash], stamp))
        return SealCheck(len(log), previous, stamps=tuple(found))

    def _head(self) -> Seal:
        log = self.entries()
        if not log:
            raise UsageError(
                "nothing has been sealed yet", hint="`research memory seal` adds an entry."
            )
        return log[-1]

    def _save(self, entry: Seal, token: bytes) -> None:
        row = {"namespace": self._namespace, "hash": entry.hash, "token": token}
        with self._store.write() as connection:
            connection.execute(stamps.insert(), row)

    def _stamped(self) -> Sequence[Any]:
        query = sa.select(stamps).where(stamps.c.namespace == self._namespace)
        with self._store.read() as connection:
            return connection.execute(query.order_by(stamps.c.id)).all()


def category_of(report: Report) -> str | None:
    """Return a run's category based on its words: incident, milestone, decision, or None."""
    failed = report.status in ("failed", "not_found")
    result = report.error.message if failed and report.error else report.answer
    found = set(words(f"{report.question} {result}"))
    if failed:
        return "incident" if found & _INCIDENT else None
    return next((name for name, known in _WORDS.items() if found & known), None)


def seal_run(memory: Memory, report: Report) -> Seal | None:
    """Seal a run's result once, if the memory's settings name its category.

    Only the run's id and a SHA-256 of the question and answer (one line each) are sealed, not their
    text, because a sealed entry can never be deleted.
    """
    category = category_of(report)
    if category is None or category not in memory.limits.sealed:
        return None
    digest = hashlib.sha256(f"{report.question}\n{report.answer}".encode()).hexdigest()
    log, content = SealedLog(memory), f"run {report.run} {report.status}: sha256 {digest}"
    if any(seal.content == content for seal in log.entries()):
        return None
    return log.append(category, content)


def _hash(number: int, at: str, category: str, content: str, previous: str) -> str:
    """Hash `previous ‖ canonical JSON of the entry` (sorted keys, no spaces, UTF-8)."""
    entry = {"at": at, "category": category, "content": content, "number": number}
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(previous.encode() + text.encode("utf-8", "surrogatepass")).hexdigest()
