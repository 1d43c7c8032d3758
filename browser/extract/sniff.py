"""Detects the kind of a document from its bytes, and the encoding of its text.

The kind is determined from the first bytes, then the header, then the URL's suffix. The encoding is
determined in the same order as in browsers: the byte order mark, the header's charset, the page's
declaration, then the best guess of charset-normalizer. Labels are interpreted according to the
WHATWG Encoding standard.
"""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit

import webencodings
from lxml import etree

BINARY: Final = "binary"

_PREFIX_BYTES = 1024  # bytes that browsers examine for an encoding
_SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"{\\rtf", "rtf"),
    (b"\xd0\xcf\x11\xe0", "ole"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"WEBVTT", "captions"),
    *((magic, BINARY) for magic in (
        b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"\x00\x00\x01\x00", b"OggS", b"ID3",
        b"\x1aE\xdf\xa3",
    )),
)  # fmt: skip
_HTML = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype html|html|head|body|title|script|style|meta|link"
    rb"|div|table|h1|p|a|br|main|article|section|nav|header|ul|iframe)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
# A paper in JATS; its root element has the same name as an HTML element.
_JATS = re.compile(rb"<article\b[^>]*\b(?:article-type|dtd-version)=")
_XHTML = re.compile(rb"<html[\s>]", re.IGNORECASE)
_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF)[\s>]")
_XML = re.compile(rb"\s*<\?xml|\s*<[A-Za-z_][\w:.-]*(?:\s[^<>]*)?>")
# The first line of a stored message, in files that nothing else identifies as e-mail.
_MAIL = re.compile(
    rb"(?:return-path|received|delivered-to|message-id|mime-version|x-original-to):\s|From \S+@\S",
    re.IGNORECASE,
)
# "Binary data bytes" in the MIME Sniffing standard, which text does not contain.
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# In declared text, up to this share of such bytes is accepted as damage, e.g. a NUL in a template.
_DAMAGE_SHARE = 0.02
_TYPES = {
    "text/html": "html", "application/xhtml+xml": "html", "application/pdf": "pdf",
    "application/json": "json", "application/ld+json": "json", "text/json": "json",
    "application/rss+xml": "feed", "application/atom+xml": "feed", "text/xml": "xml",
    "application/xml": "xml", "text/csv": "csv", "text/tab-separated-values": "csv",
    "text/markdown": "md", "text/x-markdown": "md", "text/plain": "text", "text/vtt": "captions",
    "application/x-subrip": "captions", "text/x-rst": "rst", "text/prs.fallenstein.rst": "rst",
    "message/rfc822": "mail", "application/mbox": "mail", "multipart/related": "mail",
}  # fmt: skip
_SUFFIXES = {
    ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf", ".json": "json",
    ".jsonl": "text", ".xml": "xml", ".rss": "feed", ".atom": "feed", ".csv": "csv", ".tsv": "csv",
    ".md": "md", ".markdown": "md", ".txt": "text", ".rst": "rst", ".log": "text",
    ".vtt": "captions", ".srt": "captions", ".nxml": "xml", ".rest": "rst",
    ".eml": "mail", ".mbox": "mail", ".mht": "mail", ".mhtml": "mail",
}  # fmt: skip


def sniff(body: bytes, content_type: str, url: str) -> str:
    """Return the kind: BINARY, one of _TYPES, or rtf, zip, ole or gzip."""
    head = body[:_PREFIX_BYTES].removeprefix(codecs.BOM_UTF8)
    declared = _TYPES.get(content_type.partition(";")[0].strip().lower(), "")
    ending = _SUFFIXES.get(PurePosixPath(urlsplit(url).path).suffix.lower(), "")
    if signed := _kind_by_signature(head):  # checked before an encoding is guessed from zero bytes
        return signed
    _, codec = _codec_by_bytes(head)
    codec = codec or ("utf-16" if "utf-16" in content_type.lower() else "")
    if codec not in {"", "utf-8"}:
        head = head.decode(codec, "ignore").lstrip("\ufeff").encode()
    elif b"\x00" in head and _HTML.match(head):  # the parser drops stray zero bytes in pages
        head = head.replace(b"\x00", b"")
    if signed := _signature(head, declared or ending):
        return signed
    if declared in {"json", "csv", "md", "feed", "mail", "captions", "rst"}:
        return declared
    if declared in {"text", ""} and ending in {"csv", "md", "json", "mail", "captions", "rst"}:
        return ending
    return _kind_of_text(head, declared or ending)


def _kind_by_signature(head: bytes) -> str:
    return next((kind for magic, kind in _SIGNATURES if head.startswith(magic)), "")


def _signature(head: bytes, declared: str) -> str:
    if signed := _kind_by_signature(head):
        return signed
    # Some generators write lines before the signature, and PDF readers skip these. Other text may
    # quote the signature.
    if declared in {"pdf", ""} and b"%PDF-" in head and not head.lstrip().startswith(b"<"):
        return "pdf"
    accepted = _DAMAGE_SHARE * len(head) if declared else 0
    return BINARY if len(_NOT_TEXT.findall(head)) > accepted else ""


