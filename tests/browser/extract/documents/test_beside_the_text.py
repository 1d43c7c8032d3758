"""What a document contains besides its text: fields, comments, headers, numbers, formulas."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import docx as python_docx
import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment

from browser.extract import extract_body
from tests.browser.extract.documents.packing import W, docx, paragraph, relationships, zipped
from tests.browser.extract.documents.pdfs import Sheet, _file, annotated_pdf, build_pdf

if TYPE_CHECKING:
    from browser.types import Document

PROSE = "The harbour handled more ships than ever before in its history"


def read(body: bytes, name: str = "file") -> Document:
    return extract_body(body, "", f"https://e.org/{name}")


NOTE = "<</Type/Annot/Subtype/{kind}/Contents(Paid 99 euro in cash)/F {flags}/Rect[50 600 300 620]/DA(/F1 11 Tf 0 g)>>"


@pytest.mark.parametrize("kind", ["FreeText", "Text", "Highlight"])
def test_pdf_annotation_is_read_unless_hidden(kind: str) -> None:
    shown, hidden = (annotated_pdf([], NOTE.format(kind=kind, flags=flags)) for flags in (4, 2))
    assert "Paid 99 euro in cash" in read(shown).text
    assert "Paid 99" not in read(hidden).text


def test_line_end_hyphens_are_kept_in_urls_and_known_words() -> None:
    lines = ["They took the harbour-", "master to see http://h.example/a-", "b/c and 1871-", "1902 in the well-", "known log of a well-known man, a harbourmaster"]  # fmt: skip
    text = read(
        build_pdf(Sheet([(50, 700 - 13 * n, 11, line) for n, line in enumerate(lines)]))
    ).text
    for words in ("the harbourmaster", "h.example/a-b/c", "1871-", "well-known log"):
        assert words in text.replace("\n", "")


def test_narrow_columns_are_read_top_to_bottom() -> None:
    left = ["The harbour authority pub-", "lished its account on", "Tuesday, in which works", "are described at length."]  # fmt: skip
    right = ["The dredging cost 4.7 mil-", "lion euro, more than was", "planned in the budget of", "the year before."]  # fmt: skip
    places = [(x, 700 - 14 * n, 11, column[n]) for n in range(4) for x, column in ((50, left), (300, right))]  # fmt: skip
    assert read(build_pdf(Sheet(places))).text == (
        "The harbour authority published its account on Tuesday, in which works are described at"
        " length.\n\nThe dredging cost 4.7 million euro, more than was planned in the budget of the"
        " year before."
    )


@pytest.mark.parametrize(
    ("drawn", "letters", "words"),
    [
        ("CBA", {"41": "0628", "42": "0627", "43": "0628"}, "باب"),  # drawn from left to right
        ("BA", {"41": "0645", "42": "06440627"}, "ملا"),  # a ligature
    ],
)
def test_right_to_left_words_are_in_reading_order(
    drawn: str, letters: dict[str, str], words: str
) -> None:
    rows = "\n".join(f"<{code}> <{value}>" for code, value in letters.items())
    mapping = f"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange {len(letters)} beginbfchar\n{rows}\nendbfchar endcmap end"  # fmt: skip
    content = f"BT /F1 11 Tf 50 700 Td ({drawn}) Tj ET"
    body = _file(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[5 0 R]/Count 1>>",
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
            f"<</Length {len(content)}>>stream\n{content}\nendstream",
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 3 0 R>>>>>>",
            f"<</Length {len(mapping)}>>stream\n{mapping}\nendstream",
        ],
        locked=False,
    )
    assert read(body).text == words


def test_word_headers_footers_and_comments_are_read_once() -> None:
    word = python_docx.Document()
    paragraph = word.add_paragraph("The tower is 42 metres high.")
    word.sections[0].header.paragraphs[0].text = "File 4711"
    word.sections[0].footer.paragraphs[0].text = "Approved on 5 May 2024"
    word.add_section().header.paragraphs[0].text = "File 4711"
    word.add_comment(paragraph.runs, text="Was it measured?", author="Ada Moor", initials="AM")
    out = BytesIO()
    word.save(out)
    text = read(out.getvalue()).text
    assert text.startswith("File 4711\n\nThe tower is 42 metres high.")
    assert text.endswith("Approved on 5 May 2024")
    assert (text.count("File 4711"), text.count("Was it measured?")) == (1, 1)


NUMBERING = f"""<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="1">
<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.(%2)"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%3"/></w:lvl>
</w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num></w:numbering>"""


def test_word_automatic_numbering_precedes_paragraphs() -> None:
    def numbered(text: str, level: int) -> str:
        return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="7"/></w:numPr>')

    rows = (("Term", 0), ("Rent", 1), ("Deposit", 1), ("Interest", 2), ("Notice", 0), ("Form", 1))
    body = docx(
        "".join(numbered(text, level) for text, level in rows),
        extra={
            "word/_rels/document.xml.rels": relationships(("r2", "numbering", "numbering.xml")),
            "word/numbering.xml": NUMBERING,
        },
    )
    found = [line.strip("- ") for line in read(body).text.split("\n") if line]
    assert found == [
        "3. Term", "3.(a) Rent", "3.(b) Deposit", "I Interest", "4. Notice", "4.(a) Form",
    ]  # fmt: skip


def test_workbook_comments_and_uncalculated_formulas_are_read() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Dredging", 4])
    sheet.append(["Total", "=SUM(B1:B1)"])
    sheet["B1"].comment = Comment("Second hand", "Ada")
    out = BytesIO()
    book.save(out)
    document = read(out.getvalue())
    assert "| Total | =SUM(B1:B1) |" in document.text
    assert "Comment on B1: Second hand" in document.text
    assert document.notes == ("formulas without a stored value are shown as written",)


def test_slide_comments_repeated_footer_smart_art_and_alternative_text_are_read() -> None:
    a, p = (f"http://schemas.openxmlformats.org/{n}/2006/main" for n in ("drawingml", "presentationml"))  # fmt: skip
    shape = '<p:sp><p:nvPr><p:ph type="{}"/></p:nvPr><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:sp>'
    picture = '<p:pic><p:nvPicPr><p:cNvPr descr="A tug"/></p:nvPicPr></p:pic>'
    slides = {
        f"ppt/slides/s{n}.xml": f'<p:sld xmlns:a="{a}" xmlns:p="{p}">{shape.format("title", f"Slide {n}")}{shape.format("ftr", "Hesk 2024")}{picture}</p:sld>'
        for n in (1, 2)
    }
    hidden = f'<p:sld xmlns:p="{p}" show="0"/>'
    diagram = f'<d:dataModel xmlns:a="{a}" xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"><d:pt><d:t><a:p><a:r><a:t>Dredge</a:t></a:r></a:p></d:t></d:pt></d:dataModel>'
    body = zipped(
        {
            "_rels/.rels": relationships(("r1", "officeDocument", "ppt/p.xml")),
            "ppt/p.xml": f'<p:presentation xmlns:p="{p}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><p:sldId r:id="r1"/><p:sldId r:id="r2"/><p:sldId r:id="r3"/></p:presentation>',
            "ppt/_rels/p.xml.rels": relationships(("r1", "slide", "slides/s1.xml"), ("r2", "slide", "slides/s2.xml"), ("r3", "slide", "slides/s3.xml")),
            "ppt/slides/_rels/s1.xml.rels": relationships(("r1", "comments", "../comments/c.xml"), ("r2", "diagramData", "../d.xml")),
            "ppt/d.xml": diagram,
            "ppt/slides/s3.xml": hidden,
            "ppt/comments/c.xml": f'<p:cmLst xmlns:p="{p}"><p:cm><p:text>Too long</p:text></p:cm></p:cmLst>',
            **slides,
        }
    )  # fmt: skip
    document = read(body)
    for words in ("Comment: Too long", "- Dredge", "Picture: A tug"):
        assert words in document.text
    assert document.text.count("Hesk 2024") == 1
    assert document.notes == ("hidden slides left out: 1", "pictures not read: 2")
