"""What a run may spend: steps, seconds, dollars. A reserve is kept for the final answer."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.models import Usage

RESERVE = 0.2
"""Share of the time and money kept for the last call, which answers from what is known."""


class LimitReached(Exception):
    """A bound of the run is reached: `limit` names it, `why` says more where there is more."""

    def __init__(self, limit: str, why: str = "") -> None:
        super().__init__(limit)
        self.limit = limit
        self.why = why


@dataclass(slots=True)
class Budget:
    """Counts what a run spends. `usd` and `seconds` are None where there is no bound.

    `whole` is the budget of which this one is a part: what is spent here is spent there too.
    `elsewhere` counts the steps of parts, which with our own never exceed `max_steps`, or
    `parts_steps` where that is given: nobody named a bound, and loops side by side need more.
    """

    max_steps: int = 12
    usd: float | None = None
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    spent: float = 0.0
    steps: int = 0
    elsewhere: int = 0
    whole: Budget | None = None
    parts_steps: int | None = None
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def begin_step(self) -> int:
        """Count a step, or raise `LimitReached` where only the final answer may still be made."""
        if self.steps_left <= 0:
            raise LimitReached("steps")
        if self.seconds is not None and self.elapsed() >= self.seconds * (1 - RESERVE):
            raise LimitReached("timeout")
        if self.usd is not None and self.spent > 0 and self.spent >= self.usd * (1 - RESERVE):
            raise LimitReached("budget")
        self.steps += 1
        return self.steps

    def add(self, usage: Usage) -> None:
        """Count what a model call cost."""
        self.spent += usage.usd
        if self.whole is not None:
            self.whole.add(usage)

    def part(self, of: int, max_steps: int, place: str = "") -> Budget:  # noqa: ARG002 - a replay's
        """Give a share: one of so many parts of the steps and the money left, all of the time.

        One of the parts is for putting the others together, which takes no steps. `place` is where
        the share is spent.
        """
        seconds = self.seconds_left()
        usd = None if self.usd is None else max(0.0, self.usd * (1 - RESERVE) - self.spent) / of
        return Budget(
            min(max_steps, self.share_of(of - 1)),
            usd,
            seconds,
            self.clock,
            whole=self,
        )

    @property
    def steps_left(self) -> int:
        """Steps that may still be begun."""
        most = self.parts_steps if self.elsewhere and self.parts_steps else self.max_steps
        return most - self.steps - self.elsewhere

    def share_of(self, parts: int) -> int:
        """Steps that each of so many parts may take."""
        return ((self.parts_steps or self.max_steps) - self.steps - self.elsewhere) // max(1, parts)

    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.started

    def seconds_left(self, *, reserve: bool = True) -> float | None:
        """Seconds left before the reserve, or before the very end; None without a bound."""
        if self.seconds is None:
            return None
        whole = self.seconds * (1 - RESERVE) if reserve else self.seconds
        return max(0.0, whole - self.elapsed())
