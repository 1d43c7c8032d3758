"""Usage of all runs: calls, tokens and dollars by day and model, and remaining budgets."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent.errors import JournalError
from agent.journal.events import read_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent.journal.runs import RunFolder

_AMOUNTS = ("input_tokens", "cached_tokens", "output_tokens", "usd")


@dataclass(slots=True)
class UsageLine:
    """The usage of one model on one day (UTC); input tokens include cached ones."""

    day: str
    model: str
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0

    def add(self, calls: int, amounts: Mapping[str, Any]) -> None:
        """Add calls, and their tokens and dollars."""
        self.calls += calls
        for name in _AMOUNTS:
            setattr(self, name, getattr(self, name) + amounts[name])


def usage(runs: Iterable[RunFolder]) -> list[UsageLine]:
    """Add up the runs' model replies, newest day first; damaged records are left out."""
    lines: dict[tuple[str, str], UsageLine] = {}
    for run in runs:
        try:
            replies = [e for e in read_events(run.journal) if e.type == "model.reply"]
        except JournalError:
            continue
        for reply in replies:
            # A record may be damaged or come from elsewhere, so its fields are not trusted.
            amounts = (reply.data.get(name) for name in _AMOUNTS)
            if "model" in reply.data and all(isinstance(n, int | float) for n in amounts):
                key = (reply.at[:10], str(reply.data["model"]))
                lines.setdefault(key, UsageLine(*key)).add(1, reply.data)
    return sorted(lines.values(), key=lambda line: (line.day, line.model), reverse=True)


def total(lines: Iterable[UsageLine]) -> UsageLine:
    """Add up the lines for all days and models."""
    result = UsageLine("total", "")
    for line in lines:
        result.add(line.calls, asdict(line))
    return result


class Spending:
    """Dollars spent by all runs; a record is read again only if it has grown."""

    def __init__(self, runs: Iterable[RunFolder]) -> None:
        self._runs = runs
        self._known: dict[str, tuple[int, list[UsageLine]]] = {}

    def since(self, day: str) -> float:
        """Return the dollars spent since the beginning of a day (ISO 8601: `2026-11-01`)."""
        begin = datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
        spent = 0.0
        for run in self._runs:
            try:
                stat = run.journal.stat()
            except FileNotFoundError:  # the run was deleted in the meantime
                continue
            if stat.st_mtime < begin:  # the run ended before that day
                continue
            size, lines = self._known.get(run.id, (-1, []))
            if size != stat.st_size:
                lines = usage([run])
                self._known[run.id] = (stat.st_size, lines)
            spent += sum(line.usd for line in lines if line.day >= day)
        return spent


def budget_days() -> tuple[str, str]:
    """Return the first days (UTC) of the daily and the monthly budget."""
    today = datetime.now(UTC).date()
    return today.isoformat(), today.replace(day=1).isoformat()
