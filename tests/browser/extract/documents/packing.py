"""Small test documents, packed as by the programs that create them."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"


def zipped(parts: dict[str, str | bytes]) -> bytes:
    """Pack parts; `mimetype` comes first and uncompressed, as EPUB and OpenDocument require."""
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            packing = ZIP_STORED if name == "mimetype" else ZIP_DEFLATED
            archive.writestr(name, data, packing)
    return out.getvalue()


def relationships(*parts: tuple[str, str, str]) -> str:
    """Write a `.rels` part from (id, last word of the kind, target)."""
    nodes = "".join(
        f'<Relationship Id="{name}" Type="{OFFICE}/{kind}" Target="{target}"'
        + (' TargetMode="External"' if "://" in target else "")
        + "/>"
        for name, kind, target in parts
    )
    return f'<Relationships xmlns="{_RELS}">{nodes}</Relationships>'


def docx(body: str, *, extra: dict[str, str] | None = None, prolog: str = "") -> bytes:
    """Pack a Word file around the markup of its body."""
    document = (
        f'{prolog}<w:document xmlns:w="{W}" xmlns:r="{OFFICE}" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<w:body>{body}</w:body></w:document>"
    )
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relationships(("r1", "officeDocument", "word/document.xml")),
        "word/document.xml": document,
    }
    return zipped({**parts, **(extra or {})})


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def epub(
    chapters: dict[str, str], *, metadata: str = "", extra: dict[str, str] | None = None
) -> bytes:
    """Pack a book with chapters in the given order."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    container = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OPS/book.opf": package,
            **{f"OPS/{name}": page for name, page in chapters.items()},
            **(extra or {}),
        }
    )
