"""The desk: begins runs in processes of their own, hands on what is said, and stops them."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from agent.errors import InternalError, ResearchError, UsageError, error_kind
from agent.journal.runs import Runs
from agent.serve.tail import Tail

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agent.journal.runs import RunFolder

STOP_SECONDS: Final = 8.0
"""A run that is told to stop closes its browser and writes its end; what takes longer is killed."""
LOOK_SECONDS: Final = 30.0
"""A page that is loading answers when it is done; one that hangs does not."""
LONGEST_LINE: Final = 32 * 2**20
"""Bytes of a line to or from a worker: a picture of a page is the longest."""
_WORKER: Final = "agent.serve.run_process"
"""Loaded in the processes of runs alone: the server itself needs none of what a run needs."""
_HOW: Final = "forkserver" if sys.platform != "win32" else "spawn"
_LOADED: Final = (_WORKER, "browser.session.session", "browser.read.reader")
SPARE: Final = 2
"""Processes that wait for a run: forking one takes longer than what a run does first."""


class Busy(ResearchError):
    """As many runs are at work as may be."""

    hint = "Wait until one ends, stop one, or raise --at-once."


@dataclass(slots=True)
class LiveRun:
    """A run that is at work in a process of ours; `asked` are its open questions by number."""

    writer: asyncio.StreamWriter
    process: Any
    id: str = ""
    asked: dict[int, dict[str, Any]] = field(default_factory=dict)
    refusal: ResearchError | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _looks: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    _count: int = 0

    def tell(self, **line: Any) -> None:
        """Say something to the worker."""
        if not self.writer.is_closing():
            self.writer.write(json.dumps(line, default=str).encode() + b"\n")

    async def look(self, *, refs: bool = False, act: Mapping[str, Any] | None = None) -> Any:
        """Have a picture taken of the open page, after acting there by hand where that is asked."""
        self._count += 1
        number = self._count
        seen = self._looks[number] = asyncio.get_running_loop().create_future()
        self.tell(n=number, refs=refs, **({"act": act} if act else {"look": True}))
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                return await seen
        except TimeoutError:
            return {"error": "the page does not answer"}
        finally:
            self._looks.pop(number, None)

    def note_seen(self, seen: dict[str, Any]) -> None:
        """Hand a picture to who asked for it."""
        waiting = self._looks.get(seen["n"])
        if waiting is not None and not waiting.done():
            waiting.set_result(seen)

    def end(self) -> None:
        """Nothing more comes from the worker."""
        for waiting in self._looks.values():
            if not waiting.done():
                waiting.set_result({"error": "the run is over"})
        self.asked.clear()
        self.writer.close()
        self.begun.set()
        self.ended.set()


def _work(line: socket.socket) -> None:
    """Do what a worker does; in its own process."""
    import_module(_WORKER).main(line)


_Process = tuple[Any, asyncio.StreamReader, asyncio.StreamWriter]
"""A process for one run, and the two ends of the line to it."""


class Desk:
    """All runs of a data folder: those at work here, and those that stand on disk."""

    def __init__(self, data: Path, flags: Mapping[str, Any], at_once: int) -> None:
        self.runs = Runs(data)
        self.live: dict[str, LiveRun] = {}
        self._flags = {**flags, "data_dir": str(data)}
        self._at_once = at_once
        self._tails: dict[str, Tail] = {}
        self._hearing: set[asyncio.Task[None]] = set()
        self._refilling: asyncio.Task[None] | None = None  # held, or it would be collected
        self._context: Any = multiprocessing.get_context(_HOW)
        if _HOW == "forkserver":
            self._context.set_forkserver_preload(list(_LOADED))
        self._starting = asyncio.Lock()
        self._spare: list[_Process] = []
        self._closed = False

    async def open(self) -> None:
        """Have processes ready for the first runs."""
        await self._refill()

    async def _refill(self) -> None:
        async with self._starting:
            while len(self._spare) < SPARE and not self._closed:
                self._spare.append(await self._forked())

    async def _forked(self) -> _Process:
        """Start a process that waits for its run."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = self._context.Process(target=_work, args=(theirs,))
            await asyncio.to_thread(process.start)
        return process, *await asyncio.open_connection(sock=ours, limit=LONGEST_LINE)

    async def close(self) -> None:
        """Stop what is at work: each run leaves its record behind, and can be resumed."""
        self._closed = True
        for _, _, writer in self._spare:
            writer.close()
        for tail in self._tails.values():
            tail.close()
        for live in list(self.live.values()):
            live.tell(stop=True)
        if self._hearing:
            await asyncio.wait(self._hearing, timeout=STOP_SECONDS)
        for live in list(self.live.values()):
            live.process.kill()

    async def ask(
        self, question: str, flags: Mapping[str, Any], *, attended: bool = False
    ) -> LiveRun:
        """Begin a run; gives it once it has its id. Raises what `research` refuses it with."""
        if not question.strip():
            raise UsageError("the question is empty")
        given = {**self._flags, **flags}
        return await self._begin(question, None, given, attended=attended)

    async def resume(
        self, folder: RunFolder, flags: Mapping[str, Any], *, attended: bool = False
    ) -> LiveRun:
        """Go on with a run that was cut off; raises `UsageError` where it came to its end."""
        if folder.id in self.live:
            raise UsageError(f"{folder.id} is at work")
        given = {"data_dir": self._flags["data_dir"], **flags}
        return await self._begin("", folder.id, given, attended=attended)

    async def _begin(
        self, question: str, resume: str | None, flags: Mapping[str, Any], *, attended: bool
    ) -> LiveRun:
        if len(self._hearing) >= self._at_once:
            raise Busy(f"{self._at_once} runs are at work, which is all that may be")
        process, reader, writer = self._spare.pop() if self._spare else await self._forked()
        live = LiveRun(writer, process)
        live.tell(question=question, resume=resume, attended=attended, flags=flags)
        if resume:
            self._known(live, resume)
        hearing = asyncio.create_task(self._hear(live, reader))
        self._hearing.add(hearing)
        hearing.add_done_callback(self._hearing.discard)
        await live.begun.wait()
        if self._refilling is None or self._refilling.done():  # only now: it takes a processor
            self._refilling = asyncio.create_task(self._refill())
        if live.refusal is not None:
            raise live.refusal
        if not live.id:
            raise InternalError("the process of the run ended before it began")
        return live

    def _known(self, live: LiveRun, run: str) -> None:
        live.id = run
        self.live[run] = live

    async def _hear(self, live: LiveRun, reader: asyncio.StreamReader) -> None:
        """Take what a worker tells, until it ends."""
        try:
            while line := await reader.readline():
                self._take(live, json.loads(line))
        except ConnectionError:
            pass  # it was killed: its record stands
        finally:
            live.end()
            if self.live.get(live.id) is live:
                del self.live[live.id]
            await asyncio.to_thread(live.process.join)
            if tail := self._tails.get(live.id):
                tail.read()
                tail.finished = True  # by whatever it ended, nothing more is to come
                tail.wake()

    def _take(self, live: LiveRun, told: dict[str, Any]) -> None:
        if "run" in told and not live.id:
            self._known(live, told["run"])
        elif "wrote" in told:
            self._pass(live)
            live.begun.set()
        elif "delta" in told:
            self._pass(live, **told["delta"])
        elif "asked" in told:
            live.asked[told["asked"]["n"]] = told["asked"]
            self._pass(live, type="asked", data=told["asked"])
        elif "answered" in told:
            live.asked.pop(told["answered"], None)
            self._pass(live, type="answered", data={"n": told["answered"]})
        elif "unread" in told:
            self._pass(live, type="hint.unread", data={"hints": told["unread"]})
        elif "seen" in told:
            live.note_seen(told["seen"])
        elif "refused" in told:
            said = told["refused"]
            live.refusal = error_kind(said["type"])(said["message"], hint=said["hint"])

    def _pass(self, live: LiveRun, **told: Any) -> None:
        """Have who watches a run told what is new: its journal has grown, or `told`, passing."""
        if tail := self._tails.get(live.id):
            tail.passing(told) if told else tail.read()

    async def stop(self, live: LiveRun) -> None:
        """Stop a run; it ends with what it knows so far, and can be resumed."""
        live.tell(stop=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await live.ended.wait()
                return
        live.process.kill()

    def tail(self, folder: RunFolder) -> Tail:
        """Give the journal of a run as it grows; forgotten when nobody watches it any more."""
        for name, tail in list(self._tails.items()):
            if not tail.watchers:
                del self._tails[name]
        run = folder.id
        if run not in self._tails:
            self._tails[run] = Tail(folder.journal, lambda: run in self.live)
        return self._tails[run]
