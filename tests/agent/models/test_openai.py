"""The OpenAI-compatible model, through the real client against a real endpoint."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agent.errors import UsageError
from agent.models.base import SystemPrompt, Usage
from agent.models.openai import OpenAIModel
from agent.models.providers import default_model, endpoint_for, with_price
from agent.protocol import parse
from agent.tools.registry import Registry, tool_specs
from agent.tools.toolset import PAGE_TOOLS
from agent.tools.web_tools import WEB_TOOLS
from agent.types import Image, Message, Observation, ToolCall

ASKED = [Message("user", "When?")]


@pytest.fixture
async def ask(provider):
    models = []

    async def asking(name="small", environ=None):
        where = endpoint_for(name, provider.url, environ or {})
        models.append(OpenAIModel(where))
        return await models[-1].reply("Be brief.", ASKED)

    yield asking
    for model in models:
        await model.aclose()


async def test_conversation_is_sent_and_reply_has_usage(ask, provider):
    provider.says("In 1894.", prompt_tokens_details={"cached_tokens": 60})
    reply = await ask(environ={"OPENAI_API_KEY": "k1"})
    assert (reply.text, reply.usage) == ("In 1894.", Usage(100, 60, 10))
    sent = provider.requests[0]
    assert [m["role"] for m in sent["messages"]] == ["system", "user"]
    assert (sent["model"], sent["authorization"]) == ("small", "Bearer k1")


async def test_cached_tokens_are_read_from_provider_specific_field(ask, provider):
    provider.says("ok", prompt_cache_hit_tokens=70)
    assert (await ask()).usage == Usage(100, 70, 10)


@pytest.mark.parametrize("answered", ["gpt-4.1-mini", "a name that is in no list"])
async def test_known_provider_call_has_price(ask, provider, answered):
    provider.says("ok")
    provider.answers[0].body["model"] = answered
    reply = await ask("openai/gpt-4.1-mini")
    assert reply.usage.usd == pytest.approx((100 * 0.4 + 10 * 1.6) / 1e6)


async def test_empty_model_name_selects_first_model_of_endpoint(ask, provider):
    provider.says("ok")
    await ask("")
    assert provider.requests[0]["model"] == "first"


async def test_provider_prefix_is_stripped_from_model_name(ask, provider):
    provider.says("ok")
    await ask("openrouter/maker/model-1")
    assert provider.requests[0]["model"] == "maker/model-1"


def test_known_prices_are_added_and_unknown_models_cost_zero():
    usage = Usage(1_000_000, 0, 0)
    assert with_price(usage, "gpt-4o", "openai").usd > 1
    assert with_price(usage, "no-such-model", "openai").usd == 0
    assert with_price(usage, "gpt-4o", None).usd == 0


def test_api_key_in_environment_selects_default_model():
    assert default_model({"GEMINI_API_KEY": "x"}).startswith("gemini/")
    assert default_model({}) is None


def test_unknown_model_error_lists_known_prefixes():
    with pytest.raises(UsageError, match="nonsense") as caught:
        endpoint_for("nonsense", None, {})
    assert "openrouter/" in caught.value.hint


async def test_native_calls_become_tool_tags(ask, provider):
    provider.says(
        "Now I read.", [("READ", '{"url":"u>>"}'), ("BACK", "{}"), ("FIND", "plain words")]
    )
    reply = parse((await ask()).text)
    assert [(call.name, call.param) for call in reply.calls] == [
        ("READ", '{"url": "u>>"}'),
        ("BACK", ""),
        ("FIND", "plain words"),
    ]


CALLED = [
    Message("user", "When?"),
    Message("assistant", 'I look.\n<<TOOL:WEB_SEARCH:lamps>>\n<<TOOL:READ:{"url":"u"}>>'),
    Message("user", "[Tool result for WEB_SEARCH]: []\n[Tool result for READ]: {}\n\n[A note.]"),
]


async def test_tools_are_sent_only_with_system_prompt_that_declares_them(provider):
    provider.says("ok")
    model = OpenAIModel(endpoint_for("m", provider.url, {}))
    prompt = SystemPrompt("You research.", tool_specs(Registry(WEB_TOOLS)))
    await model.reply("You judge.", ASKED)
    await model.reply(prompt, ASKED)
    await model.aclose()
    assert "tools" not in provider.requests[0]
    [first, *_] = provider.requests[1]["tools"]
    assert first["function"]["name"] == "WEB_SEARCH"
    assert first["function"]["parameters"]["required"] == ["query"]


async def test_unlisted_tool_is_called_through_call_tool(provider):
    arguments = json.dumps({"name": "CLICK", "arguments": '{"ref": "e3"}'})
    provider.says("", [("CALL_TOOL", arguments)])
    model = OpenAIModel(endpoint_for("m", provider.url, {}))
    prompt = SystemPrompt("", tool_specs(Registry([*WEB_TOOLS, *PAGE_TOOLS])))
    reply = await model.reply(prompt, CALLED)
    assert reply.text == '<<TOOL:CLICK:{"ref": "e3"}>>'
    page = Observation(ToolCall("CLICK"), {}, snapshot="[e1: Home]")
    shown = Message("user", "[Tool result for CLICK]: {}", observations=(page,))
    await model.reply(prompt, [*CALLED, Message("assistant", reply.text), shown])
    await model.aclose()
    first, second = provider.requests
    assert second["tools"] == first["tools"]
    assert "CLICK" not in {tool["function"]["name"] for tool in first["tools"]}
    [*_, called, answered] = second["messages"]
    assert called["tool_calls"][0]["function"] == {"name": "CALL_TOOL", "arguments": arguments}
    assert answered["tool_call_id"] == called["tool_calls"][0]["id"]


async def test_past_calls_and_results_are_sent_in_native_form(provider):
    provider.says("ok")
    model = OpenAIModel(endpoint_for("m", provider.url, {}))
    prompt = SystemPrompt("", tool_specs(Registry(WEB_TOOLS)))
    await model.reply(prompt, CALLED)
    await model.aclose()
    _, called, searched, read = provider.requests[0]["messages"]
    assert called["content"] == "I look."
    functions = [call["function"] for call in called["tool_calls"]]
    assert [json.loads(f["arguments"]) for f in functions] == [{"query": "lamps"}, {"url": "u"}]
    ids = [call["id"] for call in called["tool_calls"]]
    assert [searched["tool_call_id"], read["tool_call_id"]] == ids
    assert searched["content"] == "[Tool result for WEB_SEARCH]: []"
    assert read["content"].endswith("[A note.]")


async def test_past_calls_are_sent_as_text_without_functions(provider):
    provider.says("ok")
    await send_messages(endpoint_for("m", provider.url, {}), CALLED)
    assert [row["content"] for row in provider.requests[0]["messages"][1:]] == [
        message.content for message in CALLED
    ]


PICTURE = Image("image/png", b"\x89PNG", "ab" * 32)
SHOWN = [Message("user", "What is shown?", (PICTURE,))]


async def test_image_is_sent_before_text(provider):
    provider.says("A lighthouse.")
    await send_messages(endpoint_for("openai/gpt-4.1-mini", provider.url, {}), SHOWN)
    picture, words = provider.requests[0]["messages"][1]["content"]
    assert picture["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert words == {"type": "text", "text": "What is shown?"}


async def test_model_without_vision_gets_text_only(provider):
    provider.says("I cannot tell.")
    await send_messages(replace(endpoint_for("small", provider.url, {}), sees=False), SHOWN)
    assert provider.requests[0]["messages"][1]["content"] == "What is shown?"


async def send_messages(where, messages):
    model = OpenAIModel(where)
    await model.reply("Be brief.", messages)
    await model.aclose()
