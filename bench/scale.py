"""Simulates the queue with a thousand workers on a virtual clock.

`python -m bench.scale [WORKERS] [PAGES A DAY]` simulates hours of operation: questions
arrive, workers poll as `agent.jobs.worker` does (with its intervals), runs take their time,
machines fail. Prints how long questions wait, the load on the database, and how soon the runs of
failed machines continue.
"""

from __future__ import annotations

import heapq
import random
import sys
from collections import Counter, deque

from agent.jobs.jobs import POLL_S
from agent.jobs.jobs_database import HEARTBEAT_TIMEOUT_S
from agent.jobs.upkeep import HEARTBEAT_INTERVAL_S, POLLS_A_SECOND, UPKEEP_S

DAY = 86_400.0
PAGES_A_RUN = 12.4
"""Pages read by a run at standard depth with the extractive model; the mean of eight runs."""
RUN_S = 45.0
"""Assumed seconds per run; the distribution is log-normal."""
SLOTS_PER_WORKER = 4
DEATHS_A_DAY = 1.0
"""Forced terminations per worker and day."""
OF_A_WORKER, OF_A_POLL, OF_AN_UPKEEP, OF_A_JOB = 16, 4, 6, 10
"""Transactions: per second by an idle worker (DBOS's own loops), per poll, per round of maintenance
for all workers, and per job from queue to outcome. From `pg_stat_database` with one worker: 16 per
second with a poll every five seconds, 37 with four polls per second; 10 per job, over 20 jobs."""


def simulate(  # noqa: C901 - one loop, a branch for each kind of event
    workers: int, pages: float, *, hours: float = 4.0, seed: int = 3
) -> dict[str, float]:
    """Simulate some hours; returns waiting times in seconds, database load, and what was lost."""
    chance = random.Random(seed)
    end, rate = hours * 3600, pages / PAGES_A_RUN / DAY
    poll = max(POLL_S, workers / POLLS_A_SECOND)
    clock: list[tuple[float, int, str, int]] = []
    queued: deque[tuple[int, float]] = deque()
    running: dict[int, set[int]] = {w: set() for w in range(workers)}
    waited: list[float] = []
    recovered: list[float] = []
    done, counted, serial = Counter[int](), Counter[str](), 0

    def at(time: float, kind: str, which: int) -> None:
        nonlocal serial
        serial += 1
        heapq.heappush(clock, (time, serial, kind, which))

    lives = [0] * workers  # a restarted worker is a different one
    at(chance.expovariate(rate), "asked", 0)
    for worker in range(workers):
        at(chance.uniform(0, poll), "poll", worker)
        at(chance.expovariate(DEATHS_A_DAY / DAY), "dies", worker)
    while clock and clock[0][0] < end:
        now, _, kind, which = heapq.heappop(clock)
        if kind == "asked":
            queued.append((which, now))
            at(now + chance.expovariate(rate), "asked", which + 1)
        elif kind == "poll":
            counted["poll"] += 1
            while queued and len(running[which]) < SLOTS_PER_WORKER:
                job, since = queued.popleft()
                (waited if since >= 0 else recovered).append(now - abs(since))
                running[which].add(job)
                length = chance.lognormvariate(0, 0.6) * RUN_S / 1.197
                at(now + length, f"ends {lives[which]} {job}", which)
            at(now + poll * chance.uniform(0.95, 1.05), "poll", which)
        elif kind == "dies":
            lost, running[which] = running[which], set()
            lives[which] += 1
            for job in lost:  # its heartbeat expires, then the next upkeep by any worker finds it
                at(
                    now + HEARTBEAT_TIMEOUT_S + chance.expovariate(1 / UPKEEP_S),
                    f"found {now} {job}",
                    which,
                )
            at(now + chance.expovariate(DEATHS_A_DAY / DAY), "dies", which)
        elif kind.startswith("found"):
            _, died, job_name = kind.split()
            queued.appendleft((int(job_name), -float(died)))
        else:
            _, life, job_name = kind.split()
            if int(life) == lives[which]:
                running[which].discard(int(job_name))
                done[int(job_name)] += 1
    beats, upkeep = workers / HEARTBEAT_INTERVAL_S, OF_AN_UPKEEP / UPKEEP_S
    return {
        "polls a second": counted["poll"] / end,
        "transactions a second": workers * OF_A_WORKER
        + counted["poll"] / end * OF_A_POLL
        + beats + upkeep + sum(done.values()) / end * OF_A_JOB,
        "runs a day": sum(done.values()) / hours * 24,
        "busy": sum(map(len, running.values())) / workers / SLOTS_PER_WORKER,
        "wait p50": _quantile(waited, 0.5),
        "wait p99": _quantile(waited, 0.99),
        "dead's runs go on after p50": _quantile(recovered, 0.5),
        "done twice": sum(n - 1 for n in done.values()),
    }  # fmt: skip


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))] if values else 0.0


def main(*given: str) -> int:
    workers = int(given[0]) if given else 1000
    pages = float(given[1]) if len(given) > 1 else 1_000_000
    for n, amount in ((workers, pages), (workers, pages * 75), (workers // 50 or 1, pages)):
        print(f"{n:,} workers, {amount:,.0f} pages a day")
        for name, value in simulate(n, amount, hours=0.5).items():
            print(f"  {name:<28}{value:>12,.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
