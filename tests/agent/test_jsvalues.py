from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import jsvalues as js


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1.5e-10, "1.5e-10"),
        (2**53 + 1, "9007199254740992"),
        (None, "null"),
        (True, "true"),
        ([1, None, [2, "x"]], "1,,2,x"),
        ({"a": 1}, "[object Object]"),
        ("text", "text"),
    ],
)
def test_values_become_strings_as_in_a_template(value: object, expected: str) -> None:
    assert js.to_string(value) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_spelt_so_that_they_read_back(number: float) -> None:
    assert float(js.number_to_string(number)) == number


@given(st.text(), st.integers(0, 20))
def test_a_cut_keeps_at_most_so_many_utf16_units(text: str, units: int) -> None:
    kept = js.cut(text, units)
    assert js.length(kept) == min(units, js.length(text))
    assert js.well_formed(kept).encode().decode() in {kept, kept[:-1]}


def test_white_space_is_that_of_javascript() -> None:
    assert js.trim("\ufeff\u00a0 a\x1c \u2028") == "a\x1c"


def test_keys_like_array_indices_come_first() -> None:
    keys = ["zeta", "10", "7", "01", "4294967295", "-1"]
    assert list(js.ordered(dict.fromkeys(keys))) == ["7", "10", "zeta", "01", "4294967295", "-1"]
