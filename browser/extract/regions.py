"""Which parts of a page frame the content: navigation, cookie bars, asides, footers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

_TAGS = frozenset(("nav", "footer", "aside"))
_ROLES = frozenset(
    """navigation contentinfo complementary search dialog alertdialog menu menubar toolbar tooltip
    alert status""".split()
)
_TOKENS = frozenset(
    """ad ads adsbygoogle advert advertisement advertising breadcrumb breadcrumbs catlinks comment
    comments consent cookie cookies disqus footer gdpr masthead menu modal nav navbar navbox
    navigation newsletter outbrain overlay pager pagination paywall popup promo promos
    promotion recommendation recommendations recommended related respond share sharebar
    sharing sidebar signup skip social sponsor sponsored subscribe subscription taboola toc
    toolbar trending widget widgets""".split()
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# A soft region with more than this share of the text is the content, whatever its class says.
_MOST = 0.4
# A hard region (by tag or role) only when next to nothing stands outside it.
_ALL = 0.95


@dataclass(slots=True)
class Region:
    """A subtree that looks like a frame. `hard`: said by its tag or role, not only by its class."""

    parent: int
    hard: bool
    chars: int = 0
    content: bool = False


class Regions:
    """The regions of one walk, nested; numbers are given in document order."""

    def __init__(self) -> None:
        self._regions: list[Region] = []
        self._open: list[tuple[etree._Element, int]] = []
        self._total = 0

    @property
    def current(self) -> int:
        """The innermost region that is open, -1 outside all of them."""
        return self._open[-1][1] if self._open else -1

    def enter(self, node: etree._Element) -> None:
        """Open a region where this element begins one."""
        if node.tag in {"h1", "main", "article"}:
            self._rescue(node.tag)
        hard = _is_hard(node)
        if hard or _is_soft(node):
            self._regions.append(Region(self.current, hard))
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

    def is_frame(self, number: int) -> bool:
        """Whether a block of this region stands apart from the content."""
        while number >= 0:
            region = self._regions[number]
            limit = _ALL if region.hard else _MOST
            if not region.content and region.chars <= limit * self._total:
                return True
            number = region.parent
        return False

    def _rescue(self, tag: str) -> None:
        for _, number in self._open:
            region = self._regions[number]
            if not region.hard and tag != "article":
                region.content = True


def _is_hard(node: etree._Element) -> bool:
    if node.tag in _TAGS:
        return True
    role = node.get("role")
    return role is not None and role.lower() in _ROLES


def _is_soft(node: etree._Element) -> bool:
    if node.tag in {"html", "body", "main", "article", "a", "h1", "h2", "h3", "p"}:
        return False
    if node.tag == "header" or node.get("role") == "banner":
        return True
    name = f"{node.get('class') or ''} {node.get('id') or ''}"
    return len(name) > 1 and not _TOKENS.isdisjoint(w.lower() for w in _WORD.findall(name))
