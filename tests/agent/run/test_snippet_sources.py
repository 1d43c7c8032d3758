"""Search results can be cited as weaker evidence, and only if no page supports the claim."""

from __future__ import annotations

import json
import zipfile

import pytest

from agent.export import export
from agent.export.verify_run import verify, verify_archive
from agent.journal.runs import Runs
from agent.memory import Memory
from agent.run.expectations import Expectation
from agent.run.outcome import exit_code
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.resume import rerun_on_recorded_web
from tests.loopback import Handler, serving

SEARCH = "<<TOOL:WEB_SEARCH:Hesk Light first lit>>"
PAGE = "/tarrith-stack-light"
SAID = (
    "The light shows three flashes every twenty seconds and was the first of the isles to be "
    "automatic, in 1964."
)


@pytest.fixture
def folder_of(tmp_path):
    return lambda report: Runs(tmp_path / "data").find(report.run)


@pytest.fixture
def results(events):
    """Return a run's search results from its record."""

    def rows(report):
        added = (event for event in events(report) if event.type == "results.added")
        return [row for event in added for row in event.data["results"]]

    return rows


@pytest.fixture
def citing_model(script, site):
    """A model that searches, does what it is told, and cites the result that states the claim."""
    return lambda *calls: script(SEARCH, *calls, f"{SAID} [S510]")


@pytest.fixture
async def weak(ask, citing_model):
    return await ask(model=citing_model())


async def test_unread_search_result_supports_sentence_weakly(weak, results):
    (sentence,), (source,) = weak.sentences, weak.sources
    assert (weak.status, exit_code(weak), sentence.verdict) == ("answered", 0, "supported")
    assert sentence.weak
    assert sentence.reason == "supported only by a search result; its page was not read"
    assert (source.via, source.quotes) == ("snippet", [SAID])
    assert source.sha256 in [row["sha256"] for row in results(weak)]


def test_expectation_can_require_read_pages(weak):
    assert Expectation(verified=False).failures(weak) == []  # no judge checked the answer
    assert Expectation(from_pages=True).failures(weak) == [
        f"supported only by search results: {SAID}"
    ]


async def test_weakly_supported_sentence_lowers_confidence(ask, script, site, weak):
    read = f'<<TOOL:READ:{{"url":"{site.url}{PAGE}"}}>>'
    strong = await ask(model=script(SEARCH, read, f"{SAID} [S1]"))
    assert (weak.confidence_parts.supported, strong.confidence_parts.supported) == (0.7, 1.0)


async def test_page_is_cited_instead_of_result_after_reading(ask, citing_model, site):
    report = await ask(model=citing_model(f'<<TOOL:READ:{{"url":"{site.url}{PAGE}"}}>>'))
    (sentence,), (source,) = report.sentences, report.sources
    assert (source.via, sentence.weak) == ("http", False)
    assert "[S" not in report.answer
    assert SAID in source.quotes


async def test_search_result_can_be_cited_by_url(ask, script, site):
    report = await ask(model=script(SEARCH, f"{SAID} ({site.url}{PAGE})"))
    assert [source.via for source in report.sources] == ["snippet"]


class _Gone(Handler):
    """An engine that finds one page, which no longer exists."""

    def get(self):
        found = {"url": f"{self.server.site}/gone", "title": "Tarrith Stack", "content": SAID}
        answer = json.dumps({"results": [found]}).encode()
        there = self.path.startswith("/search")
        self.send(200 if there else 404, "application/json", answer if there else b"")


async def test_unreadable_page_error_names_its_search_result(ask, script):
    with serving(_Gone, str) as url:
        cited = {
            "reply": f"{SAID} [S501]",
            "expect": r"cite its search result, which is weaker evidence: \[S501\]",
        }
        model = script(SEARCH, f'<<TOOL:READ:{{"url":"{url}/gone"}}>>', cited)
        report = await ask(model=model, searxng_url=url)
    assert [(s.verdict.value, s.weak) for s in report.sentences] == [("supported", True)]


async def test_search_results_use_no_source_number_or_limit(ask, script, site):
    page = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    answer = "It was first lit on 1 November 1829. [S1]"
    report = await ask(model=script(SEARCH, page, answer), max_sources=1)
    assert [(source.n, source.via) for source in report.sources] == [(1, "http")]


async def test_search_result_content_is_untrusted(ask, script, tmp_path):
    learn = '<<TOOL:LEARN_SKILL:{"name":"trust","instruction":"Trust the web."}>>'
    await ask(model=script(SEARCH, learn, "NOT_FOUND"), memory=True)
    with Memory.open(tmp_path / "data" / "memory.db") as memory:
        [kept] = memory.skills()
    assert (kept["name"], kept["trusted"]) == ("trust", False)


async def test_weak_answer_replays_and_serves_another_model(weak, folder_of, script, tmp_path):
    record = RunRecord.read(folder_of(weak))
    assert (await replay(record)).to_json(exclude={"elapsed_s"}) == weak.to_json(
        exclude={"elapsed_s"}
    )
    model = script(SEARCH, f"{SAID} [S510]")
    other = await rerun_on_recorded_web(record, model=model, data_dir=tmp_path / "data")
    assert other.sentences == weak.sentences
    assert not verify(folder_of(other)).flaws


async def test_altered_search_result_is_detected(weak, folder_of, tmp_path):
    folder, archive = folder_of(weak), tmp_path / "run.zip"
    export(folder.path, archive)
    found = verify_archive(archive)
    assert (found.flaws, found.quotes) == ((), 1)
    changed = folder.journal.read_bytes().replace(b"in 1964.", b"in 1965.", 1)
    folder.journal.write_bytes(changed)
    told = "\n".join(f"{flaw.where} {flaw.what}" for flaw in verify(folder).flaws)
    assert "results.added was changed" in told
    assert "its text was not saved" in told


async def test_archive_keeps_results_as_page_metadata(weak, folder_of, tmp_path):
    export(folder_of(weak).path, tmp_path / "pages.warc.gz")
    export(folder_of(weak).path, tmp_path / "run.zip")
    from warcio.archiveiterator import ArchiveIterator

    with (tmp_path / "pages.warc.gz").open("rb") as file:
        kept = {
            record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
            for record in ArchiveIterator(file)
            if record.rec_type == "metadata"
        }
    assert SAID.encode() in kept[weak.sources[0].url]
    with zipfile.ZipFile(tmp_path / "run.zip") as packed:
        assert packed.testzip() is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a.md", "| search result only |"),
        ("a.md", "the page itself was not read"),
        ("a.html", '<small class="weak">search result only</small>'),
        ("a.html", "the page itself was not read"),
        ("a.html", "1 of 1 supported only by a search result"),
        ("a.json", '"weak": true'),
        ("a.bib", "the page itself was not read"),
        ("a.ris", "the page itself was not read"),
        ("a.csl.json", "the page itself was not read"),
    ],
)
async def test_every_export_marks_weak_support(weak, folder_of, tmp_path, name, told):
    export(folder_of(weak).path, tmp_path / name)
    assert told in (tmp_path / name).read_text()


async def test_terminal_output_marks_weak_support(weak, capsys):
    from agent.cli.render import print_report

    print_report(weak)
    said = capsys.readouterr().out
    assert f"Supported only by search results:\n  ~ {SAID}" in said
    assert "(search result, not read)" in said
