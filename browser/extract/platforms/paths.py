"""Parsers that need no code of their own: where a record's fields stand, in CSS or in JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html import unescape
from typing import TYPE_CHECKING, Any, ClassVar

from bs4 import Tag

from browser.extract.platforms.site import (
    Platform,
    Record,
    attribute,
    counts,
    date_of,
    fields,
    line,
    listing,
    objects,
)
from browser.net.url import join
from browser.types import Link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.extract.platforms.site import SitePage

_ATTRIBUTE = re.compile(r"(.*)@([\w-]+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_PART = " -> "
_OR = " || "
_ALL = "* "
_ANYWHERE = "**"
_URL = ":url"


@dataclass(frozen=True, slots=True)
class RecordPaths:
    """Where one kind of record stands on a page or in a reply; `at` finds them, one a record.

    On a page each other field is a CSS selector within the element (`h2 a`), the attribute of what
    it finds (`time@datetime`), or of the element itself (`@data-id`). In JSON it is a path of names
    (`user.login`), each of a list's entries taken in turn. Behind ` -> ` stands a pattern where a
    part is wanted (`a.user@href -> /users/(.+)`): its first group, or all of the match. Several
    paths, parted by ` || `, are tried in turn; what is not found is left out. `:url` is the page's
    address; a path that begins with `http` is one with paths in braces, all of which must be there.

    `url`, `links` and `media` are made absolute, `text` keeps paragraphs and lists (in JSON where
    `markup` says that it is HTML), dates and counts are read however pages write them. A field
    begins with `* ` where all that is found is wanted, joined by semicolons; `flags` are fields
    that are `true` where something is found; `items` are the records within. In JSON `having` are
    names that an object must have, and `at="**"` finds such objects anywhere, in the state that a
    page carries too.
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
        """Read all that `at` finds on a page; what has neither title nor text is no record of one.

        In a reply an object with the names in `having` is one, whatever else it holds.
        """
        if self.having:
            return tuple(self.read(page, platform, node) for node in self._objects(page))
        nodes = page.all(self.at) if self.at else [page.soup]
        found = (self.read(page, platform, node) for node in nodes)
        return tuple(record for record in found if record.title or record.text)

    def read(self, page: SitePage, platform: str, node: Tag | dict[str, Any]) -> Record:
        """Read one element or object."""
        said = _Found(page, node, self.markup)
        return Record(
            platform, self.kind, said.address(self.url), id=said.words(self.id),
            title=said.name(self.title), text=said.body(self.text),
            author=said.name(self.author), handle=said.words(self.handle),
            published=said.date(self.published), modified=said.date(self.modified),
            parent=said.words(self.parent),
            counts=counts(**{name: said.first(path) for name, path in self.counts.items()}),
            fields=fields(
                **{name: said.joined(path) for name, path in self.fields.items()},
                **{name: True for name, path in self.flags.items() if said.holds(path)},
            ),
            tags=tuple(map(str, said.every(self.tags))),
            media=tuple(said.addresses(self.media, "src")),
            links=tuple(Link(target, name) for name, path in self.links.items()
                        for target in said.addresses(path, "href")),
            items=tuple(inner.read(page, platform, part)
                        for inner in self.items for part in said.parts(inner)),
        )  # fmt: skip

    def _objects(self, page: SitePage) -> list[dict[str, Any]]:
        if self.at == _ANYWHERE:
            return list(objects(page, *self.having.split()))
        root = {"": page.json}
        return _Found(page, root).parts(replace(self, at=f".{self.at}" if self.at else ""))


