"""Budgets: steps, time and money."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from agent.guard.budget import Budget, LimitReached, RunClock
from agent.guard.model_client import ModelClient
from agent.guard.window import tokens
from agent.models.base import CALL_BUDGET, ModelReply, Usage
from agent.types import Message


def test_steps_beyond_limit_raise_limit_reached():
    budget = Budget(max_steps=2)
    assert [budget.begin_step(), budget.begin_step()] == [1, 2]
    with pytest.raises(LimitReached, match="steps"):
        budget.begin_step()


def test_time_is_reserved_for_the_answer():
    now = [0.0]
    budget = Budget(max_seconds=10, clock=RunClock(lambda: now[0]))
    now[0] = 7.9
    budget.begin_step()
    now[0] = 8.1
    with pytest.raises(LimitReached, match="timeout"):
        budget.begin_step()
    assert budget.seconds_left(reserve=False) == pytest.approx(1.9)


def test_money_is_reserved_for_the_answer():
    budget = Budget(max_usd=1.0)
    budget.add(Usage(usd=0.79))
    budget.begin_step()
    budget.add(Usage(usd=0.02))
    with pytest.raises(LimitReached, match="budget"):
        budget.begin_step()


def test_spending_of_a_part_counts_against_the_whole():
    whole = Budget(max_steps=12, max_usd=1.0)
    part = whole.budget_for_part(2, max_steps=8)
    part.add(Usage(usd=0.3))
    assert (whole.spent_usd, part.max_usd, part.max_steps) == (0.3, 0.4, 8)


def test_part_has_at_most_the_steps_of_the_whole():
    assert Budget(max_steps=3).budget_for_part(2, max_steps=8).max_steps == 3


PER_TOKEN = 0.4e-6, 1.6e-6


class Billed:
    """A model whose provider bills a multiple of what is sent and returned."""

    name = "billed"

    def __init__(self, factor: int, words: int) -> None:
        self.factor, self.words = factor, words

    async def reply(self, system, messages):
        call = CALL_BUDGET.get()
        longest = call.begin() if call else None
        text = "word " * (min(self.words, longest or self.words) * 4 // 5)
        sent = tokens(system) + sum(tokens(message.content) for message in messages)
        usage = Usage(sent * self.factor, 0, tokens(text) * self.factor)
        usd = usage.input_tokens * PER_TOKEN[0] + usage.output_tokens * PER_TOKEN[1]
        return ModelReply(text, replace(usage, usd=usd))

    async def aclose(self):
        """Nothing to close."""


@pytest.mark.parametrize("words", [100, 3_000])
@pytest.mark.parametrize("factor", [1, 2, 4, 10])
@pytest.mark.parametrize("bound", [{"max_tokens": 45_000}, {"max_usd": 0.05}])
async def test_cap_holds_from_second_call_for_any_billing_factor(factor, words, bound):
    budget = Budget(max_steps=100, price=lambda i, o: i * PER_TOKEN[0] + o * PER_TOKEN[1], **bound)
    client = ModelClient(Billed(factor, words), "system " * 300, budget, lambda *_, **__: None)
    messages, first = [Message("user", "question")], None
    with suppress(LimitReached):
        for number in range(100):
            reply = await client.ask(f"main/{number}", messages)
            first = first or (budget.used_tokens, budget.spent_usd)
            messages += [Message("assistant", reply.text[:3_000]), Message("user", "found " * 600)]
        pytest.fail("the cap was never reached")
    assert first is not None
    if "max_tokens" in bound:
        assert budget.used_tokens <= max(bound["max_tokens"], first[0])
    else:
        assert budget.spent_usd <= max(bound["max_usd"], first[1])
