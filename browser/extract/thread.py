"""Pages that are conversations: what was said, without who said it, how often and since when.

Forums, question sites and guest books show their posts in boxes of one class, and in each box the
words in a box of another, each beside a day and a name.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.extract.asides import is_dateline
from browser.extract.dates import date_within, iso_date
from browser.extract.repeats import find_boxes
from browser.extract.shingles import shingles, word_list
from browser.extract.tree import text_content
from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from lxml import etree

    from browser.extract.blocks import Block
    from browser.extract.repeats import Boxes, Owned

# The boxes hold most prose of the page; signatures and the rules of the house may be outside.
_MOST = 0.7
# A notice of the house may stand above the first box; what is longer is the page's own text.
_LONGEST_NOTICE = 25
_FEWEST = 2
# Above the first post stand the site's name, the way here, a login: not a thing's description.
_LONGEST_FRAME = 80
# So many of the posts name a day and a writer.
_SIGNED = 0.6
# A text whose shingles stand in earlier posts by this share is quoted from them.
_QUOTED = 0.7
# A name is shorter than a title.
_LONGEST_NAME = 40
# A line that names a day is short.
_LONGEST_DATE = 30
# Days that cannot be told from the page alone, and still are days.
_WHEN = re.compile(
    r"\b\d{1,2}[-/]\d{1,2}[-/](?:19|20)?\d\d\b|\b\d+ (?:min|hour|day|week|month|year)\w* ago\b"
    r"|\bvor (?:\d+|eine[mr]?) (?:Minute|Stunde|Tag|Woche|Monat|Jahr)"
    r"|\b(?:yesterday|today|gestern|heute)\b,?(?: at| um)? \d{1,2}[:.]\d\d",
    re.IGNORECASE,
)
# What mail and forums put before a title to answer under it.
_REPLY = re.compile(r"(?:(?:re|aw|antw|fwd?)\s*:\s*)+", re.IGNORECASE)
_WRITER = re.compile(
    r"user|author|poster|posted|member|profile|creator|autor|verfasser|benutzer|nick|membre|usuario",
    re.IGNORECASE,
)
_NAMED_IN = ("class", "id", "itemprop", "href", "rel")


@dataclass(frozen=True, slots=True)
class Post:
    """What one person said: its blocks, who that is, and the day (ISO 8601)."""

    blocks: tuple[Block, ...]
    author: str | None = None
    published: str | None = None


def read_thread(blocks: Sequence[Block]) -> list[Post]:
    """Read a page that is a thread of signed posts, in order; none of any other page.

    Ranks, counts and signatures beside the posts are left out, and so is what a post quotes from
    one before it.
    """
    if sum(1 for block in blocks if _is_stamp(block)) < _FEWEST:
        return []
    boxes = find_boxes(blocks, share=_MOST, lead=_LONGEST_NOTICE)
    if boxes is None or not _are_signed(boxes, blocks) or _is_index(boxes, blocks):
        return []
    said = _without_quotes([block for block in blocks if _is_said(block, boxes)], boxes)
    owned = boxes.owned(blocks)
    return [
        _post(list(group), owned[body], body)
        for body, group in itertools.groupby(said, boxes.body_of)
        if body is not None
    ]


def _post(said: Sequence[Block], owned: Owned, body: etree._Element) -> Post:
    """Old forums write the day into the post's own box: it opens the text, and is none of it."""
    inside = is_dateline(said[0]) and len(said) > 1
    day = date_within(said[0].text) if inside else None
    return Post(tuple(said[inside:]), _author(owned.unit, body), day or _day(owned, body))


def _author(unit: etree._Element, body: etree._Element) -> str | None:
    """A name in an element beside the words that is called after their writer."""
    for element in _writers(unit, (body,)):
        name = text_content(element)
        if 0 < len(name) <= _LONGEST_NAME and any(map(str.isalpha, name)) and not date_within(name):
            return name
    return None


def _day(owned: Owned, body: etree._Element) -> str | None:
    times = (e for e in owned.unit.iterdescendants("time") if not _in(e, (body,)))
    stamps = (day for e in times if (day := iso_date(e.get("datetime") or "")))
    written = (
        day
        for block in owned.blocks
        if not _in(block.node, (body,))
        and count_words(block.text) <= _LONGEST_DATE
        and (day := date_within(block.text))
    )
    return next(stamps, None) or next(written, None)


def _are_signed(boxes: Boxes, blocks: Sequence[Block]) -> bool:
    dated = {boxes.unit_of(block) for block in blocks if _is_stamp(block)}
    signed = [
        unit
        for unit in boxes.units
        if unit in dated and any(True for _ in _writers(unit, boxes.bodies))
    ]
    return len(signed) >= _SIGNED * len(boxes.units)


def _is_stamp(block: Block) -> bool:
    if count_words(block.text) > _LONGEST_DATE:
        return False
    return _WHEN.search(block.text) is not None or date_within(block.text) is not None


def _writers(unit: etree._Element, bodies: Collection[etree._Element]) -> Iterator[etree._Element]:
    """The elements of a unit that are named after who wrote it; links to a person first."""
    named = [
        element
        for element in unit.iterdescendants("a", "span", "div", "td", "p", "address", "b", "strong")
        if _is_writers(element) and not _in(element, bodies)
    ]
    yield from sorted(named, key=lambda element: element.tag != "a")


def _is_writers(element: etree._Element) -> bool:
    return _WRITER.search(" ".join(element.get(name) or "" for name in _NAMED_IN)) is not None


def _in(element: etree._Element, outer: Collection[etree._Element]) -> bool:
    return any(node in outer for node in (element, *element.iterancestors()))


def _is_index(boxes: Boxes, blocks: Sequence[Block]) -> bool:
    """Whether the units have headlines of their own, or more than a forum's frame above them.

    Lists of articles have the first, reviews of a thing the second.
    """
    titles = {
        _REPLY.sub("", block.text)
        for _, block in boxes.beside(blocks)
        if block.kind == "heading" and count_words(block.text) > 2 and not _is_name(block.node)
    }
    above = itertools.takewhile(lambda block: boxes.unit_of(block) is None, blocks)
    words = sum(count_words(block.text) for block in above if not block.is_linky)
    return len(titles) > 1 or words > _LONGEST_FRAME


def _is_name(heading: etree._Element) -> bool:
    return any(_is_writers(element) for element in (heading, *heading.iterdescendants()))


def _is_said(block: Block, boxes: Boxes) -> bool:
    """Whether a block is of a body; loose words right before a box are booked to the box."""
    if block.node in boxes.bodies:
        return " ".join(block.text.split()) in text_content(block.node)
    return boxes.body_of(block) is not None


def _without_quotes(said: Sequence[Block], boxes: Boxes) -> list[Block]:
    """Leave out what stands in an earlier post, and the rest of the box that quotes it."""
    earlier: set[tuple[str, ...]] = set()
    quoted: set[etree._Element] = set()
    for _, group in itertools.groupby(said, boxes.body_of):
        post = list(group)
        runs = [shingles(word_list(block.text)) for block in post]
        for block, found in zip(post, runs, strict=True):
            if found and sum(1 for run in found if run in earlier) >= _QUOTED * len(found):
                quoted.add(next(block.node.iterancestors("blockquote"), block.node))
        earlier.update(itertools.chain.from_iterable(runs))
    kept = [b for b in said if quoted.isdisjoint((b.node, *b.node.iterancestors()))]
    # Posts that are all alike are a log, and quote nobody.
    return kept if len(kept) * 3 >= len(said) else list(said)
