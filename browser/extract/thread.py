"""Pages that are conversations: what was said, without who said it, how often and since when.

Forums, question sites and guest books show their posts in boxes of one class, and in each box the
words in a box of another, each beside a day and a name.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from browser.extract.dates import date_within
from browser.extract.repeats import find_boxes
from browser.extract.shingles import shingles, word_list
from browser.extract.tree import text_content
from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

    from browser.extract.blocks import Block
    from browser.extract.repeats import Boxes

# The boxes hold most prose of the page; signatures and the rules of the house may be outside.
_MOST = 0.7
# A notice of the house may stand above the first box; what is longer is the page's own text.
_LONGEST_NOTICE = 25
# So many of the posts name a day and a writer.
_SIGNED = 0.6
# A text whose shingles stand in earlier posts by this share is quoted from them.
_QUOTED = 0.7
# A line that names a day is short.
_LONGEST_DATE = 30
# What mail and forums put before a title to answer under it.
_REPLY = re.compile(r"(?:(?:re|aw|antw|fwd?)\s*:\s*)+", re.IGNORECASE)
_WRITER = re.compile(
    r"user|author|poster|posted|member|profile|creator|autor|verfasser|benutzer|nick|membre|usuario",
    re.IGNORECASE,
)
_NAMED_IN = ("class", "id", "itemprop", "href", "rel")


def posts(blocks: Sequence[Block]) -> list[Block] | None:
    """What is said on a page that is a thread of signed posts, in order; None on any other.

    Names, dates, ranks and signatures beside the posts are left out, and so is what a post quotes
    from one before it.
    """
    boxes = find_boxes(blocks, share=_MOST, lead=_LONGEST_NOTICE)
    if boxes is None or not _are_signed(boxes, blocks) or _is_index(boxes, blocks):
        return None
    return _without_quotes([block for block in blocks if _is_said(block, boxes)], boxes)


def _are_signed(boxes: Boxes, blocks: Sequence[Block]) -> bool:
    dated = {
        unit
        for unit, block in boxes.beside(blocks)
        if count_words(block.text) <= _LONGEST_DATE and date_within(block.text)
    }
    signed = [unit for unit in boxes.units if unit in dated and _has_writer(unit, boxes.bodies)]
    return len(signed) >= _SIGNED * len(boxes.units)


def _has_writer(unit: etree._Element, bodies: Sequence[etree._Element]) -> bool:
    return any(
        _WRITER.search(" ".join(element.get(name) or "" for name in _NAMED_IN))
        and not any(line in bodies for line in (element, *element.iterancestors()))
        for element in unit.iterdescendants("a", "span", "div", "td", "p", "address", "b", "strong")
    )


def _is_index(boxes: Boxes, blocks: Sequence[Block]) -> bool:
    """Whether the units have headlines of their own that lead elsewhere, as in indexes."""
    titles = {
        _REPLY.sub("", block.text)
        for _, block in boxes.beside(blocks)
        if block.kind == "heading" and block.is_linky and count_words(block.text) > 2
    }
    return len(titles) > 1


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
    return [block for block in said if quoted.isdisjoint((block.node, *block.node.iterancestors()))]
