"""When a host is asked: slots for requests at once, delays between them, `Retry-After`."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from browser.errors import DeadlineExceeded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping


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
    """The next time at which each host may be asked, in seconds of the event loop's clock.

    `delays` are the seconds between the starts of two requests that hosts asked for.
    """

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self.delays: dict[str, float] = {}

    async def wait(self, host: str, until: float) -> None:
        """Sleep until `host` may be asked; DeadlineExceeded at once if that is past `until`."""
        due = self._due.get(host, 0.0)
        now = asyncio.get_running_loop().time()
        if due > until:
            raise DeadlineExceeded(f"{host} asks to be left alone for {due - now:.0f} s")
        if due > now:
            await asyncio.sleep(due - now)

    async def take(self, host: str) -> bool:
        """Take the turn, unless somebody else has: then `wait` again."""
        now = asyncio.get_running_loop().time()
        if self._due.get(host, 0.0) > now:
            return False
        if delay := self.delays.get(host):
            self._due[host] = now + delay
        return True

    async def turn(self, name: str, interval: float, patience: float) -> float:
        """Wait for the next turn and give 0; where it is further than `patience`, give the wait.

        All in seconds; nobody else's turn is within `interval`. One that is not taken is not used.
        """
        now = asyncio.get_running_loop().time()
        at = max(now, self._due.get(name, now))
        if at - now > patience:
            return at - now
        self._due[name] = at + interval
        await asyncio.sleep(at - now)
        return 0.0

    async def rest(self, name: str, seconds: float) -> None:
        """Leave one alone for so long; a longer rest that it has stays."""
        due = asyncio.get_running_loop().time() + seconds
        self._due[name] = max(due, self._due.get(name, 0.0))

    async def note(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """Let `host` rest where its answer asks all of us for it."""
        if status in _RESTING and (seconds := retry_after(headers)):
            await self.rest(host, seconds)


_SHARED: ContextVar[HostPace | None] = ContextVar("pace", default=None)


def current_pace() -> HostPace:
    """Give the pace that the caller shares with others, or a new one."""
    return _SHARED.get() or HostPace()


@contextmanager
def pacing(pace: HostPace) -> Iterator[None]:
    """Let whatever is opened within, and its tasks, keep to one pace."""
    token = _SHARED.set(pace)
    try:
        yield
    finally:
        _SHARED.reset(token)


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Read `Retry-After` (seconds, or an HTTP date) as seconds from now; None where unsaid.

    GitHub and others say instead when a limit that is used up begins anew.
    """
    now = now or datetime.now(UTC)
    value = headers.get("retry-after", "").strip()
    reset = headers.get("x-ratelimit-reset", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    if not value and headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(0.0, float(reset) - now.timestamp())
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())
