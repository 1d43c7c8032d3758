"""Books (.epub): the chapters in the order in which they are read."""

from __future__ import annotations

from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from browser.errors import ExtractError
from browser.extract.documents.composer import Composer, dublin_core
from browser.extract.tree import parse_html

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.documents.archive import Archive
    from browser.types import Document

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset(("application/xhtml+xml", "text/html", "application/x-dtbook+xml"))


def read_epub(archive: Archive, url: str, name: str) -> Document:
    """Read a book's text with its headings, lists, tables and links.

    Raises ExtractError for a broken book and for one that is locked (DRM).
    """
    package = _package(archive)
    root = archive.tree(package)
    if root is None:
        raise ExtractError("not readable as a book: its package file is missing")
    chapters = _chapters(root, package)
    if not _locked(archive).isdisjoint(chapters):
        raise ExtractError("the book is locked (DRM)", hint="Try another source.")
    composer = Composer()
    for chapter in chapters:
        if data := archive.read(chapter):
            composer.markup(parse_html(data, "application/xhtml+xml"))
    return composer.document(url, "epub", name, dublin_core(root))


def _package(archive: Archive) -> str:
    container = archive.tree(_CONTAINER)
    found = container.iter("{*}rootfile") if container is not None else ()
    declared = next((node.get("full-path", "") for node in found), "")
    return declared or next((n for n in sorted(archive.names) if n.endswith(".opf")), "")


def _chapters(root: etree._Element, package: str) -> list[str]:
    """The parts of the spine, without the table of contents."""
    items = {node.get("id", ""): node for node in root.iter("{*}item")}
    chosen = [items[ref] for node in root.iter("{*}itemref") if (ref := node.get("idref")) in items]
    return [
        normpath(join(dirname(package), unquote(node.get("href", ""))))
        for node in chosen
        if node.get("media-type") in _PAGES and "nav" not in (node.get("properties") or "").split()
    ]


def _locked(archive: Archive) -> set[str]:
    root = archive.tree(_ENCRYPTION)
    found = root.iter("{*}CipherReference") if root is not None else ()
    return {unquote(node.get("URI", "")) for node in found}
