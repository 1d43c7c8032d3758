"""Reading a record back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent.errors import JournalError
from agent.journal.events import SCHEMA_VERSION, Event

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a journal; a torn last line, as a crash leaves it, is passed over.

    Raises `JournalError` where the file cannot be read or a line before the last is no event.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror}") from error
    for number, line in enumerate(lines[:-1], 1):
        yield read_event(line, f"{path}:{number}")


def read_event(line: bytes, where: str) -> Event:
    """Read one line; `where` names it in the `JournalError` that is raised where it is no event."""
    try:
        row = json.loads(line)
        version = row.pop("v")
        event = Event(**row)
        if not (isinstance(version, int) and isinstance(event.data, dict)):
            raise TypeError("its version or its data is of another kind")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JournalError(
            f"{where} is no event: {error}",
            hint="The record was changed or damaged; `research runs rm` removes it.",
        ) from error
    if version > SCHEMA_VERSION:
        raise JournalError(
            f"{where} was written by a newer version (schema {version})",
            hint="Upgrade with `pip install -U urchin-research`.",
        )
    return event
