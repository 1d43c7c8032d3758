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
        ("1.234,5 Millionen", [1_234_500_000]),
        ("23,75 km² und 1.234.567 Leute", [23.75, 1_234_567]),
        ("1 234,56 m, 2,5 mln zł", [1234.56, 2_500_000]),
        ("6¾ metres and ½ inch", [6.75, 0.5]),
        ("1.5 lakh, or ₹1,50,000", [150_000, 150_000]),
        ("٣٤٥ مليون متر", [345_000_000]),
        ("人口3.4万人、全长840米", [34_000, 840]),
        ("seats 12,14,16", [12, 14, 16]),
        ("cases 1,2 and 3", [1, 2, 3]),
        ("shown before [1,2]", []),
        ("48.858,2.294", [48.858, 2.294]),
        ("1.234,50, davon 12,34,567, also", [1234.5, 1_234_567]),
        ("2 ½ cups", [2.5]),
        ("1億2000万円、3万5千人", [120_000_000, 35_000]),
        ("Version 1.2.3", [1.2, 3]),
    ],
)
def test_figures_are_extracted(text: str, values: list[float]) -> None:
    assert [figure.value for figure in extract_facts(text).figures] == values


@pytest.mark.parametrize(
    "text",
    [
        "on 4 May 1811",
        "on May 4, 1811",
        "4th May 1811",
        "am 4. Mai 1811",
        "on 1811-05-04",
        "am 04.05.1811",
        "el 4 de mayo de 1811",
        "4 maja 1811",
        "4 мая 1811 года",
        "4 مايو 1811",
        "dne 4. 5. 1811",
        "1811年5月4日",
        "1811년 5월 4일",
    ],
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


def test_date_with_slashes_may_name_the_month_first() -> None:
    claim, other = (extract_facts(text).dates[0] for text in ("3 December 1931", "4 May 1931"))
    for text in ("opened on 03/12/1931", "opened on 12/03/1931"):
        printed = extract_facts(text).dates[0]
        assert claim.matches(printed)
        assert not other.matches(printed)
    assert extract_facts("12/31/1931").dates[0][:3] == (1931, 12, 31)


def test_planet_is_not_a_month() -> None:
    assert extract_facts("the planet Mars").names == ["Mars"]
    assert [date[:3] for date in extract_facts("le 3 mars 1931").dates] == [(1931, 3, 3)]


def test_only_groups_of_thousands_have_two_values() -> None:
    printed = ("1.250 t", "1.250 Millionen", "0.125 mg", "1234.567 m")
    values = [extract_facts(text).figures[0].possible_values for text in printed]
    assert values == [(1.25, 1250), (1.25e6, 1.25e9), (0.125,), (1234.567,)]
