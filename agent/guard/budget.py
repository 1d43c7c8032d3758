"""A run's budget: steps, seconds, tokens, dollars, with a reserve for the final answer."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Final

from agent.errors import ResearchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent.models.base import Usage

RESERVE_SHARE: Final = 0.2
"""Share of time and money reserved for the final call, which writes the answer."""
MAX_REPLY_TOKENS: Final = 8_000
"""Maximum number of tokens reserved for a reply: a report with sections needs fewer."""
MIN_REPLY_TOKENS: Final = 200
"""Minimum number of tokens for a useful reply; with fewer left, the model is not called."""
PROMPT_SAFETY_FACTOR: Final = 1.5
"""Safety factor for the estimated number of prompt tokens, which is based on characters: URLs and
numbers have more tokens per character.
"""
RATIO_SAFETY: Final = 1.1
"""Safety factor for the measured token ratio: other text may have slightly more tokens."""
MIN_MEASURED_TOKENS: Final = 20
"""Minimum number of reply tokens for comparing the number billed with the estimate."""


class LimitReached(ResearchError):
    """One of the run's limits was reached: `limit` names it, `why` may give details."""

    exit_code = 5

    def __init__(self, limit: str, why: str = "") -> None:
        super().__init__(limit)
        self.limit = limit
        self.why = why


@dataclass(slots=True)
class Reservation:
    """The maximum price of one model call, counted as spent until released (a `CallBudget`).

    `prompt` is the maximum number of prompt tokens. `max_reply_tokens` is None if unlimited.
    """

    budget: Budget
    prompt: int
    _: KW_ONLY
    final: bool = False
    max_reply_tokens: int | None = field(default=None, init=False)
    _held: list[tuple[Budget, float, int]] = field(default_factory=list, init=False)

    def begin(self) -> int | None:
        """Reserve the price of one attempt; returns `max_reply_tokens` or raises `LimitReached`."""
        if self._held:
            return self.max_reply_tokens
        # Concurrent subtasks share the parent's budget, so it is charged as well.
        budgets = list(self.budget.chain())
        limits = [budget.longest_reply(self.prompt, final=self.final) for budget in budgets]
        bounds = [limit for limit in limits if limit is not None]
        root = budgets[-1]
        billed = min([int(MAX_REPLY_TOKENS * root.reply_factor), *bounds])
        longest = int(billed / root.reply_factor)
        self.max_reply_tokens = longest if bounds else None
        for budget in budgets:
            usd = budget.price(self.prompt, billed) if budget.max_usd and budget.price else 0.0
            tokens = self.prompt + billed if budget.max_tokens is not None else 0
            budget.spent_usd += usd
            budget.used_tokens += tokens
            self._held.append((budget, usd, tokens))
        return self.max_reply_tokens

    def failed(self, *, billed: bool) -> None:
        """End an attempt without a reply; its price remains charged if it may have been billed."""
        if not billed:
            self.release()
        self._held = []

    def release(self) -> None:
        """Release the reserved amount; `Budget.add` counts the real cost of the call."""
        for budget, usd, tokens in self._held:
            budget.spent_usd -= usd
            budget.used_tokens -= tokens
        self._held = []


