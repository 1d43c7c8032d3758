"""Values by the labels that stand before them, on pages whose classes say nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.tree import text_content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml import etree

    from browser.extract.platforms.source import Source

# A label's element may be wrapped so often before its value follows.
_WRAPPED = 4
# Longer than this is a paragraph, not a value.
_LONGEST_VALUE = 160
_SHORTENED = re.compile(r"^\w{2,12}(?:\.{2,3}|…)\w{2,12}$")


def labelled(
    source: Source, labels: Mapping[str, str], node: etree._Element | None = None
) -> dict[str, str]:
    """The values of known labels: `labels` maps them in lower case to the names of their fields.

    A value is what follows the label's element: the next cell, definition, or sibling, at the
    first level where there is one. The first value of a field counts. An address that is shown
    shortened is taken from its link.
    """
    found: dict[str, str] = {}
    root = source.root if node is None else node
    for element in root.iter("dt", "th", "td", "span", "div", "p", "label", "strong", "b", "h3"):
        name = labels.get(_plain(element))
        if name and name not in found and (value := _value_after(element)):
            found[name] = value
    return found


def _plain(element: etree._Element) -> str:
    if len(element) > _WRAPPED:
        return ""
    return text_content(element).casefold().rstrip(": ").strip()


def _value_after(label: etree._Element) -> str:
    node = label
    for _ in range(_WRAPPED):
        value = next((said for after in node.itersiblings() if (said := _said(after))), "")
        if value:
            return value if len(value) <= _LONGEST_VALUE else ""
        parent = node.getparent()
        if parent is None or text_content(parent) != text_content(label):
            return ""
        node = parent
    return ""


def _said(element: etree._Element) -> str:
    text = text_content(element)
    if not _SHORTENED.match(text):
        return text
    link = next((node for node in element.iter("a") if node.get("href")), None)
    if link is None:
        return text
    whole = (link.get("href") or "").partition("?")[0].rstrip("/").rpartition("/")[2]
    first, last = re.split(r"\.{2,3}|…", text)
    return whole if whole.startswith(first) and whole.endswith(last) else text
