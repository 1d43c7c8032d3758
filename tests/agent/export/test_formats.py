"""Which file extension selects which format, and that third-party tools read the formats."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import docx
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin
from ruamel.yaml import YAML
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from agent import research
from agent.channels.dialogue import _HELP_TEXT
from agent.cli.flags import EXPORT_FORMATS
from agent.errors import UsageError
from agent.export import FORMATS, export, format_extension
from agent.export.junit import TestCase, to_xml
from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.types import DataValue, Report, ReportSource
from browser.plugins import IN_EXTRAS
from dev.formats import PAGE, page


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("a.JSON", ".json"),
        ("a.csl.json", ".csl.json"),
        ("a.b.md", ".md"),
        ("pages.warc.gz", ".warc.gz"),
        ("a.gz", ".gz"),
        (".csl.json", ".json"),
    ],
)
def test_longest_known_extension_selects_format(name, end):
    assert format_extension(Path(name)) == end


def test_junit_has_one_case_per_sentence(written):
    suite = ET.fromstring(written("a.xml"))
    assert [case.get("name") for case in suite] == [
        "The question is answered",
        "It was first lit on 1 November 1829.",
        "Visitors are fond of it.",
    ]
    assert [case.find("failure") is None for case in suite] == [False, True, False]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")


@given(st.text())
def test_junit_is_valid_xml_for_any_text(text):
    suite = ET.fromstring(to_xml(text, [TestCase(text, text, "x", text, text)]))
    assert len(suite) == 1


def test_junit_drops_characters_invalid_in_xml():
    made = to_xml("s\x00", [TestCase("a", "b\ud800", "x", "m\x1b]", "<&>")])
    failure = ET.fromstring(made).find(".//failure")
    assert (failure.get("message"), failure.text) == ("m", "<&>")


def test_pdf_contains_report_without_steps(written):
    document = pypdfium2.PdfDocument(written("a.pdf"))
    pages = len(document)
    text = "".join(document[n].get_textpage().get_text_range() for n in range(pages))
    document.close()
    assert "When was Hesk Light first lit?" in text
    assert "1 November 1829" in text
    assert text.count(f"1 / {pages}") == 1  # the page's number
    assert "How it was found" not in text  # nothing unfolds on paper
    assert "WEB_SEARCH" not in text  # steps are for the screen


def test_docx_contains_answer_links_footnotes_and_quotes(written, site):
    document = docx.Document(io.BytesIO(written("a.docx")))
    text = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert document.paragraphs[0].text == "When was Hesk Light first lit?"
    assert "It was first lit on 1 November 1829. [1]" in text
    links = [link.address for paragraph in document.paragraphs for link in paragraph.hyperlinks]
    assert links == [f"{site.url}/hesk-light"] * 2  # the title, and the address itself
    [part] = [part for part in document.part.package.iter_parts() if "footnotes" in part.partname]
    [note] = (n for n in ET.fromstring(part.blob) if "1" in n.attrib.values())
    shown = "".join(note.itertext())
    assert shown.startswith("[1] ")
    assert "1 November 1829" in shown
    assert [r.target_ref for r in part.rels.values()] == [f"{site.url}/hesk-light"]
    quotes = [p.text for p in document.paragraphs if p.style.name == "Quote"]
    assert any("1 November 1829" in quote for quote in quotes)
    assert "Visitors are fond of it. — not verified" in text


def test_obsidian_note_has_properties_and_footnotes(written, site):
    note = written("a.obsidian.md").decode()
    _, properties, body = note.split("---\n", 2)
    values = YAML(typ="safe", pure=True).load(properties)
    assert values["question"] == "When was Hesk Light first lit?"
    assert values["sources"] == [f"{site.url}/hesk-light"]
    html = MarkdownIt().use(footnote_plugin).render(body)
    assert html.count('class="footnote-item"') == 1
    assert f'href="{site.url}/hesk-light"' in html


def records_of(warc):
    """Read a WARC: kind and address to status line, headers and body."""
    return {
        (record.rec_type, record.rec_headers.get_header("WARC-Target-URI")): (
            record.http_headers and record.http_headers.statusline,
            dict(record.http_headers.headers) if record.http_headers else {},
            record.content_stream().read(),
        )
        for record in ArchiveIterator(io.BytesIO(warc), check_digests="raise")
    }


def test_warc_contains_original_response_and_extracted_text(written, site):
    records = records_of(written("a.warc.gz"))
    status, headers, body = records["response", f"{site.url}/hesk-light"]
    assert (status, headers["Content-Type"]) == ("200 OK", "text/html; charset=utf-8")
    assert headers["Content-Length"] == str(len(body))
    assert b"<html" in body
    assert b"1 November 1829" in records["conversion", f"{site.url}/hesk-light"][2]
    # A live page has no single response.
    assert b"<html" in records["resource", f"{site.url}/museum"][2]
    assert any(body.startswith(b"\x89PNG") for _, _, body in records.values())


async def test_warc_omits_cookies_and_deduplicates_bodies(ask, script, site, tmp_path):
    pages = [f"{site.url}/status/cookie", f"{site.url}/status/cookie?again"]
    model = script("".join(f"<<TOOL:READ:{page}>>" for page in pages), "NOT_FOUND")
    report = await ask(model=model)
    export(tmp_path / "data" / "runs" / report.run, tmp_path / "a.warc.gz")
    warc = (tmp_path / "a.warc.gz").read_bytes()
    kinds = [(kind, uri) for kind, uri in records_of(warc) if kind in ("response", "revisit")]
    assert kinds == [("response", pages[0]), ("revisit", pages[1])]
    assert b"kept-by-the-visitor" not in gzip.decompress(warc)


def test_warc_passes_warcio_check(written, tmp_path, capsys):
    written("a.warc.gz")
    checker = Checker(type("Args", (), {"inputs": [str(tmp_path / "a.warc.gz")], "verbose": True}))
    checker.process_all()
    assert checker.exit_value == 0, capsys.readouterr().out


@pytest.mark.parametrize("end", [end for end in FORMATS if end not in (".pdf", ".csv")])
def test_export_is_deterministic(written, end):
    assert written(f"a{end}") == written(f"b{end}")


def test_interrupted_run_cannot_be_exported(finished, tmp_path):
    finished.report.unlink()
    with pytest.raises(UsageError, match="interrupted"):
        export(finished.path, tmp_path / "a.md")


def report_with_data(data, **citations):
    values = [
        DataValue(pointer=pointer, value=0, citations=numbers)
        for pointer, numbers in citations.items()
    ]
    source = ReportSource(
        n=1, url="https://a.test/", fetched_at="2026-11-28T08:00:00Z", sha256="0", via="http"
    )
    return Report(
        run="r", question="q", status="answered", data=data, values=values, sources=[source]
    )


def test_schema_data_is_flattened_to_rows():
    ships = [
        {"name": "Heron", "size": {"cars": 24}},
        {"name": "Petrel", "ports": ["Hesk", "Brack"]},
    ]
    report = report_with_data({"line": "North", "ships": ships}, **{"/ships/0/name": [1]})
    assert report.rows() == [
        {"line": "North", "name": "Heron", "size.cars": 24, "sources": "https://a.test/"},
        {"line": "North", "name": "Petrel", "ports": "Hesk; Brack", "sources": ""},
    ]
    assert report_with_data(ships).rows()[1]["name"] == "Petrel"
    assert report_with_data({"opened": 1898}, **{"/opened": [1]}).rows() == [
        {"opened": 1898, "sources": "https://a.test/"}
    ]
    assert report_with_data(None).rows() == []


def test_csv_escapes_formulas_and_requires_data(finished, tmp_path):
    report = Report.model_validate_json(finished.report.read_bytes())
    with pytest.raises(UsageError, match="no data"):
        export(finished.path, tmp_path / "a.csv")
    report.data = [{"name": "=HYPERLINK(1)", "cars": -5}]
    finished.report.write_text(report.to_json())
    export(finished.path, tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines == ["name,cars,sources", "'=HYPERLINK(1),-5,"]


def test_documentation_lists_every_export_format():
    text = PAGE.read_text("utf-8")
    assert text == page(text), "run: python dev/formats.py"
    table = text.partition("## Export formats")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\.[a-z.]+)`", table)) == {*FORMATS, *IN_EXTRAS["exports"]}
    assert set(re.findall(r"\.[a-z]+", f"{EXPORT_FORMATS} {_HELP_TEXT}")) <= FORMATS.keys()


@pytest.fixture(scope="module")
async def run_over_local_files(tmp_path_factory):
    """A run over a user's folder and file, all below `idas-home`."""
    home = tmp_path_factory.mktemp("idas-home")
    script = home / "script.jsonl"
    (home / "papers" / "2024").mkdir(parents=True)
    (home / "papers" / "2024" / "the pump.html").write_text(
        "<title>The pump</title><p>The pump was repaired on 3 May 2024 by Ida."
        ' <a href="mill.html">The mill</a> has another one.</p>'
    )
    (home / "papers" / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    (home / "notes.md").write_text("# Notes\n\nThe pump lifts 40 litres.")
    replies = (
        "<<TOOL:WEB_SEARCH:pump repaired>>",
        "<<TOOL:READ:file:///papers/2024/the%20pump.html>><<TOOL:READ:file:///papers/none.md>>",
        "The pump was repaired on 3 May 2024 by Ida. [S2] The pump lifts 40 litres. [S1]",
    )
    script.write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
    report = await research(
        "Who repaired the pump?",
        model=f"scripted:{script}",
        fallback=[f"local:{home / 'small.gguf'}"],
        corpus=home / "papers",
        file=[home / "notes.md"],
        data_dir=home / "data",
        memory=False,
    )
    folder = Runs(home / "data").find(report.run)
    assert [(s.url, s.via) for s in report.sources] == [
        ("file:///papers/2024/the%20pump.html", "file"),
        ("file:///notes.md", "file"),
    ]
    report.data = [{"year": 2024}]  # for the format that has only data
    report.values = [DataValue(pointer="/0/year", value=2024, citations=[1])]
    folder.report.write_text(report.to_json())
    return folder


def packed_contents(body):
    """Yield the bytes of an export and of the files packed in it."""
    yield body
    if body.startswith(b"\x1f\x8b"):
        yield gzip.decompress(body)
    elif body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as packed:
            for name in packed.namelist():
                yield from packed_contents(packed.read(name))
    elif body.startswith(b"%PDF"):
        document = pypdfium2.PdfDocument(body)
        yield "".join(page.get_textpage().get_text_range() for page in document).encode()


@pytest.mark.parametrize("end", [*FORMATS, *IN_EXTRAS["exports"]])
def test_exports_do_not_reveal_local_folders(run_over_local_files, tmp_path, end):
    export(run_over_local_files.path, tmp_path / f"a{end}")
    for body in packed_contents((tmp_path / f"a{end}").read_bytes()):
        assert b"idas-home" not in body


def test_record_options_restore_local_paths_omitted_from_journal(
    run_over_local_files,
):
    options = RunRecord.read(run_over_local_files).options
    assert Path(options["corpus"]).name == "papers"
    assert Path(options["corpus"]).is_dir()
    assert Path(options["file"][0]).is_file()
    assert Path(options["model"].removeprefix("scripted:")).is_file()
    assert Path(options["fallback"][0].removeprefix("local:")).parent.name.startswith("idas-home")
