"""Which ending means which form, and the forms that tools of others read."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree as ET

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from agent.errors import UsageError
from agent.export import FORMATS, ending, export
from agent.export.xunit import TestCase, to_xml


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
def test_the_longest_ending_tells_the_format(name, end):
    assert ending(Path(name)) == end


def test_each_sentence_is_a_case_of_junit(written):
    suite = ET.fromstring(written("a.xml"))
    assert [case.get("name") for case in suite] == [
        "The question is answered",
        "It was first lit on 1 November 1829.",
        "Visitors are fond of it.",
    ]
    assert [case.find("failure") is None for case in suite] == [True, True, False]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")


@given(st.text())
def test_junit_is_xml_whatever_a_sentence_says(text):
    suite = ET.fromstring(to_xml(text, [TestCase(text, text, "x", text, text)]))
    assert len(suite) == 1


def test_what_xml_cannot_hold_does_not_break_it():
    made = to_xml("s\x00", [TestCase("a", "b\ud800", "x", "m\x1b]", "<&>")])
    failure = ET.fromstring(made).find(".//failure")
    assert (failure.get("message"), failure.text) == ("m\ufffd]", "<&>")


def test_the_pdf_is_the_report_printed(written):
    document = pypdfium2.PdfDocument(written("a.pdf"))
    text = "".join(document[n].get_textpage().get_text_range() for n in range(len(document)))
    document.close()
    assert "When was Hesk Light first lit?" in text
    assert "1 November 1829" in text


def test_the_warc_holds_the_page_as_it_came_and_the_text_read_from_it(written, site):
    records = {}
    for record in ArchiveIterator(io.BytesIO(written("a.warc.gz")), check_digests="raise"):
        uri = record.rec_headers.get_header("WARC-Target-URI")
        records[record.rec_type, uri] = record.content_stream().read()
    assert b"<html" in records["resource", f"{site.url}/hesk-light"]
    assert b"1 November 1829" in records["conversion", f"{site.url}/hesk-light"]
    assert any(body.startswith(b"\x89PNG") for body in records.values())


def test_the_warc_passes_its_librarys_own_checker(written, tmp_path, capsys):
    written("a.warc.gz")
    checker = Checker(type("Args", (), {"inputs": [str(tmp_path / "a.warc.gz")], "verbose": True}))
    checker.process_all()
    assert checker.exit_value == 0, capsys.readouterr().out


@pytest.mark.parametrize("end", [end for end in FORMATS if end != ".pdf"])
def test_the_same_run_gives_the_same_bytes(written, end):
    assert written(f"a{end}") == written(f"b{end}")


def test_a_run_that_was_cut_off_has_nothing_to_export(finished, tmp_path):
    finished.report.unlink()
    with pytest.raises(UsageError, match="cut off"):
        export(finished.path, tmp_path / "a.md")
