"""Finds the items that a page repeats: posts of a thread, entries of a listing, goods of a shop.

They are recognised by structure alone, whatever the software: elements of one name that hold most
of the page. If each has an author or a date and prose, they are posts, and each is given whole
under its author and date; if each has a link as its title, they are entries.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.extract.blocks import Block
from browser.extract.dates import date_within, iso_date
from browser.extract.tree import text_content
from browser.extract.weighing import MAJORITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

_MIN_POSTS = 2
_MIN_ENTRIES = 5
# This share of the items must have what makes them posts or entries; the rest are notices and ads.
_TYPICAL = 0.8
# A text that so large a share of the items repeats is a button or a label.
_REPEATED = 1 / 3
# Groups of elements that are looked at, those with most text first.
_MAX_GROUPS = 12
# An entry's title is among its first lines.
_TITLE_LINES = 3
_MAX_NAME = 40  # characters
_MAX_META_WORDS = 25
_LINES = frozenset("paragraph heading item item-rest term detail caption".split())
_DIGITS = re.compile(r"\d+")
_AUTHOR_NAMES = re.compile(r"author|user|poster|byline|member|nick|^fn$", re.IGNORECASE)
_PERSON = re.compile(r"(?:user|member|profil|author|people|account)|/u/|/@", re.IGNORECASE)


@dataclass(slots=True)
class _Item:
    """An element with its own blocks, without those of items within it."""

    element: etree._Element
    blocks: list[Block]
    author: str = ""
    date: str = ""

    @property
    def chars(self) -> int:
        return sum(len(block.text) for block in self.blocks)


def read_items(blocks: Sequence[Block]) -> list[Block] | None:
    """The blocks of a page that is a thread or a listing, item by item; None for another page."""
    groups = _groups(blocks)
    threads = [group for group in groups if _is_thread(group)]
    if threads:  # the outermost elements that are posts
        return _thread_blocks(blocks, max(threads, key=lambda g: sum(bool(i.author) for i in g)))
    listings = [group for group in groups if _is_listing(group)]
    return _listing_blocks(blocks, max(listings, key=len)) if listings else None


def _groups(blocks: Sequence[Block]) -> list[list[_Item]]:
    """The elements of one name that together hold most of the page's text, outer ones first."""
    owners: dict[tuple[object, ...], dict[etree._Element, list[Block]]] = defaultdict(dict)
    for block in blocks:
        seen = set()
        for element in (block.node, *block.node.iterancestors()):
            name = _name(element)
            if name not in seen:  # the innermost of a name owns the block
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


def _name(element: etree._Element) -> tuple[object, ...]:
    """What items of one kind share: the id without its number, the first class, or the parent."""
    identifier = element.get("id") or ""
    if _DIGITS.search(identifier):
        return element.tag, f"#{_DIGITS.sub('', identifier)}"
    classes = (element.get("class") or "").split()
    if classes:
        return element.tag, _DIGITS.sub("", classes[0])
    return element.tag, element.getparent()


def _is_thread(group: list[_Item]) -> bool:
    for item in group:
        item.author, item.date = _author(item.element), _date(item)
    signed = [item for item in group if item.author and item.date]
    spoken = sum(any(block.is_prose for block in item.blocks) for item in signed)
    enough = len(signed) >= _MIN_POSTS and len(signed) >= _TYPICAL * len(group)
    # One author of everything is that of a page with sections.
    return enough and spoken >= MAJORITY * len(group) and len({item.author for item in signed}) > 1


def _author(element: etree._Element) -> str:
    for node in element.iter("a", "span", "b", "strong", "div", "p", "h3", "h4", "cite", "address"):
        marks = f"{node.get('rel') or ''} {node.get('itemprop') or ''} {node.get('class') or ''}"
        named = any(_AUTHOR_NAMES.search(mark) for mark in marks.split())
        if named or (node.tag == "a" and _PERSON.search(node.get("href") or "")):
            name = text_content(node).strip(" :·-–—")
            if 0 < len(name) <= _MAX_NAME and not name.isdigit() and date_within(name) is None:
                return name.removeprefix("@")
    return ""


def _date(item: _Item) -> str:
    """When a post was written; the latest day in its lines: a profile's is that of joining."""
    for node in item.element.iter("time", "abbr", "span"):
        value = node.get("datetime") or node.get("title") or ""
        if value[:1].isalnum() and (day := iso_date(value)):
            return day
    lines = (block.text for block in item.blocks if block.words <= _MAX_META_WORDS)
    days = [day for text in lines for line in text.split("\n") if (day := date_within(line))]
    if not days:  # the day stands in the box of what was said
        days = [day for block in item.blocks if (day := date_within(block.text[:_MAX_NAME]))]
    return max(days, default="")


def _thread_blocks(blocks: Sequence[Block], posts: list[_Item]) -> list[Block]:
    owned = {id(block) for post in posts for block in post.blocks}
    places = [n for n, block in enumerate(blocks) if id(block) in owned]
    head = [b for b in blocks[: places[0]] if b.kind == "heading" or not b.is_linky]
    tail = [b for b in blocks[places[0] :] if id(b) not in owned and b.is_prose]
    seen = Counter(text for post in posts for text in {block.text for block in post.blocks})
    limit = max(1, _REPEATED * len(posts))
    found = list(head)
    for post in posts:
        said = [b for b in post.blocks if seen[b.text] <= limit and not _is_meta(b, post)]
        if not said:
            continue
        line = ", ".join(filter(None, (post.author, post.date)))
        if line:
            found.append(Block("paragraph", f"{line}:", f"**{line}:**", post.element))
        found += said
    return [*found, *tail]


def _is_meta(block: Block, post: _Item) -> bool:
    """Whether a block names the post's author or day, or is a line of counts and links."""
    if block.is_prose or block.kind in {"code", "quote", "table"}:
        return False
    names = post.author in block.text if post.author else False
    dated = block.words <= _MAX_META_WORDS and date_within(block.text) is not None
    beside = any(_author(above) for above in _branch(block.node, post.element))
    return names or dated or block.is_linky or (beside and not _is_said(block))


def _branch(node: etree._Element, item: etree._Element) -> list[etree._Element]:
    """The child of an item that a node is in; none for the item itself."""
    while node is not item and (parent := node.getparent()) is not None:
        if parent is item:
            return [node]
        node = parent
    return []


def _is_said(block: Block) -> bool:
    return block.text.rstrip().endswith((".", "!", "?", "…", "。", "！", "？"))


def _is_listing(group: list[_Item]) -> bool:
    """Whether these are siblings of several lines each, with a link for a title."""
    homes = Counter(item.element.getparent() for item in group)
    whole = [
        item
        for item in group
        if len(item.blocks) > 1 and any(block.is_linky for block in item.blocks[:_TITLE_LINES])
    ]
    enough = max(homes.values()) >= _TYPICAL * len(group) and len(group) >= _MIN_ENTRIES
    return enough and len(whole) >= _TYPICAL * len(group)


def _listing_blocks(blocks: Sequence[Block], entries: list[_Item]) -> list[Block]:
    """All blocks, those of an entry together as one item of a list."""
    for entry in entries:
        for block in entry.blocks:
            if block.kind in _LINES:
                block.kind, block.level = "item-rest", 0
        entry.blocks[0].kind = "item" if entry.blocks[0].kind in _LINES else entry.blocks[0].kind
    return list(blocks)
