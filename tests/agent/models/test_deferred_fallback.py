"""A fallback model is opened only when it is first asked."""

from __future__ import annotations

from agent.models.base import SystemPrompt
from agent.models.openai import OpenAIModel
from agent.models.providers import endpoint_for
from agent.models.router import Router
from agent.types import Message

ASKED = [Message("user", "When?")]


async def test_deferred_model_is_opened_once_with_earlier_tools(provider):
    provider.says("In 1894.")
    where, opened = endpoint_for("openai/gpt-4.1", provider.url, {}), []

    async def opening(_where):
        opened.append(OpenAIModel(where))
        return opened[-1]

    model = Router([where], opening)
    tool = {"type": "function", "function": {"name": "READ", "parameters": {}}}
    prompt = SystemPrompt("You research.", [tool])
    assert (model.name, model.sees, model.native, opened) == ("openai/gpt-4.1", True, True, [])
    heard = []
    assert (await model.reply(prompt, ASKED, heard.append)).text == "In 1894."
    assert (await model.reply("", ASKED)).text == "In 1894."
    assert len(opened) == 1
    assert "".join(heard) == "In 1894."
    assert ["tools" in request for request in provider.requests] == [True, False]
    await model.aclose()


async def test_unused_deferred_model_is_not_opened_on_close():
    where, opened = endpoint_for("openai/gpt-4.1", None, {}), []

    async def opening(_where):
        opened.append(OpenAIModel(where))
        return opened[-1]

    await Router([where], opening).aclose()
    assert opened == []
