"""An HTML page into a Document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.article import content_blocks
from browser.extract.blocks import walk
from browser.extract.byline import Byline, read_byline
from browser.extract.controls import main_controls
from browser.extract.hidden import strip_hidden
from browser.extract.links import read_links
from browser.extract.metadata import read_metadata
from browser.extract.render import render_markdown, render_text
from browser.extract.tree import MOST_TAGS, parse_html
from browser.net.url import join
from browser.text import language_of
from browser.types import Document

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.metadata import Metadata


def extract(html: str | bytes, url: str, *, content_type: str = "") -> Document:
    """Read a page as a person sees it: its content, and what it says of itself.

    `html` as bytes is decoded as browsers do it (`content_type` is the header). Hidden text,
    navigation, cookie bars and footers are left out; of an article, its body is kept.
    Raises ExtractError where the input holds no element at all.
    """
    root = parse_html(html, content_type)
    tags = html.count(b"<") if isinstance(html, bytes) else html.count("<")
    # Held to the end: an element that nobody holds is made anew each time it is met.
    elements = list(root.iter())
    strip_hidden(root, elements)
    meta = read_metadata(root, url)
    base = _base(root, url)
    links = read_links(root, base)
    controls = main_controls(root)
    walked = walk(root, base)
    byline = read_byline(walked.blocks, meta.title) if _wants_byline(meta) else Byline()
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
        notes=("only its beginning was read: it has far too many tags",)
        if tags > MOST_TAGS
        else (),
        license=meta.license,
    )


def _language(declared: str | None, text: str) -> str | None:
    """The text's own language where the page names none, or English, which templates leave."""
    if declared and not declared.lower().startswith("en"):
        return declared
    found = language_of(text)
    return found if found and found != "en" else declared or found


def _wants_byline(meta: Metadata) -> bool:
    return not (meta.author and (meta.published or meta.modified))


def _base(root: etree._Element, url: str) -> str:
    element = next(root.iter("base"), None)
    href = element.get("href") if element is not None else None
    return (join(url, href) or url) if href else url
