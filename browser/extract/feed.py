"""RSS, Atom and other XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from browser.errors import ExtractError
from browser.extract.blocks import render_text, walk
from browser.extract.dates import iso_date
from browser.extract.tree import bounded, parse_html, text_content
from browser.net.url import join
from browser.text import clean
from browser.types import Document, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENTRIES = frozenset(("item", "entry"))


def extract_feed(text: str, url: str, name: str) -> Document:
    """Read RSS or Atom: an entry is a heading, its author and date, its summary, and a link."""
    root = _parse(text)
    entries = [element for element in root.iter() if _tag(element) in _ENTRIES]
    blocks: list[str] = []
    links: list[Link] = []
    for entry in entries:
        title, target = _field(entry, "title"), _link(entry, url)
        blocks.extend(_entry_blocks(entry, title, url))
        if target:
            links.append(Link(target, title))
    channel = next((e for e in root.iter() if _tag(e) in {"channel", "feed"}), root)
    body = "\n\n".join(blocks) or _lines(root)  # a feed without entries still says what it is
    date = _field(channel, "pubdate", "updated", "lastbuilddate", "date")
    return Document(
        url=url, title=_field(channel, "title") or name, text=body, markdown=body, kind="feed",
        description=_field(channel, "description", "subtitle") or None, links=tuple(links),
        language=_field(channel, "language") or None, modified=iso_date(date) if date else None,
    )  # fmt: skip


def extract_xml(text: str, url: str, name: str) -> Document:
    """Read any other XML: the text of its elements, one line each."""
    root = _parse(text)
    body = _lines(root)
    links = tuple(Link(loc.text.strip(), "") for loc in root.iter("{*}loc") if loc.text)
    return Document(url=url, title=name, text=body, markdown=body, kind="xml", links=links)


def _lines(root: etree._Element) -> str:
    lines = (clean(" ".join(piece.split())) for piece in root.itertext() if isinstance(piece, str))
    return "\n".join(line for line in lines if line)


def _parse(text: str) -> etree._Element:
    # No entities, no network: a feed is foreign input.
    parser = etree.XMLParser(
        recover=True,
        resolve_entities=False,
        no_network=True,
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
    )
    try:
        data = bounded(text.lstrip("\ufeff \r\n\t")).encode("utf-8", "replace")
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        message = f"not readable as XML: {error}"
        raise ExtractError(message) from error
    if root is None:
        message = "not readable as XML"
        raise ExtractError(message)
    return root


def _entry_blocks(entry: etree._Element, title: str, url: str) -> Iterator[str]:
    if title:
        yield f"## {title}"
    date = _field(entry, "pubdate", "published", "updated", "date")
    author = _field(entry, "creator", "author", "name")
    if line := ", ".join(part for part in (author, date) if part):
        yield line
    summary = _plain(_field(entry, "encoded", "content", "description", "summary"), url)
    if summary:
        yield summary


def _field(element: etree._Element, *tags: str) -> str:
    for tag in tags:
        for child in element:
            if _tag(child) == tag and (text := text_content(child)):
                return text
    return ""


def _link(entry: etree._Element, base: str) -> str | None:
    for child in entry:
        if _tag(child) == "link" and (child.get("rel") or "alternate") == "alternate":
            href = child.get("href") or (child.text or "").strip()
            if href:
                return join(base, href) or None
    return None


def _plain(markup: str, base: str) -> str:
    if "<" not in markup:
        return markup
    return render_text(walk(parse_html(markup), base).blocks)


def _tag(element: etree._Element) -> str:
    return etree.QName(element).localname.lower() if isinstance(element.tag, str) else ""
