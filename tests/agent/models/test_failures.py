"""All kinds of provider failures, with and without streaming, through both clients."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from agent.errors import (
    ModelError,
    ModelQuota,
    ModelUnauthorized,
    ModelUnavailable,
    NotAnEndpoint,
    UsageError,
)
from agent.models.failures import seconds_to_wait
from agent.models.openai import OpenAIModel
from agent.models.providers import endpoint_for
from agent.types import Message
from browser.retries import MODEL
from tests.agent.models.wire import anthropic_model

ASKED = [Message("user", "When?")]


@pytest.fixture(params=["openai", "anthropic"])
def wire(request, provider, claude):
    """The endpoint for one of the two clients."""
    return provider if request.param == "openai" else claude


@pytest.fixture(params=["whole", "streamed"])
async def ask(request, wire, provider):
    """Call the endpoint with or without streaming."""
    kind, name = (
        (OpenAIModel, "small") if wire is provider else (anthropic_model(), "anthropic/claude-x")
    )
    models = []

    async def asking(**where):
        models.append(kind(replace(endpoint_for(name, wire.url, {}), **where)))
        if request.param == "streamed":
            return await models[-1].reply("", ASKED, lambda _: None)
        return await models[-1].reply("", ASKED)

    yield asking
    for model in models:
        await model.aclose()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_transient_status_is_retried(ask, wire, status):
    wire.fails(status)
    wire.says("at last")
    assert (await ask()).text == "at last"
    assert len(wire.requests) == 2


async def test_outage_is_retried_up_to_attempt_limit(ask, wire):
    wire.fails(503)
    with pytest.raises(ModelUnavailable):
        await ask()
    assert len(wire.requests) == MODEL.attempts


async def test_retry_after_is_honoured_by_client(ask, wire):
    wire.fails(429, Retry_After="0")
    wire.says("ok")
    assert (await ask()).text == "ok"


async def test_excessive_retry_after_raises_unavailable(ask, wire):
    wire.fails(429, Retry_After="3600")
    with pytest.raises(ModelUnavailable, match="rate"):
        await ask()
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (401, "authentication_error", ModelUnauthorized),
        (403, "permission_error", ModelUnauthorized),
        (404, "not_found_error", UsageError),
        (429, "insufficient_quota", ModelQuota),
        (402, "billing_error", ModelQuota),
        (400, "billing_hard_limit_reached", ModelQuota),
        (400, "invalid_request_error", ModelError),
    ],
)
async def test_permanent_failure_is_not_retried(ask, wire, status, code, error):
    wire.fails(status, "said why", code)
    with pytest.raises(error, match="said why"):
        await ask()
    assert len(wire.requests) == 1


async def test_exhausted_credit_is_quota_error_despite_status(ask, wire):
    wire.fails(400, "Your credit balance is too low to access the API.", "invalid_request_error")
    with pytest.raises(ModelQuota):
        await ask()


async def test_html_response_raises_not_an_endpoint_without_retry(ask, wire):
    wire.sends("<!doctype html><title>Hello</title>")
    with pytest.raises(NotAnEndpoint, match="not like a model") as caught:
        await ask()
    assert "/v1" in caught.value.hint
    assert len(wire.requests) == 1


@pytest.mark.parametrize("body", [{}, [1]])
async def test_malformed_response_raises_unavailable_after_retries(ask, wire, body):
    wire.sends(body)
    with pytest.raises(ModelUnavailable):
        await ask()
    assert len(wire.requests) == MODEL.attempts


async def test_empty_reply_is_retried(ask, wire):
    wire.says("")
    wire.says("something")
    assert (await ask()).text == "something"


async def test_silent_provider_times_out_without_retry(ask, wire):
    wire.hangs()
    with pytest.raises(ModelUnavailable, match="sent nothing"):
        await ask(patience=0.05)
    assert len(wire.requests) == 1


async def test_refused_connection_raises_unavailable(ask):
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await ask(base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_delay_is_parsed_in_every_form(headers, seconds):
    assert seconds_to_wait(headers) == seconds


def test_http_date_retry_after_becomes_seconds():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 20 < seconds_to_wait({"retry-after": soon}) <= 30
