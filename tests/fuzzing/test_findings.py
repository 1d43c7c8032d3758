"""Inputs found by `bench.fuzz` that once broke a reader are handled correctly."""

from __future__ import annotations

import pytest

from tests.fuzzing.targets import TARGETS, finding, made

FOUND = {
    "url": [b"ws:*.//[fe80::1]/", b"https://e.org/#!/###"],  # `*.` is this machine to the C library
    "feeds": [made("feeds", 449778)],  # dates with a year beyond all
    "mail": [made("mail", 11540)],
    "office": [made("office", 110372), made("office", 168265)],  # two .msg with broken sizes
}


@pytest.mark.parametrize(("name", "body"), [(name, one) for name in FOUND for one in FOUND[name]])
def test_fixed_fuzzing_input_causes_no_finding(name, body):
    assert finding(TARGETS[name], body) == ""
