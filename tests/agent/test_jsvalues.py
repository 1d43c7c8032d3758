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
def test_values_are_formatted_as_in_template_literals(value: object, expected: str) -> None:
    assert js.to_string(value) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_strings_round_trip(number: float) -> None:
    assert float(js.number_to_string(number)) == number


@given(st.text(), st.integers(0, 20))
def test_cut_limits_length_in_utf16_units(text: str, units: int) -> None:
    kept = js.cut(text, units)
    assert js.length(kept) == min(units, js.length(text))
    assert js.well_formed(kept).encode().decode() in {kept, kept[:-1]}


def test_trim_strips_javascript_whitespace() -> None:
    assert js.trim("\ufeff\u00a0 a\x1c \u2028") == "a\x1c"


def test_array_index_keys_are_ordered_first() -> None:
    keys = ["zeta", "10", "7", "01", "4294967295", "-1"]
    assert list(js.ordered(dict.fromkeys(keys))) == ["7", "10", "zeta", "01", "4294967295", "-1"]
