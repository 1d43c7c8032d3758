"""What a body really is: its first bytes decide, then the header, then the URL's ending."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from browser.extract.tree import utf16_of

BINARY: Final = "binary"

_PREFIX = 1024
_SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"{\\rtf", "rtf"),
    (b"\xd0\xcf\x11\xe0", "ole"),
    (b"\x1f\x8b\x08", "gzip"),
)
_PICTURES = (
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"RIFF",
    b"\x00\x00\x01\x00",
    b"OggS",
    b"ID3",
    b"\x1aE\xdf\xa3",
)
_HTML = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype html|html|head|body|title|script|style|meta|link"
    rb"|div|table|h1|p|a|br|main|article|section|nav|header|ul|iframe)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
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
_STRAY = 0.02
_XHTML = re.compile(rb"<html[\s>]", re.IGNORECASE)
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
    head = body[:_PREFIX].removeprefix(b"\xef\xbb\xbf")
    declared = _TYPES.get(content_type.partition(";")[0].strip().lower(), "")
    ending = _ENDINGS.get(PurePosixPath(urlsplit(url).path).suffix.lower(), "")
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff")) or bool(utf16_of(head))
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
    if not (declared or ending) and _MAIL.match(head):
        return "mail"
    return _by_markup(head, declared or ending) or _by_text(head, declared, ending)


def _signature(head: bytes, said: str) -> str:
    for magic, kind in _SIGNATURES:
        if head.startswith(magic):
            return kind
    # Generators put lines before the mark, and readers look past them; a text may quote it.
    if said in {"pdf", ""} and b"%PDF-" in head and not head.lstrip().startswith(b"<"):
        return "pdf"
    if head.startswith(_PICTURES):
        return BINARY
    strange = len(_NOT_TEXT.findall(head))
    return BINARY if strange > (_STRAY * len(head) if said else 0) else ""


def _by_markup(head: bytes, said: str) -> str:
    if said in {"text", "md"}:  # a tutorial in plain text may begin with a tag
        return ""
    if _HTML.match(head) or (_XHTML.search(head) and not _FEED.search(head)):
        return "html"
    if _FEED.search(head):
        return "feed"
    if said != "html" and _XML.match(head):
        return "xml"
    return ""


def _by_text(head: bytes, declared: str, ending: str) -> str:
    if declared or ending:
        return declared or ending
    start = head.lstrip()[:1]
    if start in {b"{", b"["}:
        return "json"
    return "html" if b"</" in head else "text"