class DeclaredPlatform(Platform):
    """A site of which `page` is the one record of a page, and `rows` those of a list.

    `entries` are the objects of its API or of the state in its pages, the first kind that is there.
    """

    page: ClassVar[RecordPaths | None] = None
    rows: ClassVar[RecordPaths | None] = None
    entries: ClassVar[tuple[RecordPaths, ...]] = ()

    def parse(self, page: SitePage) -> Record | None:
        """Read the page's record, else its list; None where it has the markup of neither."""
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
class _Found:
    """What paths find within one element or object; `markup` says that an object's text is HTML."""

    page: SitePage
    node: Tag | dict[str, Any]
    markup: bool = False

    def first(self, path: str) -> Any:
        """The first value that a path finds; None where there is none."""
        return next(iter(self.every(path)), None)

    def holds(self, path: str) -> bool:
        """Whether a selector finds something, or a path something that is not false."""
        if isinstance(self.node, Tag) and "@" not in path:
            return self.page.first(path, self.node) is not None
        return bool(self.first(path))

    def words(self, path: str) -> str | None:
        """The first value as text."""
        value = self.first(path)
        return None if value is None else str(value)

    def name(self, path: str) -> str | None:
        """The first value as text, its entities undone where it is markup."""
        value = self.words(path)
        return unescape(value) if value and self.markup else value

    def joined(self, path: str) -> Any:
        """The first value, or all of them where the path asks for them or leads to a list."""
        values = self.every(path.removeprefix(_ALL))
        if path.startswith(_ALL):
            return "; ".join(map(str, values))
        several = isinstance(self.node, dict) and len(values) > 1
        return ", ".join(map(str, values)) if several else next(iter(values), None)

    def every(self, path: str) -> list[Any]:
        """Every value that a path finds, in page order, each once."""
        if not path:
            return []
        if path.startswith("http"):
            return self._filled(path)
        for way in path.split(_OR):
            where, _, part = way.partition(_PART)
            values = self._values(where.strip())
            if part:
                values = [_part_of(str(value), part) for value in values]
            if found := list(dict.fromkeys(v for v in values if v is not None and v != "")):
                return found
        return []

    def body(self, path: str) -> str:
        """Running text with its paragraphs."""
        if isinstance(self.node, Tag):
            ways = path.split(_OR) if path else ()
            return next((said for css in ways if (said := self._body(self.node, css))), "")
        text = self.words(path) or ""
        return self.page.body(text) if self.markup else text

    def _body(self, node: Tag, css: str) -> str:
        return self.page.body(self.page.first(css, node))

    def date(self, path: str) -> str | None:
        """A date or a moment, however it is written."""
        return date_of(self.first(path)) if path else None

    def address(self, path: str) -> str:
        """The first address that a path finds, made absolute; empty where there is none."""
        return next(iter(self.addresses(path, "href")), "")

    def addresses(self, path: str, name: str) -> list[str]:
        """Every address that a path finds, by this attribute where it names none."""
        if path.startswith("http"):
            return self._filled(path)
        if not path or not isinstance(self.node, Tag):
            found = map(str, self.every(path))
            return [v if v.startswith("http") else join(self.page.url, v) for v in found]
        ways = (way.partition(_PART) for way in path.split(_OR))
        whole = _OR.join(
            f"{css if _ATTRIBUTE.fullmatch(css) else f'{css}@{name}'}{arrow}{part}"
            for css, arrow, part in ways
        )
        return [join(self.page.url, str(value)) for value in self.every(whole)]

    def parts(self, inner: RecordPaths) -> list[Any]:
        """The elements or objects of a kind of record within this one."""
        if isinstance(self.node, Tag):
            return self.page.all(inner.at, self.node)
        wanted = inner.having.split()
        found = _led(self.node, inner.at.split(".")) if inner.at else _led(self.node, [""])
        return [n for n in found if isinstance(n, dict) and all(key in n for key in wanted)]

    def _values(self, where: str) -> list[Any]:
        if where == _URL:
            return [self.page.url]
        if not isinstance(self.node, Tag):
            return [v for v in _led(self.node, where.split(".")) if not isinstance(v, dict)]
        match = _ATTRIBUTE.fullmatch(where)
        css = (match[1] if match else where).strip()
        nodes = self.page.all(css, self.node) if css else [self.node]
        texts = (attribute(node, match[2]) if match else line(node) for node in nodes)
        return [" ".join(text.split()) for text in texts]

    def _filled(self, template: str) -> list[str]:
        values = [self.words(path) for path in _BRACES.findall(template)]
        if not all(values):
            return []
        parts = iter(values)
        return [_BRACES.sub(lambda _: str(next(parts)), template)]


def _led(value: Any, names: list[str]) -> list[Any]:
    """What a path of names leads to, each of a list's entries taken in turn."""
    found = [value]
    for name in names:
        inner = (node.get(name) for node in found if isinstance(node, dict))
        found = [
            leaf for child in inner for leaf in (child if isinstance(child, list) else [child])
        ]
    return [leaf for leaf in found if leaf is not None]


def _part_of(value: str, pattern: str) -> str:
    match = re.search(pattern, value)
    return match[match.lastindex or 0] if match else ""
