"""A page that cites another source for a claim is secondary: its citation is followed once."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from agent import research
from agent.export.report_view import challenge_lines
from agent.journal.runs import Runs
from agent.loop.primary import links_in_sentences
from agent.run.record import RunRecord
from agent.run.replay import replay
from tests.loopback import Handler, serving

CLAIM = "The eel ladder at Norra Mill was built in 2009."


class _Web(Handler):
    """A newspaper page that cites a report, which is on another loopback host."""

    def get(self):
        path = urlsplit(self.path).path
        site = self.server.site
        if path == "/search":
            hits = [{"title": "Eels", "url": f"{site.url}/news", "content": ""}]
            return self._answer("application/json", json.dumps({"results": hits}))
        pages = {
            "/news": f"<p>{CLAIM[:-1]}, according to <a href='{site.other}/report'>the report</a>."
            f" It is wet. See <a href='{site.other}/else'>the weather</a>.</p>",
            "/report": f"<p>{site.report}</p>",
        }
        title = f"<title>Page {path}</title><main>"
        return self._answer("text/html; charset=utf-8", title + pages.get(path, ""))

    def _answer(self, kind, body):
        self.send(200, kind, body.encode())


class _Site:
    def __init__(self, url):
        self.url, self.report = url, ""
        self.other = url.replace("127.0.0.1", "localhost")


@pytest.fixture
def web():
    with serving(_Web, _Site) as site:
        yield site


@pytest.fixture
def asked(web, script, tmp_path):
    async def ask(*lines, **flags):
        model = script(
            f'<<TOOL:READ:{{"url":"{web.url}/news"}}>>',
            f"{CLAIM} [S1]",
            {"reply": "answer fully", "for": "judge"},
            *lines,
        )
        hosts = [urlsplit(url).netloc for url in (web.url, web.other)]
        return await research(
            "When was the eel ladder at Norra Mill built?",
            model=model,
            search=["searxng"],
            searxng_url=web.url,
            allow_private=hosts,
            data_dir=tmp_path / "data",
            memory=False,
            **flags,
        )

    return ask


async def test_primary_source_is_read_and_named_in_verdict(asked, web, tmp_path):
    web.report = f"Annual report. {CLAIM} It cost little."
    report = await asked(challenge=True)
    [sentence] = report.sentences
    assert sentence.secondary_to == f"{web.other}/report"
    primary = next(source for source in report.sources if source.n == sentence.primary)
    assert (primary.url, primary.quotes) == (f"{web.other}/report", [CLAIM])
    assert sentence.reason.endswith(f"the primary source is [{primary.n}]")
    assert challenge_lines(report)[0].endswith(f"; the primary source is [{primary.n}]")
    assert report.confidence_parts.origins == 1  # a page that cites another is not independent
    record = RunRecord.read(Runs(tmp_path / "data").find(report.run))
    assert (await replay(record)).sentences == report.sentences


async def test_cited_page_without_the_claim_is_not_primary_source(asked, web):
    web.report = "Annual report. Nothing about ladders this year."
    report = await asked(challenge=True)
    [sentence] = report.sentences
    assert (sentence.secondary_to, sentence.primary) == (f"{web.other}/report", None)
    assert challenge_lines(report)[0].endswith(f"; its page cites {web.other}/report for it")
    assert "does not contain this wording" in sentence.reason


async def test_citations_are_not_followed_by_default(asked, web):
    report = await asked()
    assert [source.url for source in report.sources] == [f"{web.url}/news"]
    assert report.sentences[0].secondary_to == ""


def test_only_links_in_supporting_sentence_are_followed():
    text = "It rains [here](https://a.test/1). The tower is **31 m** high ([survey](https://b.test/2))."
    assert links_in_sentences(text, ["The tower is 31 m high"]) == ["https://b.test/2"]
    assert links_in_sentences(text, ["It snows."]) == []
