"""What an endpoint refuses is left out of the next request, and remembered for later runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.errors import ModelContext, ModelError
from agent.models.base import SystemPrompt
from agent.models.openai import OpenAIModel
from agent.models.providers import endpoint_for
from agent.types import Image, Message

TOOL = {"name": "READ", "description": "d", "parameters": {"type": "object", "properties": {}}}
PROMPT = SystemPrompt(
    "Call functions.", [{"type": "function", "function": TOOL}], in_text="Write tags."
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
SEEN = [Message("user", "What is it?", images=(Image("image/png", b"x", "0"),))]
REFUSALS = {
    "tools": "registry.ollama.ai/library/gemma does not support tools",
    "tool choice": '"auto" tool choice requires --enable-auto-tool-choice',
    "tool use": "No endpoints found that support tool use.",
    "system": "Only user, assistant and tool roles are supported, got system",
    "alternate": "Conversation roles must alternate user/assistant/user/assistant/...",
    "images": "unknown variant `image_url`, expected `text`",
    "stream": "Unsupported value: 'stream' does not support true with this model.",
}


def parts(request):
    """List the parts of a request that an endpoint may refuse."""
    content = request["messages"][-1]["content"]
    return {
        "tools": "tools" in request,
        "system": request["messages"][0]["role"] == "system",
        "images": not isinstance(content, str),
        "stream": bool(request.get("stream")),
    }


@pytest.fixture
async def model_at(provider, tmp_path):
    models = []

    def make():
        where = endpoint_for("m", provider.url, {})
        learned = tmp_path / "endpoints.json"
        models.append(OpenAIModel(replace(where, sees=True, native=True, abilities_file=learned)))
        return models[-1]

    yield make
    for model in models:
        await model.aclose()


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("status", [400, 404, 500])
@pytest.mark.sample(7)
async def test_refused_request_part_is_omitted_from_then_on(model_at, provider, name, status):
    provider.fails(status, REFUSALS[name])
    provider.says("ok.")
    for number in range(2):
        assert (await model_at().reply(PROMPT, SEEN, [].append)).text == "ok.", number
    part = {"tool choice": "tools", "tool use": "tools", "alternate": "system"}.get(name, name)
    assert [parts(request)[part] for request in provider.requests] == [True, False, False]
    others = {key for key, sent in parts(provider.requests[-1]).items() if sent}
    assert others == {"tools", "system", "images", "stream"} - {part}


async def test_prompt_describes_tags_when_functions_are_refused(model_at, provider):
    provider.fails(400, REFUSALS["tools"])
    provider.says("ok.")
    await model_at().reply(PROMPT, SEEN)
    systems = [request["messages"][0]["content"] for request in provider.requests]
    assert systems == ["Call functions.", "Write tags."]


async def test_system_prompt_is_prepended_when_role_is_refused(model_at, provider):
    provider.fails(400, REFUSALS["system"])
    provider.says("ok.")
    await model_at().reply("Be brief.", [Message("user", "When?")])
    assert provider.requests[-1]["messages"] == [{"role": "user", "content": "Be brief.\n\nWhen?"}]


async def test_refusal_of_part_not_sent_is_an_error(model_at, provider):
    provider.fails(400, "tools are not supported")
    with pytest.raises(ModelError, match="refused the request"):
        await model_at().reply("Be brief.", [Message("user", "When?")])
    assert len(provider.requests) == 1


async def test_context_window_named_by_endpoint_is_remembered(model_at, provider):
    said = "This model's maximum context length is 4096 tokens. However, you requested 9123 tokens."
    provider.fails(400, said)
    with pytest.raises(ModelContext) as caught:
        await model_at().reply("", [Message("user", "When?")])
    assert (caught.value.tokens, model_at().context) == (4096, 4096)
