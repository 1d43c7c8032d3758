"""Timing of requests to a host: slots for concurrent requests, delays, `Retry-After`."""

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

MAX_OVERALL = 48
"""Maximum number of concurrent requests in total: eight hosts' worth at six each."""


class RequestSlots:
    """Slots for concurrent requests; waiting for a busy host does not use up an overall slot."""

    def __init__(self, *, per_host: int) -> None:
        self._per_host = per_host
        self._overall = asyncio.Semaphore(MAX_OVERALL)
        # Weak values: a host is dropped once nothing is waiting for it.
        self._hosts: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def slot(self, host: str) -> AsyncIterator[None]:
        """Hold a slot for one request to `host`."""
        semaphore = self._hosts.get(host)
        if semaphore is None:
            semaphore = self._hosts[host] = asyncio.Semaphore(self._per_host)
        async with semaphore, self._overall:
            yield


# Too Many Requests, Service Unavailable: their Retry-After applies to all requests to the host.
_RATE_LIMITED = frozenset({429, 503})


class HostPace:
    """The times when each host may next be contacted, in seconds on the event loop's clock.

    `delays` maps each host to the seconds that it requires between the starts of two requests.
    """

    def __init__(self) -> None:
        self._next_at: dict[str, float] = {}
        self.delays: dict[str, float] = {}

    async def wait(self, host: str, until: float) -> None:
        """Sleep until the host's next turn; raises DeadlineExceeded if that is after `until`."""
        next_at = self._next_at.get(host, 0.0)
        now = asyncio.get_running_loop().time()
        if next_at > until:
            raise DeadlineExceeded(f"{host} asks clients to wait {next_at - now:.0f} s")
        if next_at > now:
            await asyncio.sleep(next_at - now)

    async def take(self, host: str) -> bool:
        """Take the turn. False means that another caller took it first: call `wait` again."""
        now = asyncio.get_running_loop().time()
        if self._next_at.get(host, 0.0) > now:
            return False
        if delay := self.delays.get(host):
            self._next_at[host] = now + delay
        return True

    async def turn(self, name: str, interval: float, patience: float) -> float:
        """Reserve the next turn, wait for it and return 0.

        If the wait is longer than `patience`, nothing is reserved and the wait is returned. Turns
        are at least `interval` apart. All times are in seconds.
        """
        now = asyncio.get_running_loop().time()
        at = max(now, self._next_at.get(name, now))
        if at - now > patience:
            return at - now
        self._next_at[name] = at + interval
        await asyncio.sleep(at - now)
        return 0.0

    async def start_cooldown(self, name: str, seconds: float) -> None:
        """Start a cooldown of `seconds`; a longer active one is kept."""
        next_at = asyncio.get_running_loop().time() + seconds
        self._next_at[name] = max(next_at, self._next_at.get(name, 0.0))

    async def note(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """Start a cooldown if a host's response is a rate limit with a `Retry-After`."""
        if status in _RATE_LIMITED and (seconds := retry_after(headers)):
            await self.start_cooldown(host, seconds)


_SHARED: ContextVar[HostPace | None] = ContextVar("pace", default=None)


def current_pace() -> HostPace:
    """Return the pace set by `shared_pace`, or a new one."""
    return _SHARED.get() or HostPace()


@contextmanager
def shared_pace(pace: HostPace) -> Iterator[None]:
    """Make clients created in this block and its tasks share one pace."""
    token = _SHARED.set(pace)
    try:
        yield
    finally:
        _SHARED.reset(token)


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Read `Retry-After` (seconds, or an HTTP date) as seconds from now; None if there is none.

    If it is missing, the reset time of an exhausted rate limit is used, which GitHub and others
    send.
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
