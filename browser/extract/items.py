"""Finds a page's repeated items: posts in a thread, entries in a listing, products in a shop.

They are recognised only by structure, whatever software the site uses: they are elements with the
same class, kind of id or parent that together contain most of the page. If each has an author and
most have prose, they are posts, and each is shown in full under its author and date; if each has a
link as its title, they are entries.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from browser.extract.blocks import Block
from browser.extract.dates import date_within, iso_date
from browser.extract.metadata import MAX_NAME_CHARS, name_within
from browser.extract.tree import raw_text, text_content
from browser.extract.weighing import MAJORITY
from browser.text.words import ends_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml import etree

_MIN_POSTS = 2
_MIN_UNDATED_POSTS = 3
_MIN_ENTRIES = 5
# At least this share of the items must look like posts or entries; the rest are notices and ads.
_TYPICAL_SHARE = 0.8
# Text that is repeated in this share of the items is a button or a label.
_REPEATED_SHARE = 1 / 3
# Maximum number of element groups to examine, those with the most text first.
_MAX_GROUPS = 12
# An entry's title is among its first lines, up to this many.
_TITLE_LINES = 3
_MAX_META_WORDS = 25
_KEPT_KINDS = frozenset(("code", "quote", "table"))
_ITEM_KINDS = frozenset(("item", "item-rest"))
_ITEM_TAGS = frozenset(("div", "li", "article", "section", "tr"))
_LINE_KINDS = frozenset("paragraph heading item item-rest term detail caption".split())
_DIGITS = re.compile(r"\d+")
_AUTHOR_NAMES = re.compile(r"author|user|poster|byline|member|nick|^fn$", re.IGNORECASE)
_PERSON_URL = re.compile(r"(?:user|member|profil|author|people|account)|/u/|/@", re.IGNORECASE)
_NUMERIC_DAY = re.compile(r"\b(\d{1,2})([-/])(\d{1,2})\2((?:19|20)\d\d)\b")
_MONTHS = 12


@dataclass(slots=True)
class _Item:
    """An element with its blocks, excluding those of items inside it."""

    element: etree._Element
    blocks: list[Block]
    author: str = ""
    date: str = ""

    @property
    def chars(self) -> int:
        return sum(len(block.text) for block in self.blocks)


def read_items(blocks: Sequence[Block], *, is_article: bool = False) -> list[Block] | None:
    """The blocks of a thread or listing, item by item; None for any other page.

    On a page that declares an article, three or more dated posts are a thread if there is no prose
    above them; otherwise, they are comments on the article.
    """
    if is_article and not _starts_with_post(blocks):
        return None
    groups = _groups(blocks)
    if is_article:
        # Groups that cannot be the whole page are left out first, because finding authors is slow.
        lead = next(block for block in blocks if block.is_prose)
        early = {id(block) for block in blocks[: blocks.index(lead) + 1]}
        groups = [group for group in groups if id(group[0].blocks[0]) in early]
        groups = [group for group in groups if len(group) >= _MIN_UNDATED_POSTS]
    least = MAJORITY * sum(len(block.text) for block in blocks)
    threads = [group for group in map(_without_ends, groups) if _is_thread(group, least)]
    if is_article:
        threads = [group for group in threads if _is_whole_page(group, blocks)]
        if not threads:
            return None
    if threads:  # the group with the most posts; among equals, with the fewest other items
        return _thread_blocks(blocks, max(threads, key=lambda g: (_count_posts(g), -len(g))))
    listings = [group for group in groups if _is_listing(group)]
    return _listing_blocks(blocks, max(listings, key=len)) if listings else None


def _groups(blocks: Sequence[Block]) -> list[list[_Item]]:
    """Group elements by name; returns groups with most of the page's text, outermost first."""
    owners: dict[tuple[object, ...], dict[etree._Element, list[Block]]] = defaultdict(dict)
    for block in blocks:
        seen = set()
        for element in (block.node, *block.node.iterancestors()):
            for name in _names(element):
                if name not in seen:  # a block belongs to the innermost element with a name
                    seen.add(name)
                    owners[name].setdefault(element, []).append(block)
    total = sum(len(block.text) for block in blocks)
    groups = [
        [_Item(element, own) for element, own in found.items()]
        for found in owners.values()
        if len(found) >= _MIN_POSTS
    ]
    large = [group for group in groups if sum(i.chars for i in group) > MAJORITY * total]
    large.sort(key=lambda group: (-sum(item.chars for item in group), len(group)))
    return large[:_MAX_GROUPS]


