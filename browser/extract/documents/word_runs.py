"""The running text of a Word paragraph: its runs, with emphasis and links."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_BOX = f"{W}txbxContent"
# Deleted text, field codes, and the second form of what Word also gives in a first one.
_SKIPPED = frozenset(
    (
        f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}delText", f"{W}pPr", f"{W}rPr",
        "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
    )
)  # fmt: skip
_SIGNS = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
# Half points; smaller than two points nobody reads.
_SMALLEST = 4
_OFF = frozenset(("0", "false", "off", "none"))


class _Run(NamedTuple):
    text: str
    bold: bool
    italic: bool
    link: str


class Runs:
    """What one paragraph says: `text`, `markdown`, `links`, and the text boxes it anchors."""

    def __init__(
        self, targets: dict[str, str], element: etree._Element, *, boxes: bool = False
    ) -> None:
        """`targets` maps ids to addresses; `boxes` reads text boxes as part of the text."""
        self._targets = targets
        self._within_boxes = boxes
        self.boxes: list[etree._Element] = []
        runs = list(self._read(element, ""))
        self.text = "".join(run.text for run in runs).strip()
        self.markdown = _markdown(runs).strip()
        named = groupby((run for run in runs if run.link), key=lambda run: run.link)
        self.links = [(link, "".join(run.text for run in group)) for link, group in named]

    def _read(self, element: etree._Element, link: str) -> Iterator[_Run]:
        for child in element:
            tag = child.tag
            if tag in _SKIPPED:
                continue
            if tag == f"{W}r":
                yield from self._run(child, link)
            elif tag == f"{W}hyperlink":
                yield from self._read(child, self._targets.get(child.get(f"{_R}id", ""), link))
            else:
                yield from self._read(child, link)

    def _run(self, run: etree._Element, link: str) -> Iterator[_Run]:
        style = run.find(f"{W}rPr")
        if style is not None and _is_hidden(style):
            return
        text = "".join(self._pieces(run))
        if text:
            yield _Run(text, _is_on(style, "b"), _is_on(style, "i"), link)

    def _pieces(self, run: etree._Element) -> Iterator[str]:
        for child in run:
            if child.tag == f"{W}t":
                yield child.text or ""
            elif child.tag in _SIGNS:
                yield _SIGNS[child.tag]
            elif child.tag not in _SKIPPED:
                yield from self._drawn(child)

    def _drawn(self, element: etree._Element) -> Iterator[str]:
        """What a drawing holds: its text boxes, kept for later or read in place."""
        if element.tag == _BOX:
            self.boxes.append(element)
            if self._within_boxes:
                yield " ".join(filter(None, (_plain(p) for p in element.iter(f"{W}p"))))
            return
        for child in element:
            if child.tag not in _SKIPPED:
                yield from self._drawn(child)


def _plain(element: etree._Element) -> str:
    return "".join(node.text or "" for node in element.iter(f"{W}t"))


def _is_hidden(style: etree._Element) -> bool:
    if _is_on(style, "vanish") or _is_on(style, "webHidden"):
        return True
    size = style.find(f"{W}sz")
    number = size.get(f"{W}val", "") if size is not None else ""
    if number.isdecimal() and int(number) < _SMALLEST:
        return True
    return _is_white(style) and next(style.iterancestors(f"{W}tbl"), None) is None


def _is_white(style: etree._Element) -> bool:
    """White letters on the white of the page; a ground of their own, or a table's, may be dark."""
    color = style.find(f"{W}color")
    if color is None or color.get(f"{W}val", "").lower() != "ffffff":
        return False
    paragraph = next(style.iterancestors(f"{W}p"), style)
    grounds = (f"{W}shd", f"{W}highlight")
    return next(paragraph.iter(*grounds), None) is None


def _is_on(style: etree._Element | None, name: str) -> bool:
    mark = style.find(f"{W}{name}") if style is not None else None
    return mark is not None and mark.get(f"{W}val", "1").lower() not in _OFF


def _markdown(runs: list[_Run]) -> str:
    parts = []
    for (bold, italic, link), group in groupby(runs, key=lambda run: run[1:]):
        text = "".join(run.text for run in group)
        core = text.strip()
        mark = "**" * bold + "*" * italic
        marked = f"{mark}{core}{mark[::-1]}" if core else ""
        linked = f"[{marked}]({link})" if link and marked else marked
        parts.append(text.replace(core, linked, 1) if core else text)
    return "".join(parts)
