"""Text that is in the page but that nobody sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.css import hides, parse_declarations

if TYPE_CHECKING:
    from lxml import etree


def strip_hidden(root: etree._Element) -> None:
    """Remove what static HTML and its own styles show to be invisible."""
    for element in list(root.iter()):
        if _is_hidden(element):
            _remove(element)


def _is_hidden(element: etree._Element) -> bool:
    if element.get("hidden") is not None:
        return True
    style = element.get("style")
    return style is not None and hides(parse_declarations(style))


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is None:
        return
    tail = element.tail
    if tail:
        previous = element.getprevious()
        if previous is None:
            parent.text = (parent.text or "") + tail
        else:
            previous.tail = (previous.tail or "") + tail
    parent.remove(element)
