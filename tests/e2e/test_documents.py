"""Documents in a run: best passages of a long one, unreadable ones, `--file`."""

from __future__ import annotations

import json

import pytest

from tests.browser.extract.documents.packing import docx, paragraph
from tests.browser.extract.documents.pdfs import Sheet, build_pdf
from tests.browser.read.reading_site import Site, serve


@pytest.fixture
async def papers():
    async with serve(Site()) as running:
        yield running


def result(events, name="READ"):
    return next(e.data for e in events if e.type == "tool.result" and e.data["name"] == name)


def long_pdf() -> bytes:
    prose = "The harbour was dredged in spring and the pilots were told so by the council"
    sheets = [Sheet([(50.0, 740.0 - 14 * n, 11.0, prose) for n in range(40)]) for _ in range(40)]
    sheets[27].texts.append((50.0, 100.0, 11.0, "The keeper of the lamp was Osmund Varga."))
    return build_pdf(*sheets)


async def test_long_document_search_returns_page_numbers(ask, script, events, papers):
    papers.answers["/long.pdf"] = (200, {"Content-Type": "application/pdf"}, long_pdf())
    call = json.dumps({"url": f"{papers.base}/long.pdf", "query": "keeper of the lamp"})
    model = script(f"<<TOOL:READ:{call}>>", "The keeper of the lamp was Osmund Varga. [S1]")
    report = await ask(model=model, allow_private=["127.0.0.1"])
    made = result(events(report))
    lines = made["web"].splitlines()
    sought = next(n for n, line in enumerate(lines) if "Osmund" in line)
    page_of = {first: page for page, first in made["data"]["pages"].items()}
    named = [page_of[id_] for line in lines[: sought + 1] if (id_ := line.split()[0]) in page_of]
    assert named[-1] == "28"
    assert made["data"]["shown"] < made["data"]["passages"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (build_pdf(Sheet([])), "a scan"),
        (build_pdf(Sheet([(50, 700, 11, "secret")]), locked=True), "encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "Save it as .docx"),
    ],
)
async def test_unreadable_document_error_explains_reason_and_remedy(
    ask, script, events, papers, body, words
):
    papers.answers["/paper"] = (200, {"Content-Type": "application/octet-stream"}, body)
    model = script(f"<<TOOL:READ:{papers.base}/paper>>", "NOT_FOUND")
    report = await ask(model=model, allow_private=["127.0.0.1"])
    assert words in result(events(report))["data"]["error"]


async def test_office_file_is_added_to_context(ask, script, events, tmp_path):
    path = tmp_path / "report.docx"
    path.write_bytes(docx(paragraph("The dredger is called Brunhilde.")))
    report = await ask(file=[path], model=script("The dredger is called Brunhilde. [S1]"))
    assert report.status == "answered"
    assert report.sources[0].via == "file"


async def test_legacy_office_file_is_refused_with_hint(ask, script, tmp_path):
    path = tmp_path / "report.doc"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    report = await ask(file=[path], model=script("nothing"))
    assert report.status == "failed"
    assert report.error is not None
    assert "Save it as" in report.error.message
