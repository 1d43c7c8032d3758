"""Parses dates in the forms that pages use, and returns them as ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, time
from email.utils import parsedate_to_datetime

from browser.text.months import MONTHS

_ISO = re.compile(
    r"(\d{4})-?(\d{2})-?(\d{2})(?:[T\s]+(\d{2}):?(\d{2})(?::?(\d{2}))?(?:[.,]\d+)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
# The forms of a date within text, tried in this order: `May 3, 2024`, `3. Mai 2024`, `03.05.2024`,
# `2024/05/03`. `3/4/2026` is ambiguous and not accepted.
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"\b(?P<name>[^\W\d_]{3,10})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})\b",
        r"\b(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:de\s+)?(?P<name>[^\W\d_]{3,10})\.?,?\s+(?:de\s+)?(?P<year>\d{4})\b",
        r"\b(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})\b",
        r"\b(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})\b",
    )
)
_DASHED = re.compile(r"\b(?:19|20)\d{2}-\d{2}-\d{2}\b")


def iso_date(value: str) -> str | None:
    """Parse a date into `2026-11-21` or `2026-11-21T05:45:12+00:00`; None if it is not a date.

    Month names may be in any of the languages of `MONTHS`. Returns None for ambiguous dates such as
    `3/4/2026`.
    """
    text = value.strip()
    return _from_iso(text) or _from_mail(text) or _from_words(text)


def date_within(text: str) -> str | None:
    """Find the first date in a line of text: `Stand: 14.03.2024, 17:45 Uhr`."""
    if found := _from_words(text):
        return found
    for match in _DASHED.finditer(text):
        if found := _from_iso(match[0]):
            return found
    return None


def _from_iso(text: str) -> str | None:
    match = _ISO.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups(default="")
    try:
        found = date(int(year), int(month), int(day)).isoformat()
        if hour:
            found += f"T{time(int(hour), int(minute), int(second or 0))}"
    except ValueError:
        return None
    if zone.upper() in {"Z", "UTC", "GMT"}:
        return f"{found}+00:00"
    return found + (zone if ":" in zone or not zone else f"{zone[:3]}:{zone[3:]}")


def _from_mail(text: str) -> str | None:
    if "," not in text[:5] and ":" not in text:
        return None
    try:
        parsed = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).isoformat()


def _from_words(text: str) -> str | None:
    for form in _FORMS:
        match = form.search(text)
        found = match.groupdict() if match else {}
        month = MONTHS.get(found["name"].casefold()) if "name" in found else found.get("month")
        if month:
            try:
                return date(int(found["year"]), int(month), int(found["day"])).isoformat()
            except ValueError:
                return None
    return None
