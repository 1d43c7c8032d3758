"""Moments and durations as APIs and microdata write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# Seconds until the year 2286 have ten digits, milliseconds thirteen.
_MILLISECONDS = 10_000_000_000
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d\d)")


def moment(stamp: object) -> str | None:
    """ISO 8601 of seconds or milliseconds since the epoch; None for anything else."""
    if isinstance(stamp, str) and stamp.isdecimal():
        stamp = int(stamp)
    if isinstance(stamp, bool) or not isinstance(stamp, int | float) or stamp <= 0:
        return None
    seconds = stamp / 1000 if stamp > _MILLISECONDS else stamp
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def seconds_of(duration: str) -> int | None:
    """Seconds of `PT1H2M3S` or `1:02:03`; None for anything else."""
    if match := _CLOCK.fullmatch(duration.strip()):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return hours * 3600 + minutes * 60 + seconds
    match = _DURATION.fullmatch(duration.strip())
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
