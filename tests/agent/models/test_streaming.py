"""Streamed replies: received piece by piece, complete in the end."""

from __future__ import annotations

import pytest

from agent.errors import ModelUnavailable
from agent.models.base import Usage
from agent.models.openai import OpenAIModel
from agent.models.providers import endpoint_for
from agent.models.router import Router
from agent.protocol import parse
from agent.types import Message
from browser.retries import MODEL
from tests.agent.models.wire import anthropic_model, pieces

ASKED = [Message("user", "When?")]
SAID = "The lamp was first lit in 1894."


@pytest.fixture(params=["openai", "anthropic"])
def wire(request, provider, claude):
    return provider if request.param == "openai" else claude


@pytest.fixture
async def model(wire, provider):
    kind, name = (
        (OpenAIModel, "small") if wire is provider else (anthropic_model(), "anthropic/claude-x")
    )
    model = kind(endpoint_for(name, wire.url, {}))
    yield model
    await model.aclose()


@pytest.fixture
async def stream_reply(model):
    async def hearing():
        heard = []
        return await model.reply("", ASKED, heard.append), heard

    return hearing


async def test_reply_is_streamed_in_pieces_with_final_usage(stream_reply, wire):
    wire.says(SAID)
    reply, heard = await stream_reply()
    assert heard == pieces(SAID)
    assert reply.text == SAID
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 10)


async def test_streamed_calls_are_assembled(stream_reply, wire, provider):
    given = '{"url": "https://e.test/a"}' if wire is provider else {"url": "https://e.test/a"}
    wire.says("I read.", [("READ", given), ("BACK", "{}" if wire is provider else {})])
    reply, heard = await stream_reply()
    assert "".join(heard) == "I read."
    assert [(call.name, call.param) for call in parse(reply.text).calls] == [
        ("READ", '{"url": "https://e.test/a"}'),
        ("BACK", ""),
    ]


async def test_broken_stream_is_retried_from_start(stream_reply, wire):
    wire.says(SAID)
    whole = wire.answers.pop()
    wire.sends_events(wire.stream_of(whole.body, {})[:4], breaks=True)
    wire.answers.append(whole)
    reply, heard = await stream_reply()
    assert reply.text == SAID
    begun_anew = heard.index(None)
    assert begun_anew > 0
    assert heard[begun_anew + 1 :] == pieces(SAID)


async def test_truncated_stream_raises_unavailable(stream_reply, wire):
    wire.says(SAID)
    whole = wire.answers.pop()
    wire.sends_events(wire.stream_of(whole.body, {})[:4])
    with pytest.raises(ModelUnavailable, match="was cut off"):
        await stream_reply()
    assert len(wire.requests) == MODEL.attempts


async def test_non_streaming_endpoint_reply_is_accepted(stream_reply, wire):
    wire.streams = False
    wire.says(SAID)
    assert (await stream_reply())[0].text == SAID
    assert len(wire.requests) == 1


async def test_refused_stream_options_are_omitted_from_then_on(model, provider):
    if not isinstance(model, OpenAIModel):
        pytest.skip("Anthropic's own API streams")
    provider.fails(400, "Unsupported parameter: stream_options")
    provider.says(SAID)
    for _ in range(2):
        assert (await model.reply("", ASKED, [].append)).text == SAID
    assert ["stream" in request for request in provider.requests] == [True, True, True]
    assert ["stream_options" in r for r in provider.requests] == [True, False, False]


async def test_error_event_in_stream_is_retried(stream_reply, wire, provider):
    wire.says(SAID)
    whole = wire.answers.pop()
    head = wire.stream_of(whole.body, {})[:3]
    overload = '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'
    wire.sends_events([*head, f"event: error\ndata: {overload}\n\n"])
    wire.answers.append(whole)
    assert (await stream_reply())[0].text == SAID
    assert len(wire.requests) == 2


async def test_fallback_model_restarts_broken_stream(model, wire, provider, claude):
    wire.says(SAID)
    wire.sends_events(wire.stream_of(wire.answers.pop().body, {})[:4], breaks=True)
    kind, there = (anthropic_model(), claude) if wire is provider else (OpenAIModel, provider)
    there.says("From the second.")
    second = kind(endpoint_for("anthropic/x" if there is claude else "x", there.url, {}))
    heard = []
    reply = await Router([model, second], None).reply("", ASKED, heard.append)
    await second.aclose()
    assert reply.text == "From the second."
    last = len(heard) - heard[::-1].index(None)
    assert "".join(heard[last:]) == "From the second."


async def test_stream_without_usage_has_zero_usage(model, provider):
    if not isinstance(model, OpenAIModel):
        pytest.skip("Anthropic's own API counts in its stream")
    provider.says(SAID)
    events = provider.stream_of(provider.answers.pop().body, {})
    provider.sends_events(events)
    assert (await model.reply("", ASKED, [].append)).usage == Usage()
