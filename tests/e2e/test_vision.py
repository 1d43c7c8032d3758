"""--vision: what a vision model is sent of a page, and what is recorded."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.replay import replay
from tests.agent.models.wire import OpenAIProvider, running
from tests.browser.page.pages import Pages, serve_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = """<title>Lamp</title><p>A lamp.</p><button
  onclick="document.body.style.background='gold'; this.textContent='Lit'">Light it</button>"""


@pytest.fixture
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        served.put(PAGE, "/lamp")
        yield served


@pytest.fixture
def provider() -> Iterator[OpenAIProvider]:
    with running(OpenAIProvider, "/v1") as endpoint:
        yield endpoint


@pytest.fixture
def run_with_vision(ask, provider: OpenAIProvider, pages):
    """Open the page, click, look again, take a screenshot and give up; returns what was sent."""

    async def looking(**flags: Any):
        provider.says(f"<<TOOL:OPEN:{pages.base}/lamp>>")
        provider.says("<<TOOL:CLICK:e1>>")
        provider.says("<<TOOL:SCREENSHOT>>")
        provider.says("NOT_FOUND")
        settings = {"model": "openai/gpt-4.1", "base_url": provider.url, "vision": True, **flags}
        report = await ask(allow_private=[f"127.0.0.1:{pages.port}"], **settings)
        return report, [request["messages"][1:] for request in provider.requests]

    return looking


def pictures(messages: list[dict[str, Any]]) -> list[bytes]:
    parts = [part for m in messages if isinstance(m["content"], list) for part in m["content"]]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/jpeg;base64,") for url in urls)
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


async def test_each_page_view_adds_picture_and_only_newest_is_sent(run_with_vision):
    _, sent = await run_with_vision()
    shown = [pictures(messages) for messages in sent[:4]]
    assert [len(found) for found in shown] == [0, 1, 1, 1]
    assert len({found[0] for found in shown[1:]}) == 2, "the click changed the page, once"
    assert all(found[0].startswith(b"\xff\xd8") for found in shown[1:])
    words = [str(message["content"]) for message in sent[2]]
    older = next(said for said in words if "a newer one is below" in said)
    assert "A lamp" in older, "the text of an older look stays"


async def test_model_without_vision_gets_text_only(run_with_vision):
    _, sent = await run_with_vision(model_sees=False)
    assert not any(pictures(messages) for messages in sent)
    assert "picture" not in str(sent[1])


async def test_no_pictures_without_vision_flag(run_with_vision):
    _, sent = await run_with_vision(vision=False)
    assert not any(pictures(messages) for messages in sent)


async def test_run_with_pictures_replays_from_record(run_with_vision, tmp_path):
    report, sent = await run_with_vision()
    folder = Runs(tmp_path / "data").find(report.run)
    record = RunRecord.read(folder)
    assert (await replay(record)).answer == report.answer
    kept = [image for result in record.results.values() for image in result.images]
    assert kept[0].data == pictures(sent[1])[0]
