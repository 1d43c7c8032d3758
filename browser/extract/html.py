"""An HTML page into a Document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.article import content_blocks
from browser.extract.blocks import render_markdown, render_text, walk
from browser.extract.hidden import strip_hidden
from browser.extract.links import main_controls, read_links
from browser.extract.metadata import Byline, read_byline, read_metadata
from browser.extract.tree import parse_page
from browser.net.url import join
from browser.text import language_of
from browser.types import Document

if TYPE_CHECKING:
    from lxml import etree


def extract(html: str | bytes, url: str, *, content_type: str = "") -> Document:
    """Read a page as a person sees it: its content, and what it says of itself.

    `html` as bytes is decoded as browsers do it (`content_type` is the header). Hidden text,
    navigation, cookie bars and footers are left out; of an article, its body is kept. What could
    not be read is said in `Document.notes`. Raises ExtractError where the input holds no element.
    """
    root, notes = parse_page(html, content_type)
    # Held to the end: an element that nobody holds is made anew each time it is met.
    elements = list(root.iter())
    strip_hidden(root, elements)
    meta = read_metadata(root, url)
    base = _base(root, url)
    links = read_links(root, base)
    controls = main_controls(root)
    walked = walk(root, base)
    declared = meta.author and (meta.published or meta.modified)
    byline = Byline() if declared else read_byline(walked.blocks, meta.title)
    blocks = content_blocks(walked, root, meta)
    text = render_text(blocks)
    return Document(
        url=url,
        title=meta.title,
        text=text,
        markdown=render_markdown(blocks),
        author=meta.author or byline.author,
        published=meta.published or byline.published,
        modified=meta.modified or byline.modified,
        language=_language(meta.language, text),
        site=meta.site,
        canonical_url=meta.canonical_url,
        description=meta.description,
        kind="html",
        links=links,
        tables=tuple(block.table for block in blocks if block.table is not None),
        controls=controls,
        notes=notes,
        license=meta.license,
    )


def _language(declared: str | None, text: str) -> str | None:
    """The text's own language where the page names none, or English, which templates leave."""
    if declared and not declared.lower().startswith("en"):
        return declared
    found = language_of(text)
    return found if found and found != "en" else declared or found


def _base(root: etree._Element, url: str) -> str:
    element = next(root.iter("base"), None)
    href = element.get("href") if element is not None else None
    return (join(url, href) or url) if href else url
