"""Counts as written on pages in many languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence.tokens import NUMBER_SCALES
from browser.extract.platforms import number
from browser.extract.platforms.parsing import SCALES


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("1,234", 1234),
        ("1.234.567 Aufrufe", 1_234_567),
        ("1\u202f234 vues", 1234),
        ("12,34,567", 1_234_567),
        ("1'234", 1234),
        ("1.2k", 1200),
        ("1,234K", 1_234_000),
        ("1.5M subscribers", 1_500_000),
        ("1,2 Mio.", 1_200_000),
        ("12 Tsd.", 12_000),
        ("2 mil visualizações", 2000),
        ("3,5 млн просмотров", 3_500_000),
        ("3.4万回視聴", 34_000),
        ("1.3 million views", 1_300_000),
        ("12 kg", 12),
        ("5 books", 5),
        ("4.5 out of 5", 4),
        ("−3", -3),
        ("no comments", None),
        (None, None),
        (True, None),
    ],
)
def test_counts_are_parsed_in_any_notation(written: object, count: int | None) -> None:
    assert number(written) == count


@given(st.integers(0, 10**12), st.sampled_from([",", ".", " ", "\u202f", "'"]))
def test_digit_group_separators_are_ignored(count: int, separator: str) -> None:
    assert number(f"{count:,}".replace(",", separator)) == count


def test_scales_agree_with_those_of_claims():
    shared = SCALES.keys() & NUMBER_SCALES.keys()
    assert shared >= {"thousand", "million", "billion", "bn"}
    assert {word: SCALES[word] for word in shared} == {word: NUMBER_SCALES[word] for word in shared}
