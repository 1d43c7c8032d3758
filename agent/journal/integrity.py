"""Checking that a record is as it was written: the chain of its events, the hashes of its blobs.

Each event carries the hash of the one before it, so the last hash (the head) stands for all that
came before: who keeps it elsewhere, or has it stamped with a time, can tell a rewritten record.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import JournalError
from agent.journal.events import GENESIS, Event, read_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from agent.journal.runs import RunFolder


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something that is not as it was written: where (`journal.jsonl:12`), and what."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class EventChain:
    """A journal, checked: `events` are those that hold, `head` the last hash."""

    events: tuple[Event, ...]
    head: str
    flaws: tuple[Flaw, ...]


def check_chain(path: Path) -> EventChain:
    """Check each line of a journal byte for byte; raises `JournalError` where there is no file."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror}") from error
    events: list[Event] = []
    flaws: list[Flaw] = []
    before: Event | None = None
    for number, line in enumerate(lines[:-1], 1):
        where = f"{path.name}:{number}"
        try:
            event = read_event(line, where)
        except JournalError as error:
            flaws.append(Flaw(where, str(error)))
            continue
        found = list(_flaws(event, line, before, where))
        flaws += found
        events += [] if found else [event]
        before = event
    if lines[-1]:
        flaws.append(Flaw(f"{path.name}:{len(lines)}", "the last line is cut short"))
    return EventChain(tuple(events), before.hash if before else GENESIS, tuple(flaws))


def _flaws(event: Event, line: bytes, before: Event | None, where: str) -> Iterator[Flaw]:
    name = f"{event.type} {event.place}".strip()
    if event.digest() != event.hash:
        yield Flaw(where, f"{name} was changed: its hash is not that of its content")
    elif event.to_json().encode() != line:
        yield Flaw(where, f"{name} is not written as it was")
    if (event.seq, event.prev) != ((before.seq + 1, before.hash) if before else (0, GENESIS)):
        yield Flaw(where, f"{name} does not follow the event before it: one was changed or removed")


def check_blobs(folder: RunFolder, events: Iterable[Event]) -> tuple[int, list[Flaw]]:
    """Check what was kept against its names, and that all that events name is there."""
    kept = {path.name: path for path in (folder.path / "blobs").glob("[0-9a-f]*")}
    flaws = [
        Flaw(f"blobs/{name}", "its content is not the one that its name is the hash of")
        for name, path in sorted(kept.items())
        if hashlib.sha256(path.read_bytes()).hexdigest() != name
    ]
    missing = [(event, name) for event in events for name in _named(event) if name not in kept]
    flaws += [
        Flaw(
            f"blobs/{name}", f"is missing; {event.type} {event.place} (event {event.seq}) needs it"
        )
        for event, name in missing
    ]
    return len(kept), flaws


def _named(event: Event) -> list[str]:
    """The blobs that an event names."""
    if event.type == "source.added":
        return [name for name in (event.data.get("text"), event.data.get("body")) if name]
    if event.type == "tool.result":
        return list(event.data.get("blobs", {}).values())
    return []
