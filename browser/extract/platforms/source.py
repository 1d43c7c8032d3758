"""A page as platform parsers see it: its parsed address, its tree, its JSON, what it declares."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs

from lxml.cssselect import CSSSelector

from browser.extract.blocks import walk
from browser.extract.hidden import strip_hidden
from browser.extract.jsonld import read_jsonld
from browser.extract.metadata import read_meta
from browser.extract.render import render_text
from browser.extract.tree import parse_html, text_content
from browser.net.url import host, join, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml import etree


class Source:
    """One page or API reply. The tree and the JSON are read when first asked for."""

    def __init__(self, url: str, content: str | bytes | Mapping[str, Any] | list[Any]) -> None:
        self.url = url
        self.host = host(url)
        parsed = parse(url)
        self.path = tuple(part for part in (parsed.path if parsed else "").split("/") if part)
        self.query = parsed.query.lstrip("?") if parsed else ""
        self._content = content

    def parameter(self, name: str) -> str:
        """The first value of a parameter of the address; empty where it has none of that name."""
        return next(iter(parse_qs(self.query).get(name, [])), "")

    @functools.cached_property
    def json(self) -> Any:
        """The content as JSON; None where it is none."""
        if not isinstance(self._content, str | bytes):
            return self._content
        start = self._content[:1].strip() or self._content.lstrip()[:1]
        if start not in ("{", "[", b"{", b"["):
            return None
        try:
            return json.loads(self._content)
        except (ValueError, RecursionError):
            return None

    @property
    def markup(self) -> str | bytes:
        """The content as it came; empty where it came as data."""
        return self._content if isinstance(self._content, str | bytes) else ""

    @functools.cached_property
    def root(self) -> etree._Element:
        """The content as an HTML tree."""
        return parse_html(self.markup if self.markup.strip() else "<html></html>")

    @functools.cached_property
    def meta(self) -> dict[str, str]:
        """`meta` elements by lower-case name or property."""
        return read_meta(self.root)

    @functools.cached_property
    def jsonld(self) -> list[dict[str, Any]]:
        """JSON-LD nodes, laid out flat."""
        return read_jsonld(self.root)

    @functools.cached_property
    def canonical(self) -> str:
        """The address that the page calls its own; else the one it was read from."""
        link = self.first("link[rel=canonical]")
        href = link.get("href") if link is not None else self.meta.get("og:url")
        return (join(self.url, href) if self.url else href) if href else self.url

    def all(self, css: str, node: etree._Element | None = None) -> list[etree._Element]:
        """Every element that a CSS selector finds, in page order."""
        return _find(css, self.root if node is None else node)

    def first(self, css: str, node: etree._Element | None = None) -> etree._Element | None:
        """The first element that a CSS selector finds."""
        return next(iter(self.all(css, node)), None)

    def text(self, css: str, node: etree._Element | None = None) -> str:
        """The text of the first element found, on one line; empty where there is none."""
        found = self.first(css, node)
        return text_content(found) if found is not None else ""

    def attr(self, css: str, name: str, node: etree._Element | None = None) -> str:
        """An attribute of the first element found."""
        found = self.first(css, node)
        return (found.get(name) or "").strip() if found is not None else ""

    def link(self, css: str, node: etree._Element | None = None) -> str:
        """The absolute target of the first link found."""
        href = self.attr(css, "href", node)
        return join(self.url, href) if href else ""

    def body(self, node: etree._Element | str | None) -> str:
        """Rich text, from an element or a piece of HTML, as blocks."""
        if isinstance(node, str):
            node = parse_html(node) if node.strip() else None
        if node is None:
            return ""
        strip_hidden(node, list(node.iter()))
        return render_text(walk(node, self.url).blocks)


def fields(**values: object) -> dict[str, str]:
    """Fields by name as text, those that are absent or empty left out; `true` and `false`."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
        if value not in (None, "", [])
    }


def _find(css: str, node: etree._Element) -> list[etree._Element]:
    return cast("list[etree._Element]", _selector(css)(node))  # noqa: SLF001 - lxml's public type


@functools.lru_cache(maxsize=512)
def _selector(css: str) -> CSSSelector:
    return CSSSelector(css, translator="html")
