"""Which kind of document a zip file is, told by what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.errors import ExtractError
from browser.extract.documents.archive import Archive

if TYPE_CHECKING:
    from browser.types import Document

_ODF = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_MIMETYPE = "application/vnd.oasis.opendocument."
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")


def read_packed(body: bytes, url: str, name: str) -> Document:
    """Read Word, Excel, PowerPoint, OpenDocument and EPUB files.

    Raises ExtractError for other archives and broken files, TooLarge for those made to burst.
    """
    archive = Archive(body)
    kind = archive.read("mimetype").decode("ascii", "replace").strip()
    if kind == "application/epub+zip" or "META-INF/container.xml" in archive.names:
        from browser.extract.documents.epub import read_epub  # noqa: PLC0415 - one reader a file

        return read_epub(archive, url, name)
    if kind.startswith(_MIMETYPE):
        from browser.extract.documents.odf import read_odf  # noqa: PLC0415 - as above

        what = kind.removeprefix(_MIMETYPE).partition("-")[0]
        return read_odf(archive, url, name, _ODF.get(what, "odf"))
    return _read_office(archive, body, url, name)


def refuse_legacy(body: bytes) -> None:
    """Raise ExtractError that says what an old Office file is, and what to do; else do nothing."""
    if not body.startswith(_OLE):
        return
    if _LOCKED in body:
        raise ExtractError(
            "the Office file is encrypted", hint="Save it without a password, then read it."
        )
    raise ExtractError(
        "old Office files (.doc, .xls, .ppt, .msg) are not read",
        hint="Save it as .docx, .xlsx, .pptx, .rtf, .eml or PDF, then read that"
        " (LibreOffice: `soffice --convert-to docx FILE`).",
    )


def _read_office(archive: Archive, body: bytes, url: str, name: str) -> Document:
    parts = archive.related("")
    main = next((to for kind, to in parts.values() if kind == "officeDocument"), "")
    match main.partition("/")[0]:
        case "word":
            from browser.extract.documents.docx import read_docx  # noqa: PLC0415 - as above

            return read_docx(archive, main, url, name)
        case "xl":
            from browser.extract.documents.xlsx import read_xlsx  # noqa: PLC0415 - as above

            return read_xlsx(archive, body, url, name)
        case "ppt":
            from browser.extract.documents.pptx import read_pptx  # noqa: PLC0415 - as above

            return read_pptx(archive, main, url, name)
    raise ExtractError(
        "an archive is no document that can be read", hint="Unpack it, or try another source."
    )