def _names(element: etree._Element) -> Iterator[tuple[object, ...]]:
    """The names that items of one kind share: id without number, first class, and parent.

    Siblings share a parent even if some have an additional class, such as that of the topic
    starter.
    """
    identifier, classes = element.get("id") or "", (element.get("class") or "").split()
    if _DIGITS.search(identifier):
        yield ("#", _DIGITS.sub("", identifier))
    if classes:
        yield (".", _DIGITS.sub("", classes[0]))
    if element.tag in _ITEM_TAGS or not (classes or identifier):
        yield element.tag, element.getparent()


def _without_ends(group: list[_Item]) -> list[_Item]:
    """Find authors and dates, and leave out the items above the first post and below the last.

    If at least half of the items with an author have a date, the first post is the first item with
    a date; the items above it are forms or a poll. Today's posts may have no date, so the posts
    end before the first item without an author, such as the heading of a list of readers.
    """
    for item in group:
        item.author = _author(item.element)
        item.date = _date(item)
    signed = [n for n, item in enumerate(group) if item.author]
    dated = [n for n in signed if group[n].date]
    if not signed:
        return []
    if len(dated) < MAJORITY * len(signed):
        return group[signed[0] : signed[-1] + 1]
    end = dated[-1] + 1
    while end < len(group) and group[end].author:
        end += 1
    return group[dated[0] : end]


def _is_thread(group: list[_Item], least_chars: float) -> bool:
    """Whether items are posts, with at least this many characters in all."""
    if sum(item.chars for item in group) <= least_chars:
        return False
    signed = [item for item in group if item.author]
    spoken = sum(any(block.is_prose for block in item.blocks) for item in signed)
    least = _TYPICAL_SHARE * len(group)
    # If all items have the same author, they are sections of a page.
    if (
        len(signed) < least
        or spoken < MAJORITY * len(group)
        or len({item.author for item in signed}) < _MIN_POSTS
    ):
        return False
    _read_numeric_days(group)
    return len(signed) >= _MIN_UNDATED_POSTS or sum(bool(item.date) for item in signed) >= least


def _starts_with_post(blocks: Sequence[Block]) -> bool:
    """Whether the first prose is in an element with an author that is not most of the page.

    This check is fast, so that most articles need not be searched for posts.
    """
    first = next((block for block in blocks if block.is_prose), None)
    most = MAJORITY * sum(len(block.text) for block in blocks)
    for element in () if first is None else (first.node, *first.node.iterancestors()):
        if len(text_content(element)) > most:
            return False
        if _author(element):
            return True
    return False


def _is_whole_page(posts: list[_Item], blocks: Sequence[Block]) -> bool:
    """Whether at least three posts all have an author and date, and there is no prose above."""
    owned = {id(block) for post in posts for block in post.blocks}
    first = next(n for n, block in enumerate(blocks) if id(block) in owned)
    return (
        len(posts) >= _MIN_UNDATED_POSTS
        and all(post.author and post.date for post in posts)
        and not any(block.is_prose for block in blocks[:first])
    )


def _count_posts(group: list[_Item]) -> int:
    """The number of items with an author and, if most items have one, a date."""
    signed = [item for item in group if item.author]
    dated = [item for item in signed if item.date]
    return len(dated) if len(dated) > MAJORITY * len(group) else len(signed)


