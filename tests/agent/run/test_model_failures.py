"""A failing provider, seen from outside: the report, the exit code, the number of requests."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent.run.outcome import exit_code
from browser.retries import MODEL
from tests.agent.models.wire import AnthropicProvider, OpenAIProvider, running

FAILED = 7
ANSWER = "It was first lit on 1 November 1829. [S1]"
AT_ONCE = {"Retry_After": "0"}


@pytest.fixture(params=["openai", "anthropic"])
def provider(request):
    kind, path = (OpenAIProvider, "/v1") if request.param == "openai" else (AnthropicProvider, "")
    with running(kind, path) as provider:
        provider.model = f"{request.param}/some-model"
        yield provider


@pytest.fixture
def second():
    """A different model, which works."""
    with running(OpenAIProvider, "/v1") as provider:
        yield provider


@pytest.fixture
def asked(ask, provider):
    async def asking(**settings):
        return await ask(model=provider.model, base_url=provider.url, **settings)

    return asking


@pytest.mark.parametrize(
    ("status", "said", "error", "calls"),
    [
        (401, {"code": "authentication_error"}, "ModelUnauthorized", 1),
        (402, {"code": "billing_error"}, "ModelQuota", 1),
        (429, {"code": "rate_limit_error", **AT_ONCE}, "ModelUnavailable", MODEL.attempts),
        (529, {"code": "overloaded_error", **AT_ONCE}, "ModelUnavailable", MODEL.attempts),
        (500, AT_ONCE, "ModelUnavailable", MODEL.attempts),
    ],
)
@pytest.mark.sample(5)
async def test_model_failure_is_reported_with_type_and_hint(
    asked, provider, status, said, error, calls
):
    provider.fails(status, "the reason", **said)
    report = await asked()
    assert (report.status, report.error.type, exit_code(report)) == ("failed", error, FAILED)
    assert "the reason" in report.error.message
    assert report.error.hint
    assert len(provider.requests) == calls


async def test_unreachable_model_and_web_page_fail_differently(ask, provider):
    """Both run concurrently, since one waits between its attempts."""
    provider.sends("<html>It works!</html>")
    name = provider.model
    page, down = await asyncio.gather(
        ask(model=name, base_url=provider.url),
        ask(model=name, base_url="http://127.0.0.1:9/v1"),
    )
    assert (down.error.type, exit_code(down)) == ("ModelUnavailable", FAILED)
    assert (page.error.type, exit_code(page)) == ("NotAnEndpoint", 2)
    assert "/v1" in page.error.hint
    assert len(provider.requests) == 1


async def test_silent_model_times_out(asked, provider):
    provider.hangs()
    report = await asked(model_timeout=1)
    assert (report.error.type, exit_code(report)) == ("ModelUnavailable", FAILED)
    assert "--model-timeout" in report.error.hint
    assert len(provider.requests) == 1


@pytest.mark.parametrize(("status", "calls"), [(401, 1), (402, 1), (503, MODEL.attempts)])
@pytest.mark.sample(2)
async def test_fallback_answers_for_rest_of_run(asked, provider, script, site, status, calls):
    """The dead provider is not asked again at each step, since it is in cooldown."""
    provider.fails(status, **AT_ONCE)
    read = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    well = script("<<TOOL:WEB_SEARCH:Hesk Light>>", "<<TOOL:FIND:lit>>", read, ANSWER)
    report = await asked(fallback=[well])
    assert (report.status, exit_code(report)) == ("answered", 0)
    assert len(provider.requests) == calls


async def test_provider_failure_mid_run_keeps_what_was_read(asked, provider, site, script):
    provider.says("", [("READ", native_arguments(provider, {"url": f"{site.url}/hesk-light"}))])
    provider.fails(402, "spent")
    report = await asked()
    assert (report.status, report.error.type) == ("failed", "ModelQuota")
    assert "Hesk Light" in report.answer  # what was read is reported


async def test_run_with_native_functions_answers_like_tags(asked, provider, site):
    provider.says("", [("READ", native_arguments(provider, {"url": f"{site.url}/hesk-light"}))])
    provider.says(ANSWER)
    report = await asked()
    assert (report.status, exit_code(report)) == ("answered", 0)
    assert report.usage.model_calls == 3  # the last one asks whether the question is answered
    first, then = provider.requests[:2]
    assert first["tools"] == then["tools"]
    assert "<<TOOL" not in json.dumps(then["messages"])


def test_command_reports_model_error_and_exit_code(run, web, provider):
    provider.fails(401, "no such key")
    ended = run("When?", *web, "--model", provider.model, "--base-url", provider.url, "--json")
    assert ended.returncode == FAILED
    assert json.loads(ended.stdout)["error"]["type"] == "ModelUnauthorized"
    assert "no such key" in ended.stderr
    assert "hint:" in ended.stderr


def native_arguments(provider, arguments):
    return json.dumps(arguments) if isinstance(provider, OpenAIProvider) else arguments
