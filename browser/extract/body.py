"""Whatever came over the wire into a Document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from browser.errors import ExtractError
from browser.extract.charset import decode
from browser.extract.data import extract_csv, extract_json
from browser.extract.documents.packed import read_document
from browser.extract.feed import extract_feed, extract_xml
from browser.extract.html import extract
from browser.extract.plain import extract_markdown, extract_plain
from browser.extract.sniff import BINARY, sniff
from browser.net.decode import Body
from browser.net.url import host

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.types import Document

_TEXT_READERS: dict[str, Callable[[str, str, str], Document]] = {
    "md": extract_markdown,
    "json": extract_json,
    "csv": extract_csv,
    "feed": extract_feed,
    "xml": extract_xml,
}
# As much as a body over HTTP may unpack to.
_LARGEST_UNPACKED = 24 * 1024 * 1024


def extract_body(body: bytes, content_type: str = "", url: str = "") -> Document:
    """Read HTML, PDF, office documents, books, mail, text, data, feeds, or an archive of such.

    `content_type` is the header as it came; the bytes are believed over it. `Document.kind` says
    what it was. Raises ExtractError for pictures, locked and broken documents, TooLarge
    for those that unpack to more than anyone reads.
    """
    document = _read(body, content_type, url)
    if "\ufffd" in document.text and "\ufffd".encode() not in body:
        note = "characters that are broken in it, or in no known encoding, stand as \ufffd"
        return replace(document, notes=(*document.notes, note))
    if document.kind != "html" and not (document.text.strip() or document.notes):
        return replace(document, notes=("no text in it",))
    return document


def _read(body: bytes, content_type: str, url: str, *, packed: bool = False) -> Document:
    """Read a body; `packed` says that it was within an archive."""
    kind, name = sniff(body, content_type, url), unquote(PurePosixPath(urlsplit(url).path).name)
    if kind == "html":
        return on_platform(extract(body, url, content_type=content_type), body, url)
    if kind == "pdf":
        from browser.extract.pdf import extract_pdf  # noqa: PLC0415 - pypdfium2 only for PDFs

        return extract_pdf(body, url, name)
    if kind == "gzip":
        return extract_body(_unpacked(body), "", url.removesuffix(".gz"))
    if kind in {"zip", "ole", "mail", "rtf"}:
        return read_document(kind, body, url, name, None if packed else _read_member)
    if kind == BINARY:
        message = f"{content_type or 'the body'} is no document that can be read"
        raise ExtractError(message, hint="Pictures, sound and programs are not read.")
    document = _TEXT_READERS.get(kind, extract_plain)(decode(body, content_type), url, name)
    return on_platform(document, body, url) if kind == "json" else document


def _read_member(body: bytes, name: str) -> Document:
    return _read(body, "", f"file:///{quote(name)}", packed=True)


def _unpacked(body: bytes) -> bytes:
    """Undo gzip once, as of `sitemap.xml.gz`. Raises BadResponse, TooLarge, ExtractError."""
    unpacked = Body("gzip", _LARGEST_UNPACKED)
    unpacked.feed(body)
    content = unpacked.content()
    if content.startswith(b"\x1f\x8b"):
        raise ExtractError("packed more than once", hint="Try another source.")
    return content


def may_be_platform(url: str) -> bool:
    """Whether a platform can be there at all: none lives at an address or a bare name."""
    name = host(url)
    return "." in name and ":" not in name and not name.rpartition(".")[2].isdigit()


def on_platform(document: Document, body: bytes, url: str) -> Document:
    """Complete a document from the record of its page, where that is one of a known platform."""
    if not may_be_platform(url):
        return document
    from browser.extract.platforms.lookup import with_platform  # noqa: PLC0415 - 0.05 s

    return with_platform(document, body, url)