def _author(element: etree._Element) -> str:
    for node in element.iter("a", "span", "b", "strong", "div", "p", "h3", "h4", "cite", "address"):
        marks = f"{node.get('rel') or ''} {node.get('itemprop') or ''} {node.get('class') or ''}"
        named = any(map(_AUTHOR_NAMES.search, marks.split())) or (
            node.tag == "a" and _PERSON_URL.search(node.get("href") or "")
        )
        # The box also contains rank, counts and picture; the name precedes most of them.
        if named and (name := name_within(node)):
            return name
    return ""


def _date(item: _Item) -> str:
    """Return a post's latest date; an earlier one may be the day on which the author joined."""
    for node in item.element.iter("time", "abbr", "span", "a", "meta"):
        value = node.get("datetime") or node.get("title") or ""
        if node.get("itemprop") == "datePublished":
            value = node.get("content") or value
        if value[:1].isalnum() and (day := iso_date(value)):
            return day
    lines = (block.text for block in item.blocks if block.words <= _MAX_META_WORDS)
    days = [day for text in lines for line in text.split("\n") if (day := date_within(line))]
    if not days:  # the date may be in the box with the post's text
        days = [day for block in item.blocks if (day := date_within(block.text[:MAX_NAME_CHARS]))]
    if not days:  # it may be in a toolbar, which is not content
        texts = (str(text) for text in item.element.itertext() if len(text) <= MAX_NAME_CHARS)
        days = [day for text in texts if (day := date_within(text))]
    above = item.element.getprevious()
    if not days and above is not None and len(line := text_content(above)) <= MAX_NAME_CHARS:
        days = [date_within(line) or ""]  # the date may be in a separate line above each post
    return max(days, default="")


def _read_numeric_days(group: list[_Item]) -> None:
    """Parse dates such as `02-13-2021`; all the posts' dates together show which part is the month.

    If they do not, the dates are left as they are on the page.
    """
    found = []
    are_dated = sum(bool(item.date) for item in group) > MAJORITY * len(group)
    for item in group if not are_dated else ():
        lines = (block.text for block in item.blocks if block.words <= _MAX_META_WORDS)
        if match := next(filter(None, map(_NUMERIC_DAY.search, lines)), None):
            found.append((item, match))
    month_first = all(int(match[1]) <= _MONTHS for _, match in found)
    day_first = all(int(match[3]) <= _MONTHS for _, match in found)
    for item, match in found:
        item.date = match[0]
        if month_first != day_first:
            month, day = (1, 3) if month_first else (3, 1)
            with suppress(ValueError):  # not a calendar date
                item.date = date(int(match[4]), int(match[month]), int(match[day])).isoformat()


def _thread_blocks(blocks: Sequence[Block], posts: list[_Item]) -> list[Block]:
    owned = {id(block) for post in posts for block in post.blocks}
    places = [n for n, block in enumerate(blocks) if id(block) in owned]
    head = [b for b in blocks[: places[0]] if b.kind == "heading" or not b.is_linky]
    tail = [b for b in blocks[places[0] :] if id(b) not in owned and b.is_prose]
    seen = Counter(text for post in posts for text in {block.text for block in post.blocks})
    limit = max(1, _REPEATED_SHARE * len(posts))
    box = _box_name(posts)
    for post in posts:  # the text of a post in <li> is not a list item
        for block in post.blocks:
            around = _ancestors_within(block.node, post.element)
            if block.kind in _ITEM_KINDS and not any(node.tag == "li" for node in around):
                block.kind = "paragraph"
    # Some forum software puts each post, and the signature below, in a <blockquote>.
    unquoted = [
        b for post in posts for b in post.blocks if b.kind == "quote" and box in _names(b.node)
    ]
    for block in unquoted:
        block.kind = "paragraph"
    kept_kinds = _KEPT_KINDS - {"quote"} if unquoted else _KEPT_KINDS
    found = list(head)
    for post in posts:
        boxed = {id(b) for b in post.blocks if _is_in_box(b, box, post)}
        said = [
            b
            for b in post.blocks
            if id(b) in boxed
            or (
                seen[b.text] <= limit
                and (b.kind in kept_kinds or not _is_meta(b, post, has_box=bool(boxed)))
            )
        ]
        if not said:
            continue
        line = ", ".join(filter(None, (post.author, post.date)))
        if line:
            found.append(Block("paragraph", f"{line}:", f"**{line}:**", post.element))
        found += said
    if tail:  # otherwise it would seem to belong to the last post
        mark = "Outside the posts:"
        found.append(Block("paragraph", mark, f"**{mark}**", tail[0].node))
    return [*found, *tail]


