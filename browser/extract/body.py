"""Whatever came over the wire into a Document."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from browser.errors import ExtractError
from browser.extract.charset import decode
from browser.extract.html import extract
from browser.extract.sniff import BINARY, sniff
from browser.net.decode import Body
from browser.net.url import host

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.types import Document

# As much as a body over HTTP may unpack to.
_LARGEST_UNPACKED = 24 * 1024 * 1024


def extract_body(body: bytes, content_type: str = "", url: str = "") -> Document:
    """Read a body of any kind: HTML, PDF, office documents, books, mail, text, data, feeds.

    `content_type` is the header as it came; the bytes are believed over it. `Document.kind` says
    what it was. Raises ExtractError for pictures, archives, locked and broken documents, TooLarge
    for those that unpack to more than anyone reads.
    """
    kind = sniff(body, content_type, url)
    if kind == "html":
        return on_platform(extract(body, url, content_type=content_type), body, url)
    if kind == "pdf":
        from browser.extract.pdf import extract_pdf  # noqa: PLC0415 - pypdfium2 only for PDFs

        return extract_pdf(body, url, name=_name(url))
    if kind == "gzip":
        return extract_body(_unpacked(body), "", url.removesuffix(".gz"))
    if kind in {"zip", "ole", BINARY, "mail", "rtf"}:
        return _packed(kind, body, content_type, url)
    document = _text_reader(kind)(decode(body, content_type), url, _name(url))
    return on_platform(document, body, url) if kind == "json" else document


def _packed(kind: str, body: bytes, content_type: str, url: str) -> Document:
    from browser.extract.documents import packed  # noqa: PLC0415 - the few pages that are no HTML

    if kind == "zip":
        return packed.read_packed(
            body, url, _name(url), lambda data, name: extract_body(data, "", f"file:///{quote(name)}")
        )
    if kind == "ole":
        return packed.read_compound(body, url, _name(url))
    if kind == "mail":
        from browser.extract.documents.mail import read_mail  # noqa: PLC0415 - as above

        return read_mail(body, url, _name(url))
    if kind == "rtf":
        from browser.extract.documents.rtf import read_rtf  # noqa: PLC0415 - as above

        return read_rtf(body, url, _name(url))
    message = f"{content_type or 'the body'} is no document that can be read"
    raise ExtractError(message, hint="Pictures, sound and programs are not read.")


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
    from browser.extract.platforms.notes import with_platform  # noqa: PLC0415 - 0.05 s

    return with_platform(document, body, url)


def _text_reader(kind: str) -> Callable[[str, str, str], Document]:
    from browser.extract import data, feed, plain  # noqa: PLC0415 - the few pages that are no HTML

    readers: dict[str, Callable[[str, str, str], Document]] = {
        "md": plain.extract_markdown,
        "json": data.extract_json,
        "csv": data.extract_csv,
        "feed": feed.extract_feed,
        "xml": feed.extract_xml,
    }
    return readers.get(kind, plain.extract_plain)


def _name(url: str) -> str:
    return unquote(PurePosixPath(urlsplit(url).path).name)
