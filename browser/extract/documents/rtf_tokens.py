"""RTF as a stream of groups, control words and bytes of text (RTF Specification 1.9.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN: Final = "{"
CLOSE: Final = "}"
TEXT: Final = ""
"""The word of a token that holds bytes of text."""
_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,10})?[ ]?"
    rb"|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z'])|([{}])|[\r\n\x00]+|([^\\{}\r\n\x00]+)|.",
    re.DOTALL,
)
# Symbols that are words; an optional hyphen is not seen.
_SYMBOLS = {b"~": "~", b"_": "_", b"*": "*", b"\n": "par", b"\r": "par", b"-": "-"}
# Fonts are of a character set; its code page is what their bytes mean.
CHARSETS: Final = {
    0: "cp1252", 77: "mac-roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk",
    136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256",
    186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """`{`, `}`, a control word with its number, or bytes of text (word TEXT)."""

    word: str
    number: int | None = None
    data: bytes = b""


def tokens(body: bytes) -> Iterator[Token]:
    """Cut a file into tokens; binary data is jumped over, what is no token passed over."""
    at = 0
    while match := _TOKEN.match(body, at):
        at = match.end()
        word, number, byte, symbol, brace, run = match.groups()
        if word:
            value = int(number) if number else None
            if word == b"bin":
                at += max(0, value or 0)
            yield Token(word.decode(), value)
        elif brace:
            yield Token(brace.decode())
        elif byte:
            yield Token(TEXT, data=bytes.fromhex(byte.decode()))
        elif symbol in _SYMBOLS:
            yield Token(_SYMBOLS[symbol])
        elif symbol:
            yield Token(TEXT, data=symbol)
        elif run:
            yield Token(TEXT, data=run)
