"""What a conversation keeps of its answers, and memory of failed runs."""

from __future__ import annotations

import pytest

from agent.memory import Memory
from agent.run.job_runner import answer_turn_text
from agent.types import Report, Sentence, VerdictState


def report(**verdicts):
    sentences = [Sentence(text=text, verdict=verdict) for text, verdict in verdicts.items()]
    answer = " ".join(verdicts)
    said = {"answer": answer, "sentences": sentences, "confidence": None}
    return Report(run="r", question="?", status="answered", **said)


def test_verified_answer_turn_is_plain_text():
    assert answer_turn_text(report(Lit=VerdictState.SUPPORTED)) == "Lit"


def test_answer_turn_includes_verdicts_of_unsupported_sentences():
    kept = answer_turn_text(
        report(
            Lit=VerdictState.SUPPORTED,
            Blue=VerdictState.CONTRADICTED,
            Loved=VerdictState.UNDECIDED,
        )
    )
    assert kept.splitlines() == [
        "Lit Blue Loved",
        "[Contradicted by its source: “Blue”]",
        "[Not verified: “Loved”]",
    ]


async def test_continued_conversation_shows_verdicts_of_earlier_turns(
    ask, script, events, site, tmp_path
):
    read = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    wrong = "Hesk Light was first lit on 1 November 1831. [S1]"
    first = await ask(model=script(read, wrong, wrong, wrong), memory=True, session="lights")
    (sentence,) = first.sentences
    assert sentence.verdict is not VerdictState.SUPPORTED
    second = await ask("And who lit it?", model=script("NOT_FOUND"), memory=True, session="lights")
    (request, *_) = [event for event in events(second) if event.type == "model.request"]
    told = "\n".join(message["content"] for message in request.data["messages"])
    assert ": “Hesk Light was first lit on 1 November 1831." in told, "after its verdict"
    assert f"[1]: {site.url}/hesk-light" in told, "where it stands"
    with Memory.open(tmp_path / "data" / "memory.db") as memory:
        assert all("1831" not in hit.text for hit in memory.search("When was Hesk Light lit?", 20))


@pytest.mark.row(n=7)
async def test_turns_are_quoted_after_web_was_read(ask, script, site, tmp_path):
    read = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    for session, replies in (("plain", ["NOT_FOUND"]), ("web", [read, "NOT_FOUND"])):
        await ask(model=script(*replies), memory=True, session=session)
    await ask("And then?", model=script("NOT_FOUND"), memory=True, session="web")
    with Memory.open(tmp_path / "data" / "memory.db") as memory:
        quoted = {name: memory.layers("?", session=name).quotes for name in ("plain", "web")}
    assert quoted == {"plain": False, "web": True}


async def test_follow_up_may_search_words_but_not_private_number(
    ask, script, events, site, tmp_path
):
    private = tmp_path / "diary.md"
    private.write_text("My insurance number is 078-05-1120 and nothing else.\n")
    url = f"{site.url}/hesk-light"
    said = "It was designed by Gideon Thorsby. My insurance number is 078-05-1120."
    model = script(f"<<TOOL:READ:{url}>>", said, said, said)
    await ask(f"Who designed {url}", model=model, file=[private], memory=True, session="s")
    searches = ("<<TOOL:WEB_SEARCH:Thorsby>>", "<<TOOL:WEB_SEARCH:078-05-1120>>")
    then = await ask("And then?", model=script(*searches, "NOT_FOUND"), memory=True, session="s")
    first, second = (e.data["data"] for e in events(then) if e.type == "tool.result")
    assert "was not run" not in str(first)
    assert "“078-05-1120” (it is in an earlier turn)" in second["error"]


async def test_failed_run_stores_error_and_question(ask, script, tmp_path):
    out_of_reach = script({"reply": "", "expect": "words that nobody wrote"})
    failed = await ask("When was Hesk Light lit?", model=out_of_reach, memory=True, session="s")
    assert failed.status == "failed"
    with Memory.open(tmp_path / "data" / "memory.db") as memory:
        (hit,) = memory.search("When was Hesk Light lit?")
        assert (hit.kind, hit.origin.run) == ("error", failed.run)
        assert [turn.role for turn in memory.conversation("s").turns()] == ["user"]
