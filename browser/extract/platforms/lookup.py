"""Finding the parser of a page, here or in a plugin, and completing a document from its record."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from browser.extract.platforms.record import fact_lines, item_blocks
from browser.extract.platforms.site import Platform, SitePage
from browser.net.url import host
from browser.plugins import PluginBroken, plugins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from browser.extract.platforms.record import Record
    from browser.types import Document


def parse_platform(
    url: str, html_or_json: str | bytes | Mapping[str, Any] | list[Any]
) -> Record | None:
    """Read a page or API reply of a known platform into a typed record.

    The parser is chosen by the URL's host as browsers parse it, or, for software that runs
    anywhere, by what the page declares. None for other pages, and where the markup is unknown.
    A page saved without its URL (an empty one) is taken for what its canonical link says.
    """
    page = SitePage(url, html_or_json)
    if not url and page.json is None:
        page = SitePage(page.canonical, html_or_json)
    platform = platform_for(page)
    try:
        return platform.parse(page) if platform else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # foreign data in another shape than this parser knows: an unknown layout


def platform_for(page: SitePage) -> Platform | None:
    """The parser that claims a page: by host before by markup."""
    claiming = [platform for platform in all_platforms() if platform.claims(page)]
    return min(claiming, key=lambda one: (one.general, not one.hosts), default=None)


@functools.cache
def all_platforms() -> tuple[Platform, ...]:
    """Every parser there is, by name; plugins last."""
    built_in = sorted(_built_in(), key=lambda platform: platform.name)
    return (*built_in, *_installed())


def _installed() -> Iterator[Platform]:
    """The parsers of installed packages; one that cannot be loaded is left out with a warning."""
    for plugin in plugins("platforms"):
        try:
            yield plugin.load()()
        except (PluginBroken, TypeError) as error:
            warnings.warn(f"left out: {error}", stacklevel=2)


def _built_in() -> Iterator[Platform]:
    for info in pkgutil.iter_modules([str(Path(__file__).parent)]):
        module = importlib.import_module(f"{__package__}.{info.name}")
        for value in vars(module).values():
            if _is_parser(value) and value.__module__ == module.__name__:
                yield value()


def _is_parser(value: object) -> TypeGuard[type[Platform]]:
    return isinstance(value, type) and issubclass(value, Platform) and "name" in vars(value)


# Where so many of the items' texts stand in the page's own text, it holds them all.
_ENOUGH_SAID = 0.8


def platform_at(url: str) -> Platform | None:
    """The platform whose site an address is on; None for software that runs anywhere."""
    site = host(url)
    return next((platform for platform in all_platforms() if platform.owns(site)), None)


def may_hold_record(url: str, body: bytes) -> bool:
    """Whether a page is worth parsing for a record: by its host, or by marks of its software."""
    marks = (mark for platform in all_platforms() for mark in platform.marks)
    return platform_at(url) is not None or any(mark in body for mark in marks)


def record_of(url: str, body: bytes) -> Record | None:
    """The record of a page of a known site, or of known software on any site."""
    record = parse_platform(url, body) if may_hold_record(url, body) else None
    if record is None or platform_at(url) is not None:
        return record
    marked = {platform.name for platform in all_platforms() if platform.marks}
    return record if record.platform in marked else None


def with_platform(document: Document, body: bytes, url: str) -> Document:
    """Complete a page of a known platform from its record, or say that it was read without one.

    The text gets what the page's own lacks: replies with who wrote them and when, and a list of
    the record's facts at its end, so that each can be cited.
    """
    record, known = record_of(url, body), platform_at(url)
    if record is None and known is not None:
        note = f"no {known.name} record found on this page: read as a plain page"
        return replace(document, notes=(*document.notes, note))
    return document if record is None else _completed(document, record)


def _completed(document: Document, record: Record) -> Document:
    fuller = document.kind == "json" or len(record.text) > len(document.text)
    fuller = fuller or _is_unsigned(record, document.text)
    text = record.text if fuller else document.text
    markdown = record.text if fuller else document.markdown
    more = "\n\n".join(part for part in (*_unsaid(record, text), fact_lines(record)) if part)
    return replace(
        document,
        text=f"{text}\n\n{more}".strip(),
        markdown=f"{markdown}\n\n{more}".strip(),
        title=record.title or document.title,
        author=record.author or document.author,
        # A date of something else on the page would be cited as this one's: its own, or none.
        published=record.published,
        modified=record.modified,
    )


def _unsaid(record: Record, text: str) -> list[str]:
    """The items, unless the page's own text has them already."""
    if record.kind in ("article", "disambiguation"):
        return []  # its items are its own sections
    return [] if _holds_items(record, text) else list(item_blocks(record))


def _holds_items(record: Record, text: str) -> bool:
    # The longest line: what a post quotes from another stands only with that one.
    said = [max(item.text.split("\n"), key=len) in text for item in record.items if item.text]
    return bool(said) and sum(said) >= _ENOUGH_SAID * len(said)


def _is_unsigned(record: Record, text: str) -> bool:
    """Whether a page's own text has what was said, as a thread's has, but not by whom."""
    names = [name for item in record.items if (name := item.author or item.handle)]
    unnamed = sum(1 for name in names if name not in text)
    return _holds_items(record, text) and unnamed > (1 - _ENOUGH_SAID) * len(names)
