"""Claude through Anthropic's own API: format, caching, prices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.errors import ModelError
from agent.models.base import SystemPrompt
from agent.models.providers import default_model, endpoint_for
from agent.protocol import parse
from agent.tools.registry import Registry, tool_specs
from agent.tools.web_tools import WEB_TOOLS
from agent.types import Image, Message
from tests.agent.models.wire import anthropic_model

ASKED = [Message("user", "When?")]
CALLED = [
    Message("user", "When?"),
    Message("assistant", 'I look.\n<<TOOL:WEB_SEARCH:lamps>>\n<<TOOL:READ:{"url":"u"}>>'),
    Message("user", "[Tool result for WEB_SEARCH]: []\n[Tool result for READ]: {}\n\n[A note.]"),
]
KEY = {"ANTHROPIC_API_KEY": "k1"}


@pytest.fixture
async def model(claude):
    model = anthropic_model()(endpoint_for("anthropic/claude-haiku-4-5", claude.url, KEY))
    yield model
    await model.aclose()


async def test_conversation_is_sent_and_reply_has_usage_and_price(model, claude):
    claude.says("In 1894.")
    reply = await model.reply("Be brief.", ASKED)
    assert (reply.text, reply.model) == ("In 1894.", "claude-haiku-4-5")
    # The sum of 20 new tokens, 60 read from the cache, and 20 written to it.
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (100, 60)
    assert reply.usage.usd == pytest.approx((20 * 1.0 + 60 * 0.1 + 20 * 1.25 + 10 * 5.0) / 1e6)
    sent = claude.requests[0]
    assert (sent["model"], sent["authorization"]) == ("claude-haiku-4-5", "Bearer k1")
    assert sent["path"] == "/v1/messages"


async def test_prompt_and_conversation_are_marked_for_cache(model, claude):
    claude.says("ok")
    await model.reply("Be brief.", [*ASKED, Message("assistant", "a"), Message("user", "b")])
    sent = claude.requests[0]
    assert sent["system"][0]["cache_control"] == {"type": "ephemeral"}
    marked = ["cache_control" in m["content"][-1] for m in sent["messages"]]
    assert marked == [False, False, True]


async def test_tools_and_results_use_native_api_form(model, claude):
    claude.says("", [("READ", {"url": "u>>"})])
    prompt = SystemPrompt("", tool_specs(Registry(WEB_TOOLS)))
    reply = parse((await model.reply(prompt, CALLED)).text)
    assert [(call.name, call.param) for call in reply.calls] == [("READ", '{"url": "u>>"}')]
    sent = claude.requests[0]
    assert sent["tools"][0]["input_schema"]["required"] == ["query"]
    assert "system" not in sent
    _, called, given = sent["messages"]
    assert [block["type"] for block in called["content"]] == ["text", "tool_use", "tool_use"]
    assert [block.get("input") for block in called["content"][1:]] == [
        {"query": "lamps"},
        {"url": "u"},
    ]
    assert [b["tool_use_id"] for b in given["content"]] == [b["id"] for b in called["content"][1:]]
    assert given["content"][1]["content"][0]["text"].endswith("[A note.]")


async def test_text_tags_work_without_offered_tools(model, claude):
    claude.says("<<TOOL:READ:u>>")
    assert parse((await model.reply("", CALLED)).text).calls
    assert claude.requests[0]["messages"][1]["content"][0]["text"] == CALLED[1].content


async def test_images_are_sent_before_text(model, claude):
    claude.says("A lighthouse.")
    await model.reply("", [Message("user", "What?", (Image("image/png", b"\x89PNG", "ab"),))])
    picture, words = claude.requests[0]["messages"][0]["content"]
    assert picture["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": "iVBORw==",
    }
    assert words["text"] == "What?"


async def test_blank_message_is_sent_as_non_empty_text(model, claude):
    claude.says("ok")
    await model.reply("", [Message("user", " ")])
    assert claude.requests[0]["messages"][0]["content"][0]["text"].strip()


async def test_refusal_stop_reason_raises_without_retry(model, claude):
    claude.says("", stop_reason="refusal")
    with pytest.raises(ModelError, match="declined"):
        await model.reply("", ASKED)
    assert len(claude.requests) == 1


async def test_base_url_with_version_suffix_is_normalised(claude):
    claude.says("ok")
    where = replace(endpoint_for("anthropic/x", claude.url, {}), base_url=f"{claude.url}/v1/")
    model = anthropic_model()(where)
    await model.reply("", ASKED)
    await model.aclose()
    assert claude.requests[0]["path"] == "/v1/messages"


def test_anthropic_key_selects_default_model():
    assert default_model(KEY).startswith("anthropic/claude-")
