"""Dates as pages write them, into ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, time
from email.utils import parsedate_to_datetime

_ISO = re.compile(
    r"(\d{4})-?(\d{2})-?(\d{2})(?:[T\s]+(\d{2}):?(\d{2})(?::?(\d{2}))?(?:[.,]\d+)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar jänner janvier enero",
            "feb february februar février febrero",
            "mar march märz mär mars marzo",
            "apr april avril abril",
            "may mai mayo",
            "jun june juni juin junio",
            "jul july juli juillet julio",
            "aug august août agosto",
            "sep sept september septembre septiembre",
            "oct october okt oktober octobre octubre",
            "nov november novembre noviembre",
            "dec december dez dezember décembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH_FIRST = re.compile(r"\b([^\W\d_]{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_DAY_FIRST = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:de\s+)?([^\W\d_]{3,10})\.?,?\s+(?:de\s+)?(\d{4})\b"
)
_DOTTED = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
_DASHED = re.compile(r"\b(?:19|20)\d{2}-\d{2}-\d{2}\b")
_SLASHED_YEAR_FIRST = re.compile(r"\b(\d{4})/(\d{1,2})/(\d{1,2})\b")


def iso_date(value: str) -> str | None:
    """Turn a date into `2026-11-21` or `2026-11-21T05:45:12+00:00`; None where it is no date.

    A month's name may be English, German, French or Spanish. `3/4/2026` means two things: None.
    """
    text = value.strip()
    return _from_iso(text) or _from_mail(text) or _from_words(text)


def date_within(text: str) -> str | None:
    """Find the first day that stands in a line of words: `Stand: 14.03.2024, 17:45 Uhr`."""
    return _from_words(text) or next(
        (date for match in _DASHED.finditer(text) if (date := _from_iso(match[0]))), None
    )


def _from_iso(text: str) -> str | None:
    match = _ISO.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups()
    try:
        day_part = date(int(year), int(month), int(day)).isoformat()
        if hour is None:
            return day_part
        return f"{day_part}T{time(int(hour), int(minute), int(second or 0))}{_zone(zone)}"
    except ValueError:
        return None


def _zone(zone: str | None) -> str:
    if not zone:
        return ""
    if zone.upper() in {"Z", "UTC", "GMT"}:
        return "+00:00"
    return zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"


def _from_mail(text: str) -> str | None:
    if "," not in text[:5] and ":" not in text:
        return None
    try:
        parsed = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).isoformat()


def _from_words(text: str) -> str | None:
    if (match := _MONTH_FIRST.search(text)) and (month := _month(match[1])):
        return _day(match[3], month, match[2])
    if (match := _DAY_FIRST.search(text)) and (month := _month(match[2])):
        return _day(match[3], month, match[1])
    if match := _DOTTED.search(text):
        return _day(match[3], int(match[2]), match[1])
    if match := _SLASHED_YEAR_FIRST.search(text):
        return _day(match[1], int(match[2]), match[3])
    return None


def _month(name: str) -> int | None:
    return _MONTHS.get(name.casefold())


def _day(year: str, month: int, day: str) -> str | None:
    try:
        return date(int(year), month, int(day)).isoformat()
    except ValueError:
        return None
