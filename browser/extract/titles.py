"""What a page is called: its head, its headings and its declarations tell, and seldom agree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

# What stands between the name of a page and that of its site.
_BETWEEN = re.compile(r"\s+[|–—·•»›:-]+\s+|:\s+")


def read_title(root: etree._Element, *, declared: str | None) -> str:
    """The page's own name, without its site's; `declared` is the headline that it declares."""
    head = next((e for e in root.iter("title") if not _within_svg(e)), None)
    whole = text_content(head) if head is not None else None
    heading = _heading(root, whole or "")
    # The head's title is the page's name and the site's: it tells which of the others to believe.
    if heading and whole and heading in whole and not (declared and declared in whole):
        return heading
    if heading and declared and heading in declared:
        return heading
    return declared or whole or heading or ""


def _heading(root: etree._Element, whole: str) -> str | None:
    """The first h1, unless it names the site and another heading is what the page is called."""
    first = next(root.iter("h1"), None)
    if first is None:
        return None
    heading, parts = text_content(first), _BETWEEN.split(whole)
    if heading not in parts or (heading == parts[0] and not _leads_home(first)):
        return heading
    names = {text_content(e) for e in root.iter("h1", "h2", "h3") if not _leads_home(e)}
    return next((part for part in parts if part in names), heading)


def _leads_home(heading: etree._Element) -> bool:
    return any(urlsplit(link.get("href") or "-").path in {"", "/"} for link in heading.iter("a"))


def _within_svg(element: etree._Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag in {"svg", "symbol", "g"}
