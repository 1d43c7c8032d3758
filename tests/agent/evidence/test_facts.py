"""Figures, dates and names as extracted from a text."""

from __future__ import annotations

import pytest

from agent.evidence import extract_facts


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("31 metres and £12,400", [31, 12_400]),
        ("forty-one years, two hundred thousand days", [41, 200_000]),
        ("8.2 million lamps for £4m", [8_200_000, 4_000_000]),
        ("a 23-million-kronor bill", [23_000_000]),
        ("one of them", []),
    ],
)
def test_figures_are_extracted(text: str, values: list[float]) -> None:
    assert [figure.value for figure in extract_facts(text).figures] == values


@pytest.mark.parametrize(
    "text", ["on 4 May 1811", "on May 4, 1811", "4th May 1811", "am 4. Mai 1811", "on 1811-05-04"]
)
def test_date_formats_yield_same_date(text: str) -> None:
    facts = extract_facts(text)
    assert [date[:3] for date in facts.dates] == [(1811, 5, 4)]
    assert facts.figures == []


def test_partial_dates_are_extracted() -> None:
    dates = extract_facts("In May 1811, or in 1812, or on 3 June").dates
    assert [date[:3] for date in dates] == [(1811, 5, None), (1812, None, None), (None, 6, 3)]


def test_names_exclude_capitalised_sentence_starts() -> None:
    text = "Visitors met Ada Renwick of Hesk. The Harbour Board paid in May."
    assert extract_facts(text).names == ["Ada Renwick", "Hesk", "Harbour Board"]
