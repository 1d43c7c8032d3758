"""Politeness over all workers: the turns of hosts stand in the database of jobs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from browser.errors import DeadlineExceeded
from browser.net.pace import HostPace, rest_asked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.jobs.jobs_database import JobsDatabase

_POLL_S = 0.005
"""Least time between two looks at a host's turn: what a look at the database costs."""


class SharedPace(HostPace):
    """Keeps a host's crawl delay, at least `delay` s, over all processes with the same database."""

    def __init__(self, database: JobsDatabase, delay: float) -> None:
        super().__init__()
        self._database = database
        self._least = delay
        self._queues: dict[str, asyncio.Lock] = {}

    def _delay(self, host: str) -> float:
        return max(self._least, self.delays.get(host, 0.0))

    async def wait(self, host: str, until: float) -> None:
        """Sleep until `host` may be asked; DeadlineExceeded at once if that is past `until`."""
        if not self._delay(host):
            return
        # One of this process asks for the others: they would all wake for one turn.
        async with self._queues.setdefault(host, asyncio.Lock()):
            rest = await asyncio.to_thread(self._database.host_rest, host)
            if asyncio.get_running_loop().time() + rest > until:
                raise DeadlineExceeded(f"{host} asks to be left alone for {rest:.0f} s")
            if rest > 0:
                await asyncio.sleep(max(rest, _POLL_S))

    async def take(self, host: str) -> bool:
        """Take the turn, unless somebody else has: then `wait` again."""
        delay = self._delay(host)
        return not delay or await asyncio.to_thread(self._database.take_turn, host, delay)

    async def note(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """Let `host` rest, for all of us, where its answer asks for it."""
        if rest := rest_asked(status, headers):
            await asyncio.to_thread(self._database.let_rest, host, rest)
