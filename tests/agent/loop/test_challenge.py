"""Contradictions of an answer's central claims are searched for on request."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from agent import research
from agent.export.report_view import challenge_lines, sentence_note
from agent.journal.runs import Runs
from agent.loop.challenge import central_claims, without_values
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.types import Sentence, VerdictState
from tests.loopback import Handler, serving

CLAIM = "The tower of Hesk Light is 31 metres high."
PAGES = {
    "/light": ("2015-06-01", f"{CLAIM} It was built of granite."),
    "/survey": ("2021-03-04", "The tower of Hesk Light is 34 metres high. Surveyors measured it."),
    "/tall": ("2019-01-01", "Measured anew: its lantern is at 34 metres, so it rose by three."),
}
QUESTION = "How high is the tower of Hesk Light?"


class _Web(Handler):
    """Finds `/light` for the question, and what the test provides for challenge queries."""

    def get(self):
        parts = urlsplit(self.path)
        if parts.path == "/search":
            query = parse_qs(parts.query)["q"][0]
            paths = ["/light"] if query == QUESTION else self.server.site.contrary
            hits = [
                {"title": "Hesk", "url": self.server.site.url + p, "content": ""} for p in paths
            ]
            self.send(200, "application/json", json.dumps({"results": hits}).encode())
        elif parts.path in PAGES:
            day, text = PAGES[parts.path]
            head = "<meta charset=utf-8><title>Hesk</title>"
            head += f'<meta property="article:published_time" content="{day}">'
            self.send(200, "text/html", f"{head}<main><p>{text}</p></main>".encode())
        else:
            self.send(404, "text/plain", b"")


class _Site:
    def __init__(self, url):
        self.url, self.contrary = url, []


@pytest.fixture
def web():
    with serving(_Web, _Site) as site:
        yield site


@pytest.fixture
def asked(web, script, tmp_path):
    """Ask the question; `judged` holds further script lines."""

    async def ask(*judged, **flags):
        model = script(
            f"<<TOOL:WEB_SEARCH:{QUESTION}>>",
            f'<<TOOL:READ:{{"url":"{web.url}/light"}}>>',
            f"{CLAIM} [S1]",
            {"reply": "answer fully", "for": "judge"},
            *judged,
        )
        return await research(
            QUESTION,
            model=model,
            search=["searxng"],
            searxng_url=web.url,
            allow_private=[web.url.removeprefix("http://")],
            data_dir=tmp_path / "data",
            memory=False,
            **flags,
        )

    return ask


async def test_page_with_different_value_disputes_claim_and_lowers_confidence(asked, web):
    plain = await asked()
    web.contrary = ["/light", "/survey"]
    queries = {"reply": '{"queries": ["Hesk Light tower height survey"]}', "for": "challenge"}
    report = await asked(queries, challenge=True)
    [challenge] = report.challenges
    assert challenge.query == "Hesk Light tower height survey"
    assert (challenge.read, challenge.found) == ([f"{web.url}/survey"], True)
    assert report.standing == "disputed"
    assert report.confidence < plain.confidence
    note = sentence_note(report.sentences[0], report)
    assert "(2021-03-04, newer) says “The tower of Hesk Light is 34 metres high.”" in note
    assert "(2015-06-01)" in note


async def test_judge_finds_contradiction_in_different_words(asked, web):
    web.contrary = ["/tall"]
    lines = '1 contradicted "its lantern is at 34 metres, so it rose by three"'
    report = await asked(
        {"reply": '{"queries": ["Hesk Light height"]}', "for": "challenge"},
        {"reply": lines, "for": "judge"},
        challenge=True,
    )
    [conflict] = report.conflicts
    assert conflict.quote == "its lantern is at 34 metres, so it rose by three"
    assert report.standing == "disputed"


async def test_challenge_without_findings_is_reported_and_replays(asked, tmp_path):
    report = await asked(challenge=True)
    [challenge] = report.challenges
    # The model gave no query, so the query is the claim without its value.
    assert challenge.query == "The tower of Hesk Light is high"
    assert challenge_lines(report)[0].startswith(
        f"{CLAIM} — no source disagrees; no further page found"
    )
    record = RunRecord.read(Runs(tmp_path / "data").find(report.run))
    again = await replay(record)
    assert (again.answer, again.challenges) == (report.answer, report.challenges)


async def test_challenge_is_off_by_default(asked, events):
    report = await asked()
    assert report.challenges == []
    assert not [event for event in events(report) if "challenge" in event.place]


def test_central_claims_are_supported_and_closest_to_question():
    texts = ["It rains.", CLAIM, "Ida Holm kept it.", "The tower is white."]
    sentences = [Sentence(text=text, verdict=VerdictState.SUPPORTED) for text in texts]
    sentences.append(Sentence(text="The tower of Hesk Light leans."))
    chosen = [claim.text for claim in central_claims(sentences, QUESTION, 2)]
    assert chosen == [CLAIM, "The tower is white."]
    assert without_values("It opened on 4 May 1898 with 24 cars.") == "It opened on with cars"
