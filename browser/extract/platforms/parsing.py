"""Parses counts, dates and durations in the forms that pages and APIs use."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from browser.extract.dates import date_within, iso_date

# Suffixes of abbreviated numbers in English, German, Romance and Slavic languages, and CJK.
SCALES = {
    "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12,
    "thousand": 1e3, "million": 1e6, "millions": 1e6, "millones": 1e6, "millionen": 1e6,
    "milhões": 1e6, "billion": 1e9,
    "tsd": 1e3, "mio": 1e6, "mrd": 1e9, "mil": 1e3, "mi": 1e6, "mln": 1e6, "md": 1e9, "bn": 1e9,
    "тыс": 1e3, "млн": 1e6, "млрд": 1e9, "千": 1e3, "천": 1e3, "万": 1e4, "萬": 1e4, "만": 1e4,
    "億": 1e8, "亿": 1e8, "억": 1e8,
}  # fmt: skip
_ANY_SCALE = "|".join(sorted(SCALES, key=len, reverse=True))
_NUMBER = re.compile(
    rf"([-−]?\d[\d.,'’\u00a0\u202f\u2009 ]*)\s*(?:({_ANY_SCALE})\.?(?![^\W\d_]))?",
    re.IGNORECASE,
)
# A CJK scale is directly followed by a counter word (`3.4万回`), so no word boundary is required.
_CJK = re.compile(r"(\d[\d.,]*)\s*([千천万萬만億亿억])")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’ ]\d{3})+|\d{1,2}(?:,\d\d)+,\d{3}")
_SPACES = re.compile(r"[\u00a0\u202f\u2009]")
# Timestamps between 1973 and 2286 have nine or ten digits in seconds, and about thirteen in
# milliseconds; a shorter number is a year or a count.
_MIN_SECONDS = 100_000_000
_MIN_MILLISECONDS = 10_000_000_000
_MAX_DATE_DIGITS = len("20240612")
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?")
_CLOCK = re.compile(r"()(?:(\d+):)?(\d{1,2}):(\d\d)")


def number(value: object) -> int | None:
    """Parse a count: `1,234`, `1.234`, `1.2k`, `3 points`, `1,2 Mio.`, `3.4万回`; None if absent.

    A separator before exactly three digits is a thousands separator; any other is a decimal point.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if abs(value) < 1e18 else None
    match = _CJK.search(str(value)) or _NUMBER.search(str(value))
    amount = parse_decimal(match[1]) if match else None
    if match is None or amount is None:
        return None
    scale = SCALES[match[2].lower()] if match[2] else 1
    return round(amount * scale) if scale > 1 else int(amount)


def parse_decimal(text: str) -> float | None:
    """Parse a number with any thousands and decimal separators; None if it is not a number."""
    plain = _SPACES.sub(" ", text).replace("−", "-").strip(" .,'’")
    sign, digits = (-1, plain[1:]) if plain.startswith("-") else (1, plain)
    digits = re.split(r" (?!\d{3}(?!\d))", digits)[0].rstrip(".,'’ ")
    # The decimal separator occurs only once and does not group digits.
    found = None if _GROUPED.fullmatch(digits) else re.fullmatch(r"(.*?)([.,])(\d*)", digits)
    whole, part = (found[1], found[3]) if found and digits.count(found[2]) == 1 else (digits, "")
    try:
        return sign * float("".join(re.findall(r"\d", whole)) + f".{part}")
    except ValueError:
        return None


def parse_date(value: object) -> str | None:
    """Return the ISO 8601 form of a date, or of seconds or milliseconds since the epoch.

    None for anything else.
    """
    if isinstance(value, str) and not (value.isdecimal() and len(value) > _MAX_DATE_DIGITS):
        return iso_date(value) or date_within(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        moment = float(value)
        if moment < _MIN_SECONDS:
            return None
        seconds = moment / 1000 if moment > _MIN_MILLISECONDS else moment
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):  # outside the calendar's years, or not a number
        return None


def parse_duration(text: str) -> int | None:
    """Convert a duration such as `PT1H2M3S` or `1:02:03` to seconds; None for anything else."""
    match = _CLOCK.fullmatch(text.strip()) or _DURATION.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