def _kind_of_text(head: bytes, declared: str) -> str:
    if declared in {"text", "md"}:  # a plain-text tutorial may begin with a tag
        return declared
    if not declared and _MAIL.match(head):
        return "mail"
    if _JATS.search(head):
        return "xml"
    if _HTML.match(head) or (_XHTML.search(head) and not _FEED.search(head)):
        return "html"
    if _FEED.search(head):
        return "feed"
    if declared != "html" and _XML.match(head):
        return "xml"
    if not declared and head.lstrip().startswith((b"{", b"[")):
        return "json"
    return declared or ("html" if b"</" in head else "text")


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with UTF-16's byte order mark
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""")
# Browsers look for a declaration in this many bytes, and if it is not there, in the entire head.
_HEAD_ENDS = re.compile(rb"</head|<body", re.IGNORECASE)
_MAX_HEAD_BYTES = 64 * 1024
# Encodings for which browsers use a larger variant than Python does under the same name.
_WIDER_CODECS = {
    "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs",
    "x-user-defined": "cp1252", "iso-8859-8-i": "iso-8859-8", "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}  # fmt: skip
# In UTF-16 markup, at least this share of the bytes in even or in odd positions is zero, and almost
# none of the others.
_MIN_ZERO_SHARE = 0.4
_MAX_STRAY_SHARE = 0.05
_MIN_PAIRS = 4
# ISO-2022 uses these to shift to another character set, in bytes that are otherwise ASCII.
_SHIFT_SEQUENCES = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$", "iso2022_jp_2"))
_GUESS_BYTES = 16 * 1024


def decode(body: bytes, content_type: str = "") -> str:
    """Decode a page's bytes; invalid ones become U+FFFD. `content_type` is the header."""
    return decode_noted(body, content_type)[0]


def decode_noted(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Decode a page's bytes; also returns a note on any problem, or "" if there is none.

    A UTF-8 label is checked against the bytes, because it is the default of every editor.
    """
    header = _CHARSET.search(content_type)
    bom, codec = _codec_by_bytes(body)
    label = codec or (_codec(header[1]) if header else None) or _declared_codec(body)
    if codec or label not in {None, "utf-8"}:
        text = body[len(bom) :].decode(label or "", "replace")
    else:
        try:
            return body.decode("utf-8"), ""
        except UnicodeDecodeError as error:
            text, name = _guess_encoding(body, torn_end=error.start >= len(body) - 3)
        if label and name != "utf-8":
            name = "windows-1252" if name == "cp1252" else name
            return text, f"it is declared as UTF-8 but is not; it was read as {name}"
    lost = text.count("\ufffd")
    return text, f"{lost} characters could not be decoded" if lost else ""


def _codec_by_bytes(body: bytes) -> tuple[bytes, str]:
    """The byte order mark, if any, and the codec that it or the bytes indicate ("" if unknown)."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return mark, codec
    shifts = (name for shift, name in _SHIFT_SEQUENCES if shift in body[:_GUESS_BYTES])
    return b"", _wide_codec(body) or next(shifts, "")


def _wide_codec(body: bytes) -> str:
    """The UTF-16 or UTF-32 codec of bytes without a mark, recognised by zero bytes; or ""."""
    head = body[: _PREFIX_BYTES // 4 * 4]
    if not any(head[3::4] + head[2::4]) and len(head) > _MIN_PAIRS:
        return "utf-32-le"
    if not any(head[::4] + head[1::4]) and len(head) > _MIN_PAIRS:
        return "utf-32-be"
    even, odd = head[::2], head[1::2]
    if len(odd) < _MIN_PAIRS:
        return ""
    for codec, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        strays = low.count(0) < _MAX_STRAY_SHARE * len(low)
        if high.count(0) > _MIN_ZERO_SHARE * len(high) and strays:
            return codec
    return ""


def _declared_codec(body: bytes) -> str | None:
    """The codec that the page declares in an XML declaration or a meta element."""
    if found := _XML_ENCODING.search(body[:_PREFIX_BYTES]):
        labels = [found[1].decode("ascii", "replace")]
    else:
        end = _HEAD_ENDS.search(body, _PREFIX_BYTES, _MAX_HEAD_BYTES)
        head = body[: end.start() if end else _PREFIX_BYTES]
        if b"<meta" not in head.lower():
            return None
        root = etree.fromstring(head.decode("latin-1"), etree.HTMLParser())
        labels = [label for meta in root.iter("meta") if (label := _meta_label(meta))]
    for label in labels:
        if codec := _codec(label):
            # The declaration is readable as ASCII, so the page cannot be in UTF-16.
            return "utf-8" if codec.startswith("utf-16") else codec
    return None


def _meta_label(meta: etree._Element) -> str:
    if meta.get("charset"):
        return meta.get("charset", "")
    if meta.get("http-equiv", "").strip().lower() != "content-type":
        return ""
    found = _CHARSET.search(meta.get("content", ""))
    return found[1] if found else ""


def _codec(label: str) -> str | None:
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name == "replacement":
        return None
    return _WIDER_CODECS.get(encoding.name, str(encoding.codec_info.name))


def _guess_encoding(body: bytes, *, torn_end: bool) -> tuple[str, str]:
    """Return the text and codec of bytes that are not valid UTF-8.

    `torn_end` means that only the last character is incomplete.
    """
    text = body.decode("utf-8", "replace")
    invalid = text.count("\ufffd")
    multibyte = sum(character > "\x7f" for character in text) - invalid
    # Text with an incomplete last character, or with a few stray bytes, is still UTF-8.
    if torn_end or multibyte > 10 * invalid:
        return text, "utf-8"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - few pages declare no encoding

    ranks = list(from_bytes(re.sub(rb"<[^>]*>|[\x00-\x20]+", b" ", body)[:_GUESS_BYTES]))
    # If several encodings have the best rank, their order is arbitrary: choose the most common one.
    best = (ranks[0].chaos, -ranks[0].coherence) if ranks else ()
    equal = [rank.encoding for rank in ranks if (rank.chaos, -rank.coherence) <= best]
    name = "cp1252" if "cp1252" in equal or not equal else equal[0]
    name = _codec(name) or name
    return body.decode(name, "replace"), name
