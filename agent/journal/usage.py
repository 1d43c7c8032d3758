"""The ledger over all runs: calls, tokens and dollars by day and model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.errors import JournalError
from agent.journal.events import read_events

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.journal.events import Event
    from agent.journal.runs import RunFolder


_AMOUNTS = ("input_tokens", "cached_tokens", "output_tokens", "usd")


@dataclass(slots=True)
class UsageLine:
    """What one model was used for on one day (UTC); cached tokens are part of the input."""

    day: str
    model: str
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0

    def count(self, event: Event) -> None:
        """Add one reply."""
        self.calls += 1
        self.input_tokens += event.data["input_tokens"]
        self.cached_tokens += event.data["cached_tokens"]
        self.output_tokens += event.data["output_tokens"]
        self.usd += event.data["usd"]


def usage(runs: Iterable[RunFolder]) -> list[UsageLine]:
    """Add up the model replies of runs, newest day first; a damaged record is left out."""
    lines: dict[tuple[str, str], UsageLine] = {}
    for run in runs:
        try:
            replies = [e for e in read_events(run.journal) if e.type == "model.reply"]
        except JournalError:
            continue
        for event in filter(_is_whole, replies):
            key = (event.at[:10], str(event.data["model"]))
            lines.setdefault(key, UsageLine(*key)).count(event)
    return sorted(lines.values(), key=lambda line: (line.day, line.model), reverse=True)


def _is_whole(reply: Event) -> bool:
    amounts = (reply.data.get(name) for name in _AMOUNTS)
    return "model" in reply.data and all(isinstance(amount, int | float) for amount in amounts)


REACHED = ("the budget of the day is reached", "the budget of the month is reached")
"""Why nothing more is spent, in words."""


class Spending:
    """Dollars spent over all runs, by day (UTC); a record that did not grow is not read again."""

    def __init__(self, runs: Iterable[RunFolder]) -> None:
        self._runs = runs
        self._known: dict[str, tuple[int, list[UsageLine]]] = {}

    def since(self, day: str) -> float:
        """Add up what was spent from a day on (ISO 8601: `2026-11-01`)."""
        begun = datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
        spent = 0.0
        for run in self._runs:
            try:
                told = run.journal.stat()
            except FileNotFoundError:  # deleted meanwhile
                continue
            if told.st_mtime < begun:
                continue
            size, lines = self._known.get(run.id, (-1, []))
            if size != told.st_size:
                lines = usage([run])
                self._known[run.id] = (told.st_size, lines)
            spent += sum(line.usd for line in lines if line.day >= day)
        return spent


@dataclass(frozen=True, slots=True)
class BudgetLeft:
    """Dollars left of the day's and the month's budget (UTC); None where there is none."""

    day: float | None
    month: float | None

    @property
    def least(self) -> float | None:
        """What a run may spend at most."""
        return min((usd for usd in (self.day, self.month) if usd is not None), default=None)

    @property
    def reached(self) -> str:
        """Which one is reached, in words; "" where none is."""
        if self.day is not None and self.day <= 0:
            return REACHED[0]
        return REACHED[1] if self.month is not None and self.month <= 0 else ""


def budget_days() -> tuple[str, str]:
    """Give the days (UTC) from which the budgets of the day and the month count."""
    today = datetime.now(UTC).date()
    return today.isoformat(), today.replace(day=1).isoformat()


def budget_left(spending: Spending, day: float | None, month: float | None) -> BudgetLeft:
    """Say what is left of the budgets of the day and the month; None where there is none."""
    today, first = budget_days()
    return BudgetLeft(
        None if day is None else day - spending.since(today),
        None if month is None else month - spending.since(first),
    )


def total(lines: Iterable[UsageLine]) -> UsageLine:
    """Add up lines of all days and models."""
    whole = UsageLine("total", "")
    for line in lines:
        for name in ("calls", *_AMOUNTS):
            setattr(whole, name, getattr(whole, name) + getattr(line, name))
    return whole
