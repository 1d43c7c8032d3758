"""How often an engine may be asked: the interval that its operator names, kept within a run."""

from __future__ import annotations

import asyncio
import time


class Pace:
    """Gives each engine's requests their turns, `interval` seconds apart."""

    def __init__(self) -> None:
        self._free: dict[str, float] = {}

    async def turn(self, identity: str, interval: float, patience: float) -> float:
        """Wait for the next turn and give 0; where it is further than `patience`, give the wait.

        All in seconds. A turn that is not taken is not used up.
        """
        now = time.monotonic()
        at = max(now, self._free.get(identity, now))
        if at - now > patience:
            return at - now
        self._free[identity] = at + interval
        await asyncio.sleep(at - now)
        return 0.0
