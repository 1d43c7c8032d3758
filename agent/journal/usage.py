"""The ledger over all runs: calls, tokens and dollars by day and model."""

from __future__ import annotations

from dataclasses import dataclass
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


def total(lines: Iterable[UsageLine]) -> UsageLine:
    """Add up lines of all days and models."""
    whole = UsageLine("total", "")
    for line in lines:
        for name in ("calls", *_AMOUNTS):
            setattr(whole, name, getattr(whole, name) + getattr(line, name))
    return whole
