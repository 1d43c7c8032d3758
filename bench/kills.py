"""Kills runs with -9 at random points and resumes them: what was lost or done twice?

`python -m bench.kills [HOW MANY]` kills that many runs (100), alternating three kinds: pages and
memories, parallel subtasks, orders typed and clicked into a site behind a login. A third of them
are killed again while being resumed. Prints what was found; exits with 8 if there was anything.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

from fixtures.server import serve
from tests.crash.kills import KillableTask, KilledRunResult, KillPoint
from tests.crash.orders import serve_order_site
from tests.crash.speaker import speaking
from tests.crash.tasks import Task, ordering, planned, reading
from tests.forked import CommandServer

RUNS, SEED = 100, 17
TARGETS_MISSED = 8


class Kinds:
    """Makes tasks, alternating the kinds; each run has its own order book."""

    def __init__(self, stack: ExitStack) -> None:
        self.site = stack.enter_context(serve())
        self.orders = stack.enter_context(serve_order_site())
        self.commands = stack.enter_context(closing(CommandServer()))
        self.books = 0

    def make(self, kind: int) -> Task:
        self.books += 1
        if kind == 2:
            return ordering(self.orders, f"book{self.books}")
        return (reading, planned)[kind](self.site)

    def victim(self, kind: int, data: Path, stack: ExitStack) -> KillableTask:
        task = self.make(kind)
        return KillableTask(task, stack.enter_context(speaking(task.decide)), data, self.commands)


def kill_many(wanted: int) -> list[KilledRunResult]:
    """Kill runs until this many were killed after they had begun."""
    done: list[KilledRunResult] = []
    chance = random.Random(SEED)
    with ExitStack() as stack, tempfile.TemporaryDirectory() as scratch:
        kinds = Kinds(stack)
        folders = (Path(scratch) / str(number) for number in range(100 * wanted))
        wholes = []
        for kind in range(3):
            with ExitStack() as own:
                wholes.append(kinds.victim(kind, next(folders), own).unbroken())
        while sum(not broken.never_began for broken in done) < wanted:
            kind = len(done) % 3
            with ExitStack() as own:
                victim = kinds.victim(kind, next(folders), own)
                point = KillPoint.chosen(chance, wholes[kind])
                done.append(victim.broken(point, wholes[kind], chance))
            for flaw in done[-1].flaws:
                print(f"{victim.task.name}, killed at {point}: {flaw}", flush=True)
    return done


def main(wanted: int = RUNS) -> int:
    """Kill runs and print the results."""
    done = kill_many(wanted)
    began = [broken for broken in done if not broken.never_began]
    by = Counter(broken.point.by for broken in began)
    print(
        f"{len(began)} runs killed and resumed, {sum(b.kills for b in began)} kills in all, "
        f"at random {', '.join(f'{name} ({n})' for name, n in by.items())}; "
        f"{len(done) - len(began)} more were killed before they had begun"
    )
    print(
        f"another answer, an event lost, a recorded call repeated, a write done twice: "
        f"{sum(bool(b.flaws) for b in done)} runs (target 0)"
    )
    print(
        f"asked again because they were in flight: {sum(b.asked_again for b in began)} requests; "
        f"writes reported as of unknown outcome: {sum(b.unknown for b in began)}"
    )
    return TARGETS_MISSED if any(broken.flaws for broken in done) else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
