"""Turns bytes into a Document: `extract` for HTML pages, `extract_body` for any kind of file."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from browser.errors import ExtractError, TooLarge
from browser.extract.html import extract
from browser.extract.sniff import BINARY, decode, sniff
from browser.imports import import_in_background
from browser.net.url import host

if TYPE_CHECKING:
    from browser.types import Document

__all__ = ["extract", "extract_body", "extract_for_index"]

# The same limit applies to HTTP bodies.
_MAX_UNPACKED_BYTES = 24 * 1024 * 1024


def prepare() -> None:
    """Load the libraries that read articles (a tenth of a second) while a page is being fetched."""
    import_in_background("trafilatura")


def extract_body(body: bytes, content_type: str, url: str) -> Document:
    """Read HTML, PDF, office documents, e-books, mail, text, data, feeds, or an archive of these.

    `content_type` is the HTTP header; if the bytes contradict it, the bytes decide. `Document.kind`
    is the detected kind. Raises ExtractError for images and for locked or broken documents,
    TooLarge for documents whose unpacked size exceeds the limit.
    """
    document = _read(body, content_type, url)
    if "\ufffd" in document.text and "\ufffd".encode() not in body:
        note = "damaged characters and those in an unknown encoding are shown as \ufffd"
        return replace(document, notes=(*document.notes, note))
    if document.kind != "html" and not (document.text.strip() or document.notes):
        return replace(document, notes=("it contains no text",))
    return document


def extract_for_index(body: bytes, content_type: str = "", url: str = "") -> Document:
    """Like `extract_body`, but reads PDFs five times as fast, without layout analysis."""
    if sniff(body, content_type, url) != "pdf":
        return extract_body(body, content_type, url)
    from browser.extract.documents.pdf import extract_pdf  # noqa: PLC0415 - loads pypdfium2

    return extract_pdf(body, url, _file_name(url), layout=False)


def _file_name(url: str) -> str:
    return unquote(PurePosixPath(urlsplit(url).path).name)


def _read(body: bytes, content_type: str, url: str, *, packed: bool = False) -> Document:
    """Read a body; `packed` means that it is a file from an archive."""
    kind, name = sniff(body, content_type, url), _file_name(url)
    match kind:
        case "html":
            return add_platform_record(extract(body, url, content_type=content_type), body, url)
        case "pdf":
            from browser.extract.documents.pdf import extract_pdf  # noqa: PLC0415 - loads pypdfium2

            return extract_pdf(body, url, name)
        case "gzip":
            content, note = _gunzip(body)
            document = extract_body(content, "", url.removesuffix(".gz"))
            return replace(document, notes=(*document.notes, note)) if note else document
        case "zip" | "ole" | "rtf":
            return _read_packed(kind, body, url, name, packed=packed)
        case "mail":
            from browser.extract.documents import mail  # noqa: PLC0415 - most runs read only HTML

            page = mail.saved_page(body)
            return extract(page[0], page[1] or url) if page else mail.read_mail(body, url, name)
    if kind == BINARY:
        message = f"{content_type or 'the body'} is not a readable document"
        raise ExtractError(message, hint="Images, audio and programs cannot be read.")
    from browser.extract.text_formats import read_text  # noqa: PLC0415 - most runs read only HTML

    document = read_text(kind, decode(body, content_type), url, name)
    return add_platform_record(document, body, url) if kind == "json" else document


def _read_packed(kind: str, body: bytes, url: str, name: str, *, packed: bool) -> Document:
    """Read an Office file, an e-book or an archive; `packed` as in `_read`."""
    from browser.extract.documents import packed as readers  # noqa: PLC0415 - most runs read HTML

    if kind == "zip":
        return readers.read_zip(body, url, name, None if packed else _read_member)
    if kind == "ole":
        return readers.read_compound(body, url, name)
    return readers.read_with_plugin(kind, body, url, name)


def _read_member(body: bytes, name: str) -> Document:
    return _read(body, "", f"file:///{quote(name)}", packed=True)


def _gunzip(body: bytes) -> tuple[bytes, str]:
    """Decompress all members of a gzip file; also returns a note if it is truncated.

    Nested gzip is rejected as a zip bomb.
    """
    content, note = b"", ""
    while body.startswith(b"\x1f\x8b"):
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            content += unpacker.decompress(body, max(1, _MAX_UNPACKED_BYTES - len(content)))
        except zlib.error as error:
            if not content:
                raise ExtractError(f"not readable as gzip: {error}") from error
            note = f"only the beginning could be unpacked: {error}"
            break
        if unpacker.unconsumed_tail:
            raise TooLarge("unpacked, it exceeds the size limit")
        if not unpacker.eof:
            note = "the file is truncated: only the beginning was read"
        body = unpacker.unused_data
    if content.startswith(b"\x1f\x8b"):
        raise ExtractError("the content is compressed more than once", hint="Try another source.")
    return content, note


def may_be_platform(url: str) -> bool:
    """Whether a URL may belong to a known platform: its host must be a name with a dot."""
    name = host(url)
    return "." in name and ":" not in name and not name.rpartition(".")[2].isdigit()


def add_platform_record(document: Document, body: bytes, url: str) -> Document:
    """Add the record that a platform's parser finds in a page, if the platform is known."""
    if not may_be_platform(url):
        return document
    from browser.extract.platforms.lookup import with_platform  # noqa: PLC0415 - 0.05 s

    return with_platform(document, body, url)
