"""Runs whose nth write fails (ENOSPC, EIO, or half a write), and what is left of them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent.journal.integrity import check_blobs, check_chain
from agent.journal.runs import Runs
from tests.conftest import COMMAND
from tests.forked import Commands, CommandServer

if TYPE_CHECKING:
    from collections.abc import Iterator

FailureMode = Literal["full", "broken", "short"]
HOWS: tuple[FailureMode, ...] = ("full", "broken", "short")
OURS = ("internal error", "Traceback")
"""Outcomes that a failing disk must never cause."""


def replies(url: str) -> list[str]:
    """A run that searches, reads, remembers and answers."""
    return [
        "<<TOOL:WEB_SEARCH:Hesk Light>>",
        f"<<TOOL:READ:{url}/hesk-light>>" + '<<TOOL:REMEMBER:{"key":"light","value":"Hesk"}>>',
        "It was first lit on 1 November 1829. [S1]",
    ]


@contextmanager
def failing_commands(folder: Path) -> Iterator[Commands]:
    """Start commands whose writes can be made to fail; requires a C compiler."""
    library = folder / "full_disk.so"
    source = Path(__file__).with_name("full_disk.c")
    built = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(built, check=True)
    with closing(CommandServer(library, everything=False)) as commands:
        yield commands


@dataclass(frozen=True)
class Asked:
    """A run that searches, reads, remembers, answers and exports, in many folders."""

    commands: Commands
    folder: Path
    model: str
    flags: tuple[str, ...]

    def run(self, data: Path, *words: str, fails: tuple[int, FailureMode] | None = None):
        """Run `research` on a data folder; if requested, its nth write fails in a given way."""
        env = {"PATH": os.environ["PATH"], "HOME": str(data), "RESEARCH_DATA_DIR": str(data)}
        if fails is not None:
            nth, how = fails
            env["FULL_DISK"] = f"{data}\n{self._told(data)}\n{nth}\n{how}"
        data.mkdir(exist_ok=True)
        return self.commands.run(str(COMMAND), *words, env=env)

    def ask(self, data: Path, nth: int, how: FailureMode):
        """Ask the question; returns how the command ended."""
        exported = ("--export", str(data / "report.md"))
        asked = ("When?", "--events", "-q", "--model", self.model, *self.flags, *exported)
        return self.run(data, *asked, fails=(nth, how))

    def writes(self) -> int:
        """Count the writes in a successful run."""
        done = self.ask(self.folder / "whole", 1 << 30, "full")
        assert done.returncode == 0, done.stderr
        return self._told(self.folder / "whole").stat().st_size

    def flaws(self, nth: int, how: FailureMode) -> list[str]:
        """Ask with a failing write; return what is wrong with the result."""
        data = self.folder / f"{how}-{nth}"
        done = self.ask(data, nth, how)
        found = [f"says {word!r}: {done.stderr[-600:]}" for word in OURS if word in done.stderr]
        found += [] if done.stderr or done.stdout else ["it ended without a word"]
        found += list(self._unreadable(data, done.stdout))
        if not found:
            found = list(self._not_going_on(data, done.returncode))
        if not found:
            shutil.rmtree(data)
        return [f"{how} at write {nth}: {flaw}" for flaw in found]

    def _told(self, data: Path) -> Path:
        return self.folder / f"{data.name}.writes"

    def _unreadable(self, data: Path, told: str) -> Iterator[str]:
        """Return what is torn, and which reported events are missing."""
        held: set[str] = set()
        for folder in Runs(data):
            chain = check_chain(folder.journal)
            flaws = (*chain.flaws, *check_blobs(folder, chain.events)[1])
            yield from (f"{f.where}: {f.what}" for f in flaws)
            held |= {event.hash for event in chain.events}
            if folder.report.is_file():
                json.loads(folder.report.read_bytes())
        lines = [line for line in told.splitlines(keepends=True) if line.endswith("\n")]
        lost = {json.loads(line)["hash"] for line in lines} - held
        yield from [f"{len(lost)} events that were told are not on record"] if lost else []
        yield from (f"left behind: {path.name}" for path in data.rglob("*.tmp"))
        if (data / "memory.db").is_file():
            with closing(sqlite3.connect(data / "memory.db")) as opened:
                [state] = opened.execute("PRAGMA integrity_check").fetchone()
            yield from [f"memory: {state}"] if state != "ok" else []

    def _not_going_on(self, data: Path, code: int) -> Iterator[str]:
        """With space available again, the run reaches its answer, or its end if it had answered."""
        begun = [folder for folder in Runs(data) if check_chain(folder.journal).events]
        if not begun:
            yield from ["it ended well without a record"] if code == 0 else []
            return
        done = self.run(data, "resume", "--json")
        over = done.returncode == 2 and "has already ended" in done.stderr
        over = over or "was never started" in done.stderr
        answered = done.returncode == 0 and json.loads(done.stdout)["status"] == "answered"
        if not over and not answered:
            yield f"it does not go on ({done.returncode}): {done.stderr[-600:]}"
        elif over and not begun[0].report.is_file():
            yield "it is said to be over and has no report"
