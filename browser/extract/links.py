"""The links of a page: absolute, once each, with the next page marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from browser.extract.tree import text_content
from browser.net.url import join
from browser.text import clean
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

_NEXT_TEXT = re.compile(
    r"\W*(?:next(?: page)?|older(?: posts| entries)?|more results|weiter|nächste(?: seite)?|"
    r"page suivante|suivante?|siguiente|próxima|avanti|volgende|次へ|下一页)\W*|[›»→>]{1,2}",
    re.IGNORECASE,
)
_NEXT_CLASS = re.compile(r"(?:^|[\s_-])next(?:$|[\s_-])", re.IGNORECASE)
# Pages with more links than this are indexes; a reader follows none of the later ones.
_MOST_LINKS = 2_000


def read_links(root: etree._Element, base: str) -> tuple[Link, ...]:
    """Collect `a[href]` and `link[rel=next]`; rel is `next` where the page or its words say so."""
    found: dict[str, Link] = {}
    for element in root.iter("a", "area", "link"):
        url = _target(element, base)
        if url is None:
            continue
        text = text_content(element) or _label(element)
        link = Link(url, text, _rel(element, text))
        known = found.get(url)
        if known is None or _better(link, known):
            found[url] = link
        if len(found) >= _MOST_LINKS:
            break
    return tuple(found.values())


def _target(element: etree._Element, base: str) -> str | None:
    href = (element.get("href") or "").strip()
    if not href or href.startswith("#"):
        return None
    if element.tag == "link" and "next" not in (element.get("rel") or "").lower().split():
        return None
    url = join(base, href)
    if not url.lower().startswith(("http://", "https://", "file://")):
        return None
    same_page = urldefrag(url)[0] == urldefrag(base)[0] and "#" in url
    return None if same_page else url


def _label(element: etree._Element) -> str:
    image = next(element.iterdescendants("img"), None)
    alt = image.get("alt") if image is not None else None
    return clean(" ".join((element.get("aria-label") or element.get("title") or alt or "").split()))


def _rel(element: etree._Element, text: str) -> str:
    declared = (element.get("rel") or "").lower().split()
    named = (
        _NEXT_CLASS.search(f"{element.get('class') or ''} {element.get('id') or ''}") is not None
    )
    label = element.get("aria-label") or ""
    if (
        "next" in declared
        or _NEXT_TEXT.fullmatch(text)
        or _NEXT_TEXT.fullmatch(label)
        or (named and len(text) < 30)
    ):
        return "next"
    return " ".join(declared)


def _better(link: Link, known: Link) -> bool:
    if link.rel == "next" and known.rel != "next":
        return True
    return bool(link.text) and not known.text
