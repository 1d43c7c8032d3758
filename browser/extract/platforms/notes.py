"""What is known of a platform put to use when its page is read as a document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.registry import all_platforms, parse_platform
from browser.net.url import host

if TYPE_CHECKING:
    from browser.types import Document


def with_platform(document: Document, body: bytes, url: str) -> Document:
    """Complete a page of a known platform from its record, or say that it was read without one."""
    site = host(url)
    known = next((platform for platform in all_platforms() if platform.owns(site)), None)
    if known is None:
        return document
    record = parse_platform(url, body)
    if record is None:
        note = f"no {known.name} record found on this page: read as a plain page"
        return replace(document, notes=(*document.notes, note))
    fuller = len(record.text) > len(document.text)
    return replace(
        document,
        text=record.text if fuller else document.text,
        markdown=record.text if fuller else document.markdown,
        title=record.title or document.title,
        author=record.author or document.author,
        published=record.published or document.published,
        modified=record.modified or document.modified,
    )
