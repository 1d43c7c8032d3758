"""Retry-After in both its forms, and invalid."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from browser.net.pace import retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Sunday, 01-Mar-26 12:00:10 GMT", 10.0),
        ("soon", None),
        ("Sun, 01 Mar 99999999999999999999 12:00:10 GMT", None),
        ("-5", None),
        ("", None),
        ("٣", None),
    ],
)
def test_retry_after_is_parsed_as_seconds_or_date(said: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": said}, now=NOW) == seconds


def test_missing_header_gives_none() -> None:
    assert retry_after({}) is None


def test_exhausted_rate_limit_gives_seconds_until_reset() -> None:
    used_up = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW.timestamp()) + 42)}
    assert retry_after(used_up, now=NOW) == 42.0
    assert retry_after({**used_up, "x-ratelimit-remaining": "7"}, now=NOW) is None
    assert retry_after({**used_up, "retry-after": "3"}, now=NOW) == 3.0
