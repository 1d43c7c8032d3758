"""A PDF's title, authors, date and identifiers, from its first page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.extract import extract_body
from tests.browser.extract.documents.pdfs import Sheet, build_pdf

if TYPE_CHECKING:
    from browser.types import Document

PROSE = "The harbour handled more ships than ever before in its history"
BODY = [(50, 560 - 14 * n, 11, PROSE) for n in range(6)]


def read(*lines: tuple[float, float, float, str]) -> Document:
    body = build_pdf(Sheet([*lines, *BODY]))
    return extract_body(body, "application/pdf", "https://e.org/a.pdf")


def test_largest_lines_are_title_and_names_below_are_authors() -> None:
    page = read(
        (50, 720, 12, "3. Introduction to the series"),
        (50, 690, 22, "A crane that carries its own"),
        (50, 664, 22, "weight up the stairs"),
        (50, 630, 12, "Ada Moor*, Ben van der Kite and Carl Low"),
        (50, 610, 11, "University of Hesk"),
        (50, 590, 12, "Abstract"),
    )
    assert page.title == "A crane that carries its own weight up the stairs"
    assert page.author == "Ada Moor, Ben van der Kite, Carl Low"


@pytest.mark.parametrize(
    ("line", "doi", "arxiv", "published"),
    [
        ("https://doi.org/10.1234/Abc.55(2).", "10.1234/abc.55(2)", "", None),
        ("arXiv:2401.01234v2 [cs.CL] 3 Jan 2024", "", "2401.01234", "2024-01-03"),
        ("Published online: 5 May 2019", "", "", "2019-05-05"),
    ],
)
def test_identifiers_and_date_are_read_from_first_page(
    line: str, doi: str, arxiv: str, published: str | None
) -> None:
    page = read((50, 720, 9, line), (50, 690, 22, "A crane of a hundred tons"))
    assert (page.publication.doi, page.publication.arxiv) == (doi, arxiv)
    assert page.published == published


@pytest.mark.parametrize(
    ("line", "published"),
    [
        ("February 6, 2023", "2023-02-06"),
        ("Oct 2016", "2016"),
        ("2018-12-19, minor revisions 2020-02-08", "2018-12-19"),
        ("Hesk Conference 2016", None),
    ],
)
def test_date_line_below_title_is_publication_date(line: str, published: str | None) -> None:
    page = read(
        (50, 690, 22, "A crane of a hundred tons"), (50, 660, 12, "Ada Moor"), (50, 640, 12, line)
    )
    assert (page.author, page.published) == ("Ada Moor", published)


def test_institution_and_address_are_not_authors() -> None:
    page = read(
        (50, 690, 22, "A crane of a hundred tons"),
        (50, 660, 12, "Institute of Harbour Engineering, Hesk"),
        (50, 640, 12, "12 May Road, Hesk"),
    )
    assert page.author is None
