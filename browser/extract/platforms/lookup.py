"""Finding a page's parser, here or in a plug-in, and completing a document from its record."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.site import Platform, SitePage
from browser.extract.platforms.site_record import fact_lines, item_blocks
from browser.net.url import host
from browser.plugins import PluginBroken, plugins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.extract.platforms.site_record import Record
    from browser.types import Document

# If this many of the items' texts are in the page's own text, it contains them all.
_MIN_SHOWN_SHARE = 0.8


def parse_platform(
    url: str, html_or_json: str | bytes | Mapping[str, Any] | list[Any]
) -> Record | None:
    """Read a page or API reply of a known platform into a typed record.

    The parser is chosen by the URL's host as browsers parse it or, for software that runs
    anywhere, by what the page declares. None for other pages and for unknown markup. If a page was
    saved without its URL (an empty one), its canonical link is used.
    """
    page = SitePage(url, html_or_json)
    if not url and page.json is None:
        page = SitePage(page.canonical, html_or_json)
    claiming = [platform for platform in all_platforms() if platform.claims(page)]
    # Parsers that know the host come before those that know the markup.
    platform = min(claiming, key=lambda one: not one.hosts, default=None)
    try:
        return platform.parse(page) if platform else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # data in a shape unknown to this parser: an unknown layout


@functools.cache
def all_platforms() -> tuple[Platform, ...]:
    """All parsers by name; those from installed packages come last.

    One that cannot be loaded is left out with a warning.
    """
    found: list[Platform] = []
    for info in pkgutil.iter_modules([str(Path(__file__).parent)]):
        module = importlib.import_module(f"{__package__}.{info.name}")
        for value in vars(module).values():
            is_parser = isinstance(value, type) and issubclass(value, Platform)
            if is_parser and value.__module__ == module.__name__ and "name" in vars(value):
                found.append(value())
    found.sort(key=lambda platform: platform.name)
    for plugin in plugins("platforms"):
        try:
            found.append(plugin.load()())
        except (PluginBroken, TypeError) as error:
            warnings.warn(f"left out: {error}", stacklevel=2)
    return tuple(found)


def platform_at(url: str) -> Platform | None:
    """The platform that an address belongs to; None for software that runs anywhere."""
    site = host(url)
    return next((platform for platform in all_platforms() if platform.owns(site)), None)


def record_of(url: str, body: bytes) -> Record | None:
    """The record of a page on a known site, or of known software on any site."""
    marked = [platform for platform in all_platforms() if platform.marks]
    known = platform_at(url) is not None
    if not known and not any(mark in body for platform in marked for mark in platform.marks):
        return None  # not worth parsing
    record = parse_platform(url, body)
    if record is None or known or record.platform in {platform.name for platform in marked}:
        return record
    return None


def with_platform(document: Document, body: bytes, url: str) -> Document:
    """Complete a known platform's page from its record, or note that there was no record.

    Information missing from the page's own text is added: replies with author and date, and a list
    of the record's facts at the end, so that each can be cited.
    """
    record, known = record_of(url, body), platform_at(url)
    if record is None and known is not None:
        note = f"no {known.name} record found on this page: read as a plain page"
        return replace(document, notes=(*document.notes, note))
    return document if record is None else _completed(document, record)


def _completed(document: Document, record: Record) -> Document:
    names = [name for item in record.items if (name := item.author or item.handle)]
    unnamed = sum(name not in document.text for name in names)
    # A thread's page may have the posts but not their authors.
    unsigned = _holds_items(record, document.text) and unnamed > (1 - _MIN_SHOWN_SHARE) * len(names)
    fuller = document.kind == "json" or len(record.text) > len(document.text) or unsigned
    text = record.text if fuller else document.text
    markdown = record.text if fuller else document.markdown
    # An article's items are its own sections.
    held = record.kind in ("article", "disambiguation") or _holds_items(record, text)
    items = () if held else item_blocks(record)
    more = "\n\n".join(filter(None, (*items, fact_lines(record))))
    return replace(
        document,
        text=f"{text}\n\n{more}".strip(),
        markdown=f"{markdown}\n\n{more}".strip(),
        title=record.title or document.title,
        author=record.author or document.author,
        # Another date on the page would be cited as this item's: use its own date, or none.
        published=record.published,
        modified=record.modified,
    )


def _holds_items(record: Record, text: str) -> bool:
    # The longest line, as shorter ones may be quotations found in other posts' text.
    held = [max(item.text.split("\n"), key=len) in text for item in record.items if item.text]
    return bool(held) and sum(held) >= _MIN_SHOWN_SHARE * len(held)
