"""What a worker does beside its jobs: it renews its lease, and does what one of all workers must.

DBOS recovers the workflows of a process that is started again under the same name. Which processes
are dead it does not know without a service of its own; here a worker's lease says it. On the same
machine that is a file lock, free as soon as the process ends; elsewhere it is a heartbeat in the
database, void after `STALE_S`.
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
from agent.jobs.jobs import POLL_S, STALE_S
from agent.jobs.schedules import fire_due
from agent.jobs.shared_limits import SharedSpending
from agent.run.settings import remaining_budget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agent.jobs.jobs import Jobs

REACHED: Final = {
    "day": "the budget of the day is reached",
    "month": "the budget of the month is reached",
}
"""Why the queue is paused, by the budget that is used up."""
BEAT_S: Final = 5.0
UPKEEP_S: Final = 1.0
POLLS_A_SECOND: Final = 200
"""Looks at a queue by all workers together: a look costs Postgres about a millisecond."""
FENCE_S: Final = 0.6 * STALE_S
"""A worker that could not send a heartbeat for so long ends, before others take its jobs."""


class WorkerUpkeep:
    """The lease of a worker, and the work for all; each in a thread between start and release.

    `on_cut_off` is called where the database was out of reach for `FENCE_S`.
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
        # Whose locks can be tried here: those of the same machine and data folder.
        place = f"{platform.node()}\n{self._folder.resolve()}"
        self._place = hashlib.sha256(place.encode()).hexdigest()[:16]
        self._lock = FileLock(str(self._lock_path(worker)), thread_local=False)

    def _lock_path(self, worker: str) -> Path:
        return self._folder / f"{worker}.lock"

    def take_lease(self) -> None:
        """Show the others that this worker lives."""
        self._lock.acquire()
        self._jobs.database.heartbeat(self._worker, self._place)

    def start(self) -> None:
        """Begin to renew the lease, and to do the work for all."""
        for work in (self._send_heartbeats, self._work_for_all):
            thread = threading.Thread(target=work, daemon=True, name=f"jobs-{work.__name__}")
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Begin nothing more."""
        self._stop.set()

    def release(self) -> None:
        """Wait for the threads and give the lease back: jobs under way are anybody's."""
        for thread in self._threads:
            thread.join()
        with suppress(DBAPIError):  # out of reach: the lock is free, and the heartbeat grows old
            self._jobs.database.remove_worker(self._worker)
        self._lock.release()
        self._lock_path(self._worker).unlink(missing_ok=True)

    def _send_heartbeats(self) -> None:
        last = time.monotonic()
        while not self._stop.wait(BEAT_S):
            try:
                self._jobs.database.heartbeat(self._worker, self._place)
                last = time.monotonic()
            except DBAPIError:
                if time.monotonic() - last > FENCE_S:
                    self._on_cut_off()
                    return

    def _work_for_all(self) -> None:
        """Do for all what one of the workers must: recover, release, fire.

        The more there are the less often each does it, so that all together do it once a second.
        """
        wait = UPKEEP_S
        while not self._stop.wait(min(wait * random.uniform(0.5, 1.5), STALE_S / 2)):
            with suppress(DBAPIError):  # it is back, or the heartbeat ends this worker
                living = self._jobs.database.living_workers(STALE_S)
                wait = UPKEEP_S * max(1, len(living))
                self._recover(living)
                self._jobs.set_poll_interval(max(POLL_S, len(living) / POLLS_A_SECOND))
                self._jobs.release_waiting()
                self._apply_budgets()
                if self._fires_schedules:
                    fire_due(self._jobs)

    def _recover(self, living: dict[str, str]) -> None:
        """Take over the jobs of workers that are dead."""
        here = [name for name, place in living.items() if place == self._place]
        for name in here:
            if name != self._worker and _is_free(self._lock_path(name)):
                self._jobs.database.remove_worker(name)
                del living[name]
        dead = [name for name in self._jobs.dead_workers(living) if name != self._worker]
        if dead and not self._stop.is_set():
            DBOS._recover_pending_workflows(dead)  # noqa: SLF001 - what DBOS's own service calls

    def _apply_budgets(self) -> None:
        """Pause the queue where the day's or the month's budget is reached; go on with the next."""
        if time.monotonic() - self._budgets_checked < BEAT_S:
            return
        self._budgets_checked = time.monotonic()
        self._spending.publish()
        settings = load_options({"data_dir": self._jobs.data_dir}, config=True)
        left, paused = remaining_budget(settings, self._spending), self._jobs.paused
        reached = [REACHED[name] for name, usd in left.items() if usd <= 0]
        if reached and not paused:
            self._jobs.pause(reached[0])
        elif paused in REACHED.values() and not reached:  # a pause by a person stays
            self._jobs.resume()


def _is_free(path: Path) -> bool:
    """Return whether nobody holds a worker's lock: its process is gone."""
    lock = FileLock(str(path), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    lock.release()
    path.unlink(missing_ok=True)
    return True
