"""Budgets: steps, time and money."""

from __future__ import annotations

import pytest

from agent.guard.budget import Budget, LimitReached
from agent.models.base import Usage


def test_steps_beyond_the_limit_are_refused():
    budget = Budget(max_steps=2)
    assert [budget.begin_step(), budget.begin_step()] == [1, 2]
    with pytest.raises(LimitReached, match="steps"):
        budget.begin_step()


def test_a_share_of_the_time_is_kept_for_the_answer():
    now = [0.0]
    budget = Budget(max_seconds=10, clock=lambda: now[0])
    now[0] = 7.9
    budget.begin_step()
    now[0] = 8.1
    with pytest.raises(LimitReached, match="timeout"):
        budget.begin_step()
    assert budget.seconds_left(reserve=False) == pytest.approx(1.9)


def test_a_share_of_the_money_is_kept_for_the_answer():
    budget = Budget(max_usd=1.0)
    budget.add(Usage(usd=0.79))
    budget.begin_step()
    budget.add(Usage(usd=0.02))
    with pytest.raises(LimitReached, match="budget"):
        budget.begin_step()


def test_what_a_part_spends_is_spent_of_the_whole():
    whole = Budget(max_steps=12, max_usd=1.0)
    part = whole.part(2, max_steps=8)
    part.add(Usage(usd=0.3))
    assert (whole.spent_usd, part.max_usd, part.max_steps) == (0.3, 0.4, 8)


def test_a_part_has_no_more_steps_than_the_whole():
    assert Budget(max_steps=3).part(2, max_steps=8).max_steps == 3
