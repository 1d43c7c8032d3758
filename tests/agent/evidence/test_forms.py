"""Tokens, figures, dates and names: the forms that count as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence.language.dates import find_dates
from agent.evidence.language.figures import find_figures
from agent.evidence.language.names import find_names
from agent.evidence.language.normalise import tokenise, words_of


def roots(text: str) -> list[str]:
    return [token.root for token in words_of(tokenise(text))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the keeper’s lamp", "the keeper's lamp"),
        ("22\u202f392 km²", "22,392 km2"),
        ("forty-one years", "41 years"),
        ("two hundred and six", "206"),
        ("8.2 million", "8,200,000"),
        ("5½ metres", "5.5 meters"),
        ("38 per cent", "38%"),
        ("the U.S. navy", "the US navy"),
        ("the twelfth day", "the 12th day"),
        ("it wasn't built", "it was not built"),
        ("São Tomé", "Sao Tome"),
        ("the 1990–95 programme", "the 1990-95 program"),
        ("No. 4", "no. 4"),
    ],
)
def test_forms_of_one_text_have_equal_tokens(one: str, other: str) -> None:
    assert roots(one) == roots(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("14 cars", "41 cars"), ("it was built", "it was not built"), ("1.5 km", "15 km")],
)
def test_different_statements_have_different_tokens(one: str, other: str) -> None:
    assert roots(one) != roots(other)


@given(st.integers(min_value=1000, max_value=999_999_999))
def test_thousands_separators_do_not_matter(number: int) -> None:
    assert roots(f"{number:,}") == roots(str(number))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 4 May 1898", (1898, 5, 4)),
        ("on May 4, 1898", (1898, 5, 4)),
        ("in May 1898", (1898, 5, None)),
        ("since 1898", (1898, None, None)),
    ],
)
def test_dates_are_read_in_all_orders(
    text: str, expected: tuple[int, int | None, int | None]
) -> None:
    (date,) = find_dates(tokenise(text))
    assert (date.exact_year, date.month, date.day) == expected


def test_decades_and_centuries_hold_their_years() -> None:
    (decade,) = find_dates(tokenise("in the 1950s"))
    (century,) = find_dates(tokenise("in the seventh century"))
    assert (decade.first_year, decade.last_year) == (1950, 1959)
    assert (century.first_year, century.last_year) == (601, 700)


def test_a_count_is_no_year_and_a_year_no_count() -> None:
    assert find_dates(tokenise("It has 1304 moving parts.")) == []
    assert find_figures(tokenise("It was built in 1304.")) == []


@pytest.mark.parametrize(
    ("claim", "page", "holds"),
    [
        ("about 27 km", "17 miles", True),
        ("nearly 500 houses", "487 houses", True),
        ("more than 1,300 parts", "1,304 parts", True),
        ("more than 1,400 parts", "1,304 parts", False),
        ("82 minutes", "1 hour and 22 minutes", True),
        ("14 cars", "41 cars", False),
        ("12 kg", "12 km", False),
        ("two thirds", "66 per cent", True),
    ],
)
def test_figures_hold_across_units_and_stated_rounding(claim: str, page: str, holds: bool) -> None:
    (mine,) = find_figures(tokenise(claim))
    (theirs,) = find_figures(tokenise(page))
    assert mine.says(theirs) is holds


def test_names_know_their_role() -> None:
    names = find_names(tokenise("The bridge was designed by the engineer Ada Renwick."))
    assert [(name.text, name.role) for name in names] == [("Ada Renwick", "by")]
    (subject, *_) = find_names(tokenise("In 1902 Marta Quill left."))
    assert (subject.text, subject.role) == ("Marta Quill", "subject")
