"""Characters that control a terminal or hide text are removed; those that spell words stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.text.words import clean


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("a\x1b]0;title\x07b", "ab"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("pass\u200bword", "password"),
        ("\u202eevil\u202c", "evil"),
        ("tag\U000e0041ged", "tagged"),
        ("tab\tand\nnewline", "tab\tand\nnewline"),
        ("👩\u200d🚒", "👩\u200d🚒"),
    ],
)
def test_harmful_characters_are_removed(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.text(max_size=80))
def test_clean_is_idempotent(text: str) -> None:
    assert clean(clean(text)) == clean(text)
