"""Starts runs in processes of their own, follows them, and stops them."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from agent.errors import InternalError, ResearchError, UsageError, error_class
from agent.journal.runs import Runs
from agent.serve.event_stream import EventStream
from agent.serve.worker_connection import WorkerConnection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agent.journal.runs import RunFolder

STOP_SECONDS: Final = 8.0
"""A run that is to stop closes its browser and writes its end; what takes longer is killed."""
LOOK_SECONDS: Final = 30.0
"""A page that is loading answers when it is done; one that hangs does not."""
_WORKER: Final = "agent.serve.run_worker"
"""Loaded in the processes of runs alone: the server itself needs none of what a run needs."""
_START_METHOD: Final = "forkserver" if sys.platform != "win32" else "spawn"
_PRELOADED: Final = (_WORKER, "browser.session.session", "browser.read.reader")
SPARE: Final = 2
"""Processes that wait for a run: forking one takes longer than what a run does first."""


class Busy(ResearchError):
    """As many runs are at work as `at_once` allows."""

    hint = "Wait until one ends, stop one, or raise --at-once."


@dataclass(slots=True)
class ActiveRun:
    """A run that is at work in a process of ours; `questions` to the person are open, by number."""

    process: Any  # its class depends on the start method
    connection: WorkerConnection
    id: str = ""
    questions: dict[int, dict[str, Any]] = field(default_factory=dict)
    refusal: ResearchError | None = None
    started: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(
        self, *, refs: bool = False, act: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Take a picture of the open page; with `act`, after a person's click or key there."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                seen: dict[str, Any] = await self.connection.request(
                    look={"refs": refs, "act": act}
                )
                return seen
        except TimeoutError:
            return {"error": "the page does not answer"}
        except ConnectionError:
            return {"error": "the run is over"}


def _work(line: socket.socket) -> None:
    """Do what a worker does; in its own process."""
    import_module(_WORKER).main(line)


class RunManager:
    """All runs of a data folder: those `active` here, at most `at_once`, and those on disk.

    `flags` are those of each run, where its question has no others.
    """

    def __init__(self, data: Path, flags: Mapping[str, Any], at_once: int) -> None:
        self.runs = Runs(data)
        self.active: dict[str, ActiveRun] = {}
        self._flags = {**flags, "data_dir": str(data)}
        self._at_once = at_once
        self._streams: dict[str, EventStream] = {}
        self._following: set[asyncio.Task[None]] = set()
        self._refilling: asyncio.Task[None] | None = None  # held, or it would be collected
        self._context: Any = multiprocessing.get_context(_START_METHOD)
        if _START_METHOD == "forkserver":
            self._context.set_forkserver_preload(list(_PRELOADED))
        self._starting = asyncio.Lock()
        self._spare: list[ActiveRun] = []
        self._closed = False

    async def open(self) -> None:
        """Have processes ready for the first runs."""
        async with self._starting:
            while len(self._spare) < SPARE and not self._closed:
                self._spare.append(await self._fork())

    async def _fork(self) -> ActiveRun:
        """Start a process that waits for its run."""
        ours, theirs = socket.socketpair()
        with theirs:  # the worker has a copy: when that is closed, too, our end sees it
            process = self._context.Process(target=_work, args=(theirs,))
            await asyncio.to_thread(process.start)
        return ActiveRun(process, await WorkerConnection.open(ours))

    async def close(self) -> None:
        """Stop what is at work: each run leaves its record behind, and can be resumed."""
        self._closed = True
        # First, so that a server that is to stop does not wait for its watchers.
        for stream in self._streams.values():
            stream.close()
        for run in self._spare:
            run.connection.close()
        for run in list(self.active.values()):
            run.connection.send(stop=True)
        if self._following:
            await asyncio.wait(self._following, timeout=STOP_SECONDS)
        for run in list(self.active.values()):
            run.process.kill()

    async def start(
        self, question: str, flags: Mapping[str, Any], *, attended: bool = False
    ) -> ActiveRun:
        """Start a run; returns once it has its id. Raises what `research` refuses it with.

        `attended` says that a person follows it, who is asked and shown its page. Raises `Busy`.
        """
        if not question.strip():
            raise UsageError("the question is empty")
        flags = {**self._flags, **flags}
        return await self._launch(question=question, resume="", flags=flags, attended=attended)

    async def resume(
        self, folder: RunFolder, flags: Mapping[str, Any], *, attended: bool = False
    ) -> ActiveRun:
        """Go on with a run that was cut off; raises `UsageError` where it came to its end."""
        if folder.id in self.active:
            raise UsageError(f"{folder.id} is at work")
        # Its record has the other flags, which hold again.
        flags = {"data_dir": self._flags["data_dir"], **flags}
        return await self._launch(question="", resume=folder.id, flags=flags, attended=attended)

    async def _launch(self, **job: Any) -> ActiveRun:
        """Send a job to a process; returns once the run has written its first event."""
        # Not `active`: a run that begins has no id yet, and one that ends holds its memory still.
        if len(self._following) >= self._at_once:
            raise Busy(f"{self._at_once} runs are at work, which is all that may be")
        run = self._spare.pop() if self._spare else await self._fork()
        run.connection.send(**job)
        if job["resume"]:
            self._register(run, job["resume"])
        following = asyncio.create_task(self._follow(run))
        self._following.add(following)
        following.add_done_callback(self._following.discard)
        await run.started.wait()
        if self._refilling is None or self._refilling.done():  # only now: it takes a processor
            self._refilling = asyncio.create_task(self.open())
        if run.refusal is not None:
            raise run.refusal
        if not run.id:
            raise InternalError("the process of the run ended before it began")
        return run

    def _register(self, run: ActiveRun, name: str) -> None:
        run.id = name
        self.active[name] = run

    async def _follow(self, run: ActiveRun) -> None:
        """Take the messages of a worker until it ends."""
        try:
            async for message in run.connection.messages():
                self._receive(run, message)
        finally:
            run.questions.clear()
            run.connection.close()  # also where a message could not be read
            run.started.set()
            run.ended.set()
            if self.active.get(run.id) is run:
                del self.active[run.id]
            await asyncio.to_thread(run.process.join)
            if stream := self._streams.get(run.id):
                stream.finish()

    def _receive(self, run: ActiveRun, message: dict[str, Any]) -> None:
        stream = self._streams.get(run.id)  # none where nobody watches
        passing: dict[str, Any] | None = None
        match message:
            case {"run": name} if not run.id:
                self._register(run, name)
            case {"wrote": _}:
                run.started.set()
                if stream:
                    stream.read()
            case {"delta": passing}:
                pass
            case {"question": question, "n": n}:
                run.questions[n] = {"n": n, **question}
                passing = {"type": "asked", "data": run.questions[n]}
            case {"settled": n}:
                run.questions.pop(n, None)
                passing = {"type": "answered", "data": {"n": n}}
            case {"unread": hints}:
                passing = {"type": "hint.unread", "data": {"hints": hints}}
            case {"refused": error}:
                run.refusal = error_class(error["type"])(error["message"], hint=error["hint"])
        if stream and passing:
            stream.add_passing(**passing)

    async def stop(self, run: ActiveRun) -> None:
        """Stop a run; it ends with what it knows so far, and can be resumed."""
        run.connection.send(stop=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await run.ended.wait()
                return
        run.process.kill()

    def event_stream(self, folder: RunFolder) -> EventStream:
        """The events of a run as they come; forgotten when nobody watches them any more."""
        for name, stream in list(self._streams.items()):
            if not stream.watchers:
                del self._streams[name]
        run = folder.id
        if run not in self._streams:
            self._streams[run] = EventStream(folder.journal, lambda: run in self.active)
        return self._streams[run]
