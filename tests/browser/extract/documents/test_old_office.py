"""Files in pre-2007 formats, created by LibreOffice and (the e-mail) by extract-msg."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from browser.errors import ExtractError
from browser.extract import extract_body

FILES = Path(__file__).parent / "old"


def load_old_file(name: str) -> bytes:
    return gzip.decompress((FILES / f"{name}.gz").read_bytes())


@pytest.mark.parametrize("name", ["light.doc", "light.ppt", "light.msg"])
def test_old_office_files_are_read_and_unset_date_is_none(name: str) -> None:
    document = extract_body(load_old_file(name), "", f"https://e.org/{name}")
    assert document.kind == name.rpartition(".")[2]
    assert "first lit on 1 November 1829" in document.text.replace("First", "first")
    assert "Ölvorrat: 40 Fässer" in document.text
    written = "2024-05-03T08:00:00+00:00" if name == "light.msg" else None
    assert document.published == written
    assert "hidden text" in document.notes[0]


def test_outlook_message_shows_sender_and_subject() -> None:
    document = extract_body(load_old_file("light.msg"), "", "https://e.org/light.msg")
    assert document.title == "The Hesk light"
    assert document.text.startswith("From: ada@hesk.example\nDate: 2024-05-03")


def test_old_workbook_is_read_sheet_by_sheet() -> None:
    document = extract_body(load_old_file("light.xls"), "", "https://e.org/light.xls")
    assert document.text.startswith("## Lights\n\n| Light | First lit | Height, m |\n| Hesk | ")
    assert "## Makros\n\n=EXEC()" in document.text
    assert document.notes == ()


def test_omitted_macro_sheet_is_noted() -> None:
    body = bytearray(load_old_file("light.xls"))
    body[body.index(b"Makros") - 3] = 1  # the sheet's kind in the list of sheets
    document = extract_body(bytes(body), "", "https://e.org/light.xls")
    assert "EXEC" not in document.text
    assert document.notes == ("the sheet 'Makros' (Macro sheet) was not read",)


@pytest.mark.row(n=12)
def test_workbook_with_looping_sectors_raises_extract_error() -> None:
    body = bytearray(load_old_file("light.xls"))
    table = body.index(bytes(n for sector in range(1, 9) for n in (sector, 0, 0, 0)))
    body[table] = 0  # behind the first sector comes the first one
    with pytest.raises(ExtractError, match="loop"):
        extract_body(bytes(body), "", "https://e.org/light.xls")
