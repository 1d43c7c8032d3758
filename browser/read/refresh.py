"""Pages that only send on: `<meta http-equiv=refresh>`, which HTTP can follow by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.charset import decode
from browser.extract.tree import parse_html
from browser.net.url import join

if TYPE_CHECKING:
    from lxml import etree

    from browser.types import Page

# `0; url=/next`, the address perhaps quoted (HTML standard, "shared declarative refresh steps").
_REFRESH = re.compile(r"\s*(\d+(?:\.\d*)?)\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
# A page that waits longer is meant to be read first; one with more text is no mere signpost.
_LONGEST_WAIT = 10.0
_MOST_WORDS = 100


def refresh_target(page: Page) -> str | None:
    """Where a signpost page sends its reader, as an absolute URL; None for every other page."""
    document = page.document
    if b"efresh" not in page.body[:16_384] and b"EFRESH" not in page.body[:16_384]:
        return None
    if document is None or document.kind != "html" or len(document.text.split()) > _MOST_WORDS:
        return None
    for meta in parse_html(decode(page.body, page.content_type)).iter("meta"):
        if (meta.get("http-equiv") or "").strip().lower() != "refresh" or _in_noscript(meta):
            continue
        match = _REFRESH.match(meta.get("content") or "")
        if match and float(match[1]) <= _LONGEST_WAIT:
            return join(page.url, match[2].strip()) or None
    return None


def _in_noscript(meta: etree._Element) -> bool:
    return next(meta.iterancestors("noscript"), None) is not None