class RunClock:
    """The duration of a run, excluding the time that the user took to answer its questions."""

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        self._now = now or time.monotonic
        self._stopped = 0.0  # seconds for which the clock was stopped
        self._waiting = 0
        self._since = 0.0

    def __call__(self) -> float:
        """Return the clock's time in seconds; it does not advance while the user is being asked."""
        return (self._since if self._waiting else self._now()) - self._stopped

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock during the block; blocks may overlap, as parallel calls ask the user."""
        if not self._waiting:
            self._since = self._now()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._stopped += self._now() - self._since


@dataclass(slots=True)
class Budget:
    """Tracks and limits a run's spending. None means no limit.

    `max_tokens` limits the input and output tokens of all calls. `price(tokens_in, tokens_out)`
    returns the maximum price in USD; without it, costs are counted but cannot be reserved.
    `overhead` is the number of extra tokens sent with each prompt, such as tool definitions.
    `prompt_factor` and `reply_factor` are billed tokens per estimated token.

    A subtask's budget has a `parent`, which is also charged for everything spent here.
    `subtask_steps` counts the steps of subtasks. Together with this budget's `steps` they never
    exceed `max_steps`, or `parts_steps` if the user set no limit, since parallel loops need more.
    """

    max_steps: int = 12
    max_usd: float | None = None
    max_seconds: float | None = None
    clock: RunClock = field(default_factory=RunClock)
    spent_usd: float = 0.0
    steps: int = 0
    subtask_steps: int = 0
    parent: Budget | None = None
    parts_steps: int | None = None
    max_tokens: int | None = None
    price: Callable[[int, int], float] | None = None
    overhead: int = 0
    used_tokens: int = 0
    prompt_factor: float = 1.0
    reply_factor: float = 1.0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def begin_step(self) -> int:
        """Count a step and return its number. Raises `LimitReached` if only the reserve is left."""
        if self.steps_left <= 0:
            raise LimitReached("steps")
        if self.max_seconds is not None and self.elapsed() >= self.max_seconds * (
            1 - RESERVE_SHARE
        ):
            raise LimitReached("timeout")
        # A budget of zero is allowed with a free model: only money actually spent ends a run.
        available = None if self.max_usd is None else self.max_usd * (1 - RESERVE_SHARE)
        if available is not None and self.spent_usd > 0 and self.spent_usd >= available:
            raise LimitReached("budget")
        self.steps += 1
        return self.steps

    def reserve(self, prompt: int, *, final: bool = False) -> Reservation:
        """Reserve the maximum price of a call with a prompt of `prompt` tokens.

        The reservation limits the length of the reply. Only the `final` call may use the reserve.
        Raises `LimitReached` if the budget is too small even for a short reply.
        """
        root = list(self.chain())[-1]
        expected = int((prompt + self.overhead) * max(PROMPT_SAFETY_FACTOR, root.prompt_factor))
        reservation = Reservation(self, expected, final=final)
        reservation.begin()
        return reservation

    def chain(self) -> Iterator[Budget]:
        """Yield this budget, then its parents."""
        budget: Budget | None = self
        while budget is not None:
            yield budget
            budget = budget.parent

    def longest_reply(self, prompt: int, *, final: bool) -> int | None:
        """Return how many reply tokens this budget alone allows (None: no limit).

        Raises `LimitReached` if fewer than `MIN_REPLY_TOKENS` are left.
        """
        share = 1.0 if final else 1 - RESERVE_SHARE
        longest = None
        shortest = MIN_REPLY_TOKENS * list(self.chain())[-1].reply_factor
        if self.max_tokens is not None:
            longest = int(self.max_tokens * share) - self.used_tokens - prompt
            if longest < shortest:
                raise LimitReached("tokens")
        if self.max_usd is None or self.price is None:
            return longest
        usd_left = self.max_usd * share - self.spent_usd - self.price(prompt, 0)
        usd_per_thousand = self.price(0, 1_000)
        affordable = int(MAX_REPLY_TOKENS * shortest / MIN_REPLY_TOKENS)
        if usd_per_thousand > 0:
            affordable = int(usd_left / usd_per_thousand * 1_000)
        if usd_left < 0 or affordable < shortest:
            raise LimitReached("budget")
        return affordable if longest is None else min(longest, affordable)

    def add(self, usage: Usage) -> None:
        """Count the cost of a model call."""
        for budget in self.chain():
            budget.spent_usd += usage.usd
            budget.used_tokens += usage.input_tokens + usage.output_tokens

    def calibrate(self, prompt: int, reply: int, usage: Usage) -> None:
        """Compare a call's billed tokens with the estimate, to correct later estimates.

        `prompt` and `reply` are the estimated tokens, without the overhead.
        """
        root = list(self.chain())[-1]
        billed = usage.input_tokens / max(1, prompt + self.overhead)
        root.prompt_factor = max(root.prompt_factor, billed * RATIO_SAFETY)
        if reply >= MIN_MEASURED_TOKENS:
            root.reply_factor = max(root.reply_factor, usage.output_tokens / reply)

    def budget_for_part(self, parts: int, max_steps: int, place: str = "") -> Budget:  # noqa: ARG002 - for replays
        """Return a budget for one of `parts`: equal shares of steps and money, all the time left.

        One part combines the results and takes no steps, so the other parts share the steps.
        `place` identifies the loop that the budget is for.
        """
        max_usd = None
        if self.max_usd is not None:
            max_usd = max(0.0, self.max_usd * (1 - RESERVE_SHARE) - self.spent_usd) / parts
        return Budget(
            min(max_steps, self.steps_per_part(parts - 1)),
            max_usd,
            self.seconds_left(),
            self.clock,
            parent=self,
            price=self.price,
            overhead=self.overhead,
        )

    @property
    def steps_left(self) -> int:
        """The number of steps that can still be taken."""
        most = self.max_steps
        if self.subtask_steps and self.parts_steps:
            most = self.parts_steps
        return most - self.steps - self.subtask_steps

    def steps_per_part(self, parts: int) -> int:
        """Return the number of steps for each of `parts` parallel subtasks."""
        left = (self.parts_steps or self.max_steps) - self.steps - self.subtask_steps
        return left // max(1, parts)

    def elapsed(self) -> float:
        """Seconds since the start of the run, measured by its clock."""
        return self.clock() - self.started

    def seconds_left(self, *, reserve: bool = True) -> float | None:
        """Return the seconds left, by default excluding the reserve; None if there is no limit."""
        if self.max_seconds is None:
            return None
        share = 1 - RESERVE_SHARE if reserve else 1
        return max(0.0, self.max_seconds * share - self.elapsed())
