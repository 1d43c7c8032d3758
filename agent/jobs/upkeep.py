"""A worker's background work: renewing its lease, and doing a share of the common work.

DBOS recovers the workflows of a process that restarts under the same name, but needs a service to
detect dead processes. Here, the workers' leases replace that service. On the same machine, a lease
is a file lock that is released when the process ends; elsewhere, it is a heartbeat in the database
that expires after `HEARTBEAT_TIMEOUT_S`.
"""

from __future__ import annotations

import hashlib
import platform
import random
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from dbos import DBOS
from filelock import FileLock, Timeout
from sqlalchemy.exc import DBAPIError

from agent.config import load_options, private_folder
from agent.jobs.jobs import POLL_S
from agent.jobs.jobs_database import HEARTBEAT_TIMEOUT_S
from agent.jobs.schedules import fire_due
from agent.jobs.shared_limits import SharedSpending
from agent.run.settings import remaining_budget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agent.jobs.jobs import Jobs

BUDGET_REASONS: Final = {
    "day": "the daily budget is used up",
    "month": "the monthly budget is used up",
}
"""Reasons for pausing the queue, by the budget that was spent."""
HEARTBEAT_INTERVAL_S: Final = 5.0  # seconds between two heartbeats
UPKEEP_S: Final = 1.0  # seconds between a worker's rounds, multiplied by the number of workers
POLLS_A_SECOND: Final = 200
"""Maximum polls per second by all workers together: a poll takes Postgres about 1 ms."""
FENCE_S: Final = 0.6 * HEARTBEAT_TIMEOUT_S
"""A worker that cannot send a heartbeat for this many seconds exits before other workers take its
jobs.
"""


class WorkerUpkeep:
    """Renews a worker's lease and does shared work, each in a separate thread.

    `on_cut_off` is called if the database has been unreachable for `FENCE_S`.
    """

    def __init__(
        self,
        jobs: Jobs,
        worker: str,
        *,
        fires_schedules: bool,
        on_cut_off: Callable[[], object],
    ) -> None:
        self._jobs = jobs
        self._worker = worker
        self._fires_schedules = fires_schedules
        self._on_cut_off = on_cut_off
        self._spending = SharedSpending(jobs.database, jobs.data_dir)
        self._budgets_checked = 0.0
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._folder = private_folder(private_folder(jobs.data_dir / "jobs") / "workers")
        # Locks can be checked only for workers on the same machine and data folder.
        place = f"{platform.node()}\n{self._folder.resolve()}"
        self._place = hashlib.sha256(place.encode()).hexdigest()[:16]
        self._lock = FileLock(str(self._lock_path(worker)), thread_local=False)

    def _lock_path(self, worker: str) -> Path:
        return self._folder / f"{worker}.lock"

    def take_lease(self) -> None:
        """Acquire the lease, which tells other workers that this one is alive."""
        self._lock.acquire()
        self._jobs.database.heartbeat(self._worker, self._place)

    def start(self) -> None:
        """Start renewing the lease and doing the shared work."""
        for work in (self._send_heartbeats, self._do_shared_work):
            thread = threading.Thread(target=work, daemon=True, name=f"jobs-{work.__name__}")
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Stop taking on shared work."""
        self._stop.set()

    def release(self) -> None:
        """Wait for the threads and release the lease, so that other workers can take over jobs."""
        for thread in self._threads:
            thread.join()
        with suppress(DBAPIError):  # unreachable, but the heartbeat will expire
            self._jobs.database.remove_worker(self._worker)
        self._lock.release()
        self._lock_path(self._worker).unlink(missing_ok=True)

    def _send_heartbeats(self) -> None:
        last = time.monotonic()
        while not self._stop.wait(HEARTBEAT_INTERVAL_S):
            try:
                self._jobs.database.heartbeat(self._worker, self._place)
                last = time.monotonic()
            except DBAPIError:
                if time.monotonic() - last > FENCE_S:
                    self._on_cut_off()
                    return

    def _do_shared_work(self) -> None:
        """Do the work shared by all workers: recover jobs, release waiting jobs, fire schedules.

        All workers together do this once a second, so the more workers there are, the less often
        each worker does it.
        """
        wait = UPKEEP_S
        while not self._stop.wait(min(wait * random.uniform(0.5, 1.5), HEARTBEAT_TIMEOUT_S / 2)):
            # Either the database comes back, or the missing heartbeat ends this worker.
            with suppress(DBAPIError):
                living = self._jobs.database.living_workers()
                wait = UPKEEP_S * max(1, len(living))
                self._recover(living)
                self._jobs.set_poll_interval(max(POLL_S, len(living) / POLLS_A_SECOND))
                self._jobs.release_waiting()
                self._apply_budgets()
                if self._fires_schedules:
                    fire_due(self._jobs)

    def _recover(self, living: dict[str, str]) -> None:
        """Take over the jobs of dead workers."""
        here = [name for name, place in living.items() if place == self._place]
        for name in here:
            if name != self._worker and _is_free(self._lock_path(name)):
                self._jobs.database.remove_worker(name)
                del living[name]
        dead = [name for name in self._jobs.dead_workers(living) if name != self._worker]
        if dead and not self._stop.is_set():
            DBOS._recover_pending_workflows(dead)  # noqa: SLF001 - DBOS's own service calls it

    def _apply_budgets(self) -> None:
        """Pause the queue when the day's or month's budget is spent; resume in the next period."""
        if time.monotonic() - self._budgets_checked < HEARTBEAT_INTERVAL_S:
            return
        self._budgets_checked = time.monotonic()
        self._spending.publish()
        settings = load_options({"data_dir": self._jobs.data_dir}, config=True)
        left, paused = remaining_budget(settings, self._spending), self._jobs.paused
        reached = [BUDGET_REASONS[name] for name, usd in left.items() if usd <= 0]
        if reached and not paused:
            self._jobs.pause(reached[0])
        elif paused in BUDGET_REASONS.values() and not reached:  # a pause set by the user is kept
            self._jobs.resume()


def _is_free(path: Path) -> bool:
    """Return whether a worker's lock is free, which means that the worker's process has ended."""
    lock = FileLock(str(path), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    lock.release()
    path.unlink(missing_ok=True)
    return True
