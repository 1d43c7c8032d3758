"""Reads drawings in Office documents: charts as tables, and the text of shapes and SmartArt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.documents.archive import Archive
    from browser.extract.documents.composer import Composer

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
"""The XML namespaces of shapes and charts."""
_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MAX_SERIES = 1_000
"""Maximum number of series in a chart; more would be unreadable as a table."""


def read_drawings(archive: Archive, part: str, composer: Composer) -> None:
    """Add the charts and the SmartArt that a part of a document contains."""
    for kind, target in dict.fromkeys(archive.related(part).values()):
        root = archive.tree(target) if kind in {"chart", "diagramData"} else None
        if root is None:
            continue
        if kind == "chart":
            _read_chart(root, composer)
        for node in root.iter(f"{_D}pt"):
            for paragraph in node.iter(f"{A}p"):
                composer.paragraph(drawn_text(paragraph), kind="item")


def _read_chart(chart: etree._Element, composer: Composer) -> None:
    """Add a chart's numbers as a table with one row per series."""
    titles = [drawn_text(title) for title in chart.iter(f"{C}title")]
    categories: list[str] = []
    rows: list[list[str]] = []
    for series in list(chart.iter(f"{C}ser"))[:_MAX_SERIES]:
        # All series share the categories of the first series that has any.
        categories = categories or _values(series, "cat") or _values(series, "xVal")
        numbers = _values(series, "val") or _values(series, "yVal")
        rows.append(["".join(_values(series, "tx")), *numbers])
    if categories:
        rows.insert(0, ["", *categories])
    composer.table(rows, caption=titles[0] if titles else "")
    for title in titles[1:]:
        composer.paragraph(title)


def _values(series: etree._Element, name: str) -> list[str]:
    part = series.find(f"{C}{name}")
    return [value.text or "" for value in part.iter(f"{C}v")] if part is not None else []


def drawn_text(element: etree._Element) -> str:
    """Return a shape's text on one line."""
    pieces = (
        node.text or "" if node.tag == f"{A}t" else " " for node in element.iter(f"{A}t", f"{A}br")
    )
    return " ".join("".join(pieces).split())
