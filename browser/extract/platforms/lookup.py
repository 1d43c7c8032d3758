"""Finds a page's parser, here or in a plug-in, and completes a document from its record."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.site import Platform, SitePage
from browser.extract.platforms.site_record import fact_lines, item_blocks
from browser.extract.weighing import LEFT_OUT
from browser.net.url import host
from browser.plugins import PluginBroken, plugins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.extract.platforms.site_record import Record
    from browser.types import Document

# If this share of the items is in the extracted text, all of them are assumed to be there.
_MIN_SHOWN_SHARE = 0.8
# Only this many words of a line are compared: further on, a page may shorten a link or show an
# emoji as a picture.
_COMPARED_WORDS = 8
_WORDS = re.compile(r"[^\W_]+")


def parse_platform(
    url: str, html_or_json: str | bytes | Mapping[str, Any] | list[Any]
) -> Record | None:
    """Convert a page or API reply of a known platform to a typed record.

    The parser is chosen by the URL's host, parsed as browsers do, or, for software that runs on any
    host, by what the page declares. Returns None for other pages and for unknown markup. If the URL
    is empty because a page was saved without it, the page's canonical link is used.
    """
    page = SitePage(url, html_or_json)
    if not url and page.json is None:
        page = SitePage(page.canonical, html_or_json)
    claiming = [platform for platform in all_platforms() if platform.claims(page)]
    # Parsers that match the host take precedence over those that match the markup.
    platform = min(claiming, key=lambda one: not one.hosts, default=None)
    try:
        return platform.parse(page) if platform else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # the data has a layout that this parser does not know


@functools.cache
def all_platforms() -> tuple[Platform, ...]:
    """All parsers by name; those from installed packages come last.

    A parser that cannot be loaded is left out, with a warning.
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
    """The platform that an address belongs to; None for software that runs on any host."""
    site = host(url)
    return next((platform for platform in all_platforms() if platform.owns(site)), None)


def record_of(url: str, body: bytes) -> Record | None:
    """Return the record of a page on a known site or by known software; None for other pages."""
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

    Information that the extracted text lacks is added: replies with author and date, and a list of
    the record's facts at the end, so that each can be cited.
    """
    record, known = record_of(url, body), platform_at(url)
    if record is None and known is not None:
        note = f"no {known.name} record found on this page, so it was read as a plain page"
        return replace(document, notes=(*document.notes, note))
    return document if record is None else _add_missing_items(document, record)


def _add_missing_items(document: Document, record: Record) -> Document:
    names = [name for item in record.items if (name := item.author or item.handle)]
    unnamed = sum(name not in document.text for name in names)
    # The extracted text of a thread may have the posts but not their authors.
    unsigned = _contains_items(record, document.text) and unnamed > (1 - _MIN_SHOWN_SHARE) * len(
        names
    )
    fuller = document.kind == "json" or len(record.text) > len(document.text) or unsigned
    text = record.text if fuller else document.text
    markdown = record.text if fuller else document.markdown
    # Dialogs and other posts can be longer than a short post whose own text is missing.
    if record.text and not _contains_line(text, record.text):
        text, markdown = f"{record.text}\n\n{text}", f"{record.text}\n\n{markdown}"
    # An article's items are its sections.
    held = record.kind in ("article", "disambiguation") or _contains_items(record, text)
    items = () if held else tuple(item_blocks(record))
    completed = items or fuller
    notes = (n for n in document.notes if not (completed and n.startswith(LEFT_OUT)))
    more = "\n\n".join(filter(None, (*items, fact_lines(record))))
    return replace(
        document,
        text=f"{text}\n\n{more}".strip(),
        markdown=f"{markdown}\n\n{more}".strip(),
        title=record.title or document.title,
        author=record.author or document.author,
        # Use only the record's date: any other date on the page could be mistaken for it.
        published=record.published,
        modified=record.modified,
        notes=tuple(notes),
    )


def _contains_line(text: str, part: str) -> bool:
    """Whether `text` contains the longest line of `part`, compared word by word."""
    line = _WORDS.findall(max(part.split("\n"), key=len).lower())[:_COMPARED_WORDS]
    return f" {' '.join(line)} " in f" {' '.join(_WORDS.findall(text.lower()))} "


def _contains_items(record: Record, text: str) -> bool:
    # Compares the longest line, as shorter lines may be quoted in other posts.
    held = [max(item.text.split("\n"), key=len) in text for item in record.items if item.text]
    return bool(held) and sum(held) >= _MIN_SHOWN_SHARE * len(held)
