"""Dates as written by engines, and questions turned into queries."""

from __future__ import annotations

from datetime import date

import pytest

from browser.search.query import keywords, names, quoted, rewrites
from browser.search.results import leading_date, nearest_range, to_iso_date


@pytest.mark.parametrize(
    ("snippet", "day"),
    [
        ("May 2, 2022 - The tides", "2022-05-02"),
        ("20 Nov 2020 · Gulls", "2020-11-20"),
        ("2022-05-02 — Tides", "2022-05-02"),
        ("Sept. 3, 2022 — Tides", "2022-09-03"),
        ("Jul 12, 2025· Tides", "2025-07-12"),
        ("March 2, 2022 is a day", None),
        ("Sept 31, 2022 — Tides", None),
        ("Team 2, 2022 — Tides", None),
    ],
)
def test_leading_date_parses_snippet_prefix(snippet: str, day: str | None) -> None:
    assert leading_date(snippet) == day


def test_as_iso_converts_engine_dates_or_returns_none() -> None:
    said = ["2024-05-01T00:00:00Z", "Jul 3, 2023", "3 days ago", "", None]
    assert [to_iso_date(text) for text in said] == [
        "2024-05-01T00:00:00Z", "2023-07-03", None, None, None,
    ]  # fmt: skip


def test_nearest_range_returns_narrowest_span() -> None:
    today = date(2026, 11, 21)
    spans = [nearest_range(day, today) for day in ("2026-11-20", "2026-11-14", "2026-11-01")]
    assert spans == ["day", "week", "month"]
    assert nearest_range("2025-11-21", today) == "year"
    assert nearest_range("2020-01-01", today) == ""
    assert nearest_range("yesterday", today) == ""


def test_question_is_split_into_keywords_names_and_quotes() -> None:
    question = "Which river flows through the town where Maria von Elm wrote “The Grey Mole”?"

    assert keywords(question) == [
        "river",
        "flows",
        "town",
        "Maria",
        "von",
        "Elm",
        "wrote",
        "Grey",
        "Mole",
    ]
    assert quoted(question) == ["The Grey Mole"]
    assert names(question) == ["Maria von Elm", "Grey Mole"]
    assert rewrites(question)[0] == question
    assert rewrites(question)[2].startswith('"The Grey Mole" river')
    assert names("Who is the mayor of Port Elm?") == ["Port Elm"]
    assert keywords("what is it") == ["what", "is", "it"]
    assert rewrites("") == []
