"""Reads zip and compound files by their content: Office, EPUB, OpenDocument, mail, archives."""

from __future__ import annotations

import logging
from posixpath import basename, dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from browser.errors import BrowserError, Encrypted, ExtractError
from browser.extract.dates import iso_date
from browser.extract.documents.archive import Archive, missing_extra_error
from browser.extract.documents.composer import Composer, dublin_core
from browser.extract.documents.sheets import read_xls, read_xlsx
from browser.extract.documents.slides import read_pptx
from browser.extract.documents.word import read_docx
from browser.extract.documents.word97 import read_doc
from browser.extract.tree import parse_html
from browser.plugins import PluginBroken, extras_hint, load_plugin
from browser.types import Document

if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[bytes, str], Document]

_MIMETYPE = "application/vnd.oasis.opendocument."
# The kind of a compound file, by the name of a stream inside it.
_KIND_BY_STREAM = {
    "EncryptedPackage": "locked", "WordDocument": "doc", "PowerPoint Document": "ppt",
    "Workbook": "xls", "Book": "xls", "__substg1.0_": "msg",
}  # fmt: skip
_CONVERT_HINT = (
    "Save it as .docx, .xlsx, .pptx, .eml or PDF, and read the new file"
    " (LibreOffice: `soffice --headless --convert-to docx FILE`)."
)
# Maximum number of files read from an archive; larger archives can be unpacked and searched as
# folders.
_MAX_FILES = 100
# Maximum number of characters read from an archive: as many as in three long books.
_MAX_TEXT_CHARS = 3_000_000
_IGNORED_PREFIXES = ("__MACOSX/", ".")


def read_zip(body: bytes, url: str, name: str, read: Reader | None) -> Document:
    """Read a zip-format document (Office, EPUB, OpenDocument), or the documents in an archive.

    `read(body, name)` reads a file from an archive; it is None inside an archive. Raises
    ExtractError for broken, locked and unsupported files, TooLarge for zip bombs.
    """
    archive = Archive(body)
    kind = archive.read("mimetype").decode("ascii", "replace").strip()
    if kind == "application/epub+zip" or "META-INF/container.xml" in archive.names:
        return read_epub(archive, url, name)
    if kind.startswith(_MIMETYPE):
        return read_with_plugin("odf", body, url, name)
    main = archive.part("", "officeDocument")
    match main.partition("/")[0]:
        case "word":
            return read_docx(archive, main, url, name)
        case "xl" if main.endswith(".bin"):
            archive.check_all()
            return _read_with_extra(body, url, name, "xlsb")
        case "xl":
            return read_xlsx(archive, body, url, name)
        case "ppt":
            return read_pptx(archive, main, url, name)
    return _read_folder(archive, url, name, read)


def read_with_plugin(kind: str, body: bytes, url: str, name: str) -> Document:
    """Read a document with the plug-in for its kind; raises ExtractError if there is none."""
    try:
        reader = load_plugin("documents", kind)
    except PluginBroken as error:
        raise ExtractError(str(error), hint=error.hint) from error
    if reader is None:
        raise ExtractError(
            f"{kind.upper()} files need a plug-in",
            hint=f"{extras_hint('documents')} {_CONVERT_HINT}",
        )
    document: Document = reader(body, url, name)
    return document


def _read_folder(archive: Archive, url: str, name: str, read: Reader | None) -> Document:
    """Read the documents in an archive one after another, except for archives inside it."""
    if read is None:
        raise ExtractError("archives inside archives cannot be read")
    composer = Composer()
    names = (f for f in sorted(archive.names) if not f.endswith("/"))
    files = [f for f in names if not f.startswith(_IGNORED_PREFIXES)]
    count = size = 0
    for number, file in enumerate(files):
        if number >= _MAX_FILES or size > _MAX_TEXT_CHARS:
            composer.notes.append(f"only the first {number} of {len(files)} files were read")
            break
        try:
            document = read(archive.read(file), basename(file))
        except BrowserError as error:
            composer.notes.append(f"{file} was not read: {error}")
            continue
        count += 1
        size += len(document.text)
        composer.heading(1, file)
        composer.text(document)
        composer.notes.extend(f"{file}: {note}" for note in document.notes)
    if not count:
        raise ExtractError(
            "the archive contains no readable document",
            hint="Unpack the archive, or try another source.",
        )
    return composer.document(url, "zip", name, Document(url, title=name))


