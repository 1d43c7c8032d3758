"""What bytes are: the kind of document, and the encoding of its text.

The kind is told by the first bytes, then the header, then the URL's ending. The encoding is found
in the order in which browsers look for it: byte order mark, the header's charset, the page's own
declaration, then by guess. Labels mean what the WHATWG Encoding standard says they do.
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

_PREFIX = 1024
_SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"{\\rtf", "rtf"),
    (b"\xd0\xcf\x11\xe0", "ole"),
    (b"\x1f\x8b\x08", "gzip"),
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
_XHTML = re.compile(rb"<html[\s>]", re.IGNORECASE)
_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF)[\s>]")
_XML = re.compile(rb"\s*<\?xml|\s*<[A-Za-z_][\w:.-]*(?:\s[^<>]*)?>")
# What the first line of a stored message is, when nothing else says that it is one.
_MAIL = re.compile(
    rb"(?:return-path|received|delivered-to|message-id|mime-version|x-original-to):\s|From \S+@\S",
    re.IGNORECASE,
)
# MIME Sniffing, "binary data byte": text has none of these.
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# Where text is declared, a share of such bytes up to this is damage, such as a NUL in a template.
_DAMAGE = 0.02
_TYPES = {
    "text/html": "html", "application/xhtml+xml": "html", "application/pdf": "pdf",
    "application/json": "json", "application/ld+json": "json", "text/json": "json",
    "application/rss+xml": "feed", "application/atom+xml": "feed", "text/xml": "xml",
    "application/xml": "xml", "text/csv": "csv", "text/tab-separated-values": "csv",
    "text/markdown": "md", "text/x-markdown": "md", "text/plain": "text",
    "message/rfc822": "mail", "application/mbox": "mail", "multipart/related": "mail",
}  # fmt: skip
_ENDINGS = {
    ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf", ".json": "json",
    ".jsonl": "text", ".xml": "xml", ".rss": "feed", ".atom": "feed", ".csv": "csv", ".tsv": "csv",
    ".md": "md", ".markdown": "md", ".txt": "text", ".rst": "text", ".log": "text",
    ".eml": "mail", ".mbox": "mail", ".mht": "mail", ".mhtml": "mail",
}  # fmt: skip


def sniff(body: bytes, content_type: str, url: str) -> str:
    """Name the kind: BINARY, or html pdf text md json xml feed csv mail rtf zip ole gzip."""
    head = body[:_PREFIX].removeprefix(codecs.BOM_UTF8)
    declared = _TYPES.get(content_type.partition(";")[0].strip().lower(), "")
    ending = _ENDINGS.get(PurePosixPath(urlsplit(url).path).suffix.lower(), "")
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or bool(_utf16(head))
    wide = wide or "utf-16" in content_type.lower()
    # A stray zero in a page is dropped by the parser; any other text has none.
    if wide or (b"\x00" in head and _HTML.match(head)):
        head = head.lstrip(b"\xff\xfe").replace(b"\x00", b"")
    if signed := _signature(head, declared or ending):
        return signed
    if declared in {"json", "csv", "md", "feed", "mail"}:
        return declared
    if declared in {"text", ""} and ending in {"csv", "md", "json", "mail"}:
        return ending
    return _by_text(head, declared or ending)


def _signature(head: bytes, said: str) -> str:
    for magic, kind in _SIGNATURES:
        if head.startswith(magic):
            return kind
    # Generators put lines before the mark, and readers look past them; a text may quote it.
    if said in {"pdf", ""} and b"%PDF-" in head and not head.lstrip().startswith(b"<"):
        return "pdf"
    strange = len(_NOT_TEXT.findall(head))
    return BINARY if strange > (_DAMAGE * len(head) if said else 0) else ""


def _by_text(head: bytes, said: str) -> str:
    if said in {"text", "md"}:  # a tutorial in plain text may begin with a tag
        return said
    if not said and _MAIL.match(head):
        return "mail"
    if _HTML.match(head) or (_XHTML.search(head) and not _FEED.search(head)):
        return "html"
    if _FEED.search(head):
        return "feed"
    if said != "html" and _XML.match(head):
        return "xml"
    if not said and head.lstrip().startswith((b"{", b"[")):
        return "json"
    return said or ("html" if b"</" in head else "text")


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""")
# Browsers look for a declaration in this many bytes, and on to the end of the head.
_HEAD_ENDS = re.compile(rb"</head|<body", re.IGNORECASE)
_LONGEST_HEAD = 64 * 1024
# Encodings that Python knows in a narrower form than browsers use under the same name.
_WIDER = {
    "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs",
    "x-user-defined": "cp1252", "iso-8859-8-i": "iso-8859-8", "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}  # fmt: skip
# Of markup in UTF-16 this share of every second byte is zero, and hardly any of the others.
_ZEROS = 0.4
_STRAY = 0.05
_FEWEST_PAIRS = 4
# Of text in a Latin script hardly more than a tenth of the bytes are beyond ASCII.
_FOREIGN = 0.2
_LOOKED_AT = 16 * 1024


def decode(body: bytes, content_type: str = "") -> str:
    """Decode a page's bytes; what does not fit becomes U+FFFD. `content_type` is the header."""
    return decode_noted(body, content_type)[0]


def decode_noted(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Decode a page's bytes, and say in words what was wrong with them; nothing mostly.

    A label of UTF-8 is believed as far as the bytes bear it out: it is every editor's default.
    """
    header = _CHARSET.search(content_type)
    bom, codec = next((b for b in _BOMS if body.startswith(b[0])), (b"", _utf16(body)))
    label = codec or (_codec(header[1]) if header else None) or _declared(body)
    if codec or label not in {None, "utf-8"}:
        text = body[len(bom) :].decode(label or "", "replace")
    else:
        try:
            return body.decode("utf-8"), ""
        except UnicodeDecodeError as error:
            text, name = _guess(body, torn_end=error.start >= len(body) - 3)
        if label and name != "utf-8":
            name = "windows-1252" if name == "cp1252" else name
            return text, f"it says that it is UTF-8 and is not: read as {name}"
    lost = text.count("\ufffd")
    return text, f"{lost} characters could not be decoded" if lost else ""


def _utf16(body: bytes) -> str:
    """The byte order of UTF-16 without a mark: of markup every second byte is zero."""
    head = body[: _PREFIX // 2 * 2]
    even, odd = head[::2], head[1::2]
    if len(odd) < _FEWEST_PAIRS:
        return ""
    if odd.count(0) > _ZEROS * len(odd) and even.count(0) < _STRAY * len(even):
        return "utf-16-le"
    if even.count(0) > _ZEROS * len(even) and odd.count(0) < _STRAY * len(odd):
        return "utf-16-be"
    return ""


def _declared(body: bytes) -> str | None:
    """The encoding that the page itself declares, in an XML declaration or in a meta element."""
    if found := _XML_ENCODING.search(body[:_PREFIX]):
        labels = [found[1].decode("ascii", "replace")]
    else:
        end = _HEAD_ENDS.search(body, _PREFIX, _LONGEST_HEAD)
        head = body[: end.start() if end else _PREFIX]
        if b"<meta" not in head.lower():
            return None
        root = etree.fromstring(head.decode("latin-1"), etree.HTMLParser())
        labels = [label for meta in root.iter("meta") if (label := _meta_label(meta))]
    codec = next(filter(None, map(_codec, labels)), None)
    # What could be read as ASCII is no UTF-16, whatever it says.
    return "utf-8" if codec and codec.startswith("utf-16") else codec


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
    return _WIDER.get(encoding.name, str(encoding.codec_info.name))


def _guess(body: bytes, *, torn_end: bool) -> tuple[str, str]:
    """Text and codec of bytes that are not clean UTF-8: in a script of its own, or Western."""
    text = body.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    multibyte = sum(character > "\x7f" for character in text) - wrong
    # One torn character at the very end, or a stray byte in a long text, is still UTF-8.
    if torn_end or multibyte > 10 * wrong:
        return text, "utf-8"
    sample = re.sub(rb"<[^>]*>|[\x00-\x20]+", b" ", body[:_LOOKED_AT])
    name = "cp1252"
    if sum(byte > 0x7F for byte in sample) >= _FOREIGN * len(sample):
        from charset_normalizer import from_bytes  # noqa: PLC0415 - few pages say nothing at all

        best = from_bytes(sample).best()
        name = (_codec(best.encoding) or best.encoding) if best else name
    return body.decode(name, "replace"), name
