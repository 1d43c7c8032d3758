"""Reads presentations (.pptx and related): each slide with its notes and comments is a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.errors import ExtractError
from browser.extract.documents.charts import A, drawn_text, read_drawings
from browser.extract.documents.composer import Composer, dublin_core
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.documents.archive import Archive
    from browser.types import Document

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLE_ROLES = frozenset(("title", "ctrTitle"))
# Not read: the slide's number, and the picture of the slide in its notes.
_FRAME_ROLES = frozenset(("sldNum", "sldImg"))
# Footers, headers and dates, which are repeated on every slide, are shown once.
_REPEATED_ROLES = frozenset(("dt", "ftr", "hdr"))
_MAX_SLIDES = 1_000


def read_pptx(archive: Archive, main: str, url: str, name: str) -> Document:
    """Read the slides in order; `pages` contains their offsets.

    Raises ExtractError for a broken file.
    """
    root = archive.tree(main)
    if root is None:
        raise ExtractError("the presentation has no slide list")
    parts = archive.related(main)
    composer = Composer()
    offsets = []
    hidden = pictures = 0
    nodes = [*root.iter(f"{_P}sldId")]
    for node in nodes[:_MAX_SLIDES]:
        offsets.append(composer.length)
        part = parts.get(node.get(f"{_R}id", ""), ("", ""))[1]
        slide = archive.tree(part)
        if slide is not None and slide.get("show") != "0":
            pictures += _read_slide(archive, part, slide, composer)
        else:
            hidden += slide is not None
    if len(nodes) > _MAX_SLIDES:
        composer.notes.append(f"only the first {_MAX_SLIDES} of {len(nodes)} slides were read")
    if hidden:
        composer.notes.append(f"hidden slides left out: {hidden}")
    if pictures:
        composer.notes.append(f"pictures not read: {pictures}")
    about = dublin_core(archive.tree("docProps/core.xml"))
    document = composer.document(url, "pptx", name, about)
    return replace(document, pages=tuple(min(at, len(document.text)) for at in offsets))


def _read_slide(archive: Archive, part: str, root: etree._Element, composer: Composer) -> int:
    """Add a slide with its comments and notes; returns the number of its pictures."""
    related = archive.related(part)
    links = {key: to for key, (kind, to) in related.items() if kind == "hyperlink"}
    for shape in root.iter(f"{_P}sp", f"{A}tbl"):
        if shape.tag == f"{A}tbl":
            composer.table(
                [list(map(drawn_text, row.iter(f"{A}tc"))) for row in shape.iter(f"{A}tr")]
            )
        else:
            _read_shape(shape, composer, links)
    read_drawings(archive, part, composer)
    pictures = [*root.iter(f"{_P}pic")]
    for picture in pictures:
        composer.picture(next((node.get("descr", "") for node in picture.iter(f"{_P}cNvPr")), ""))
    for kind, target in related.values():
        found = archive.tree(target) if kind == "comments" else None
        for comment in found.iter("{*}cm") if found is not None else ():
            words = drawn_text(comment) or text_content(comment)
            composer.paragraph(f"Comment: {words}" if words else "")
    notes = archive.tree(archive.part(part, "notesSlide"))
    for shape in notes.iter(f"{_P}sp") if notes is not None else ():
        _read_shape(shape, composer, {})
    return len(pictures)


def _read_shape(shape: etree._Element, composer: Composer, links: dict[str, str]) -> None:
    role = next((node.get("type", "") for node in shape.iter(f"{_P}ph")), "")
    if role in _FRAME_ROLES:
        return
    texts = list(filter(None, map(drawn_text, shape.iter(f"{A}p"))))
    if role in _REPEATED_ROLES:
        known = {block.text for block in composer.blocks}
        texts = [text for text in texts if text not in known]
    if role in _TITLE_ROLES:
        composer.heading(2, " ".join(texts))
    else:
        for text in texts:
            composer.paragraph(text, kind="item" if role else "paragraph")
    for run in shape.iter(f"{A}r"):
        for link in run.iter(f"{A}hlinkClick"):
            composer.link(links.get(link.get(f"{_R}id", ""), ""), drawn_text(run))
