"""Document archives, equations, charts, older formats, scans: what is read, what is noted."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from browser.errors import ExtractError
from browser.extract import extract_body
from browser.extract.documents import pdf
from tests.browser.extract.documents.packing import (
    OFFICE,
    W,
    docx,
    paragraph,
    relationships,
    zipped,
)
from tests.browser.extract.documents.pdfs import Sheet, build_pdf

if TYPE_CHECKING:
    from browser.types import Document

MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def read(body: bytes, name: str = "file") -> Document:
    return extract_body(body, "application/octet-stream", f"https://e.org/{name}")


def equation(inner: str) -> str:
    return f'<m:oMath xmlns:m="{MATH}">{inner}</m:oMath>'


def letters(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("inner", "tex"),
    [
        (
            f"<m:f><m:num>{letters('a+b')}</m:num><m:den>{letters('2')}</m:den></m:f>",
            r"\frac{a+b}{2}",
        ),
        (
            f"<m:sSup><m:e>{letters('x')}</m:e><m:sup>{letters('10')}</m:sup></m:sSup>"
            + letters("=y"),
            "x^{10}=y",
        ),
        (f"<m:rad><m:deg/><m:e>{letters('z')}</m:e></m:rad>", r"\sqrt{z}"),
        (
            (
                f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{letters("i=1")}</m:sub>'
                f"<m:sup>{letters('n')}</m:sup><m:e>{letters('i')}</m:e></m:nary>"
            ),
            r"\sum_{i=1}^n i",
        ),
        (f"<m:box><m:e>{letters('q')}</m:e></m:box>", "q"),
    ],
)
def test_word_equations_become_tex(inner: str, tex: str) -> None:
    body = f"<w:p><w:r><w:t>So </w:t></w:r>{equation(inner)}<w:r><w:t>.</w:t></w:r></w:p>"
    assert read(docx(body)).text == f"So ${tex}$."


def test_heading_style_is_inherited_from_base_style() -> None:
    styles = (
        f'<w:styles xmlns:w="{W}"><w:style w:type="paragraph" w:styleId="H2"><w:name w:val='
        '"heading 2"/></w:style><w:style w:type="paragraph" w:styleId="Kap"><w:name w:val='
        '"Kapitel"/><w:basedOn w:val="H2"/></w:style></w:styles>'
    )
    extra = {
        "word/_rels/document.xml.rels": relationships(("r2", "styles", "styles.xml")),
        "word/styles.xml": styles,
    }
    body = paragraph("Hafen", '<w:pStyle w:val="Kap"/>') + paragraph("Tief.")
    assert read(docx(body, extra=extra)).text == "## Hafen\n\nTief."


def test_unread_word_pictures_are_noted() -> None:
    drawing = '<w:r><w:drawing><a:blip xmlns:a="urn:a"/></w:drawing></w:r>'
    document = read(docx(f"<w:p>{drawing}</w:p>{paragraph('Below.')}"))
    assert document.text == "Below."
    assert document.notes == ("pictures not read: 1",)


def test_zip_documents_are_read_and_other_files_noted() -> None:
    body = zipped(
        {
            "a/notes.txt": "The lamp burns whale oil.",
            "b/report.docx": docx(paragraph("The mole is long.")),
            "b/table.csv": "port,tons\nElm,812\n",
            "c/photo.png": b"\x89PNG\r\n\x1a\n",
            "d/inner.zip": zipped({"x.txt": "deeper"}),
            "__MACOSX/a": "x",
        }
    )
    document = read(body, "papers.zip")
    assert document.kind == "zip"
    assert "# a/notes.txt\n\nThe lamp burns whale oil." in document.text
    assert "# b/report.docx\n\nThe mole is long." in document.text
    assert document.tables[0].rows == (("port", "tons"), ("Elm", "812"))
    assert [note.partition(" was not read")[0] for note in document.notes] == [
        "c/photo.png",
        "d/inner.zip",
    ]


def test_archive_without_readable_document_raises_extract_error() -> None:
    with pytest.raises(ExtractError, match="contains no readable document"):
        read(zipped({"photo.png": b"\x89PNG\r\n\x1a\n"}))


def test_slide_chart_data_becomes_a_table() -> None:
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    values = "".join(f"<c:pt><c:v>{n}</c:v></c:pt>" for n in ("4.3", "2.5"))
    names = "".join(f"<c:pt><c:v>{n}</c:v></c:pt>" for n in ("2023", "2024"))
    chart = (
        '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:ser>'
        f"<c:tx><c:v>Ships</c:v></c:tx><c:cat>{names}</c:cat><c:val>{values}</c:val></c:ser>"
        "</c:chartSpace>"
    )
    body = zipped(
        {
            "_rels/.rels": relationships(("r1", "officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{main}" xmlns:r="{OFFICE}">'
            '<p:sldId r:id="r1"/></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relationships(("r1", "slide", "slides/s.xml")),
            "ppt/slides/s.xml": f'<p:sld xmlns:p="{main}"/>',
            "ppt/slides/_rels/s.xml.rels": relationships(("r1", "chart", "../charts/c.xml")),
            "ppt/charts/c.xml": chart,
        }
    )
    assert read(body).tables[0].rows == (("", "2023", "2024"), ("Ships", "4.3", "2.5"))


def test_missing_olefile_error_names_documents_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "olefile", None)
    body = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + "WordDocument".encode("utf-16-le")
    with pytest.raises(ExtractError, match=r"pip install .*\[documents\]") as raised:
        read(body, "letter.doc")
    assert ".docx" in raised.value.hint


def test_broken_old_office_file_raises_extract_error() -> None:
    for stream in ("WordDocument", "PowerPoint Document", "Workbook", "__substg1.0_"):
        body = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + stream.encode("utf-16-le")
        with pytest.raises(ExtractError, match="not readable"):
            read(body)


def test_scanned_page_is_read_by_ocr_with_note() -> None:
    pytest.importorskip("rapidocr")
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (1240, 300), "white")
    font = ImageFont.load_default(size=36)
    ImageDraw.Draw(picture).text((60, 100), "The harbour is nine metres deep", "black", font)
    out = BytesIO()
    picture.save(out, "PDF", resolution=150)
    document = read(out.getvalue(), "scan.pdf")
    assert "nine metres" in document.text
    assert "letters may be wrong" in document.notes[0]


def test_pdf_whose_fonts_do_not_name_their_letters_is_reported_as_unreadable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    pdf._ocr_engine.cache_clear()
    # dvips names bitmap letters by their number, and some of these names mean dingbats.
    numbers = " ".join(f"/a{code}" for code in range(97, 123))
    named = f"/Helvetica/Encoding<</Differences[97 {numbers}]>>".encode()
    page = Sheet([(50, 700 - 20 * n, 11, "penalised least squares") for n in range(5)])
    body = build_pdf(page).replace(b"/Helvetica", named)
    document = read(body, "squares.pdf")
    assert document.title == "squares.pdf"
    assert "text of 1 of 1 pages is unreadable" in document.notes[0]
    assert "ocr" in document.notes[0]
    pdf._ocr_engine.cache_clear()
