"""Limits shared by all workers of a jobs database: the request rate per host, and budgets."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from agent.config import load_options, private_folder
from agent.jobs.jobs_database import NoteTable
from agent.journal.runs import Runs
from agent.journal.usage import Spending, budget_days
from agent.run.settings import EMPTY_BUDGET
from browser.errors import DeadlineExceeded
from browser.files import write_atomic
from browser.net.pace import HostPace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from agent.jobs.jobs_database import JobsDatabase

_POLL_S = 0.005
"""Minimum seconds between two polls for a host's turn: about as long as one poll takes."""


class SharedPace(HostPace):
    """Enforces each host's crawl delay (at least `delay` s) across all processes on a database."""

    def __init__(self, database: JobsDatabase, delay: float) -> None:
        super().__init__()
        self._database = database
        self._min_delay = delay
        self._locks: dict[str, asyncio.Lock] = {}

    def _delay(self, host: str) -> float:
        return max(self._min_delay, self.delays.get(host, 0.0))

    async def wait(self, host: str, until: float) -> None:
        """Sleep until `host` is free; raises DeadlineExceeded immediately if `until` is earlier."""
        if not self._delay(host):
            return
        # Only one task per process polls; otherwise, all tasks would wake up for a single turn.
        async with self._locks.setdefault(host, asyncio.Lock()):
            rest = await asyncio.to_thread(self._database.seconds_until_free, host)
            if asyncio.get_running_loop().time() + rest > until:
                raise DeadlineExceeded(f"{host} asks clients to wait {rest:.0f} s")
            if rest > 0:
                await asyncio.sleep(max(rest, _POLL_S))

    async def take(self, host: str) -> bool:
        """Claim the turn; if this returns False, another task was faster: call `wait` again."""
        delay = self._delay(host)
        return not delay or await asyncio.to_thread(self._database.reserve_host, host, delay)

    async def turn(self, name: str, interval: float, patience: float) -> float:
        """Wait for a search engine's next turn, or return the delay if it exceeds `patience`."""
        until = asyncio.get_running_loop().time() + patience
        while True:
            rest = await asyncio.to_thread(self._database.seconds_until_free, name)
            if asyncio.get_running_loop().time() + rest > until:
                return rest
            await asyncio.sleep(max(rest, 0.0))
            if not interval or await asyncio.to_thread(self._database.reserve_host, name, interval):
                return 0.0

    async def start_cooldown(self, name: str, seconds: float) -> None:
        """Set a host's or search engine's cooldown for all workers."""
        await asyncio.to_thread(self._database.set_cooldown, name, seconds)


class SharedSpending(Spending):
    """Dollars spent by runs in this data folder, and the spending published by other folders.

    Each folder has its own id, so that the spending of machines that share a folder counts once.
    """

    def __init__(self, database: JobsDatabase, data_dir: Path) -> None:
        super().__init__(Runs(data_dir))
        self._table = NoteTable(database, "spent", dict[str, float])
        path = private_folder(data_dir / "jobs") / "folder-id"
        if not path.exists():
            write_atomic(path, uuid.uuid4().hex.encode())
        self._folder_id = path.read_text(encoding="ascii")

    def since(self, day: str) -> float:
        """Sum the spending since a given day, in this folder and in others."""
        return super().since(day) + self.elsewhere(day)

    def elsewhere(self, day: str) -> float:
        """Sum the spending of other data folders since a day: the first of the month, or today."""
        folders = self._table.all().items()
        return sum(spent.get(day, 0.0) for name, spent in folders if name != self._folder_id)

    def publish(self) -> None:
        """Publish this folder's spending for today and this month."""
        spent = {day: super(SharedSpending, self).since(day) for day in budget_days()}
        if any(spent.values()):
            self._table.put(self._folder_id, spent)

    def budgets_after_other_folders(self, flags: Mapping[str, Any]) -> dict[str, Any]:
        """Return a run's day and month budgets minus the spending of other folders.

        The run itself subtracts the spending of this folder's runs.
        """
        settings = load_options({**flags}, config=True)
        budgets = {"budget_day": settings.budget_day, "budget_month": settings.budget_month}
        pairs = zip(budgets.items(), budget_days(), strict=True)
        return {
            name: max(usd - self.elsewhere(day), EMPTY_BUDGET) for (name, usd), day in pairs if usd
        }
