"""When a host is asked: slots for requests at once, delays between them, `Retry-After`."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from browser.errors import DeadlineExceeded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping


class RequestSlots:
    """Slots for requests. Waiting for a busy host takes no slot from the others."""

    def __init__(self, *, per_host: int, overall: int) -> None:
        self._per_host = per_host
        self._overall = asyncio.Semaphore(overall)
        # a host that nobody waits for any more is forgotten by itself
        self._hosts: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def slot(self, host: str) -> AsyncIterator[None]:
        """Hold a place for one request to `host`."""
        semaphore = self._hosts.get(host)
        if semaphore is None:
            semaphore = self._hosts[host] = asyncio.Semaphore(self._per_host)
        async with semaphore, self._overall:
            yield


# Too many requests, and unavailable: the answers whose Retry-After speaks to all of us.
_RESTING = frozenset({429, 503})


class HostPace:
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


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Read `Retry-After` (seconds, or an HTTP date) as seconds from now; None where unsaid."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said)
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
