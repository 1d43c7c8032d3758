"""Auditing a draft: its citations are looked up, and its sentences checked against them."""

from __future__ import annotations

import json
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from docx import Document

from agent.errors import UsageError, WebOutOfReach
from agent.export.report_view import faults, sentences_to_check, verdict_label
from agent.journal.runs import Runs
from agent.run.audit import audit
from agent.run.draft import read_draft
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.resume import rerun_on_recorded_web
from browser import Browser
from tests.loopback import Handler, serving

HERON = "The Heron line opened on 4 May 1898 with horse-drawn cars. It has 24 cars."
PAGES = {
    "/heron": ("Heron line", HERON),
    "/brask": ("Hedda Brask", "Hedda Brask was an engineer. She was born in Lindmark in 1861."),
    "/web/2020/tower": ("The tower", "The tower stood 31 metres high before the fire."),
}
WORKS = {
    "10.1000/nets": {"title": ["Nets of the northern coast"], "author": [{"family": "Brask"}]},
    "10.1000/gone": {
        "title": ["Tar on ropes"],
        "author": [{"family": "Holm"}],
        "updated-by": [{"type": "retraction", "DOI": "10.1000/notice"}],
    },
}


class _Cited(Handler):
    """Pages: one that moved, one that is gone but archived, and a DOI service."""

    def get(self):
        path = unquote(urlsplit(self.path).path)
        base = self.server.site
        if path == "/old-heron":
            self.send(301, "text/plain", b"", {"Location": f"{base}/heron"})
        elif path in PAGES:
            title, text = PAGES[path]
            body = f"<title>{title}</title><main><h1>{title}</h1><p>{text}</p></main>"
            self.send(200, "text/html; charset=utf-8", body.encode())
        elif path == "/wayback/available":
            there = {"closest": {"available": True, "url": f"{base}/web/2020/tower"}}
            known = there if "tower" in self.path else {}
            self._json({"archived_snapshots": known})
        elif path.removeprefix("/works/") in WORKS:
            self._json({"message": WORKS[path.removeprefix("/works/")]})
        elif path.startswith("/10.1000/"):  # where a DOI leads to
            self.send(200, "text/html", f"<title>{path}</title><p>About {path}.</p>".encode())
        elif path.startswith("/api/handles/"):
            found = path.endswith("/elsewhere")
            self._json({"responseCode": 1 if found else 100}, 200 if found else 404)
        else:
            self.send(404, "text/plain", b"nothing here")

    def _json(self, value, status=200):
        self.send(status, "application/json", json.dumps(value).encode())


@pytest.fixture
def cited():
    with serving(_Cited, str) as base:
        yield base


@pytest.fixture
def audited(cited, tmp_path):
    """Audit a text as a file with this name."""

    async def run(text, name="draft.md", **given):
        path = tmp_path / name
        path.write_text(text.replace("SITE", cited), encoding="utf-8")
        flags = {"allow_private": [cited.removeprefix("http://")], "data_dir": tmp_path / "data"}
        flags["service"] = [f"{name}={cited}" for name in ("crossref", "doi", "archive")]
        return await audit(path, **{**flags, **given})

    return run


async def test_sentences_are_checked_against_their_citations(audited):
    report = await audited(
        "# Trams\n\nThe Heron line opened on 4 May 1898 with horse-drawn cars ([H](SITE/heron))."
        " It has 42 cars [1]. She was born in Lindmark in 1861.[^b] We find this odd.\n\n"
        "[1]: SITE/heron\n[^b]: Hedda Brask, SITE/brask\n"
    )
    states = [(sentence.text, sentence.verdict.value) for sentence in report.sentences]
    assert states == [
        ("The Heron line opened on 4 May 1898 with horse-drawn cars.", "supported"),
        ("It has 42 cars.", "undecided"),
        ("She was born in Lindmark in 1861.", "supported"),
        ("We find this odd.", "uncited"),
    ]
    assert report.sentences[1].reason == "“42” does not appear in [1]"
    assert sentences_to_check(report) == [report.sentences[1]]
    assert faults(report) == []


async def test_wrong_value_is_found_by_code_and_judge_checks_the_rest(audited, script):
    judge = script({"reply": '2 not stated\n3 supported "opened on 4 May 1898"', "for": "judge"})
    report = await audited(
        "The Heron line opened on 4 May 1899 with horse-drawn cars ([H](SITE/heron)). The"
        " Heron line is loved by all ([H](SITE/heron)). Trams began in 1898 ([H](SITE/heron)).",
        model=judge,
    )
    assert [text for text, _ in faults(report)] == [
        "The Heron line opened on 4 May 1899 with horse-drawn cars.",
        "The Heron line is loved by all.",
    ]
    assert report.sentences[2].decided_by == "judge"


