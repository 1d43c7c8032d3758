"""Measures a server's runs: many at once in the browser, and what each run leaves behind.

    python -m bench.server [AT_ONCE] [RUNS]     (20, 200)

All runs are in one process, as in `research serve`. First, AT_ONCE runs have a page open at the
same time, and the memory (PSS, which counts shared memory once) of our process and its browsers,
the processes and the handles are measured. Then RUNS extractive runs, five at a time, show how much
larger our process is after them than after the first fifty. Exits with 8 if a target is missed.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from agent.run.research import research
from agent.run.resume import resume
from agent.serve.run_manager import RunManager
from bench.cold import Instant, answering
from bench.shelf import Targets
from fixtures.server import serve

if TYPE_CHECKING:
    from fixtures.server import Site

AT_ONCE, RUNS, FIRST = 20, 200, 50
MAX_MB_AT_ONCE = 1_500
MAX_MB_A_RUN = 0.02
"""20 MB per thousand runs."""
QUESTIONS = (
    "When was Hesk Light first lit?",
    "Who designed Hesk Light?",
    "How tall is the tower of Hesk Light?",
)


def main(at_once: int = AT_ONCE, runs: int = RUNS) -> int:
    """Measure; return 8 if a target is missed."""
    targets = Targets()
    with serve() as site:
        asyncio.run(_at_once(at_once, site, targets))
        asyncio.run(_one_after_another(runs, site, targets))
    return targets.code


class Waiting(Instant):
    """A model that opens its pages and answers only when all other runs have opened theirs."""

    def __init__(self, barrier: threading.Barrier, measured: threading.Event) -> None:
        super().__init__("OPEN", QUESTIONS[0])
        self._barrier, self._measured = barrier, measured

    def reply(self, messages: list[dict[str, Any]]) -> str:
        """Reply; anything other than a call comes last."""
        said = super().reply(messages)
        if "<<TOOL" not in said:
            self._barrier.wait()
            self._measured.wait()
        return said


async def _at_once(count: int, site: Site, targets: Targets) -> None:
    barrier, measured = threading.Barrier(count + 1), threading.Event()
    with TemporaryDirectory() as folder:
        manager = RunManager(Path(folder), _flags(site), count, research, resume)
        models = [Waiting(barrier, measured) for _ in range(count)]
        places = [answering(model) for model in models]
        runs = []
        for place in places:
            flags = {"model": "instant", "base_url": place.__enter__(), "memory": False}
            runs.append(await manager.start(QUESTIONS[0], flags))
        await asyncio.to_thread(barrier.wait)
        below = _descendants(os.getpid())
        own, theirs = _pss(os.getpid()), sum(map(_pss, below))
        print(f"{count} runs at once: {own:.0f} MB of ours, {theirs:.0f} MB of browsers,")
        print(f"  {len(below)} processes, {_handles()} handles")
        targets.at_most(f"{count} runs at once: MB in all", own + theirs, MAX_MB_AT_ONCE)
        measured.set()
        await asyncio.gather(*(run.ended.wait() for run in runs))
        for place in places:
            place.__exit__(None, None, None)
        await manager.close()


async def _one_after_another(count: int, site: Site, targets: Targets) -> None:
    with TemporaryDirectory() as folder:
        manager = RunManager(Path(folder), _flags(site), 5, research, resume)

        async def one(number: int) -> None:
            run = await manager.start(QUESTIONS[number % len(QUESTIONS)], {"model": "extractive"})
            await run.ended.wait()

        early, handles = 0.0, 0
        for done in range(0, count, 5):
            await asyncio.gather(*map(one, range(done, done + 5)))
            if done + 5 == min(FIRST, count // 2):
                gc.collect()
                early, handles = _pss(os.getpid()), _handles()
        gc.collect()
        more = _pss(os.getpid()) - early
        since = count - min(FIRST, count // 2)
        print(f"{count} keyless runs: {early:.0f} MB early, {more:+.0f} MB after {since} more")
        targets.at_most("MB more a run", more / since, MAX_MB_A_RUN)
        targets.at_most("handles more", _handles() - handles, 0)
        await manager.close()


def _flags(site: Site) -> dict[str, Any]:
    return {"search": ["searxng"], "searxng_url": site.url, "allow_private": [site.address]}


def _descendants(pid: int) -> list[int]:
    """Return all descendants of a process."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, look = [], [pid]
    while look:
        new = children.get(look.pop(), [])
        found += new
        look += new
    return found


def _handles() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def _pss(pid: int) -> float:
    """Return a process's proportional memory in MB."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8")
    except OSError:
        return 0.0
    return int(text.partition("\nPss:")[2].split()[0]) / 1024


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
