"""Finds the parts of a page that frame its content: navigation, cookie bars, asides, footers."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.extract.weighing import MAJORITY, MIN_BODY_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from browser.extract.weighing import ContentWeigher

FRAME_TAGS = frozenset(("nav", "footer", "aside"))
LANDMARK_ROLES = frozenset(("navigation", "contentinfo", "complementary"))
"""The elements and roles that frame the content of any page."""
_FRAME_ROLES = LANDMARK_ROLES | frozenset(
    "search dialog alertdialog menu menubar toolbar tooltip".split()
)
# Manuals put notes in <aside>; such notes are content.
_NOTE_WORDS = frozenset(
    "note tip hint info warning caution important danger admonition callout".split()
)
_FRAME_WORDS = frozenset(
    """ad ads adsbygoogle advert advertisement advertising breadcrumb breadcrumbs catlinks comment
    comments consent cookie cookies disqus footer gdpr masthead menu modal nav navbar navbox
    navigation newsletter outbrain overlay pager pagination paywall popup promo promos
    promotion recommendation recommendations recommended related respond share sharebar
    sharing sidebar signup skip social sponsor sponsored subscribe subscription taboola toc
    toolbar trending anzeige werbung kommentar kommentare meistgelesen empfehlungen subnav metanav
    servicenav sidenav topnav footnav cookiebanner fusszeile kopfzeile fussbereich kopfbereich
    hauptnavigation servicenavigation seitenleiste randspalte marginalspalte""".split()
)
_NEVER_FRAMES = frozenset("html body main article a h1 h2 h3 p".split())
_NAME_ATTRIBUTES = ("class", "id", "data-component", "data-testid", "data-area", "data-module")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Maximum number of elements around another to check.
_MAX_AROUND = 64
# A box with at least this many name-value rows is a fact box.
_MIN_FACT_ROWS = 2


@dataclass(slots=True, eq=False)
class Region:
    """A subtree that looks like a frame.

    `mark` is what makes it look like one: its tag or role, in which case it `is_certain`, or a word
    in its class or id. `is_content` is set if an uncertain region contains an h1 or main element.
    """

    node: etree._Element
    parent: Region | None
    mark: str
    is_certain: bool
    is_content: bool = False

    @property
    def group(self) -> Region | str:
        """The key under which its text is counted: the region if it is certain, else its mark."""
        return self if self.is_certain else self.mark


class Regions:
    """The regions found while a page is traversed; `current` is the innermost open one."""

    def __init__(self, weigher: ContentWeigher | None = None) -> None:
        self.current: Region | None = None
        self._weigher = weigher
        # The number of characters by group, of prose if the second key is true; "" is the entire
        # page. Uncertain regions are added up by mark: many small boxes with the same class may be
        # the content, such as the entries of a list.
        self._sums: Counter[tuple[Region | str, bool]] = Counter()
        self._nodes: dict[Region | str, list[etree._Element]] = {}
        self._verdicts: dict[Region | str, bool] = {}
        self._frames: dict[Region | None, etree._Element | None] = {}

    def enter(self, node: etree._Element) -> None:
        """Open a region if this element starts one."""
        if node.tag in {"h1", "main"}:  # an uncertain region that contains one of these is content
            for region in self._open():
                region.is_content = region.is_content or not region.is_certain
        mark, is_certain = _frame_kind(node)
        if mark:
            self.current = Region(node, self.current, mark, is_certain)
            self._nodes.setdefault(self.current.group, []).append(node)

    def leave(self, node: etree._Element) -> None:
        """Close the region that this element opened, if any."""
        if self.current and self.current.node is node:
            self.current = self.current.parent

    def count(self, chars: int, linked: int, *, is_prose: bool) -> None:
        """Add a block's character counts (all, and those in links) to all open regions.

        Text in links counts only towards the page's total, as navigation and product lists are
        mostly links.
        """
        self._sums["", False] += chars
        chars -= linked
        prose = chars if is_prose else 0
        self._sums["", True] += prose
        for group in {region.group for region in self._open()} if self.current else ():
            self._sums[group, False] += chars
            self._sums[group, True] += prose

    def frame_of(self, region: Region | None) -> etree._Element | None:
        """The outermost frame element that contains a region; None if the region is content."""
        if region not in self._frames:
            frame, around = None, region
            while around is not None:
                if not around.is_content and not self._contains_content(around.group):
                    frame = around.node
                around = around.parent
            self._frames[region] = frame
        return self._frames[region]

    def _contains_content(self, group: Region | str) -> bool:
        if group not in self._verdicts:
            prose = self._sums["", True] >= MIN_BODY_CHARS  # a page of lists or tables has no prose
            share = self._sums[group, prose] / max(1, self._sums["", prose])
            self._verdicts[group] = (
                share > MAJORITY
                if self._weigher is None
                else self._weigher.holds_body(self._nodes[group], share)
            )
        return self._verdicts[group]

    def _open(self) -> list[Region]:
        found, region = [], self.current
        while region is not None:
            found.append(region)
            region = region.parent
        return found


def is_frame(node: etree._Element) -> bool:
    """Whether an element is, or is in, a frame by its tag, role or name.

    A name does not count if the element also contains an h1 or main element.
    """
    for around in (node, *itertools.islice(node.iterancestors(), _MAX_AROUND)):
        mark, is_certain = _frame_kind(around)
        if mark and (is_certain or next(around.iter("h1", "main"), None) is None):
            return True
    return False


def _frame_kind(node: etree._Element) -> tuple[str, bool]:
    """The mark of a frame, and whether it is certain; ("", False) for content."""
    tag, names = node.tag, node.keys()
    if tag in FRAME_TAGS:
        parent = node.getparent()
        # The footer of a quotation names its source.
        is_source = tag == "footer" and parent is not None and parent.tag == "blockquote"
        is_note = tag == "aside" and not _NOTE_WORDS.isdisjoint(_words(_full_name(node)))
        if not (is_source or is_note or (tag == "aside" and _is_fact_box(node))):
            return tag, True
    role = (node.get("role") or "").lower() if "role" in names else ""
    if tag not in FRAME_TAGS and role in _FRAME_ROLES:
        return role, True
    if tag in _NEVER_FRAMES:
        return "", False
    if tag == "header" or role == "banner":
        inner = next(node.iterancestors("article", "main", "section"), None) is not None
        return "" if inner else "header", False
    return _frame_word(_full_name(node)) if names else "", False


def _is_fact_box(node: etree._Element) -> bool:
    """Whether a box in an article consists of rows with a name and a value."""
    if next(node.iterancestors("article", "main"), None) is None:
        return False
    rows = [[cell.tag for cell in row if cell.tag in {"th", "td"}] for row in node.iter("tr")]
    terms = sum(1 for _ in node.iter("dt"))
    return max(rows.count(["th", "td"]), terms) >= _MIN_FACT_ROWS


@functools.lru_cache(maxsize=8_192)
def _frame_word(name: str) -> str:
    return next((word for word in _words(name) if word in _FRAME_WORDS), "")


def _full_name(node: etree._Element) -> str:
    """An element's class, id and data attributes.

    Where class names are generated, data attributes still have meaningful names.
    """
    return " ".join([value for name in _NAME_ATTRIBUTES if (value := node.get(name))])


def _words(name: str) -> Iterator[str]:
    """Split class names and ids into lower-case words, including those in camel case."""
    return map(str.lower, _WORD.findall(name))