async def test_page_supporting_misattributed_claim_is_named(audited, script):
    lines = ["1 not stated", '1 supported "She was born in Lindmark in 1861"\n2 not stated']
    judge = script(*({"reply": line, "for": "judge"} for line in lines))
    report = await audited(
        "The Heron line opened on 4 May 1898 with horse-drawn cars [1]. Lindmark is where the"
        " engineer came into the world [2]. Hedda Brask was an engineer [3].\n\n"
        "[1]: SITE/heron\n[2]: SITE/heron\n[3]: SITE/brask\n",
        model=judge,
    )
    told = report.sentences[1]
    assert (told.verdict, told.decided_by) == ("undecided", "judge")
    assert verdict_label(told, report) == "not supported"
    assert "it is in [2]: “She was born in Lindmark in 1861”" in told.reason
    assert [(one.key, one.source) for one in report.references] == [("1, 2", 1), ("3", 2)]


async def test_draft_sentence_is_never_about_the_search(audited):
    report = await audited("The sources found nothing to praise in the cars ([H](SITE/heron)).")
    [sentence] = report.sentences
    assert (sentence.about_search, sentence.verdict) == (False, "undecided")


async def test_moved_dead_and_archived_references_are_reported(audited):
    report = await audited(
        "It has 24 cars [1]. The tower stood 31 metres high before the fire [2]. Nobody knows"
        " [3].\n\n# References\n\n1. SITE/old-heron\n2. SITE/tower\n3. SITE/lost\n"
    )
    moved, archived, lost = report.references
    assert (moved.state, moved.now[-6:], moved.wrong) == ("moved", "/heron", [])
    assert (archived.state, archived.archived[-15:]) == ("dead", "/web/2020/tower")
    assert (lost.state, lost.archived, lost.source) == ("dead", "", None)
    assert [s.verdict.value for s in report.sentences] == ["supported", "supported", "undecided"]
    assert report.sentences[2].reason.endswith("/lost, which was not read")
    assert len(faults(report)) == 2


async def test_dois_are_checked_for_retraction_and_metadata(audited):
    report = await audited(
        """@article{a, title={Nets of the Northern Coast}, author={Brask, H.}, doi={10.1000/nets}}
        @article{b, title={Tar on Ropes}, author={Ida Holm}, doi={10.1000/gone}}
        @article{c, title={Nets of the {N}orthern Coast}, author={Lund, Per}, doi={10.1000/NETS}}
        @article{d, title={A history of lamps}, author={Hedda Brask}, doi={10.1000/nets}}
        @article{e, title={Of nothing}, doi={10.1000/none}}
        @article{f, title={A data set}, doi={10.1000/elsewhere}}""",
        "refs.bib",
    )
    assert [reference.wrong for reference in report.references] == [
        [],
        ["it was retracted"],
        ["its authors are Brask, not Lund"],
        ["the DOI 10.1000/nets belongs to “Nets of the northern coast”"],
        ["the DOI 10.1000/none does not exist"],
        [],
    ]


async def test_denied_addresses_are_not_requested(audited):
    refused = await audited(
        "It has 24 cars ([H](SITE/heron)).", allow_private=[], deny=["127.0.0.1"]
    )
    assert [one.state for one in refused.references] == ["not_read"]
    assert faults(refused) == []


async def test_unreachable_network_is_not_a_dead_link(audited):
    report = await audited(
        "It has 24 cars ([H](http://127.0.0.1:9/heron)).", allow_private=["127.0.0.1:9"]
    )
    assert report.error is not None
    assert report.error.type == WebOutOfReach.__name__


def test_drafts_in_other_formats_are_read_with_references(tmp_path):
    word = Document()
    word.add_paragraph("It has 24 cars [1]. She was born in 1861 [2].")
    word.add_heading("References", 1)
    word.add_paragraph("[1] Heron line. https://trams.example/heron")
    word.add_paragraph("[2] Brask, H. A life. doi:10.1000/life.2")
    word.save(str(tmp_path / "draft.docx"))
    (tmp_path / "draft.html").write_text(
        '<p>It has 24 cars<sup><a href="#n1">1</a></sup>.</p><h2>Notes</h2><ol><li id="n1">Heron.'
        ' <a href="https://trams.example/heron">there</a> <a href="#t1">↑</a></li></ol>'
    )
    (tmp_path / "refs.bib").write_text("@misc{h, url = {https://trams.example/heron}}")
    (tmp_path / "draft.md").write_text(
        "It has 24 cars [@h; @h]. See [this][h2].\n\n[h2]: https://a.b/c"
    )
    found = read_draft(tmp_path / "draft.docx")
    assert [(one.key, one.url, one.doi) for one in found.references] == [
        ("1", "https://trams.example/heron", ""),
        ("2", "", "10.1000/life.2"),
    ]
    assert "Brask" not in found.text
    page = read_draft(tmp_path / "draft.html")
    assert "24 cars[1]." in page.text
    assert [(one.key, one.url) for one in page.references] == [("1", "https://trams.example/heron")]
    cited = read_draft(tmp_path / "draft.md", tmp_path / "refs.bib")
    assert "24 cars [^h][^h]." in cited.text
    assert "[this](https://a.b/c)" in cited.text
    assert {one.key for one in cited.references} == {"h", "h2", ""}
    (tmp_path / "bare.md").write_text("Nothing is cited here.")
    with pytest.raises(UsageError, match="cites nothing"):
        read_draft(tmp_path / "bare.md")


