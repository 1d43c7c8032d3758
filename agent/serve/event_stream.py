"""Streams a run's journal as server-sent events.

The file's lines are sent byte for byte, regardless of which process writes them. Transient events
that the journal does not store (pieces of a reply, questions) are sent in between. A client that
connects late or reconnects continues after the event that it specifies.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent.journal.events import AFTER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

POLL_SECONDS: Final = 0.15
"""Seconds between polls of a journal that another process writes; runs in this process notify the
stream.
"""
KEEP_ALIVE_SECONDS: Final = 15.0
"""Seconds between keep-alive comments: proxies close connections after a silent minute, and
EventSource ignores comments.
"""
KEEP_ALIVE: Final = b": still here\n\n"
END_EVENT: Final = b"event: end\ndata: {}\n\n"


@dataclass(frozen=True, slots=True)
class Frame:
    """An event as JSON. `seq` is its number in the journal; None for a transient event."""

    seq: int | None
    data: bytes

    def as_sse(self) -> bytes:
        """Format the event as a server-sent event."""
        number = b"" if self.seq is None else b"id: %d\n" % self.seq
        return b"%sdata: %s\n\n" % (number, self.data)


class EventStream:
    """A journal that is read once for all watchers.

    `is_active` returns whether the run is active in this process; otherwise, the journal is polled,
    as another process may be writing it. For a run that is being resumed, `earlier_bytes` of the
    journal had already been written.
    """

    def __init__(
        self, journal: Path, is_active: Callable[[], bool], *, earlier_bytes: int = 0
    ) -> None:
        self.watchers = 0
        self.has_answer = False  # post-run tasks (`after`) add more events after the answer
        self._journal = journal
        self._is_active = is_active
        self._earlier_bytes = earlier_bytes
        self._frames: list[Frame] = []
        self._offset = 0
        self._finished = False
        self._closed = False
        self._grown = asyncio.Event()
        self._polling: asyncio.Task[None] | None = None

    def read(self) -> None:
        """Read the complete lines added since the last read."""
        with suppress(FileNotFoundError), self._journal.open("rb") as file:
            file.seek(self._offset)
            lines, newline, _ = file.read().rpartition(b"\n")
            if newline:
                for line in lines.split(b"\n"):
                    self._offset += len(line) + 1
                    self._add(line)
                self._wake()

    def _add(self, line: bytes) -> None:
        event = json.loads(line)
        match event["type"]:
            case "run.finished" if self._offset > self._earlier_bytes:
                self.has_answer, self._finished = True, event["data"].get("after") is None
            case "run.settled":
                self._finished = True
            case "run.interrupted":
                self._finished = self.has_answer  # otherwise, its report is still to come
            case "model.request" if not event["place"].startswith(AFTER):  # the run was resumed
                self.has_answer = self._finished = False
        self._frames.append(Frame(event["seq"], line))

    def add_transient(self, **event: Any) -> None:
        """Send a transient event, after all events that were written before it."""
        self.read()
        data = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        self._frames.append(Frame(None, data))
        self._wake()

    def finish(self) -> None:
        """End the stream after the events written so far, as the run's process has ended."""
        self.read()
        self._finished = True
        self._wake()

    def close(self) -> None:
        """Disconnect all watchers."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        # Wake the watchers, then create a new `asyncio.Event` for them to wait on.
        self._grown.set()
        self._grown = asyncio.Event()

    @property
    def has_ended(self) -> bool:
        """Return whether the stream has ended and there will be no further events."""
        return self._closed or (self._finished and not self._is_active())

    def may_have_events_after(self, seq: int) -> bool:
        """Return whether an event with a higher number exists or may still follow."""
        self.read()
        return not self.has_ended or any(f.seq is not None and f.seq > seq for f in self._frames)

    async def sse(self, after: int) -> AsyncIterator[bytes]:
        """Yield the events after number `after` as server-sent events; the last is `end`."""
        async for frame in self.frames(after):
            yield KEEP_ALIVE if frame is None else frame.as_sse()
        yield END_EVENT

    async def frames(self, after: int = -1) -> AsyncIterator[Frame | None]:
        """Yield each event after number `after` until the run ends; None after a long silence."""
        self.watchers += 1
        # One polling task serves all watchers; it ends when the last one disconnects.
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        try:
            self.read()
            last_kept = max((n for n, f in enumerate(self._frames) if f.seq is not None), default=0)
            at = 0
            while True:
                # Read these before sending frames, so that events that arrive meanwhile are not
                # missed.
                grown, over = self._grown, self.has_ended
                while at < len(self._frames):
                    frame, at = self._frames[at], at + 1
                    # A transient event before a kept one is outdated: its reply is complete.
                    if frame.seq is None and at > last_kept:
                        yield frame
                    elif frame.seq is not None and frame.seq > after:
                        after = frame.seq
                        yield frame
                if over:
                    return
                try:
                    async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                        await grown.wait()
                except TimeoutError:
                    yield None
        finally:
            self.watchers -= 1

    async def _poll(self) -> None:
        """Poll another process's file while there are watchers."""
        while self.watchers:
            await asyncio.sleep(POLL_SECONDS)
            if not self._is_active():
                self.read()