def read_compound(body: bytes, url: str, name: str) -> Document:
    """Read .doc, .ppt, .msg (with the extra `documents`) and .xls files.

    Raises ExtractError for locked, broken and unknown files.
    """
    kind = next((k for s, k in _KIND_BY_STREAM.items() if s.encode("utf-16-le") in body), "")
    if kind == "locked":
        raise Encrypted("the Office file is encrypted")
    if kind == "xls":
        return read_xls(body, url, name)
    if kind == "doc":
        return read_doc(body, url, name)
    if not kind:
        raise ExtractError("an OLE file of unknown type", hint=_CONVERT_HINT)
    return _read_with_extra(body, url, name, kind)


def _read_with_extra(body: bytes, url: str, name: str, kind: str) -> Document:
    """Read old Office files with the library from the `documents` extra.

    The library does not recognise hidden text; the document's notes report this.
    """
    try:
        import sharepoint2text  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra_error(kind, "documents", "a newer format, or PDF") from error
    # The library logs a line for everything that it does not support.
    logging.getLogger("sharepoint2text").setLevel(logging.CRITICAL)
    try:
        found: Any = next(sharepoint2text.read_bytes(body, extension=kind, ignore_images=True))
    except Exception as error:  # damaged files can make it raise anything
        raise ExtractError(f"not readable as .{kind}: {error}") from error
    composer = Composer(notes=["hidden text could not be recognised, so some may be included"])
    if kind == "msg":
        recipients = found.properties.get("msg.to_emails", ())
        addresses = [recipient.get("address") or "" for recipient in recipients]
        lines = {
            "From": found.metadata.author, "To": ", ".join(filter(None, addresses)),
            "Date": found.metadata.created, "Subject": found.metadata.title,
        }  # fmt: skip
        composer.paragraph("\n".join(f"{key}: {text}" for key, text in lines.items() if text))
    for unit in found.units:
        composer.heading(2, unit.title or "")
        for block in unit.text.replace("\r", "\n").split("\n\n"):
            composer.paragraph(block)
    for attachment in found.attachments:
        composer.notes.append(f"the attachment {attachment.filename} was not read")
    # 1601-01-01 is the format's zero date and means that no date was set.
    created, modified = (
        iso_date(moment) if moment and not moment.startswith("1601-01-01") else None
        for moment in (found.metadata.created, found.metadata.modified)
    )
    facts = Document(
        url, title=found.metadata.title or "", author=found.metadata.author or None,
        published=created, modified=modified,
    )  # fmt: skip
    return composer.document(url, kind, name, facts)


_EPUB_PAGE_TYPES = frozenset(("application/xhtml+xml", "text/html", "application/x-dtbook+xml"))


def read_epub(archive: Archive, url: str, name: str) -> Document:
    """Read an e-book's text with its headings, lists, tables and links.

    Raises ExtractError for an e-book that is broken or has DRM.
    """
    # The package file that the container names, or else any package file.
    declared = _attributes(archive, "META-INF/container.xml", "rootfile", "full-path")
    package = ""
    for part in (*declared, *sorted(archive.names)):
        if part in declared or part.endswith(".opf"):
            package = package or part
    root = archive.tree(package)
    if root is None:
        raise ExtractError("not readable as an e-book: its package file is missing")
    items = {node.get("id", ""): node for node in root.iter("{*}item")}
    spine = [items[ref] for node in root.iter("{*}itemref") if (ref := node.get("idref")) in items]
    chapters = [
        normpath(join(dirname(package), unquote(node.get("href", ""))))
        for node in spine
        if node.get("media-type") in _EPUB_PAGE_TYPES
        and "nav" not in (node.get("properties") or "").split()
    ]
    encrypted = _attributes(archive, "META-INF/encryption.xml", "CipherReference", "URI")
    if not {unquote(part) for part in encrypted}.isdisjoint(chapters):
        raise ExtractError("the e-book is locked (DRM)", hint="Try another source.")
    composer = Composer()
    for chapter in chapters:
        if data := archive.read(chapter):
            composer.markup(parse_html(data, "application/xhtml+xml"))
    return composer.document(url, "epub", name, dublin_core(root))


def _attributes(archive: Archive, part: str, tag: str, attribute: str) -> list[str]:
    root = archive.tree(part)
    found = root.iter(f"{{*}}{tag}") if root is not None else ()
    return [node.get(attribute, "") for node in found]
