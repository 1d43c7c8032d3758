"""How many requests run at once: per host, out of courtesy, and overall, out of thrift."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Limits:
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
