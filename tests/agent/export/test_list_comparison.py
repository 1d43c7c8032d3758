"""Compared lists: nothing is lost, nothing is moved."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.export.compare_runs import pairs

LISTS = st.lists(st.sampled_from("abcde"), max_size=12)


@given(LISTS, LISTS)
def test_pairs_keep_both_lists_complete_and_in_order(a, b):
    found = pairs(a, b)
    assert [left for left, _ in found if left is not None] == a
    assert [right for _, right in found if right is not None] == b


@given(LISTS, LISTS)
def test_only_equal_items_are_paired(a, b):
    assert all(left is None or right is None or left == right for left, right in pairs(a, b))
