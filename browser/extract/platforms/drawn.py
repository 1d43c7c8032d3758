"""Parsers that need no code of their own: where the fields of a record stand on a page, in CSS."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from browser.extract.dates import date_within, iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment
from browser.extract.tree import text_content
from browser.net.url import join

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml import etree

    from browser.extract.platforms.source import Source

_ATTRIBUTE = re.compile(r"(.*)@([\w-]+)")
_PART = " -> "
_OR = " || "


@dataclass(frozen=True, slots=True)
class Drawn:
    """Where one kind of record stands on a page; `at` finds its elements, one a record.

    Each other field is a path within the element: a CSS selector (`h2 a`), the attribute of what
    it finds (`time@datetime`), or of the element itself (`@data-id`), each with a pattern if only a
    part is wanted (`a.user@href -> /users/(.+)`): its first group, or all of the match. Several,
    parted by ` || `, are tried in turn. What is not found is left out.

    `url` and `media` are made absolute, `text` keeps paragraphs and lists, dates and counts are
    read in any of the ways in which pages write them. `flags` are fields that are `true` where a
    selector finds something; `items` are the records within.
    """

    kind: str
    at: str = ""
    id: str = ""
    url: str = ""
    title: str = ""
    text: str = ""
    author: str = ""
    handle: str = ""
    published: str = ""
    modified: str = ""
    parent: str = ""
    counts: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    tags: str = ""
    media: str = ""
    items: tuple[Drawn, ...] = ()

    def records(self, source: Source, platform: str) -> tuple[Record, ...]:
        """Read every element that `at` finds; those with neither title nor text are none."""
        nodes = source.all(self.at) if self.at else [source.root]
        found = (self.read(source, platform, node) for node in nodes)
        return tuple(record for record in found if record.title or record.text)

    def read(self, source: Source, platform: str, node: etree._Element) -> Record:
        """Read one element."""
        said = _Said(source, node)
        body = said.element(self.text)
        return Record(
            platform, self.kind, said.address(self.url, "href"),
            id=said.words(self.id), title=said.words(self.title),
            text=source.body(body) if body is not None else "",
            author=said.words(self.author), handle=said.words(self.handle),
            published=said.day(self.published), modified=said.day(self.modified),
            parent=said.words(self.parent),
            counts=counts(**{name: said.words(path) for name, path in self.counts.items()}),
            fields=fields(
                **{name: said.words(path) for name, path in self.fields.items()},
                **{name: said.holds(css) for name, css in self.flags.items()},
            ),
            tags=tuple(said.every(self.tags)), media=tuple(said.addresses(self.media)),
            items=tuple(
                inner.read(source, platform, part)
                for inner in self.items
                for part in source.all(inner.at, node)
            ),
        )  # fmt: skip


class DrawnPlatform(Platform):
    """A site of which `page` is the one record of a page, and `rows` those of a list."""

    page: ClassVar[Drawn | None] = None
    rows: ClassVar[Drawn | None] = None

    def parse(self, source: Source) -> Record | None:
        """Read the page's record, else its list; None where it has the markup of neither."""
        for found in self.page.records(source, self.name) if self.page else ():
            return replace(found, url=found.url or source.canonical)
        rows = self.rows.records(source, self.name) if self.rows else ()
        return listing(self.name, source.url, rows, source.text("title"))


@dataclass(frozen=True, slots=True)
class _Said:
    """What paths find within one element."""

    source: Source
    node: etree._Element

    def element(self, path: str) -> etree._Element | None:
        """The first element that a path leads to."""
        return self.source.first(path, self.node) if path else None

    def words(self, path: str) -> str | None:
        """The first value that a path finds, on one line; None where there is none."""
        return next(iter(self.every(path)), None)

    def every(self, path: str) -> list[str]:
        """Every value that a path finds, in page order."""
        found = (self._of_one(way) for way in path.split(_OR)) if path else ()
        return next(filter(None, found), [])

    def holds(self, css: str) -> str | None:
        """`true` where a selector finds something; else None."""
        return "true" if self.source.first(css, self.node) is not None else None

    def day(self, path: str) -> str | None:
        """A date or a moment, however it is written."""
        said = self.words(path)
        return (iso_date(said) or moment(said) or date_within(said)) if said else None

    def address(self, path: str, attribute: str) -> str:
        """The first address that a path finds, made absolute; empty where there is none."""
        return next(iter(self.addresses(path, attribute)), "")

    def addresses(self, path: str, attribute: str = "src") -> list[str]:
        """Every address that a path finds, by this attribute where it names none."""
        whole = path if not path or _ATTRIBUTE.fullmatch(path) else f"{path}@{attribute}"
        return [join(self.source.url, value) for value in self.every(whole)]

    def _of_one(self, path: str) -> list[str]:
        where, _, part = path.partition(_PART)
        values = (" ".join(value.split()) for value in self._values(where))
        found = (_part_of(value, part) if part else value for value in values)
        return list(dict.fromkeys(value for value in found if value))

    def _values(self, where: str) -> list[str]:
        match = _ATTRIBUTE.fullmatch(where)
        css = (match[1] if match else where).strip()
        nodes = self.source.all(css, self.node) if css else [self.node]
        return [node.get(match[2]) or "" if match else text_content(node) for node in nodes]


def _part_of(value: str, pattern: str) -> str:
    match = re.search(pattern, value)
    return match[match.lastindex or 0] if match else ""
