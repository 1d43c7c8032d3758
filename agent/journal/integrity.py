"""Checks that a record is unchanged, using its events' hash chain and its blobs' hashes.

Each event contains the hash of the previous one, so the last hash (the head) depends on all events.
With a copy of the head, or a timestamp of it, anyone can detect that a record was rewritten.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import JournalError
from agent.journal.events import GENESIS, Event, read_event, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from agent.journal.runs import RunFolder


@dataclass(frozen=True, slots=True)
class RecordFlaw:
    """A change in a record: its position (`journal.jsonl:12`) and a description."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class EventChain:
    """The result of checking a journal: the unchanged events, and `head`, the last hash."""

    events: tuple[Event, ...]
    head: str
    flaws: tuple[RecordFlaw, ...]


def check_chain(path: Path) -> EventChain:
    """Check each line of a journal byte by byte; raises `JournalError` if there is no file."""
    lines, incomplete = read_lines(path)
    events: list[Event] = []
    flaws: list[RecordFlaw] = []
    previous: Event | None = None
    for number, line in enumerate(lines, 1):
        where = f"{path.name}:{number}"
        try:
            event = read_event(line, where)
        except JournalError as error:
            flaws.append(RecordFlaw(where, str(error)))
            continue
        changes = [RecordFlaw(where, what) for what in _changes(event, line, previous)]
        flaws += changes
        if not changes:
            events.append(event)
        # Also set after a flaw, so that one changed event does not invalidate all later ones.
        previous = event
    if incomplete:
        flaws.append(RecordFlaw(f"{path.name}:{len(lines) + 1}", "the last line is truncated"))
    return EventChain(tuple(events), previous.hash if previous else GENESIS, tuple(flaws))


def _changes(event: Event, line: bytes, previous: Event | None) -> Iterator[str]:
    name = f"{event.type} {event.place}".strip()
    if event.digest() != event.hash:
        yield f"{name} was changed: its hash does not match its content"
    elif event.to_json().encode() != line:  # same values, but different spaces or escapes
        yield f"{name} does not have its original formatting"
    expected = (previous.seq + 1, previous.hash) if previous else (0, GENESIS)
    if (event.seq, event.prev) != expected:
        yield f"{name} does not follow the previous event: an event was changed or removed"


def check_blobs(folder: RunFolder, events: Iterable[Event]) -> tuple[int, list[RecordFlaw]]:
    """Check that each blob's hash matches its name, and that all blobs used by events exist.

    Returns the number of blobs, and the flaws.
    """
    kept = {path.name: path for path in (folder.path / "blobs").glob("[0-9a-f]*")}
    flaws = [
        RecordFlaw(f"blobs/{name}", "its content does not match the hash in its name")
        for name, path in sorted(kept.items())
        if hashlib.sha256(path.read_bytes()).hexdigest() != name
    ]
    for event in events:
        needed: list[str | None] = []
        if event.type == "source.added":
            needed = [event.data.get("text"), event.data.get("body")]
        elif event.type == "tool.result":
            needed = list(event.data.get("blobs", {}).values())
        flaws += [
            RecordFlaw(
                f"blobs/{name}",
                f"is missing; {event.type} {event.place} (event {event.seq}) refers to it",
            )
            for name in needed
            if name and name not in kept
        ]
    return len(kept), flaws
