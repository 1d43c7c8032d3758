"""Journals as they grow, for all who watch: runs of this server and of any other process.

The file is what is told, line by line and to the byte; what is not kept in it (the pieces of a
reply) comes in between. Whoever comes late, or again, begins behind the event they name.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from agent.journal.events import AFTER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

POLL_SECONDS: Final = 0.15
"""Between two looks at the journal of another process; our own runs say when they wrote."""
KEEP_ALIVE_SECONDS: Final = 15.0
"""Proxies cut a connection that is silent for a minute; EventSource does not mind comments."""
KEEP_ALIVE: Final = b": still here\n\n"


@dataclass(frozen=True, slots=True)
class Frame:
    """What a watcher is sent; `seq` is that of an event that is kept, None for what passes."""

    seq: int | None
    body: bytes


@dataclass(slots=True)
class Tail:
    """One journal, read once however many watch it."""

    path: Path
    goes_on: Callable[[], bool]
    frames: list[Frame] = field(default_factory=list)
    watchers: int = 0
    finished: bool = False
    closed: bool = False
    _at: int = 0
    _delivered: bool = False
    _polling: asyncio.Task[None] | None = None
    _grown: asyncio.Event = field(default_factory=asyncio.Event)

    def read(self) -> None:
        """Take up the whole lines that were written since."""
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self._at)
            piece = file.read()
            whole = piece.rfind(b"\n") + 1
            for line in piece[:whole].split(b"\n")[:-1]:
                self._take(line)
            self._at += whole
            if whole:
                self.wake()

    def _take(self, line: bytes) -> None:
        event = json.loads(line)
        match event["type"]:
            case "run.finished":
                self._delivered, self.finished = True, event["data"].get("after") is None
            case "run.settled":
                self.finished = True
            case "run.interrupted":
                self.finished = self._delivered  # else its report is still to come
            case "model.request" if not event["place"].startswith(AFTER):  # it was resumed
                self._delivered = self.finished = False
        self.frames.append(Frame(event["seq"], b"id: %d\ndata: %s\n\n" % (event["seq"], line)))

    def passing(self, told: dict[str, Any]) -> None:
        """Tell what the journal does not keep, behind what was written before it."""
        self.read()
        line = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        self.frames.append(Frame(None, b"data: %s\n\n" % line))
        self.wake()

    def wake(self) -> None:
        """Have watchers look again."""
        self._grown.set()
        self._grown = asyncio.Event()

    def close(self) -> None:
        """Let all watchers go."""
        self.closed = True
        self.wake()

    @property
    def over(self) -> bool:
        """Whether nothing more is to come."""
        return self.closed or (self.finished and not self.goes_on())

    async def watch(self, after: int = -1) -> AsyncIterator[bytes]:
        """Yield what comes behind the event `after`, each event once, until the run is over."""
        self.watchers += 1
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        try:
            self.read()
            last = max((n for n, f in enumerate(self.frames) if f.seq is not None), default=0)
            at = 0
            while True:
                grown, over = self._grown, self.over
                while at < len(self.frames):
                    frame, at = self.frames[at], at + 1
                    if frame.seq is None and at <= last:
                        continue  # pieces of a reply that stands whole by now
                    if frame.seq is None or frame.seq > after:
                        after = after if frame.seq is None else frame.seq
                        yield frame.body
                if over:
                    yield b"event: end\ndata: {}\n\n"
                    return
                try:
                    async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                        await grown.wait()
                except TimeoutError:
                    yield KEEP_ALIVE
        finally:
            self.watchers -= 1

    async def _poll(self) -> None:
        """Look at the file of a run that works elsewhere, as long as anybody watches."""
        while self.watchers:
            await asyncio.sleep(POLL_SECONDS)
            if not self.goes_on():
                self.read()
