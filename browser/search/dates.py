"""`since` as engines understand it: an exact day, or the narrowest range that still holds it."""

from __future__ import annotations

from datetime import UTC, date, datetime

# The longest age in days that each range still covers, narrowest first.
_RANGES = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))


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
