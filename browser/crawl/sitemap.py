"""Sitemaps (sitemaps.org): lists of pages, and lists of such lists, packed or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

from browser.errors import BrowserError
from browser.extract.documents.archive import drop, stream_xml
from browser.net.decode import Body
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from collections.abc import Iterator

# The standard's own limits, for what a file unpacks to and what it lists.
_MOST_BYTES = 50 * 1024 * 1024
_MOST_PLACES = 50_000
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Place:
    """An address that a sitemap lists: a page, or (`is_map`) another sitemap."""

    url: str
    modified: str = ""
    is_map: bool = False


def read_sitemap(body: bytes) -> list[Place]:
    """Read a sitemap, its index, or a plain list of addresses. What is none of them is empty."""
    try:
        return list(_places(_unpacked(body)))
    except BrowserError:
        return []


def _unpacked(body: bytes) -> bytes:
    if not body.startswith(_GZIP):
        return body
    unpacked = Body("gzip", _MOST_BYTES)
    unpacked.feed(body)
    return unpacked.content()


def _places(data: bytes) -> Iterator[Place]:
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        lines = data[:_MOST_BYTES].decode("utf-8", "replace").split()
        yield from (Place(line) for line in lines[:_MOST_PLACES] if is_web_url(line))
        return
    for count, element in enumerate(stream_xml(data, "{*}url", "{*}sitemap")):
        if count >= _MOST_PLACES:
            return
        url = (element.findtext("{*}loc") or "").strip()
        if is_web_url(url):
            modified = (element.findtext("{*}lastmod") or "").strip()
            yield Place(url, modified, is_map=etree.QName(element).localname == "sitemap")
        drop(element)
