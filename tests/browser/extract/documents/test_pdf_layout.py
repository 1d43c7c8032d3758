"""What a PDF shows by position and size: headings, tables, columns, links."""

from __future__ import annotations

import pytest

from browser.errors import ExtractError
from browser.extract import extract_body
from browser.extract.documents import pdf_layout as layout
from browser.extract.documents.composer import Composer
from browser.types import Document, Link
from tests.browser.extract.documents.pdfs import Sheet, build_pdf

PROSE = "The harbour handled more ships than ever before in its history"


def read(*sheets: Sheet) -> Document:
    return extract_body(build_pdf(*sheets), "application/pdf", "https://e.org/a.pdf")


def rows(top: float, *lines: tuple[str, ...]) -> list[tuple[float, float, float, str]]:
    return [
        (50 + 150 * column, top - 20 * n, 11, text)
        for n, line in enumerate(lines)
        for column, text in enumerate(line)
        if text
    ]


def test_lines_named_in_outline_become_headings() -> None:
    sheet = Sheet(
        [(50, 700, 11, "Tides and locks"), (50, 680, 11, PROSE)], title="Tides  and Locks"
    )
    other = Sheet([(50, 700, 11, "Costs"), (50, 680, 11, PROSE)], title="Costs")
    document = read(sheet, other)
    assert document.text.startswith("# Tides and locks\n\nThe harbour")
    assert document.text[document.pages[1] :].startswith("# Costs")


def test_large_text_is_a_heading_without_outline() -> None:
    body = [(50, 640 - 14 * n, 11, PROSE) for n in range(4)]
    document = read(Sheet([(50, 700, 22, "Harbour report"), *body]))
    assert document.text.startswith("# Harbour report\n\nThe harbour")
    assert document.title == "Harbour report"


def test_aligned_cells_become_a_table() -> None:
    lines = rows(600, ("Quarter", "Ships", "Tons"), ("First", "1,204", ""), ("Second", "", "91"))
    document = read(Sheet([(50, 640, 11, PROSE), *lines, (50, 500, 11, PROSE)]))
    assert document.tables[0].rows == (
        ("Quarter", "Ships", "Tons"), ("First", "1,204", ""), ("Second", "", "91"),
    )  # fmt: skip
    assert "| First | 1,204 |  |" in document.text


def test_two_line_cell_stays_one_cell() -> None:
    lines = [
        *rows(600, ("Port", "Depth", "Since"), ("Elm North", "9 m", "1974")),
        (50, 567, 11, "outer basin"),
        *rows(550, ("Elm South", "7 m", "1911")),
    ]
    assert read(Sheet(lines)).tables[0].rows[1] == ("Elm North outer basin", "9 m", "1974")


def test_columns_stored_line_by_line_are_read_top_to_bottom() -> None:
    left = "the pilots wait at the outer mole {}"
    right = "and the tugs are kept in the dock {}"
    texts = [
        piece
        for n in range(6)
        for piece in (
            (50.0, 700.0 - 14 * n, 11.0, left.format(n)),
            (320.0, 700.0 - 14 * n, 11.0, right.format(n)),
        )
    ]
    text = read(Sheet(texts)).text
    assert not read(Sheet(texts)).tables
    assert text.index(left.format(5)) < text.index(right.format(0))


def test_links_keep_their_text() -> None:
    sheet = Sheet([(50, 700, 11, "Annex")], [(48, 698, 85, 712, "https://e.org/annex")])
    assert read(sheet).links == (Link("https://e.org/annex", "Annex"),)


def test_encrypted_pdf_raises_extract_error() -> None:
    body = build_pdf(Sheet([(50, 700, 11, "secret")]), locked=True)
    with pytest.raises(ExtractError, match="encrypted"):
        extract_body(body, "application/pdf", "https://e.org/a.pdf")


def test_column_without_visible_text_is_skipped() -> None:
    # Cells that contain only a soft hyphen have a position but no text.
    composer, rows = Composer(), (("words of one column that are long enough", ""),) * 5
    layout._Page(composer, [], {})._add_grid(rows)
    assert "words of one column" in composer.document("", "pdf", "").text


def test_characters_that_a_font_of_tex_does_not_name_are_read_and_do_not_cost_the_layout() -> None:
    title = (50, 700, 22, r"Coe\036cient of \035oats")
    body = [(50, 600 - 14 * n, 11, rf"{PROSE}, \020so\021\000 they say") for n in range(4)]
    document = read(Sheet([title, (50, 645, 22, "Terry Hale"), *body]))
    assert document.title == "Coefficient of floats"
    assert document.author == "Terry Hale"
    assert document.text.endswith("history, “so” they say")
