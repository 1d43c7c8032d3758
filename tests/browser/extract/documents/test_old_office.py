"""Files in pre-2007 formats, created by LibreOffice and (the mail) by extract-msg."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from browser.errors import ExtractError
from browser.extract import extract_body

FILES = Path(__file__).parent / "old"


def saved(name: str) -> bytes:
    return gzip.decompress((FILES / f"{name}.gz").read_bytes())


@pytest.mark.parametrize("name", ["light.doc", "light.ppt", "light.msg"])
def test_old_files_are_read_and_a_date_that_nobody_set_is_none(name: str) -> None:
    document = extract_body(saved(name), "", f"https://e.org/{name}")
    assert document.kind == name.rpartition(".")[2]
    assert "first lit on 1 November 1829" in document.text.replace("First", "first")
    assert "Ölvorrat: 40 Fässer" in document.text
    written = "2024-05-03T08:00:00+00:00" if name == "light.msg" else None
    assert document.published == written
    assert "hidden text" in document.notes[0]


def test_an_old_mail_says_from_whom_and_what_about() -> None:
    document = extract_body(saved("light.msg"), "", "https://e.org/light.msg")
    assert document.title == "The Hesk light"
    assert document.text.startswith("From: ada@hesk.example\nDate: 2024-05-03")


def test_an_old_workbook_is_read_by_its_sheets() -> None:
    document = extract_body(saved("light.xls"), "", "https://e.org/light.xls")
    assert document.text.startswith("## Lights\n\n| Light | First lit | Height, m |\n| Hesk | ")
    assert "## Makros\n\n=EXEC()" in document.text
    assert document.notes == ()


def test_a_sheet_of_old_macros_is_said_to_be_left_out() -> None:
    body = bytearray(saved("light.xls"))
    body[body.index(b"Makros") - 3] = 1  # the kind of the sheet, in the list of sheets
    document = extract_body(bytes(body), "", "https://e.org/light.xls")
    assert "EXEC" not in document.text
    assert document.notes == ("the sheet 'Makros' (Macro sheet) was not read",)


@pytest.mark.row(n=12)
def test_a_workbook_whose_sectors_lead_in_a_circle_is_refused_and_not_followed() -> None:
    body = bytearray(saved("light.xls"))
    table = body.index(bytes(n for sector in range(1, 9) for n in (sector, 0, 0, 0)))
    body[table] = 0  # behind the first sector comes the first one
    with pytest.raises(ExtractError, match="loop"):
        extract_body(bytes(body), "", "https://e.org/light.xls")