def test_audit_command_writes_report_beside_draft_and_exits_8(run, cited, tmp_path):
    (tmp_path / "notes.md").write_text(
        f"It has 24 cars [1].\n\n[1]: {cited}/heron\n[2]: {cited}/gone"
    )
    private = cited.removeprefix("http://")
    flags = ("--service", f"archive={cited}", "--allow-private", private)
    done = run("audit", str(tmp_path / "notes.md"), *flags, "--export", str(tmp_path / "ci.xml"))
    assert done.returncode == 8, done.stderr
    assert "1 problem:" in done.stdout
    cases = ET.parse(tmp_path / "ci.xml").getroot()
    assert [case.find("failure") is None for case in cases] == [True, True, False]
    (tmp_path / "notes.md").write_text(f"It has 24 cars [1].\n\n[1]: {cited}/heron")
    done = run("audit", str(tmp_path / "notes.md"), *flags, "--json")
    assert (done.returncode, json.loads(done.stdout)["references"][0]["state"]) == (0, "ok")
    assert ">References</h2>" in (tmp_path / "notes.md.audit.html").read_text()
    assert run("verify", "last").returncode == 0
    (tmp_path / "notes.md").write_text(f"It cost 81,000 crowns [1].\n\n[1]: {cited}/heron")
    shown = run("audit", str(tmp_path / "notes.md"), *flags).stdout
    assert "Check these" in shown
    assert "No problems found" not in shown
    assert run("audit", str(tmp_path / "notes.md"), "--service", "x=http://a.b").returncode == 2


async def test_pdf_draft_is_read_with_numbered_references(cited, audited, tmp_path):
    document = (
        "<h1>Trams</h1><p>The Heron line opened on 4 May 1898 with horse-drawn cars [1]. "
        "The Heron line opened on 4 May 1899 with horse-drawn cars [1].</p>"
        f"<h2>References</h2><p>[1] Heron line. {cited}/heron</p>"
    )
    path = tmp_path / "draft.pdf"
    async with Browser.launch(headless=True) as browser:
        tab = await browser.open(f"{cited}/brask")
        await tab.page.set_content(document)
        await tab.page.pdf(path=path)
    report = await audit(
        path, allow_private=[cited.removeprefix("http://")], data_dir=tmp_path / "data"
    )
    assert [s.verdict.value for s in report.sentences if s.citations] == [
        "supported",
        "contradicted",
    ]


async def test_audit_cannot_be_replayed_or_rerun(audited, tmp_path):
    report = await audited("It has 24 cars ([H](SITE/heron)).")
    record = RunRecord.read(Runs(tmp_path / "data").find(report.run))
    with pytest.raises(UsageError, match="is an audit"):
        await replay(record)
    with pytest.raises(UsageError, match="is an audit"):
        await rerun_on_recorded_web(record, model="extractive", data_dir=tmp_path / "data")


async def test_service_urls_are_configurable(cited, tmp_path):
    path = tmp_path / "refs.bib"
    path.write_text("@article{e, title={Of nothing}, doi={10.1000/none}}")
    service = [f"{name}={cited}" for name in ("crossref", "doi", "archive")]
    report = await audit(path, service=service, data_dir=tmp_path / "data")
    assert report.references[0].wrong == ["the DOI 10.1000/none does not exist"]


async def test_judge_is_not_asked_about_unread_sources(audited, script):
    judge = script({"reply": '1 contradicted "horse-drawn cars"', "for": "judge"})
    report = await audited(
        "It is far away [1]. I found nobody who likes trams ([H](SITE/heron)).\n\n[1]: SITE/lost\n",
        model=judge,
    )
    assert [s.verdict.value for s in report.sentences] == ["undecided", "contradicted"]


async def test_linked_year_stays_in_its_sentence(audited):
    report = await audited("The Heron line opened in [1898](SITE/heron), with horses.")
    assert report.sentences[0].text == "The Heron line opened in 1898, with horses."
    assert report.sentences[0].citations == [1]


async def test_judge_sees_paragraph_of_claim(audited, script):
    judge = script({"reply": "1 supported", "for": "judge"})
    asked = []
    await audited(
        "Hedda Brask made lamps.\n\nThe line is old. Everybody loves it ([H](SITE/heron)).",
        model=judge,
        on_event=lambda e: asked.append(e.data) if e.type == "model.request" else None,
    )
    said = json.dumps(asked, ensure_ascii=False, default=str)
    assert "The line is old. Everybody loves it" in said
    assert "Hedda Brask made lamps" not in said
    assert "answers the question" not in said
