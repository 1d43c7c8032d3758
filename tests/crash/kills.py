"""Kills a run with -9 at a chosen point, resumes it, and checks what was done twice."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from agent.errors import ReplayDiverged
from agent.journal.integrity import check_blobs, check_chain
from agent.journal.runs import RunFolder, Runs
from agent.memory import Memory
from agent.run.record import RunRecord
from agent.run.replay import replay
from browser.session.chrome import EXECUTABLE_VARIABLES
from tests.conftest import COMMAND

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

    from agent.journal.events import Event
    from tests.crash.speaker import Speaker
    from tests.crash.tasks import Task
    from tests.forked import Command, Commands

POLL_SECONDS = 0.005  # seconds between checks of a run that reports no progress
SECOND_KILL_PROBABILITY = 0.3  # that a run is killed again while it is resumed


@dataclass(frozen=True)
class UninterruptedRun:
    """The same run, uninterrupted: its answer, and the length of its record and its duration."""

    answer: str
    verdicts: tuple[str, ...]
    events: int
    bytes: int
    seconds: float
    memories: dict[str, Any]


@dataclass(frozen=True)
class KillPoint:
    """Where to kill: after a number of events, at a record size in bytes, or at a time."""

    by: Literal["events", "bytes", "seconds"]
    at: float

    @classmethod
    def chosen(cls, chance: random.Random, whole: UninterruptedRun) -> KillPoint:
        """Choose a point anywhere in a run."""
        by = chance.choice(("events", "bytes", "seconds"))
        return cls(by, chance.random() * 1.02 * getattr(whole, by))


@dataclass(frozen=True)
class RequestsBeforeKill:
    """Requests to model and web so far, and which of them have recorded answers."""

    requests: Counter[str]
    pages: Counter[str]
    replies: set[str]
    results: set[str]


@dataclass
class KilledRunResult:
    """The result of a killed and resumed run; `flaws` is empty if everything was right."""

    point: KillPoint
    kills: int = 0
    acknowledged: list[str] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)
    never_began: bool = False
    unknown: int = 0
    asked_again: int = 0


class KillableTask:
    """A task that runs in its own data folder and is killed."""

    def __init__(self, task: Task, speaker: Speaker, data: Path, commands: Commands) -> None:
        self._commands = commands
        self.task = task
        self.speaker = speaker
        self.data = data

    def command(self, *words: str) -> Command:
        """Start `research` in its own home folder."""
        given = ("PATH", "PYTHONPATH", EXECUTABLE_VARIABLES[0], "NODE_COMPILE_CACHE")
        env = {name: os.environ[name] for name in given if name in os.environ}
        env |= {"HOME": str(self.data), "RESEARCH_DATA_DIR": str(self.data)}
        return self._commands.start(str(COMMAND), *words, env=env)

    def start(self) -> Command:
        """Begin the run."""
        flags = ("--model", "speaker", "--base-url", self.speaker.url, "--max-steps", "40")
        return self.command(self.task.question, "--events", "-q", *flags, *self.task.flags)

    def folder(self) -> RunFolder | None:
        """The run, if it has begun."""
        return next(iter(Runs(self.data)), None)

    def unbroken(self) -> UninterruptedRun:
        """Run to the end."""
        began = time.monotonic()
        out, err = self.start().communicate()
        seconds = time.monotonic() - began
        folder = self.folder()
        assert folder, err
        report = json.loads(folder.report.read_text())
        assert report["status"] == "answered", report
        assert list(self._replayed(folder)) == []
        size = folder.journal.stat().st_size
        verdicts = tuple(s["verdict"] for s in report["sentences"])
        return UninterruptedRun(
            report["answer"], verdicts, len(out.splitlines()), size, seconds, self.memories()
        )

    def memories(self) -> dict[str, Any]:
        """Return what was remembered, and the conversation."""
        with Memory.open(self.data / "memory.db") as memory:
            turns = [
                turn.text for turn in memory.conversation(memory.latest_session() or "").turns(50)
            ]
            kept = {"saved": memory.remembered(), "turns": turns}
        return {name: json.loads(self._nameless(json.dumps(v))) for name, v in kept.items()}

    def _nameless(self, text: str) -> str:
        """Every run has its own book; apart from its name, the content is the same."""
        return text.replace(self.task.book, "BOOK") if self.task.book else text

    def broken(
        self, point: KillPoint, whole: UninterruptedRun, chance: random.Random
    ) -> KilledRunResult:
        """Run, kill and resume until it finishes; then check."""
        done = KilledRunResult(point)
        self.kill(self.start(), point, done)
        before = self._known()
        while self.folder() and chance.random() < SECOND_KILL_PROBABILITY:
            left = KillPoint.chosen(chance, whole)
            self.kill(self.command("resume", "--events", "-q"), left, done)
            self._compare(before, done)
            before = self._known()
        if not self._events():
            done.never_began = True
            done.flaws += [] if done.kills else ["it ended before it was killed"]
            return done
        _, err = self.command("resume", "--json").communicate()
        self._compare(before, done)
        done.flaws += self._flaws(err, whole, done)
        return done

    def kill(self, process: Command, point: KillPoint, done: KilledRunResult) -> None:
        """Kill a run when it reaches a point; what it acknowledged until then is kept."""
        os.set_blocking(process.stdout.fileno(), False)
        began, told = time.monotonic(), b""
        while process.poll() is None:
            select.select([process.stdout], [], [], POLL_SECONDS)
            told += process.stdout.read() or b""
            folder = self.folder()
            reached = {
                "events": told.count(b"\n"),
                "bytes": folder.journal.stat().st_size if folder else 0,
                "seconds": time.monotonic() - began,
            }
            if reached[point.by] >= point.at:
                process.kill()
                break
        os.set_blocking(process.stdout.fileno(), True)
        told += process.communicate()[0]
        done.kills += process.returncode == -signal.SIGKILL
        whole = [line for line in told.splitlines(keepends=True) if line.endswith(b"\n")]
        done.acknowledged += [json.loads(line)["hash"] for line in whole]

    def _events(self) -> list[Event]:
        folder = self.folder()
        return list(check_chain(folder.journal).events) if folder else []

    def _known(self) -> RequestsBeforeKill:
        """Return what was asked so far, and which of it has a recorded reply or result."""
        events = self._events()
        replied = {e.place for e in events if e.type == "model.reply"}
        asked = {e.place: e.data["sha256"] for e in events if e.type == "model.request"}
        replies = {digest for place, digest in asked.items() if place in replied}
        results = {e.data["param"] for e in events if e.type == "tool.result"}
        pages = {page for page in self.task.pages if any(page in param for param in results)}
        return RequestsBeforeKill(
            Counter(self.speaker.asked), Counter(self.task.asked()), replies, pages
        )

    def _compare(self, before: RequestsBeforeKill, done: KilledRunResult) -> None:
        """Find what was asked again since, although its reply or result was recorded."""
        requests = self.speaker.asked - before.requests
        pages = self.task.asked() - before.pages
        done.flaws += [f"asked again: {digest[:12]}" for digest in before.replies & requests.keys()]
        done.flaws += [f"read again: {path}" for path in before.results & pages.keys()]
        done.asked_again += sum(before.requests[digest] > 0 for digest in requests)

    def _flaws(self, err: bytes, whole: UninterruptedRun, done: KilledRunResult) -> Iterator[str]:
        folder = self.folder()
        assert folder
        if not folder.report.is_file():
            yield f"no report: {err[-500:]!r}"
            return
        report = json.loads(folder.report.read_text())
        if report["answer"] != whole.answer:
            yield f"another answer ({report['status']}): {report['answer'][:200]} {report['error']}"
        if tuple(s["verdict"] for s in report["sentences"]) != whole.verdicts:
            yield "other verdicts"
        chain = check_chain(folder.journal)
        yield from (f"{f.where}: {f.what}" for f in chain.flaws)
        yield from (f"{f.where}: {f.what}" for f in check_blobs(folder, chain.events)[1])
        lost = set(done.acknowledged) - {event.hash for event in chain.events}
        yield from (f"an acknowledged event is lost: {digest[:12]}" for digest in lost)
        once = Counter((e.type, e.place) for e in chain.events if e.place and e.type in ONCE)
        yield from (f"twice: {effect}" for effect, count in once.items() if count > 1)
        done.unknown = sum(e.type == "tool.outcome_unknown" for e in chain.events)
        wrong = self.task.wrong()
        yield from [wrong] if wrong else []
        yield from self._forgotten(whole.memories, self.memories(), done.unknown)
        yield from self._replayed(folder)

    def _replayed(self, folder: RunFolder) -> Iterator[str]:
        record = RunRecord.read(folder)
        try:
            if asyncio.run(replay(record)).answer != record.report["answer"]:
                yield "it replays to another answer"
        except ReplayDiverged as error:
            yield f"it does not replay: {error}"

    def _forgotten(self, then: Any, now: Any, unknown: int) -> Iterator[str]:
        """A memory may be missing if its write's outcome is unknown; nothing else may differ."""
        missing = then["saved"].keys() - now["saved"].keys()
        same = all(then["saved"].get(key) == value for key, value in now["saved"].items())
        if not same or len(missing) > unknown or now["turns"] != then["turns"]:
            yield f"other memories: {now}"


ONCE = {"model.request", "model.reply", "tool.intent", "tool.result"}
