"""What dates in brackets and "a 1964 film" say without words."""

from __future__ import annotations

import pytest

from agent.keyless.implied import implied
from browser.text import stem


@pytest.mark.parametrize(
    "text",
    [
        "Ada Quill (3 May 1901 – 9 June 1980) was a Danish painter.",
        "Ada Quill (May 3, 1901 – June 9, 1980), was a Danish painter.",
        "Ada Quill (1901-1980) painted doors.",
    ],
)
def test_two_dates_after_a_name_say_birth_and_death(text: str) -> None:
    assert {stem("born"), stem("died")} <= implied(text)


def test_one_date_marked_as_such_says_birth_alone() -> None:
    assert stem("born") in implied("Ada Quill (b. 1960) is a painter.")
    assert stem("died") not in implied("Ada Quill (b. 1960) is a painter.")


def test_a_year_before_a_kind_of_work_says_when_it_came_out() -> None:
    assert stem("released") in implied("The Blue Door is a 1964 Danish comedy film by Ada Quill.")


def test_plain_prose_and_other_brackets_say_nothing_more() -> None:
    assert not implied("The door (painted blue) is older than the house.")
    assert not implied("The line (opened in 1931) has nine stations.")
