"""Reads .doc files (Word 6 to 2003) through their piece table ([MS-DOC] 2.4.1), with olefile."""

from __future__ import annotations

import re
import struct
from io import BytesIO
from typing import Any

from browser.errors import Encrypted, ExtractError
from browser.extract.documents.archive import missing_extra_error
from browser.extract.documents.composer import Composer
from browser.extract.sniff import decode
from browser.types import Document

# A book has about a million characters.
_MAX_TEXT_CHARS = 5_000_000
_WORD_97 = 0xC1
_COMPRESSED = 1 << 30
# The parts of a file, in order.
_TEXT_PARTS = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes")
_PARTS_AFTER_TEXT = ("footnotes", "endnotes", "boxes", "comments", "headers")
# Only a field's result is shown; it follows the \x14 character.
_FIELD_INSTRUCTION = re.compile(r"\x13[^\x13\x14\x15]*(?:\x14|(?=\x15))")
_CHARACTER_MAP = str.maketrans({"\x0b": "\n", "\x0c": "\r", "\x1e": "-", "\x1f": None, "\xa0": " "})
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x06\x08\x0e-\x1d]")
_HIDDEN_NOTE = "hidden text could not be recognised, so some may be included"


def read_doc(body: bytes, url: str, name: str) -> Document:
    """Read paragraphs, tables, notes, comments and headers; hidden text cannot be recognised.

    Raises ExtractError for a broken or encrypted file, or without the extra `documents`.
    """
    try:
        import olefile  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra_error("doc", "documents", ".docx or PDF") from error
    composer = Composer(notes=[_HIDDEN_NOTE])
    try:
        with olefile.OleFileIO(BytesIO(body)) as file:
            main = file.openstream("WordDocument").read()
            flags = struct.unpack_from("<H", main, 10)[0]
            table = "1Table" if flags & 0x200 else "0Table"
            pieces = file.openstream(table).read() if file.exists(table) else main
            facts = _metadata(file, url)
        if flags & 0x100:
            raise Encrypted("the Word file is encrypted")
        text, lengths = _text(main, pieces, is_complex=bool(flags & 4))
    except (OSError, struct.error, ValueError, IndexError) as error:
        raise ExtractError(f"not readable as .doc: {error}") from error
    at = 0
    parts = {}
    for part, length in zip(_TEXT_PARTS, lengths, strict=True):
        parts[part] = text[at : at + length]
        at += length
    for part in ("text", *_PARTS_AFTER_TEXT):
        _add_blocks(parts[part], composer)
    return composer.document(url, "doc", name, facts)


def _text(main: bytes, table: bytes, *, is_complex: bool) -> tuple[str, tuple[int, ...]]:
    """Return all of a file's characters, and the number of characters in each of its parts."""
    is_97 = struct.unpack_from("<H", main, 2)[0] >= _WORD_97
    lengths = struct.unpack_from("<7i", main, 0x4C if is_97 else 0x34)
    if not is_97 and not is_complex:
        start = struct.unpack_from("<I", main, 0x18)[0]
        return decode(main[start : start + sum(lengths)]), lengths
    start, size = struct.unpack_from("<II", main, 0x1A2 if is_97 else 0x160)
    pieces = table[start : start + size]
    while pieces[:1] == b"\x01":  # skips formatting that pieces may refer to
        pieces = pieces[3 + struct.unpack_from("<H", pieces, 1)[0] :]
    count = (struct.unpack_from("<I", pieces, 1)[0] - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", pieces, 5)
    found, left = [], _MAX_TEXT_CHARS
    for number in range(count):
        place = struct.unpack_from("<I", pieces, 5 + 4 * (count + 1) + 8 * number + 2)[0]
        length = min(ends[number + 1] - ends[number], left)
        left -= length
        if is_97 and not place & _COMPRESSED:
            found.append(main[place : place + 2 * length].decode("utf-16-le", "replace"))
        else:
            place = (place & ~_COMPRESSED) // 2 if is_97 else place
            found.append(main[place : place + length].decode("cp1252", "replace"))
    return "".join(found), lengths


def _add_blocks(text: str, composer: Composer) -> None:
    """Add paragraphs and tables; each cell ends with a BEL character, each row with another one."""
    while _FIELD_INSTRUCTION.search(text):  # fields can be nested
        text = _FIELD_INSTRUCTION.sub("", text)
    rows: list[list[str]] = []
    cells: list[str] = []
    *ended, rest = _CONTROL_CHARACTERS.sub("", text.translate(_CHARACTER_MAP)).split("\x07")
    for cell in ended:
        *before, last = cell.split("\r") if not (cells or rows) else [cell.replace("\r", "\n")]
        for paragraph in before:
            composer.paragraph(paragraph)
        if not last and cells:
            rows.append(cells)
            cells = []
        elif rows and not cells and "\n" in last:  # a paragraph between this table and the next
            composer.table(rows)
            rows = []
            *after, last = last.split("\n")
            for paragraph in after:
                composer.paragraph(paragraph)
            cells = [last]
        else:
            cells.append(last)
    composer.table([*rows, *([cells] if cells else [])])
    for paragraph in rest.split("\r"):
        composer.paragraph(paragraph)


def _metadata(file: Any, url: str) -> Document:
    found = file.get_metadata()

    def text(value: bytes | None) -> str:
        return decode(value).strip() if value else ""

    def day(value: Any) -> str | None:
        return (
            value.isoformat() if value and value.year > 1601 else None
        )  # 1601 is the format's zero date

    return Document(
        url, title=text(found.title), author=text(found.author) or None,
        published=day(found.create_time), modified=day(found.last_saved_time),
    )  # fmt: skip
