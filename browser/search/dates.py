"""`since` as engines understand it: an exact day, or the narrowest range that still holds it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

# The longest age in days that each range still covers, narrowest first.
_RANGES = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_LEADING = re.compile(
    r"^([A-Z]\w{2,8}\.? \d{1,2}, \d{4}|\d{1,2} [A-Z]\w{2,8}\.? \d{4}|\d{4}-\d\d-\d\d)\s*[—–·-]"
)


def nearest_range(since: str, today: date | None = None) -> str:
    """Give `day`, `week`, `month` or `year`; '' where even a year does not reach back enough."""
    day = since_day(since)
    if day is None:
        return ""
    age = ((today or datetime.now(UTC).date()) - day).days
    return next((name for limit, name in _RANGES if age <= limit), "")


def since_day(since: str | None) -> date | None:
    """Read an ISO date or date and time; None where it is neither."""
    try:
        return datetime.fromisoformat(since).date() if since else None
    except ValueError:
        return None


def as_iso(said: str | None) -> str | None:
    """Give a date as ISO 8601, from that or from `May 2, 2022`; None for `3 days ago`."""
    if not said or since_day(said) is not None:
        return said or None
    return leading_date(f"{said} —")


def leading_date(snippet: str) -> str | None:
    """Read the date that engines put before a snippet (`May 2, 2022 — …`), as an ISO date."""
    found = _LEADING.match(snippet)
    if found is None:
        return None
    parts = re.findall(r"\w+", found[1])
    name = next((part[:3].lower() for part in parts if part.isalpha()), "")
    numbers = sorted((int(part) for part in parts if part.isdigit()), reverse=True)
    try:
        year, *rest = numbers
        month, day = (_MONTHS.index(name) + 1, rest[0]) if name else (int(parts[1]), int(parts[2]))
        return date(year, month, day).isoformat()
    except ValueError:
        return None
