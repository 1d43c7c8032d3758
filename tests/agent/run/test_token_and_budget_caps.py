"""`max_tokens` and `budget` are caps that the endpoint's counts never exceed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.guard.budget import Budget
from agent.models.base import Usage
from agent.models.providers import with_price
from tests.agent.models.wire import OpenAIProvider, running

TOKENS_IN, TOKENS_OUT = 600, 200


@pytest.fixture
def provider():
    with running(OpenAIProvider, "/v1") as endpoint:
        yield endpoint


def says(provider, text, site=None):
    usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}
    provider.says(text, [("READ", f'{{"url":"{site.url}/hesk-light"}}')] if site else None, **usage)


@pytest.mark.parametrize("most", [3_000, 8_000, 20_000])
@pytest.mark.parametrize("text", ["Reading on.", ""])
@pytest.mark.sample(2)
async def test_run_never_exceeds_token_cap(ask, provider, site, most, text):
    """An empty reply is billed, and requested again, like any other."""
    says(provider, text, site if text else None)
    report = await ask(model="m", base_url=provider.url, max_tokens=most, max_steps=30)
    chats = [r for r in provider.requests if "messages" in r]
    assert len(chats) * (TOKENS_IN + TOKENS_OUT) <= most
    assert all(r.get("max_tokens", 0) >= TOKENS_OUT for r in chats)
    assert report.usage.input_tokens + report.usage.output_tokens <= most


async def test_function_definitions_count_towards_token_cap(ask, provider, site):
    says(provider, "Reading on.", site)
    by_text = {"model": "m", "base_url": provider.url, "max_tokens": 8_000, "max_steps": 1}
    await ask(**by_text, native_tools=False)
    await ask(**by_text, native_tools=True)
    left = [r["max_tokens"] for r in provider.requests if "messages" in r]
    told = ["tools" in r for r in provider.requests if "messages" in r]
    assert told[0] is False
    assert any(told)
    assert min(left) >= TOKENS_OUT
    assert left[told.index(True)] < 8_000 * 0.8 - 500


class ExpensiveProvider(OpenAIProvider):
    """Bills each call at its maximum: three characters per token, and every allowed reply token.

    Every third call is cut off after it is billed.
    """

    usd: float

    def in_form(self, answer, asked):
        sent = len(str(asked["messages"])) // 3
        longest = asked["max_tokens"]
        self.usd += with_price(Usage(sent, output_tokens=longest), asked["model"], "openai").usd
        usage = {"prompt_tokens": sent, "completion_tokens": longest, "total_tokens": 0}
        whole = super().in_form(replace(answer, body={**answer.body, "usage": usage}), asked)
        cut = len(self.requests) % 3 == 0
        return replace(whole, events=(whole.events or [])[:2], breaks=True) if cut else whole


@pytest.fixture
def expensive():
    with running(ExpensiveProvider, "/v1") as endpoint:
        endpoint.usd = 0.0
        yield endpoint


@pytest.mark.parametrize("budget", [0.004, 0.02, 0.05])
async def test_run_never_exceeds_dollar_budget(ask, expensive, site, budget):
    says(expensive, "Reading on.", site)
    named = {"model": "openai/gpt-4o-mini", "base_url": expensive.url}
    report = await ask(**named, budget=budget, max_steps=30)
    assert 0 < expensive.usd <= budget
    assert report.usage.usd <= expensive.usd
    assert {request["model"] for request in expensive.requests} == {"gpt-4o-mini"}


async def test_fallback_spends_only_remaining_budget(ask, expensive, monkeypatch):
    """The first model bills each attempt and never answers."""
    monkeypatch.setenv("OPENROUTER_BASE_URL", expensive.url)
    expensive.says("")
    named = {"model": "openai/gpt-4o-mini", "base_url": expensive.url}
    report = await ask(**named, fallback=["openrouter/gpt-4o-mini"], budget=0.02, config=True)
    assert report.error is not None or report.status != "answered"
    assert 0 < expensive.usd <= 0.02


def test_subtask_budget_reserves_prompt_once():
    whole = Budget(max_usd=1.0, price=lambda given, got: (given + got) / 1e6, overhead=100)
    part = whole.budget_for_part(2, 4)
    held = part.reserve(1_000)
    assert whole.spent_usd == pytest.approx(part.spent_usd)
    held.release()
    assert (whole.spent_usd, part.spent_usd) == pytest.approx((0, 0))
