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


async def open_none(_endpoint):
    raise AssertionError("all are open")


@pytest.fixture
async def route(provider):
    second, notes = Second(), []
    first = OpenAIModel(endpoint_for("first", provider.url, {}))
    router = Router([first, second], open_none, notes.append, second.clock)
    router.second, router.notes = second, notes
    yield router
    await router.aclose()


async def test_a_refused_key_is_asked_once_and_never_again(route, provider):
    provider.fails(401)
    assert [(await route.reply("", ASKED)).text for _ in range(3)] == ["from the second"] * 3
    assert len(provider.requests) == 1
    assert "first failed" in route.notes[0]


async def test_an_outage_is_retried_then_left_alone_for_a_while(route, provider):
    provider.fails(503)
    for _ in range(3):
        assert (await route.reply("", ASKED)).model == "second"
    assert len(provider.requests) == 4
    route.second.now = COOLDOWN_SECONDS
    provider.answers.clear()
    provider.says("back again")
    assert (await route.reply("", ASKED)).text == "back again"


async def test_the_last_error_is_raised_where_none_can_answer(provider):
    provider.fails(402)
    only = OpenAIModel(endpoint_for("only", provider.url, {}))
    router = Router([only], open_none)
    with pytest.raises(ModelQuota):
        await router.reply("", ASKED)
    await router.aclose()


async def test_what_may_be_asked_is_what_the_usable_model_takes(route, provider):
    assert route.takes(Task.PLAN)
