"""Eight processes write to one memory and are killed at random: is anything lost?

`python -m bench.writers [WRITES]` lets each make that many writes (10,000) to SQLite, killed with
-9 and restarted at random points on the way. Prints acknowledged writes that are missing.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.memory import Memory

PROCESSES, WRITES, SEED = 8, 10_000, 19
LIVES = 5
"""Number of times that each process is started; each time it is finally killed."""
TARGETS_MISSED = 8
_WRITER = """
import sys
from agent.memory import Memory
place, name, first = sys.argv[1:]
with Memory.open(place) as memory:
    for number in range(int(first), 10_000_000):
        memory.remember(f"{name} {number}", number)
        print(number, flush=True)
"""


def write_until_killed(place: str, name: str, first: int, until: int) -> tuple[int, str]:
    """Write from one number until killed at another; return the last acknowledged, and errors."""
    command = [sys.executable, "-c", _WRITER, place, name, str(first)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"]}
    ) as writer:
        assert writer.stdout is not None
        last = first - 1
        for line in writer.stdout:
            last = int(line)
            if last >= until:
                break
        writer.kill()
        rest, errors = writer.communicate()
    whole = [line for line in rest.splitlines(keepends=True) if line.endswith(b"\n")]
    return max([last, *map(int, whole)]), errors.decode()


def write_over_restarts(place: str, name: str, writes: int) -> tuple[list[int], list[str]]:
    """Make this many writes over several lives; return what was acknowledged, and the errors."""
    chance = random.Random(f"{SEED} {name}")
    ends = [*sorted(chance.sample(range(1, writes - 1), LIVES - 1)), writes - 1]
    acknowledged, errors, first = list[int](), list[str](), 0
    for until in ends:
        if until < first:
            continue
        last, complaint = write_until_killed(place, name, first, until)
        acknowledged += range(first, last + 1)
        errors += [complaint] if complaint else []
        first = last + 1
    return acknowledged, errors


def main(writes: int = WRITES) -> int:
    """Write, kill and compare."""
    with TemporaryDirectory() as folder:
        place = str(Path(folder) / "memory.db")
        names = [f"w{number}" for number in range(PROCESSES)]
        with ThreadPoolExecutor(PROCESSES) as pool:
            done = list(pool.map(lambda name: write_over_restarts(place, name, writes), names))
        with Memory.open(place) as memory:
            known = memory.remembered()
    said = {name: numbers for name, (numbers, _) in zip(names, done, strict=True)}
    lost = sum(f"{name} {n}" not in known for name, numbers in said.items() for n in numbers)
    errors = [error for _, complaints in done for error in complaints]
    print("".join(f"{error}\n" for error in errors[:5]), end="")
    total = sum(map(len, said.values()))
    print(
        f"{lost} of {total:,} acknowledged writes lost, {len(errors)} processes ended by an error "
        f"({PROCESSES} processes, each killed {LIVES} times; target 0)"
    )
    return TARGETS_MISSED if lost or errors else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
