"""Parsers without code: they declare where a record's fields are, in HTML or in JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html import unescape
from typing import TYPE_CHECKING, Any, ClassVar

from bs4 import Tag

from browser.extract.platforms.parsing import parse_date
from browser.extract.platforms.site import Platform, attribute, line
from browser.extract.platforms.site_record import Record, listing
from browser.net.url import join
from browser.text.json_paths import alternatives, values_at
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.extract.platforms.site import SitePage

_ATTRIBUTE = re.compile(r"(.*)@([\w-]+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_PATTERN_ARROW = " -> "
_ALL_PREFIX = "* "
_ANYWHERE = "**"
_PAGE_URL = ":url"
_WEB_PREFIXES = ("http://", "https://")
_ADDRESS_PREFIXES = ("http", "/")


@dataclass(frozen=True, slots=True)
class RecordPaths:
    """The fields of one kind of record on a page or in a reply; `at` finds each record.

    For a page, each of the other fields is a CSS selector within that element (`h2 a`), optionally
    with an attribute of the element it finds (`time@datetime`), or an attribute of the record's
    element (`@data-id`). In JSON, it is a path of names (`user.login`), applied to each entry of a
    list. If only part of the value is wanted, ` -> ` is followed by a pattern (`a.user@href ->
    /users/(.+)`); its first group is used, or the entire match if it has no group. Several paths,
    separated by ` || `, are tried in turn; fields that are not found are left out. `:url` is the
    page's address. A path that begins with `http` or `/` is an address with paths in braces, all of
    which must exist.

    `url`, `links` and `media` are made absolute, `text` keeps paragraphs and lists (in JSON, only
    if `markup` declares it to be HTML), and dates and counts are read in any notation. A field that
    begins with `* ` joins all values with semicolons; `flags` are fields that are `true` if
    something is found; `items` are the records within this one. In JSON, `having` lists names that
    an object must have, and `at="**"` finds such objects anywhere, including in a page's embedded
    state.
    """

    kind: str
    at: str = ""
    having: str = ""
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
    links: Mapping[str, str] = field(default_factory=dict)
    tags: str = ""
    media: str = ""
    markup: bool = False
    items: tuple[RecordPaths, ...] = ()

    def records(self, page: SitePage, platform: str) -> tuple[Record, ...]:
        """Read all records that `at` finds on a page; those without title and text are left out.

        In a reply, every object with the names in `having` is a record.
        """
        if self.having:
            if self.at == _ANYWHERE:
                objects = list(page.objects(*self.having.split()))
            else:
                # The reply may itself be a list, which is treated as the only value of an object.
                where = replace(self, at=f".{self.at}" if self.at else "")
                objects = _Values(page, {"": page.json}).parts(where)
            return tuple(self.read(page, platform, node) for node in objects)
        nodes = page.soup.select(self.at) if self.at else [page.soup]
        found = (self.read(page, platform, node) for node in nodes)
        return tuple(record for record in found if record.title or record.text)

    def read(self, page: SitePage, platform: str, node: Tag | dict[str, Any]) -> Record:
        """Read one element or object."""
        values = _Values(page, node, self.markup)
        return Record(
            platform, self.kind, next(iter(values.addresses(self.url, "href")), ""),
            id=values.text(self.id), title=values.name(self.title), text=values.body(self.text),
            author=values.name(self.author), handle=values.text(self.handle),
            published=parse_date(values.first(self.published)),
            modified=parse_date(values.first(self.modified)),
            parent=values.text(self.parent),
            counts={name: values.first(path) for name, path in self.counts.items()},
            fields={name: values.joined(path) for name, path in self.fields.items()}
            | {name: True for name, path in self.flags.items() if values.holds(path)},
            tags=tuple(map(str, values.all(self.tags))),
            media=tuple(values.addresses(self.media, "src")),
            links=tuple(Link(target, name) for name, path in self.links.items()
                        for target in values.addresses(path, "href")),
            items=tuple(inner.read(page, platform, part)
                        for inner in self.items for part in values.parts(inner)),
        )  # fmt: skip


class DeclaredPlatform(Platform):
    """A site for which `page` describes the record of a page, and `rows` the records of a list.

    `entries` describe objects in its API or its pages' state; the first kind found is used.
    """

    page: ClassVar[RecordPaths | None] = None
    rows: ClassVar[RecordPaths | None] = None
    entries: ClassVar[tuple[RecordPaths, ...]] = ()

    def parse(self, page: SitePage) -> Record | None:
        """Read the page's record or else its list; None if the page has the markup of neither."""
        for shape in self.entries:
            found = {record.id: record for record in shape.records(page, self.name)}
            mine = next((found[part] for part in page.path if part in found), None)
            if mine or len(found) == 1:
                return mine or next(iter(found.values()))
            if found:
                return listing(self.name, page.url, found.values())
        if page.json is not None:
            return None
        for record in self.page.records(page, self.name) if self.page else ():
            return replace(record, url=record.url or page.canonical)
        rows = self.rows.records(page, self.name) if self.rows else ()
        return listing(self.name, page.url, rows, page.text("title"))


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of paths in one element or object; `markup` means that its strings are HTML."""

    page: SitePage
    node: Tag | dict[str, Any]
    markup: bool = False

    def all(self, path: str, attribute: str = "") -> list[Any]:
        """Return all values that a path finds, in page order and without duplicates.

        If the path names no attribute, `attribute` is used instead of the element's text.
        """
        for way in alternatives(path):
            if way.startswith(_ADDRESS_PREFIXES):
                values = self._fill_template(way)
            else:
                where, _, pattern = way.partition(_PATTERN_ARROW)
                values = self._at(where.strip(), attribute)
                if pattern:
                    matches = (re.search(pattern, str(value)) for value in values)
                    values = [match[match.lastindex or 0] for match in matches if match]
            if found := list(dict.fromkeys(v for v in values if v is not None and v != "")):
                return found
        return []

    def _fill_template(self, template: str) -> list[str]:
        """Fill in an address with the values of its paths; empty if one of them is missing."""
        parts = [self.text(path) for path in _BRACES.findall(template)]
        texts = iter(parts)
        return [_BRACES.sub(lambda _: str(next(texts)), template)] if all(parts) else []

    def _at(self, where: str, name: str) -> list[Any]:
        if where == _PAGE_URL:
            return [self.page.url]
        if not isinstance(self.node, Tag):
            values = values_at(self.node, where)
            return [value for value in values if not isinstance(value, dict)]
        match = _ATTRIBUTE.fullmatch(where)
        css, name = (match[1].strip(), match[2]) if match else (where, name)
        nodes = self.node.select(css) if css else [self.node]
        texts = (attribute(node, name) if name else line(node) for node in nodes)
        return [" ".join(text.split()) for text in texts]

    def first(self, path: str) -> Any:
        """The first value that a path finds; None if there is none."""
        return next(iter(self.all(path)), None)

    def text(self, path: str) -> str | None:
        """The first value as a string."""
        value = self.first(path)
        return None if value is None else str(value)

    def name(self, path: str) -> str | None:
        """The first value as a string; entities are decoded if it is markup."""
        value = self.text(path)
        return unescape(value) if value and self.markup else value

    def joined(self, path: str) -> Any:
        """The first value, or all values if the path asks for them or leads to a list."""
        values = self.all(path.removeprefix(_ALL_PREFIX))
        if path.startswith(_ALL_PREFIX):
            return "; ".join(map(str, values))
        several = isinstance(self.node, dict) and len(values) > 1
        return ", ".join(map(str, values)) if several else next(iter(values), None)

    def holds(self, path: str) -> bool:
        """Whether a selector finds an element, or a path finds a value other than false."""
        if isinstance(self.node, Tag) and "@" not in path:
            return self.node.select_one(path) is not None
        return bool(self.first(path))

    def body(self, path: str) -> str:
        """The running text, with its paragraphs."""
        if isinstance(self.node, Tag):
            found = (self.node.select_one(css) for css in alternatives(path))
            return next(filter(None, map(self.page.body, found)), "")
        text = self.text(path) or ""
        return self.page.body(text) if self.markup else text

    def addresses(self, path: str, attribute: str) -> list[str]:
        """All addresses that a path finds, made absolute if the page's address is known."""
        found = map(str, self.all(path, attribute))
        # Full addresses from an API are used unchanged; those from a page are resolved.
        whole = () if isinstance(self.node, Tag) else _WEB_PREFIXES
        return [v if v.startswith(whole) else join(self.page.url, v) or v for v in found]

    def parts(self, inner: RecordPaths) -> list[Any]:
        """The elements or objects inside this one that `inner` describes."""
        if isinstance(self.node, Tag):
            return list(self.node.select(inner.at))
        keys = inner.having.split()
        found = values_at(self.node, inner.at)
        return [n for n in found if isinstance(n, dict) and all(key in n for key in keys)]
