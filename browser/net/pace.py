"""When a host may be asked again: the delay it wants between requests, the rest it asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from browser.errors import DeadlineExceeded
from browser.net.retry_after import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

# Too many requests, and unavailable: the answers whose Retry-After speaks to all of us.
_RESTING = frozenset({429, 503})


class Pace:
    """The next time at which each host may be asked, in seconds of the event loop's clock."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._delays: dict[str, float] = {}

    def slow_down(self, host: str, delay: float) -> None:
        """Keep `delay` seconds between the starts of two requests to `host` from now on."""
        self._delays[host] = delay

    async def wait(self, host: str, until: float) -> None:
        """Sleep until `host` may be asked; DeadlineExceeded at once if that is past `until`."""
        due = self._due.get(host, 0.0)
        now = asyncio.get_running_loop().time()
        if due > until:
            raise DeadlineExceeded(f"{host} asks to be left alone for {due - now:.0f} s")
        if due > now:
            await asyncio.sleep(due - now)

    def take(self, host: str) -> bool:
        """Take the turn, unless somebody else has: then `wait` again."""
        now = asyncio.get_running_loop().time()
        if self._due.get(host, 0.0) > now:
            return False
        if delay := self._delays.get(host):
            self._due[host] = now + delay
        return True

    def note(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """Let `host` rest where its answer asks for it."""
        rest = retry_after(headers) if status in _RESTING else None
        if rest:
            due = asyncio.get_running_loop().time() + rest
            self._due[host] = max(due, self._due.get(host, 0.0))
