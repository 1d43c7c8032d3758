"""Models through LiteLLM, if it is installed."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec

import pytest

from agent.errors import ModelQuota, ModelUnauthorized, ModelUnavailable, UsageError
from agent.models.base import SystemPrompt
from agent.models.providers import endpoint_for, remote_model
from agent.protocol import parse
from agent.tools.registry import Registry, tool_specs
from agent.tools.web_tools import WEB_TOOLS
from agent.types import Message
from browser.net.egress import Egress, EgressPolicy
from browser.retries import MODEL

# The library's own types make pydantic and asyncio warn.
pytestmark = [
    pytest.mark.filterwarnings("default::UserWarning"),
    pytest.mark.filterwarnings("default::DeprecationWarning"),
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]

ASKED = [Message("user", "When?")]
SAID = "The lamp was first lit in 1894."


@pytest.fixture
async def model(provider):
    pytest.importorskip("litellm")
    from agent.models.litellm import LiteLLMModel

    where = endpoint_for("litellm/openai/small", provider.url, {})
    model = LiteLLMModel(replace(where, key="k1", native=True))
    yield model
    await model.aclose()


async def test_model_name_is_sent_without_litellm_prefix(model, provider):
    provider.says(SAID)
    reply = await model.reply("Be brief.", ASKED)
    assert (reply.text, reply.usage.input_tokens) == (SAID, 100)
    sent = provider.requests[0]
    assert (sent["model"], sent["authorization"]) == ("small", "Bearer k1")


async def test_reply_is_streamed_in_pieces(model, provider):
    provider.says(SAID)
    heard = []
    reply = await model.reply("", ASKED, heard.append)
    assert "".join(heard) == reply.text == SAID
    assert len(heard) > 1
    assert reply.usage.output_tokens == 10


async def test_tools_are_offered_as_functions(model, provider):
    provider.says("", [("READ", '{"url": "u"}')])
    prompt = SystemPrompt("", tool_specs(Registry(WEB_TOOLS)))
    reply = await model.reply(prompt, ASKED)
    assert [(call.name, call.param) for call in parse(reply.text).calls] == [
        ("READ", '{"url": "u"}')
    ]
    assert provider.requests[0]["tools"]


@pytest.mark.parametrize(
    ("status", "code", "error", "calls"),
    [
        (401, "", ModelUnauthorized, 1),
        (429, "insufficient_quota", ModelQuota, 1),
        (503, "", ModelUnavailable, MODEL.attempts),
    ],
)
async def test_provider_errors_map_to_model_errors(model, provider, status, code, error, calls):
    provider.fails(status, "no", code)
    with pytest.raises(error):
        await model.reply("", ASKED)
    assert len(provider.requests) == calls


async def test_requests_use_egress_proxy_and_environment_is_restored(provider):
    pytest.importorskip("litellm")
    provider.says(SAID)
    before = dict(os.environ)
    async with Egress(EgressPolicy()) as egress:  # it lets nothing through to loopback
        model = remote_model(
            endpoint_for("litellm/openai/small", provider.url, {}), egress.proxy_url
        )
        with pytest.raises((ModelUnavailable, ModelUnauthorized)):
            await model.reply("", ASKED)
        await model.aclose()
    assert provider.requests == []
    assert dict(os.environ) == before


@pytest.mark.skipif(find_spec("litellm") is not None, reason="it is installed")
def test_missing_litellm_error_names_the_extra():
    with pytest.raises(UsageError, match="litellm") as caught:
        remote_model(endpoint_for("litellm/bedrock/x", None, {}), None)
    assert "urchin-research[litellm]" in caught.value.hint


def test_litellm_prices_use_underlying_provider():
    assert endpoint_for("litellm/bedrock/anthropic.claude-x", None, {}).prices == "aws"
    assert endpoint_for("litellm/mistral/small", None, {}).prices == "mistral"
