"""Dialogs that are open on a live page: what stands in front of the content is content too."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lxml import etree

from browser.extract import extract
from browser.extract.tree import parse_html, text_content

if TYPE_CHECKING:
    from browser.types import Document

# Dialogs that ask for something instead of saying something.
_ASKING = re.compile(r"cookie|consent|einwilligung|newsletter|subscribe|abonnier", re.IGNORECASE)


def document_of_rendered(html: str, url: str) -> Document:
    """Extract a rendered page; the text of its open dialogs stands at the end."""
    document = extract(html, url)
    if "data-front" not in html:
        return document
    said = [text for text in _front(html, url) if text and text not in document.text]
    if not said:
        return document
    return replace(
        document,
        text="\n\n".join([document.text, *said]).strip(),
        markdown="\n\n".join([document.markdown, *said]).strip(),
    )


def _front(html: str, url: str) -> list[str]:
    dialogs = parse_html(html).iterfind(".//section[@data-front]")
    return [
        extract(etree.tostring(dialog, encoding="unicode", with_tail=False), url).text
        for dialog in dialogs
        if not _ASKING.search(text_content(dialog))
    ]
