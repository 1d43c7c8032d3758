"""What a run streams while its model replies, and what of it remains."""

from __future__ import annotations

import pytest

from agent.cli.progress import StreamedReplies
from agent.journal.events import Event
from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.replay import replay
from tests.agent.models.wire import OpenAIProvider, running

SAID = "<<THINK>>I know where to look.<</THINK>>NOT_FOUND Nobody has written it down."


@pytest.fixture
def provider():
    with running(OpenAIProvider, "/v1") as endpoint:
        yield endpoint


async def test_reply_is_streamed_in_deltas_and_recorded_once(ask, provider, events, tmp_path):
    provider.says(SAID)
    heard = []
    report = await ask(model="m", base_url=provider.url, on_event=heard.append)
    pieces = [event.data["text"] for event in heard if event.type == "model.delta"]
    assert len(pieces) > 3
    assert "".join(pieces) == SAID * 2  # the model is asked again before guided mode starts
    kept = events(report)
    assert [e.data["text"] for e in kept if e.type == "model.reply"][:2] == [SAID] * 2
    assert not [event for event in kept if event.type == "model.delta"]
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.answer == report.answer


def delta(text, place="0/1", *, anew=False):
    return Event(0, "", "model.delta", place, {"text": text, "anew": anew})


def test_last_words_are_shown_without_tags():
    speech = StreamedReplies()
    for piece in ("<<THINK>>The lamp", " was lit.<</TH", "INK>", ">I read. <<TOO", "L:READ:u>>"):
        speech.note(delta(piece))
        assert "<<" not in speech.last_words(80)
    assert speech.last_words(80) == "The lamp was lit. I read."
    assert speech.last_words(8) == "…I read."


def test_tag_lookalike_in_streamed_text_is_shown():
    speech = StreamedReplies()
    speech.note(delta("Write cout << lamp; or 1 << 4."))
    assert speech.last_words(80) == "Write cout << lamp; or 1 << 4."


def test_restarted_or_finished_reply_clears_streamed_text():
    speech = StreamedReplies()
    speech.note(delta("The lamp"))
    speech.note(delta("", anew=True))
    speech.note(delta("It was"))
    assert speech.last_words(80) == "It was"
    speech.note(Event(0, "", "model.reply", "0/1", {}))
    assert speech.last_words(80) == ""
