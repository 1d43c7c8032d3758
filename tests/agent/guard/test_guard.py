"""Budgets and the context window."""

from __future__ import annotations

import pytest

from agent.guard import Budget, LimitReached, fit
from agent.models import Message, Usage


def test_steps_beyond_the_limit_are_refused():
    budget = Budget(max_steps=2)
    assert [budget.begin_step(), budget.begin_step()] == [1, 2]
    with pytest.raises(LimitReached, match="steps"):
        budget.begin_step()


def test_a_share_of_the_time_is_kept_for_the_answer():
    now = [0.0]
    budget = Budget(seconds=10, clock=lambda: now[0])
    now[0] = 7.9
    budget.begin_step()
    now[0] = 8.1
    with pytest.raises(LimitReached, match="timeout"):
        budget.begin_step()
    assert budget.seconds_left(reserve=False) == pytest.approx(1.9)


def test_a_share_of_the_money_is_kept_for_the_answer():
    budget = Budget(usd=1.0)
    budget.add(Usage(usd=0.79))
    budget.begin_step()
    budget.add(Usage(usd=0.02))
    with pytest.raises(LimitReached, match="budget"):
        budget.begin_step()


def test_budget_every_step_trims_observations_before_notes_and_never_the_question():
    messages = [
        Message("user", "old history " + "x" * 500),
        Message("user", "the question " + "q" * 500),
        Message("assistant", "note " + "n" * 500),
        Message("user", "observation " + "o" * 500),
        Message("assistant", "second note"),
        Message("user", "newest observation " + "z" * 500),
    ]
    fitted = fit(messages, 1, limit=2_000)
    assert fitted[1] == messages[1]
    assert fitted[-1] == messages[-1]
    assert fitted[3].content.endswith("…[trimmed]")
    assert fitted[2] == messages[2]


def test_what_fits_is_left_as_it_is():
    messages = [Message("user", "short")]
    assert fit(messages, 0) == messages
