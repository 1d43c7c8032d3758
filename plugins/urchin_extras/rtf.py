"""Rich Text Format: paragraphs with headings, tables, links, footnotes, and what it says of itself.

The libraries for it give bare text, with hidden and deleted words in it, and take quadratic time
on hostile files.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
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
# Symbols that are words; an optional hyphen is not seen.
_SYMBOLS = {b"~": "~", b"_": "_", b"*": "*", b"\n": "par", b"\r": "par", b"-": "-"}
# Fonts are of a character set; its code page is what their bytes mean.
_CHARSETS = {
    0: "cp1252", 77: "mac-roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk",
    136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256",
    186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
# What stands in a group that begins with one of these is about the text, not of it.
_ASIDE = frozenset(
    """annotation atnauthor atndate atnid atnref atrfend atrfstart background bkmkend bkmkstart
    colortbl datafield datastore falt filetbl footerf footerl footerr footer generator headerf
    headerl headerr header latentstyles listtable listoverridetable nonesttables objdata panose
    pict pntext pntxta pntxtb private revtbl rsidtbl shpinst sp tc themedata tcn xe xmlnstbl
    listtext mmathPr pgptbl info""".split()
)
_INFO = frozenset(("title", "author", "subject", "creatim", "revtim"))
_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ",
    "~": "\u00a0", "_": "\u2011",
}  # fmt: skip
# A book of 800 pages has as many; reading them takes some seconds.
_MOST_TOKENS = 500_000
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop)\s*(\d)", re.IGNORECASE)
_LINK = re.compile(r'HYPERLINK\s+"([^"]+)"')


def read_rtf(body: bytes, url: str, name: str) -> Document:
    """Read an RTF file; hidden and deleted text is left out, footnotes stand at the end."""
    reader = _RtfReader()
    rest = _tokens(body)
    for token in itertools.islice(rest, _MOST_TOKENS):
        reader.take(token)
    if next(rest, None) is not None:
        reader.note("only its beginning was read: it is far too long")
    return reader.document(url, name)


@dataclass(frozen=True, slots=True)
class _Token:
    """`{`, `}`, a control word with its number, or bytes of text (word "")."""

    word: str
    number: int | None = None
    data: bytes = b""


def _tokens(body: bytes) -> Iterator[_Token]:
    """Cut a file into tokens; binary data is jumped over, what is no token passed over."""
    at = 0
    while match := _TOKEN.match(body, at):
        at = match.end()
        word, number, byte, symbol, brace, run = match.groups()
        if word:
            value = int(number) if number else None
            if word == b"bin":
                at += max(0, value or 0)
            yield _Token(word.decode(), value)
        elif brace:
            yield _Token(brace.decode())
        elif byte:
            yield _Token("", data=bytes.fromhex(byte.decode()))
        elif symbol in _SYMBOLS:
            yield _Token(_SYMBOLS[symbol])
        elif symbol:
            yield _Token("", data=symbol)
        elif run:
            yield _Token("", data=run)


@dataclass(slots=True)
class _State:
    """What a group inherits and may change for itself; `target` is where its text goes."""

    target: str = "body"
    unseen: bool = False
    skip: int = 1
    encoding: str = ""
    style: int | None = None
    link: tuple[str, int] | None = None


@dataclass(slots=True)
class _RtfReader:
    _composer: Composer = field(default_factory=Composer)
    _state: _State = field(default_factory=_State)
    _outer: list[_State] = field(default_factory=list)
    _starts: bool = False
    _to_skip: int = 0
    _bytes: bytearray = field(default_factory=bytearray)
    _encoding: str = "cp1252"
    _fonts: dict[int, str] = field(default_factory=dict)
    _font: int = 0
    _levels: dict[int, int] = field(default_factory=dict)
    _level: int = 0
    _in_table: bool = False
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)
    _texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _numbers: dict[str, dict[str, int]] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def take(self, token: _Token) -> None:
        """Read one token."""
        starts, self._starts = self._starts, token.word == "{"
        if token.word != "":
            self._decode()
        if token.word == "{":
            self._outer.append(self._state)
            self._state = replace(self._state)
            self._to_skip = 0
        elif token.word == "}":
            self._close()
        elif token.word == "":
            self._text(token)
        elif starts and self._begins(token.word):
            self._starts = token.word == "*"
        else:
            self._word(token)

    def note(self, text: str) -> None:
        """Say something of the document as a whole."""
        self._composer.notes.append(text)

    def document(self, url: str, name: str) -> Document:
        """Put together what was read."""
        self._decode()
        self._in_table = False
        self._paragraph()
        for note in self._notes:
            self._composer.paragraph(note)
        said = {key: self._said(key) for key in ("title", "author", "subject")}
        facts = Document(
            url, title=said["title"], author=said["author"] or None,
            published=self._day("creatim"), modified=self._day("revtim"),
            description=said["subject"] or None,
        )  # fmt: skip
        return self._composer.document(url, "rtf", name, facts)

    def _begins(self, word: str) -> bool:
        """Whether the first word of a group says what the group is."""
        if word in _ASIDE or word == "*":
            self._state.target = ""  # what an unknown starred group holds is nothing to read
        elif word in _INFO or word in {"fldinst", "footnote", "stylesheet", "fonttbl"}:
            self._state.target = word
            self._texts[word] = []
        elif word == "fldrslt":
            self._begin_link()
        else:
            return False
        return True

    def _begin_link(self) -> None:
        if found := _LINK.search(self._taken("fldinst")):
            self._state.link = (found[1], len(self._texts[self._state.target]))

    def _close(self) -> None:
        target, inner = self._state.target, self._state
        self._state = self._outer.pop() if self._outer else _State()
        self._to_skip = 0
        if target == "stylesheet" and self._state.target == "stylesheet":
            self._style(inner)
        elif target == "footnote" and self._state.target != "footnote":
            self._notes.append(self._said("footnote"))
        if inner.link is not None and self._state.link is None:
            address, start = inner.link
            self._composer.link(address, "".join(self._texts[target][start:]))

    def _word(self, token: _Token) -> None:
        word, number, state = token.word, token.number, self._state
        if word in _SIGNS:
            self._add(_SIGNS[word])
        elif word == "u" and number is not None:
            self._add(chr(number % 0x10000))
            self._to_skip = state.skip
        elif word == "uc":
            state.skip = number or 0
        elif word in {"v", "deleted"}:
            state.unseen = number != 0
        elif word == "plain":
            state.unseen = False
        elif word == "ansicpg":
            self._encoding = _known(f"cp{number}")
        elif word == "f":
            self._font = number or 0
            state.encoding = self._fonts.get(self._font, "")
        elif word == "fcharset" and state.target == "fonttbl":
            self._fonts[self._font] = _known(_CHARSETS.get(number or 0, self._encoding))
        elif word in {"yr", "mo", "dy"} and state.target in _INFO:
            self._numbers.setdefault(state.target, {})[word] = number or 0
        else:
            self._layout(word, number)

    def _layout(self, word: str, number: int | None) -> None:
        state = self._state
        if word == "s":
            state.style = number
        if state.target != "body":
            return
        if word == "s":
            self._level = self._levels.get(number or 0, self._level)
        elif word == "outlinelevel":
            self._level = (number or 0) + 1
        elif word == "pard":
            self._level, self._in_table = 0, False
        elif word == "intbl":
            self._in_table = True
        elif word in {"par", "sect", "page"}:
            self._paragraph()
        elif word in {"cell", "nestcell"}:
            self._cells.append(self._taken())
        elif word == "row":
            self._rows.append(self._cells)
            self._cells = []

    def _text(self, token: _Token) -> None:
        skipped = min(self._to_skip, len(token.data))
        self._to_skip -= skipped
        self._bytes += token.data[skipped:]

    def _decode(self) -> None:
        """Take the bytes so far as letters: one of them may be two bytes."""
        if self._bytes:
            encoding = self._state.encoding or self._encoding
            self._add(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _add(self, text: str) -> None:
        state = self._state
        if state.target and not state.unseen:
            self._texts[state.target].append(text)

    def _style(self, style: _State) -> None:
        """Learn at the end of a style whether it is one of headings, by its name."""
        name = self._taken("stylesheet").strip()
        if style.style is not None and (match := _HEADING.match(name)):
            self._levels[style.style] = int(match[1])

    def _paragraph(self) -> None:
        if self._in_table:  # several paragraphs of one cell
            self._add("\n")
            return
        self._end_table()
        text = self._taken()
        if self._level:
            self._composer.heading(self._level, text)
        else:
            self._composer.paragraph(text)

    def _end_table(self) -> None:
        if self._rows:
            self._composer.table(self._rows)
            self._rows = []

    def _taken(self, target: str = "body") -> str:
        """Take what was written to a target, so that it begins anew."""
        text = "".join(self._texts.pop(target, ()))
        # Letters beyond the first plane come as two numbers, one for each half.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _said(self, target: str) -> str:
        return " ".join(self._taken(target).rstrip(";").split())

    def _day(self, target: str) -> str | None:
        numbers = self._numbers.get(target, {})
        day = f"{numbers.get('yr', 0):04}-{numbers.get('mo', 0):02}-{numbers.get('dy', 0):02}"
        return iso_date(day)


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return "cp1252"