def _box_name(posts: list[_Item]) -> tuple[object, ...]:
    """The name of the innermost elements that contain the posts' text, one per post; () if none."""
    chars: Counter[tuple[object, ...]] = Counter()
    boxes: defaultdict[tuple[object, ...], set[etree._Element]] = defaultdict(set)
    owners: defaultdict[tuple[object, ...], set[int]] = defaultdict(set)
    spoken = [post for post in posts if any(block.is_prose for block in post.blocks)]
    for n, post in enumerate(spoken):
        for block in post.blocks:
            for element in _ancestors_within(block.node, post.element):
                for name in _names(element):
                    chars[name] += len(block.text) if block.is_prose else 0
                    boxes[name].add(element)
                    owners[name].add(n)
    least = MAJORITY * sum(len(b.text) for post in spoken for b in post.blocks if b.is_prose)
    typical = [
        name
        for name, found in boxes.items()
        if chars[name] >= least
        and len(owners[name]) >= _TYPICAL_SHARE * len(spoken) >= _TYPICAL_SHARE * len(found)
    ]
    sizes = {name: sum(len(text_content(box)) for box in boxes[name]) for name in typical}
    return min(typical, key=lambda name: sizes[name], default=())


def _ancestors_within(node: etree._Element, item: etree._Element) -> Iterator[etree._Element]:
    """A node and the elements around it, up to those directly inside an item."""
    current: etree._Element | None = node
    while current is not None and current is not item:
        yield current
        current = current.getparent()


def _is_in_box(block: Block, box: tuple[object, ...], post: _Item) -> bool:
    """Whether a block is in a post's box; for a line directly above the box, this is False."""
    for element in _ancestors_within(block.node, post.element):
        if box in _names(element):
            start = "".join(block.text.split())[:MAX_NAME_CHARS]
            return element is not block.node or start in "".join(raw_text(element).split())
    return False


def _is_meta(block: Block, post: _Item, *, has_box: bool) -> bool:
    """Whether a block names the post's author or date, or is a line of counts and links.

    If the post's text is in a box, this is true of all short lines outside the box.
    """
    if block.is_prose:
        return False
    if has_box:
        return True
    if block.is_linky or ends_sentence(block.text):
        return block.is_linky
    names = post.author in block.text if post.author else False
    return names or (block.words <= _MAX_META_WORDS and date_within(block.text) is not None)


def _is_listing(group: list[_Item]) -> bool:
    """Whether these are siblings that have several lines each, with a link as their title."""
    homes = Counter(item.element.getparent() for item in group)
    whole = [
        item
        for item in group
        if len(item.blocks) > 1 and any(block.is_linky for block in item.blocks[:_TITLE_LINES])
    ]
    enough = max(homes.values()) >= _TYPICAL_SHARE * len(group) and len(group) >= _MIN_ENTRIES
    return enough and len(whole) >= _TYPICAL_SHARE * len(group)


def _listing_blocks(blocks: Sequence[Block], entries: list[_Item]) -> list[Block]:
    """Turn each entry's blocks into one list item without repeated lines; keep other blocks."""
    repeated = set()
    for entry in entries:
        lines: set[str] = set()
        for block in entry.blocks:
            if block.kind in _LINE_KINDS:
                block.kind, block.level = "item-rest", 0
                if block.text in lines:
                    repeated.add(id(block))
                lines.add(block.text)
        entry.blocks[0].kind = (
            "item" if entry.blocks[0].kind in _LINE_KINDS else entry.blocks[0].kind
        )
    return [block for block in blocks if id(block) not in repeated]
