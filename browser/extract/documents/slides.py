"""Reads presentations (.pptx and related): each slide with its notes and comments is a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.errors import ExtractError
from browser.extract.documents.charts import A, drawn_text, read_chart
from browser.extract.documents.composer import Composer, dublin_core
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.documents.archive import Archive
    from browser.types import Document

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLE_ROLES = frozenset(("title", "ctrTitle"))
# The date and number, which differ on every slide, and the picture of the slide in its notes.
_FRAME_ROLES = frozenset(("dt", "sldNum", "sldImg"))
# Footers and headers, which are repeated on every slide, are shown once.
_REPEATED_ROLES = frozenset(("ftr", "hdr"))
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
    for node in [*root.iter(f"{_P}sldId")][:_MAX_SLIDES]:
        offsets.append(composer.length)
        _read_slide(archive, parts.get(node.get(f"{_R}id", ""), ("", ""))[1], composer)
    about = dublin_core(archive.tree("docProps/core.xml"))
    document = composer.document(url, "pptx", name, about)
    return replace(document, pages=tuple(min(at, len(document.text)) for at in offsets))


def _read_slide(archive: Archive, part: str, composer: Composer) -> None:
    root = archive.tree(part)
    if root is None or root.get("show") == "0":  # a hidden slide
        return
    related = archive.related(part)
    links = {key: to for key, (kind, to) in related.items() if kind == "hyperlink"}
    for shape in root.iter(f"{_P}sp", f"{A}tbl"):
        if shape.tag == f"{A}tbl":
            composer.table(
                [list(map(drawn_text, row.iter(f"{A}tc"))) for row in shape.iter(f"{A}tr")]
            )
        else:
            _read_shape(shape, composer, links)
    for kind, target in related.values():
        if kind == "chart" and (chart := archive.tree(target)) is not None:
            read_chart(chart, composer)
    if pictures := sum(1 for _ in root.iter(f"{_P}pic")):
        composer.notes.append(f"{pictures} pictures on a slide were not read")
    for kind, target in related.values():
        found = archive.tree(target) if kind == "comments" else None
        for comment in found.iter("{*}cm") if found is not None else ():
            words = drawn_text(comment) or text_content(comment)
            composer.paragraph(f"Comment: {words}" if words else "")
    notes = archive.tree(archive.part(part, "notesSlide"))
    for shape in notes.iter(f"{_P}sp") if notes is not None else ():
        _read_shape(shape, composer, {})


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
