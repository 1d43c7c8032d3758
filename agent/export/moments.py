"""Times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime


def to_the_minute(at: str) -> str:
    """Write an ISO time as `2026-11-21 08:40 UTC`."""
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def seconds_between(earlier: str, later: str) -> float:
    """Tell the seconds from one ISO time to another."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
