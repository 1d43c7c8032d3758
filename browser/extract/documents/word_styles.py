"""What the styles of a Word document mean: headings, lists, titles, quotes, code."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from browser.extract.documents.word_runs import W

if TYPE_CHECKING:
    from lxml import etree

# Word names built-in styles in English in the file, whatever language it shows.
_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
_LIST = re.compile(r"list\b|bullet|aufzählung", re.IGNORECASE)
_QUOTE = re.compile(r"(?:intense )?quote\b|block text", re.IGNORECASE)
_CODE = re.compile(r"code\b|preformatted|source\b|html preformatted", re.IGNORECASE)
_BODY_LEVEL = 9
# Styles are based on one another, a few deep; a circle would go on.
_DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Style:
    """How a paragraph is to be read: `level` is a heading's, 0 for none."""

    level: int = 0
    kind: str = "paragraph"
    is_title: bool = False


class Styles:
    """The paragraph styles of one document, by id."""

    def __init__(self, root: etree._Element | None) -> None:
        styles = root.iter(f"{W}style") if root is not None else ()
        self._nodes = {node.get(f"{W}styleId", ""): node for node in styles}
        self._known: dict[str, Style] = {}

    def of(self, paragraph: etree._Element) -> Style:
        """Read a paragraph's own properties over those of its style."""
        properties = paragraph.find(f"{W}pPr")
        if properties is None:
            return Style()
        name = _value(properties, "pStyle")
        if name not in self._known:
            self._known[name] = self._named(name, _DEEPEST)
        return _with_own(self._known[name], properties)

    def _named(self, name: str, depth: int) -> Style:
        node = self._nodes.get(name)
        if node is None or depth == 0:
            return _by_name(name)
        style = _by_name(_value(node, "name"))
        if style == Style():
            style = self._named(_value(node, "basedOn"), depth - 1)
            style = replace(style, is_title=False)
        properties = node.find(f"{W}pPr")
        return _with_own(style, properties) if properties is not None else style


def _by_name(name: str) -> Style:
    if match := _HEADING.match(name):
        return Style(level=min(int(match[1]), 6), kind="heading")
    if name.lower() == "title":
        return Style(level=1, kind="heading", is_title=True)
    for pattern, kind in ((_LIST, "item"), (_QUOTE, "quote"), (_CODE, "code")):
        if pattern.match(name):
            return Style(kind=kind)
    return Style()


def _with_own(style: Style, properties: etree._Element) -> Style:
    outline = _value(properties, "outlineLvl")
    if outline.isdecimal():
        level = int(outline)
        return replace(style, level=0 if level >= _BODY_LEVEL else min(level + 1, 6))
    numbered = properties.find(f"{W}numPr/{W}numId")
    if style.level == 0 and numbered is not None:
        listed = numbered.get(f"{W}val", "0") != "0"  # zero takes a list's mark away
        return replace(style, kind="item" if listed else "paragraph")
    return style


def _value(element: etree._Element, name: str) -> str:
    child = element.find(f"{W}{name}")
    return child.get(f"{W}val", "") if child is not None else ""
