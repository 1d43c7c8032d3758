"""What a run may spend: steps, seconds, tokens, dollars. A reserve is kept for the final answer."""

from __future__ import annotations

import time
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Final

from agent.errors import ResearchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent.models.base import Usage

RESERVE: Final = 0.2
"""Share of the time and money kept for the last call, which answers from what is known."""
LONGEST_REPLY: Final = 8_000
"""Tokens of a reply that are reserved at most: a sectioned report stays below it."""
SHORTEST_REPLY: Final = 200
"""Tokens with which a reply can still say something; with fewer left, none is asked for."""
CAUTION: Final = 1.5
"""A prompt is counted by its characters, which is a guess: addresses and figures take more."""


class LimitReached(ResearchError):
    """A bound of the run is reached: `limit` names it, `why` says more where there is more."""

    exit_code = 5

    def __init__(self, limit: str, why: str = "") -> None:
        super().__init__(limit)
        self.limit = limit
        self.why = why


@dataclass(slots=True)
class Reservation:
    """The highest price of one model call, counted as spent while it is held (a `CallBudget`).

    `prompt` is the most tokens that the prompt may have, `longest` what a reply may have, None
    where nothing bounds it.
    """

    budget: Budget
    prompt: int
    _: KW_ONLY
    final: bool = False
    longest: int | None = field(default=None, init=False)
    _held: list[tuple[Budget, float, int]] = field(default_factory=list, init=False)

    def begin(self) -> int | None:
        """Set the price of a try aside; gives `longest`. Raises `LimitReached`."""
        if self._held:
            return self.longest
        budgets = [*self.budget.chain()]  # parts side by side draw on one whole
        limits = [budget.longest_reply(self.prompt, final=self.final) for budget in budgets]
        bounds = [limit for limit in limits if limit is not None]
        longest = min([LONGEST_REPLY, *bounds])
        self.longest = longest if bounds else None
        for budget in budgets:
            usd = budget.price(self.prompt, longest) if budget.usd and budget.price else 0.0
            tokens = self.prompt + longest if budget.tokens is not None else 0
            budget.spent += usd
            budget.used += tokens
            self._held.append((budget, usd, tokens))
        return self.longest

    def failed(self, *, billed: bool) -> None:
        """End a try that brought no reply; one that may have been billed stays counted."""
        if not billed:
            self.release()
        self._held = []

    def release(self) -> None:
        """Give back what was set aside; what the call cost is counted by `Budget.add`."""
        for budget, usd, tokens in self._held:
            budget.spent -= usd
            budget.used -= tokens
        self._held = []


@dataclass(slots=True)
class Budget:
    """Counts what a run spends: `spent` USD, `used` tokens. None stands for no bound.

    `tokens` bounds those of all calls, in and out. `price` gives the highest price (USD) of so many
    tokens in and out; without it money cannot be reserved, only counted. `overhead` are the tokens
    of what is sent with each prompt beside its text.

    `parent` is the budget of which this one is a part: what is spent here is spent there too.
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
    parent: Budget | None = None
    parts_steps: int | None = None
    tokens: int | None = None
    price: Callable[[int, int], float] | None = None
    overhead: int = 0
    used: int = 0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def begin_step(self) -> int:
        """Count a step, or raise `LimitReached` where only the final answer may still be made."""
        if self.steps_left <= 0:
            raise LimitReached("steps")
        if self.seconds is not None and self.elapsed() >= self.seconds * (1 - RESERVE):
            raise LimitReached("timeout")
        # A free model may have a budget of nothing: only what costs ends a run.
        if self.usd is not None and self.spent > 0 and self.spent >= self.usd * (1 - RESERVE):
            raise LimitReached("budget")
        self.steps += 1
        return self.steps

    def reserve(self, prompt: int, *, final: bool = False) -> Reservation:
        """Set aside the highest price of a call whose prompt has so many tokens.

        Only the `final` call may take what is kept for it. Raises `LimitReached` where not even a
        short reply can be paid for; the reservation says how long the reply may be.
        """
        reservation = Reservation(self, int((prompt + self.overhead) * CAUTION), final=final)
        reservation.begin()
        return reservation

    def chain(self) -> Iterator[Budget]:
        """Yield this budget, then those that it is a part of."""
        budget: Budget | None = self
        while budget is not None:
            yield budget
            budget = budget.parent

    def longest_reply(self, prompt: int, *, final: bool) -> int | None:
        """Return the tokens that this budget alone leaves for a reply; None for no bound.

        Raises `LimitReached` where they are too few to say something.
        """
        share, longest = 1.0 if final else 1 - RESERVE, None
        if self.tokens is not None:
            longest = int(self.tokens * share) - self.used - prompt
            if longest < SHORTEST_REPLY:
                raise LimitReached("tokens")
        if self.usd is None or self.price is None:
            return longest
        left, a_thousand = (
            self.usd * share - self.spent - self.price(prompt, 0),
            self.price(0, 1_000),
        )
        paid = int(left / a_thousand * 1_000) if a_thousand > 0 else LONGEST_REPLY
        if left < 0 or paid < SHORTEST_REPLY:
            raise LimitReached("budget")
        return paid if longest is None else min(longest, paid)

    def add(self, usage: Usage) -> None:
        """Count what a model call cost."""
        for budget in self.chain():
            budget.spent += usage.usd
            budget.used += usage.input_tokens + usage.output_tokens

    def part(self, of: int, max_steps: int, place: str = "") -> Budget:  # noqa: ARG002 - a replay's
        """Return a share: one of so many parts of the steps and the money left, all of the time.

        One of the parts is for putting the others together, which takes no steps. `place` is where
        the share is spent.
        """
        return Budget(
            min(max_steps, self.share_of(of - 1)),
            None if self.usd is None else max(0.0, self.usd * (1 - RESERVE) - self.spent) / of,
            self.seconds_left(),
            self.clock,
            parent=self,
            price=self.price,
            overhead=self.overhead,
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
        return max(0.0, self.seconds * (1 - RESERVE if reserve else 1) - self.elapsed())
