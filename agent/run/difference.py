"""How a request that a replay makes differs from the one on record, for people to read."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.models import Message
    from agent.run.record import RunRecord

LINES = 12
"""Lines of differences that are shown; the first ones tell what is wrong."""
BEFORE, AFTER = 60, 140
"""Characters of a long line shown before and after the place where it differs."""


def difference(record: RunRecord, messages: Sequence[Message]) -> str:
    """Compare a request with the one on record that is most like it, as `diff` writes it."""
    asked = list(_requests(record))
    if not asked:
        return "no request is on record"

    def likeness(request: tuple[str, list[Message]]) -> tuple[int, int]:
        return _same(request[1], messages), -abs(len(request[1]) - len(messages))

    place, then = max(asked, key=likeness)
    n = _same(then, messages)
    if n == len(then) == len(messages):
        return f"at {place}: its messages are those on record, and the record's hash of them is not"
    if n == min(len(then), len(messages)):
        return f"at {place}: {len(messages)} messages now, {len(then)} on record"
    where = f"at {place}, message {n + 1} of {len(then)} ({then[n].role})"
    return f"{where}:\n{_diff(then[n].content, messages[n].content)}"


def _requests(record: RunRecord) -> Iterator[tuple[str, list[Message]]]:
    """Give each recorded request whole: what is new in it, behind what its loop said before."""
    loops: dict[str, list[Message]] = {}
    for request in record.requests:
        loop = loops.setdefault(request.place.partition("/")[0], [])
        loop += request.new
        yield request.place, list(loop)


def _same(then: Sequence[Any], now: Sequence[Any]) -> int:
    """Count the parts at the beginning that are the same."""
    pairs = zip(then, now, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(then), len(now)))


def _diff(then: str, now: str) -> str:
    lines = list(_lines(then.splitlines(), now.splitlines()))
    more = [f"… {len(lines) - LINES} lines more"] if len(lines) > LINES else []
    return "\n".join(["--- on record", "+++ now", *lines[:LINES], *more])


def _lines(then: list[str], now: list[str]) -> Iterator[str]:
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for before, after in zip_longest(then[a0:a1], now[b0:b1]):
            start = _same(before or "", after or "")
            yield from (
                f"{sign}{_around(line, start)}"
                for sign, line in (("-", before), ("+", after))
                if line is not None
            )


def _around(line: str, start: int) -> str:
    """Cut a long line to the place where it differs."""
    first, last = max(0, start - BEFORE), start + AFTER
    if len(line) <= BEFORE + AFTER:
        return line
    return f"{'…' * bool(first)}{line[first:last]}{'…' * (last < len(line))}"
