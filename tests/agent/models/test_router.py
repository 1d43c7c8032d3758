"""Fallback models are used at once after a refusal, and after the retries in an outage."""

from __future__ import annotations

import pytest

from agent.errors import ModelQuota
from agent.models.base import ModelReply, Task
from agent.models.openai import OpenAIModel
from agent.models.providers import endpoint_for
from agent.models.router import COOLDOWN_SECONDS, Router
from agent.types import Message

ASKED = [Message("user", "When?")]


class Second:
    """A model that always answers, and has a clock."""

    name = "second"

    def __init__(self):
        self.now = 0.0

    async def reply(self, system, messages):
        return ModelReply("from the second", model=self.name)

    async def aclose(self):
        pass

    def clock(self):
        return self.now


async def fail_to_open(_endpoint):
    raise AssertionError("all are open")


@pytest.fixture
async def route(provider):
    second, notes = Second(), []
    first = OpenAIModel(endpoint_for("first", provider.url, {}))
    router = Router([first, second], fail_to_open, notes.append, second.clock)
    router.second, router.notes = second, notes
    yield router
    await router.aclose()


async def test_refused_key_is_never_tried_again(route, provider):
    provider.fails(401)
    assert [(await route.reply("", ASKED)).text for _ in range(3)] == ["from the second"] * 3
    assert len(provider.requests) == 1
    assert "first failed" in route.notes[0]


async def test_outage_puts_model_in_cooldown_until_it_expires(route, provider):
    provider.fails(503)
    for _ in range(3):
        assert (await route.reply("", ASKED)).model == "second"
    assert len(provider.requests) == 4
    route.second.now = COOLDOWN_SECONDS
    provider.answers.clear()
    provider.says("back again")
    assert (await route.reply("", ASKED)).text == "back again"


async def test_last_error_is_raised_when_no_model_can_answer(provider):
    provider.fails(402)
    only = OpenAIModel(endpoint_for("only", provider.url, {}))
    router = Router([only], fail_to_open)
    with pytest.raises(ModelQuota):
        await router.reply("", ASKED)
    await router.aclose()


async def test_router_takes_tasks_of_usable_model(route, provider):
    assert route.takes(Task.PLAN)
