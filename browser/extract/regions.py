"""Which parts of a page frame the content: navigation, cookie bars, asides, footers."""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

_TAGS = frozenset(("nav", "footer", "aside"))
_ROLES = frozenset(
    """navigation contentinfo complementary search dialog alertdialog menu menubar toolbar
    tooltip""".split()
)
# Manuals set their notes in <aside>; those are read.
_NOTES = frozenset("note tip hint info warning caution important danger admonition callout".split())
_TOKENS = frozenset(
    """ad ads adsbygoogle advert advertisement advertising breadcrumb breadcrumbs catlinks comment
    comments consent cookie cookies disqus footer gdpr masthead menu modal nav navbar navbox
    navigation newsletter outbrain overlay pager pagination paywall popup promo promos
    promotion recommendation recommendations recommended related respond share sharebar
    sharing sidebar signup skip social sponsor sponsored subscribe subscription taboola toc
    toolbar trending anzeige werbung kommentar kommentare meistgelesen empfehlungen subnav metanav
    servicenav sidenav topnav footnav cookiebanner fusszeile kopfzeile fussbereich kopfbereich
    hauptnavigation servicenavigation seitenleiste randspalte marginalspalte""".split()
)
_NAMES = ("class", "id", "data-component", "data-testid", "data-area", "data-module")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Rows from which a table or list of names and values in a box is one of facts.
_FACTS = 2
# A soft region with more than this share of the text is the content, whatever its class says.
_MOST = 0.4
# A hard region (by tag or role) only when next to nothing stands outside it.
_ALL = 0.95


@dataclass(slots=True)
class Region:
    """A subtree that looks like a frame, by its `mark`: a tag or role (`hard`), or a class."""

    node: etree._Element
    parent: int
    mark: str
    hard: bool
    chars: int = 0
    content: bool = False


class Regions:
    """The regions of one walk, nested; numbers are given in document order."""

    def __init__(self) -> None:
        self._regions: list[Region] = []
        self._open: list[tuple[etree._Element, int]] = []
        self._by_mark: Counter[str] = Counter()
        self._total = 0

    @property
    def current(self) -> int:
        """The innermost region that is open, -1 outside all of them."""
        return self._open[-1][1] if self._open else -1

    def enter(self, node: etree._Element) -> None:
        """Open a region where this element begins one."""
        if node.tag in {"h1", "main", "article"}:
            self._rescue(node.tag)
        hard = _hard_mark(node)
        if mark := hard or _soft_mark(node):
            self._regions.append(Region(node, self.current, mark, bool(hard)))
            self._open.append((node, len(self._regions) - 1))

    def leave(self, node: etree._Element) -> None:
        """Close the region that this element began, if it did."""
        if self._open and self._open[-1][0] is node:
            self._open.pop()

    def count(self, chars: int) -> None:
        """Book characters of a block to all open regions."""
        self._total += chars
        for _, number in self._open:
            self._regions[number].chars += chars
        for mark in {self._regions[number].mark for _, number in self._open}:
            self._by_mark[mark] += chars

    def is_frame(self, number: int) -> bool:
        """Whether a block of this region stands apart from the content."""
        while number >= 0:
            region = self._regions[number]
            if not region.content and not self._is_most(region):
                return True
            number = region.parent
        return False

    def frames(self) -> list[etree._Element]:
        """The subtrees that stand apart from the content, outermost ones only."""
        return [
            region.node
            for number, region in enumerate(self._regions)
            if self.is_frame(number) and not self.is_frame(region.parent)
        ]

    def _is_most(self, region: Region) -> bool:
        """Many small boxes of one class are the content as one large box is: a list's entries."""
        if region.hard:
            return region.chars > _ALL * self._total
        return self._by_mark[region.mark] > _MOST * self._total

    def _rescue(self, tag: str) -> None:
        for _, number in self._open:
            region = self._regions[number]
            if not region.hard and tag != "article":
                region.content = True


def _hard_mark(node: etree._Element) -> str:
    if node.tag in _TAGS:
        quoted = node.tag == "footer" and _parent_tag(node) == "blockquote"
        read = node.tag == "aside" and (not _NOTES.isdisjoint(_words(node)) or _has_facts(node))
        return "" if quoted or read else node.tag
    role = (node.get("role") or "").lower()
    return role if role in _ROLES else ""


def _has_facts(node: etree._Element) -> bool:
    """Whether a box in an article tells of its subject: rows of a name and a value."""
    if next(node.iterancestors("article", "main"), None) is None:
        return False
    rows = [[cell.tag for cell in row if cell.tag in {"th", "td"}] for row in node.iter("tr")]
    terms = sum(1 for _ in node.iter("dt"))
    return max(rows.count(["th", "td"]), terms) >= _FACTS


def _soft_mark(node: etree._Element) -> str:
    if node.tag in {"html", "body", "main", "article", "a", "h1", "h2", "h3", "p"}:
        return ""
    if node.tag == "header" or node.get("role") == "banner":
        inner = next(node.iterancestors("article", "main", "section"), None) is not None
        return "" if inner else "header"
    return next((word for word in _words(node) if word in _TOKENS), "")


def _words(node: etree._Element) -> tuple[str, ...]:
    """What an element is called: where a build makes the classes, tests and scripts name it."""
    given = [value for name in _NAMES if (value := node.get(name))]
    return _split(" ".join(given)) if given else ()


@functools.lru_cache(maxsize=8_192)
def _split(name: str) -> tuple[str, ...]:
    """The words of class names and ids, in whichever way they are run together."""
    return tuple(word.lower() for word in _WORD.findall(name))


def _parent_tag(node: etree._Element) -> str:
    parent = node.getparent()
    return parent.tag if parent is not None else ""
