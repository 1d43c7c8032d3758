"""`/v1` with a third-party client: OpenAI's own for Python."""

from __future__ import annotations

import pytest
from openai import NotFoundError, OpenAI, UnprocessableEntityError

from tests.serve.conftest import QUESTION, TOKEN


@pytest.fixture(scope="module")
def openai(served):
    with OpenAI(base_url=f"{served.url}/v1", api_key=TOKEN, max_retries=0) as client:
        yield client


ASKED = [{"role": "user", "content": QUESTION}]


def test_answer_includes_sources_as_annotations(openai, served):
    assert "urchin" in [model.id for model in openai.models.list()]
    made = openai.chat.completions.create(model="urchin", messages=ASKED)
    [choice] = made.choices
    content = choice.message.content
    assert "184 metres" in content
    assert choice.finish_reason == "stop"
    cited = choice.message.annotations[0].url_citation
    assert content[cited.start_index : cited.end_index] == "[1]"
    assert cited.url.endswith("/sunnock")
    assert served.report(made.id.removeprefix("chatcmpl-"))["answer"] in content


def test_stream_sends_steps_then_answer_then_sources(openai):
    stream = openai.chat.completions.create(
        model="urchin-quick",
        messages=ASKED,
        stream=True,
        stream_options={"include_usage": True},
    )
    steps, content, notes, usage = [], "", [], None
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            extra = choice.delta.model_extra or {}
            assert not (content and "reasoning_content" in extra)
            steps += [extra["reasoning_content"]] if "reasoning_content" in extra else []
            content += choice.delta.content or ""
            notes += extra.get("annotations", [])
    assert any(step.startswith("searched searxng") for step in steps)
    assert "184 metres" in content
    assert content[notes[0]["url_citation"]["start_index"] :].startswith("[1]")
    assert usage.total_tokens == 0


def test_conversation_continues_from_previous_answer(openai, served):
    asked = [{"role": "user", "content": "When was Hesk Light first lit?"}]
    first = openai.chat.completions.create(model="urchin", messages=asked)
    said = first.choices[0].message.content
    then = [*asked, {"role": "assistant", "content": said}]
    then.append({"role": "user", "content": "And how high is its tower?"})
    second = openai.chat.completions.create(model="urchin", messages=then)
    assert "34 metres" in second.choices[0].message.content
    runs = [made.id.removeprefix("chatcmpl-") for made in (first, second)]
    sessions = {served.client.get(f"/api/runs/{run}").json()["session"] for run in runs}
    assert len(sessions) == 1


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"model": "gpt-x", "messages": ASKED}, NotFoundError),
        ({"model": "urchin", "messages": []}, UnprocessableEntityError),
        (
            {"model": "urchin", "messages": [{"role": "assistant", "content": "x"}]},
            UnprocessableEntityError,
        ),
    ],
)
def test_invalid_request_raises_openai_client_error(openai, asked, error):
    with pytest.raises(error):
        openai.chat.completions.create(**asked)
