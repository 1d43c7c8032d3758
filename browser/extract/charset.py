"""The encoding of a page, found in the order in which browsers look for it (WHATWG Encoding)."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_META = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""")
# The WHATWG prescan reads the first 1024 bytes; many pages declare it later, and browsers reparse.
_PRESCAN = 4096
# Labels that the WHATWG table maps to another encoding than Python does.
_LABELS = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "iso8859-1": "cp1252",
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-9": "cp1254", "latin5": "cp1254",
    "tis-620": "cp874", "iso-8859-11": "cp874", "gb2312": "gb18030", "gbk": "gb18030",
    "x-gbk": "gb18030", "shift_jis": "cp932", "sjis": "cp932", "x-sjis": "cp932",
    "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "big5": "big5hkscs", "x-user-defined": "cp1252",
    "utf8": "utf-8", "utf-16": "utf-16-le", "unicode": "utf-16-le",
}  # fmt: skip


def decode(body: bytes, content_type: str = "") -> str:
    """Decode a page's bytes: BOM, then the header's charset, then meta, then UTF-8, then cp1252."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(name, "replace")
    header = _HEADER.search(content_type)
    if label := (_codec(header[1]) if header else None) or _declared(body[:_PRESCAN]):
        return body.decode(label, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        return _guess(body, error)


def _declared(head: bytes) -> str | None:
    found = _XML.search(head) or _META.search(head)
    name = _codec(found[1].decode("ascii", "replace")) if found else None
    # A meta that could be read as ASCII cannot be UTF-16: browsers take UTF-8 for it.
    return "utf-8" if name and name.startswith("utf-16") else name


def _codec(label: str) -> str | None:
    key = label.strip().lower()
    try:
        return codecs.lookup(_LABELS.get(key, key)).name
    except LookupError:
        return None


def _guess(body: bytes, error: UnicodeDecodeError) -> str:
    # One torn character at the very end, or a stray byte in a long text, is still UTF-8.
    valid = body.decode("utf-8", "replace")
    wrong = valid.count("\ufffd")
    multibyte = sum(1 for character in valid if character > "\x7f") - wrong
    if error.start >= len(body) - 3 or multibyte > 10 * wrong:
        return valid
    return body.decode("cp1252", "replace")
