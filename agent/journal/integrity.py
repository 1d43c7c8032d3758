"""Checking that a record is as it was written: the chain of its events, the hashes of its blobs.

Each event carries the hash of the one before it, so the last hash (the head) stands for all that
came before: who keeps it elsewhere, or has it stamped with a time, can tell a rewritten record.
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
    lines, torn = read_lines(path)
    events: list[Event] = []
    flaws: list[Flaw] = []
    previous: Event | None = None
    for number, line in enumerate(lines, 1):
        where = f"{path.name}:{number}"
        try:
            event = read_event(line, where)
        except JournalError as error:
            flaws.append(Flaw(where, str(error)))
            continue
        wrong = [Flaw(where, what) for what in _changes(event, line, previous)]
        flaws += wrong
        if not wrong:
            events.append(event)
        previous = event
    if torn:
        flaws.append(Flaw(f"{path.name}:{len(lines) + 1}", "the last line is cut short"))
    return EventChain(tuple(events), previous.hash if previous else GENESIS, tuple(flaws))


def _changes(event: Event, line: bytes, previous: Event | None) -> Iterator[str]:
    name = f"{event.type} {event.place}".strip()
    if event.digest() != event.hash:
        yield f"{name} was changed: its hash is not that of its content"
    elif event.to_json().encode() != line:  # other spaces or escapes give the same values
        yield f"{name} is not written as it was"
    expected = (previous.seq + 1, previous.hash) if previous else (0, GENESIS)
    if (event.seq, event.prev) != expected:
        yield f"{name} does not follow the event before it: one was changed or removed"


def check_blobs(folder: RunFolder, events: Iterable[Event]) -> tuple[int, list[Flaw]]:
    """Check kept bytes against their names, and that those which events name are there.

    Returns how many blobs there are, and what is wrong.
    """
    kept = {path.name: path for path in (folder.path / "blobs").glob("[0-9a-f]*")}
    flaws = [
        Flaw(f"blobs/{name}", "its content is not the one that its name is the hash of")
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
            Flaw(
                f"blobs/{name}",
                f"is missing; {event.type} {event.place} (event {event.seq}) needs it",
            )
            for name in needed
            if name and name not in kept
        ]
    return len(kept), flaws
