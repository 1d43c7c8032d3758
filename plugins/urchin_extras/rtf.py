"""Reads Rich Text Format: paragraphs with headings, tables, links, footnotes and metadata.

Existing libraries return plain text that includes hidden and deleted words, and take quadratic time
on hostile files.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.documents.composer import Composer
from browser.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,10})?[ ]?"
    rb"|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z'])|([{}])|[\r\n\x00]+|([^\\{}\r\n\x00]+)|.",
    re.DOTALL,
)
# Control words that consist of a symbol; an optional hyphen is not shown.
_SYMBOLS = {b"~": "~", b"_": "_", b"*": "*", b"\n": "par", b"\r": "par", b"-": "-"}
# Each font has a character set; its bytes are decoded with the code page of that set.
_CHARSETS = {
    0: "cp1252", 77: "mac-roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk",
    136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256",
    186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
# A group that begins with one of these contains data about the document, not text.
_NOT_TEXT_GROUPS = frozenset(
    """annotation atnauthor atndate atnid atnref atrfend atrfstart background bkmkend bkmkstart
    colortbl datafield datastore falt filetbl footerf footerl footerr footer generator headerf
    headerl headerr header latentstyles listtable listoverridetable nonesttables objdata panose
    pict pntext pntxta pntxtb private revtbl rsidtbl shpinst sp tc themedata tcn xe xmlnstbl
    listtext mmathPr pgptbl info""".split()
)
_INFO_FIELDS = frozenset(("title", "author", "creatim", "revtim"))
_CHARACTER_WORDS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ",
    "~": "\u00a0", "_": "\u2011",
}  # fmt: skip
# A book of 800 pages has this many tokens; reading them takes a few seconds.
_MAX_TOKENS = 500_000
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop)\s*(\d)", re.IGNORECASE)
_LINK = re.compile(r'HYPERLINK\s+"([^"]+)"')


def read_rtf(body: bytes, url: str, name: str) -> Document:
    """Read an RTF file; hidden and deleted text is left out, and footnotes are put at the end."""
    reader = _RtfReader()
    tokens = _tokens(body)
    for word, number, data in itertools.islice(tokens, _MAX_TOKENS):
        reader.process(word, number, data)
    if next(tokens, None) is not None:
        reader.composer.notes.append("the document is too long: only the beginning was read")
    reader.finish()
    facts = Document(
        url,
        title=reader.text_line("title"),
        author=reader.text_line("author") or None,
        published=reader.date("creatim"),
        modified=reader.date("revtim"),
    )
    return reader.composer.document(url, "rtf", name, facts)


def _tokens(body: bytes) -> Iterator[tuple[str, int | None, bytes]]:
    """Split a file into `{`, `}`, control words with numbers, and text (an empty word with bytes).

    Binary data and anything that is not a token are skipped.
    """
    at = 0
    while match := _TOKEN.match(body, at):
        at = match.end()
        word, number, byte, symbol, brace, text = match.groups()
        if word:
            value = int(number) if number else None
            if word == b"bin":
                at += max(0, value or 0)
            yield word.decode(), value, b""
        elif brace or symbol in _SYMBOLS:
            yield brace.decode() if brace else _SYMBOLS[symbol], None, b""
        elif byte or symbol or text:
            yield "", None, bytes.fromhex(byte.decode()) if byte else symbol or text


@dataclass(slots=True)
class _Group:
    """The state that a group inherits and may change; `target` is where its text goes."""

    target: str = "body"
    hidden: bool = False
    skip: int = 1
    encoding: str = ""
    style: int | None = None
    link: tuple[str, int] | None = None


class _RtfReader:
    """Processes tokens in order, and passes the resulting text to `composer`."""

    def __init__(self) -> None:
        self.composer = Composer()
        self._group = _Group()
        self._outer: list[_Group] = []
        # Set after `{` and `{\*`: the next word determines the group's type.
        self._at_group_start = False
        # How many fallback characters (for readers without Unicode) must still be skipped.
        self._fallbacks_left = 0
        # A letter may have two bytes, so bytes are collected and decoded when the text is
        # interrupted.
        self._bytes = bytearray()
        self._encoding = "cp1252"
        self._font = 0
        self._fonts: dict[int, str] = {}
        self._level = 0
        self._levels: dict[int, int] = {}
        self._in_table = False
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._texts: dict[str, list[str]] = defaultdict(list)
        self._dates: dict[str, dict[str, int]] = defaultdict(dict)
        self._footnotes: list[str] = []

    def process(self, word: str, number: int | None, data: bytes) -> None:
        """Process one token."""
        begins, self._at_group_start = self._at_group_start, word == "{"
        if not word:
            skipped = min(self._fallbacks_left, len(data))
            self._fallbacks_left -= skipped
            self._bytes += data[skipped:]
            return
        self._decode()
        if word == "{":
            self._outer.append(self._group)
            self._group = replace(self._group)
            self._fallbacks_left = 0
        elif word == "}":
            self._close()
        elif begins and self._open(word):
            self._at_group_start = word == "*"
        else:
            self._handle_control_word(word, number)

    def finish(self) -> None:
        """Write the last paragraph or table, and the footnotes."""
        self._decode()
        self._in_table = False
        self._paragraph()
        for note in self._footnotes:
            self.composer.paragraph(note)

    def text_line(self, target: str) -> str:
        """Return the text written to a target, as one line."""
        return " ".join(self._pop(target).rstrip(";").split())

    def date(self, target: str) -> str | None:
        """Return a date from the document's metadata as ISO 8601."""
        year, month, day = (self._dates[target].get(part, 0) for part in ("yr", "mo", "dy"))
        return iso_date(f"{year:04}-{month:02}-{day:02}")

    def _open(self, word: str) -> bool:
        """Start a group of the type given by its first word; False if the word gives no type."""
        if word in _NOT_TEXT_GROUPS or word == "*":
            self._group.target = ""  # the content of an unknown starred group is not text
        elif word in _INFO_FIELDS or word in {"fldinst", "footnote", "stylesheet", "fonttbl"}:
            self._group.target = word
            self._texts[word] = []
        elif word == "fldrslt":
            if found := _LINK.search(self._pop("fldinst")):
                self._group.link = (found[1], len(self._texts[self._group.target]))
        else:
            return False
        return True

    def _close(self) -> None:
        inner, self._group = self._group, self._outer.pop() if self._outer else _Group()
        self._fallbacks_left = 0
        if inner.target == self._group.target == "stylesheet":
            # A style definition ends with its name, which shows whether it is a heading style.
            name = _HEADING.match(self._pop("stylesheet").strip())
            if inner.style is not None and name:
                self._levels[inner.style] = int(name[1])
        elif inner.target == "footnote" and self._group.target != "footnote":
            self._footnotes.append(self.text_line("footnote"))
        if inner.link is not None and self._group.link is None:
            address, start = inner.link
            self.composer.link(address, "".join(self._texts[inner.target][start:]))

    def _handle_control_word(self, word: str, number: int | None) -> None:
        group = self._group
        match word:
            case _ if word in _CHARACTER_WORDS:
                self._write(_CHARACTER_WORDS[word])
            case "u" if number is not None:
                self._write(chr(number % 0x10000))
                self._fallbacks_left = group.skip
            case "uc":
                group.skip = number or 0
            case "v" | "deleted":
                group.hidden = number != 0
            case "plain":
                group.hidden = False
            case "yr" | "mo" | "dy" if group.target in _INFO_FIELDS:
                self._dates[group.target][word] = number or 0
            case "ansicpg" | "f" | "fcharset":
                self._charset(word, number or 0)
            case _:
                self._handle_layout_word(word, number)

    def _charset(self, word: str, value: int) -> None:
        if word == "ansicpg":
            self._encoding = _codec(f"cp{value}")
        elif word == "f":
            self._font = value
            self._group.encoding = self._fonts.get(value, "")
        elif self._group.target == "fonttbl":
            self._fonts[self._font] = _codec(_CHARSETS.get(value, self._encoding))

    def _handle_layout_word(self, word: str, number: int | None) -> None:
        if word == "s":
            self._group.style = number
        if self._group.target != "body":
            return
        match word:
            case "s":
                self._level = self._levels.get(number or 0, self._level)
            case "outlinelevel":
                self._level = (number or 0) + 1
            case "pard":
                self._level, self._in_table = 0, False
            case "intbl":
                self._in_table = True
            case "par" | "sect" | "page":
                self._paragraph()
            case "cell" | "nestcell":
                self._cells.append(self._pop("body"))
            case "row":
                self._rows.append(self._cells)
                self._cells = []

    def _paragraph(self) -> None:
        if self._in_table:  # several paragraphs in one cell
            self._write("\n")
            return
        if self._rows:
            self.composer.table(self._rows)
            self._rows = []
        text = self._pop("body")
        if self._level:
            self.composer.heading(self._level, text)
        else:
            self.composer.paragraph(text)

    def _decode(self) -> None:
        if self._bytes:
            encoding = self._group.encoding or self._encoding
            self._write(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _write(self, text: str) -> None:
        if self._group.target and not self._group.hidden:
            self._texts[self._group.target].append(text)

    def _pop(self, target: str) -> str:
        """Return the text written to a target, and clear it."""
        text = "".join(self._texts.pop(target, ()))
        # A character beyond the Basic Multilingual Plane is written as two surrogate numbers.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return "cp1252"
