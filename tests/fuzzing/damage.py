"""Valid inputs, damaged at random: bits, splices, cuts, repeats, odd characters.

The result for a name and a number is always the same, so a number suffices to reproduce it.
"""

# ruff: noqa: E501 - marks read best side by side

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from tests.browser.extract.documents.packing import zipped

if TYPE_CHECKING:
    import random

LARGEST = 100_000
"""Maximum bytes: a repeat that makes an input longer is cut."""
_ODD = (
    "\ud800",
    "\x00",
    "\u202e",
    "\u200b",
    "\ufeff",
    "１",
    "。",
    "İ",
    "ß",
    "\U000e0041",
    "\r",
    "é́",
)
_MARKS = (
    "<<TOOL:", "<<THINK>>", "<</THINK>>", "<tool_call>", "</tool_call>", "<READ>", "</READ>", "```",
    "Action: READ\n", '{"a":', "[", "]", '"', "\\", "<div>", "<table>", "</", "<!--", "&#x",
    "%", "@", "//", ":", "?", "#", ".", "[::", "0x", "-1", "99999999999999999999", "1e999", "NaN",
    "\n", "\n\n", "--b\n", "Content-Type: multipart/mixed; boundary=b\n", "charset=x-none", "<svg>",
    "data:", "&nbsp;", "<meta charset=utf-7>", "=?utf-8?b?", "{\\rtf", "endobj", "stream\n", "<<", ">>",
)  # fmt: skip


def damaged(chance: random.Random, seeds: list[bytes]) -> bytes:
    """Damage one of the inputs several times; in a zip file, often a part within it."""
    body = chance.choice(seeds)
    if body.startswith(b"PK") and chance.random() < 0.8:
        return _within(chance, body)
    most = chance.choice((LARGEST // 10, LARGEST // 10, LARGEST // 10, LARGEST))
    for _ in range(chance.choice((1, 1, 2, 3, 6, 20))):
        body = _once(chance, body, chance.choice(seeds))[:most]
    return body


def _within(chance: random.Random, body: bytes) -> bytes:
    try:
        with ZipFile(BytesIO(body)) as archive:
            parts: dict[str, str | bytes] = {n: archive.read(n) for n in archive.namelist()}
    except (BadZipFile, NotImplementedError):
        return body
    name = chance.choice(list(parts))
    parts[name] = damaged(chance, [part for part in parts.values() if isinstance(part, bytes)])
    if chance.random() < 0.1:
        del parts[chance.choice(list(parts))]
    return zipped(parts)


def _once(chance: random.Random, body: bytes, other: bytes) -> bytes:
    start, end = sorted(chance.randint(0, len(body)) for _ in range(2))
    piece = body[start : min(end, start + 2_000)]
    match chance.randrange(8):
        case 0 if body:
            at = chance.randrange(len(body))
            return body[:at] + bytes([body[at] ^ 1 << chance.randrange(8)]) + body[at + 1 :]
        case 1:
            at = chance.randint(0, len(other))
            return body[:start] + other[at : at + 2_000] + body[end:]
        case 2:
            return body[:start] if chance.random() < 0.5 else body[start:]
        case 3:
            return body[:start] + piece * chance.choice((2, 2, 10, 10, 100, 1_000)) + body[end:]
        case 4:
            return body[:start] + chance.choice(_ODD).encode("utf-8", "surrogatepass") + body[end:]
        case 5:
            return body[:start] + body[end:]
        case 6:
            mark = chance.choice(_MARKS).encode()
            return (
                body[:start] + mark * chance.choice((1, 1, 1, 2, 2, 30, 30, 5_000)) + body[start:]
            )
        case _:
            return body[:start] + chance.randbytes(chance.choice((1, 4, 40))) + body[start:]
