"""Pages that are conversations: what was said, without who said it, how often and since when.

Forums, question sites and guest books show their posts in boxes of one class, and in each box the
words in a box of another. Nobody's class names are known here: the boxes are told by what they
hold, all the prose of the page between them, each beside a day and a name.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from browser.extract.dates import date_within
from browser.extract.shingles import shingles, word_list
from browser.extract.tree import text_content
from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lxml import etree

    from browser.extract.blocks import Block

# What people write in: lists, tables and paragraphs are parts of what they write.
_BOXES = frozenset("div article section td li dd blockquote".split())
# The boxes hold nearly all prose of the page; a signature or a rule of the house may be outside.
_MOST = 0.8
# So many of the posts name a day and a writer.
_SIGNED = 0.6
# A text whose shingles stand in earlier posts by this share is quoted from them.
_QUOTED = 0.7
# A line that names a day is short.
_LONGEST_DATE = 30
_DIGITS = re.compile(r"\d+")
_WRITER = re.compile(
    r"user|author|poster|posted|member|profile|creator|autor|verfasser|benutzer|nick|membre|usuario",
    re.IGNORECASE,
)
_NAMED_IN = ("class", "id", "itemprop", "href", "rel")


@dataclass(slots=True)
class _Kind:
    """Elements that are built alike: of one tag and one class."""

    elements: dict[etree._Element, None] = field(default_factory=dict)
    prose: int = 0
    chars: int = 0


def posts(blocks: Sequence[Block]) -> list[Block] | None:
    """What is said on a page that is a thread of signed posts, in order; None on any other.

    Names, dates, ranks and signatures beside the posts are left out, and so is what a post quotes
    from one before it.
    """
    bodies = _bodies(blocks)
    if bodies is None:
        return None
    units = _units(bodies)
    if units is None or not _are_signed(units, bodies, blocks) or _is_index(units, bodies, blocks):
        return None
    inside = set(bodies)
    said = [block for block in blocks if _is_said(block, inside)]
    return _without_quotes(said, inside)


def _bodies(blocks: Sequence[Block]) -> list[etree._Element] | None:
    """The smallest boxes of one kind that hold nearly all prose, the first of it too."""
    prose = _prose(blocks)
    if len(prose) < 2:
        return None
    kinds = _kinds(blocks, prose)
    wanted = _MOST * sum(count_words(block.text) for block in prose)
    first = set(prose[0].node.iterancestors()) | {prose[0].node}
    fitting = [
        kind
        for kind in kinds.values()
        if len(kind.elements) > 1
        and kind.prose >= wanted
        and not first.isdisjoint(kind.elements)
        and not _are_nested(kind.elements)
    ]
    best = min(fitting, key=lambda kind: kind.chars, default=None)
    return list(best.elements) if best is not None else None


def _prose(blocks: Sequence[Block]) -> list[Block]:
    """What is said at some length, once each: a signature is below every post of its owner."""
    said = (b for b in blocks if b.is_prose and b.kind not in {"heading", "table"})
    return list({block.text: block for block in reversed(list(said))}.values())[::-1]


def _kinds(blocks: Sequence[Block], prose: Sequence[Block]) -> dict[tuple[str, str], _Kind]:
    kinds: dict[tuple[str, str], _Kind] = {}
    counted = {id(block) for block in prose}
    for block in blocks:
        words = count_words(block.text) if id(block) in counted else 0
        for element in _boxes(block):
            name = _DIGITS.sub("", element.get("class") or element.get("id") or "").strip()
            if name or element.tag == "td":
                kind = kinds.setdefault((element.tag, name or _column(element)), _Kind())
                kind.elements[element] = None
                kind.prose += words
                kind.chars += len(block.text)
    return kinds


def _boxes(block: Block) -> Iterator[etree._Element]:
    node = block.node
    if node.tag in _BOXES:
        yield node
    yield from (element for element in node.iterancestors() if element.tag in _BOXES)


def _column(cell: etree._Element) -> str:
    """Cells of bare tables are alike by their place in the row."""
    return f"/{sum(1 for _ in cell.itersiblings('td', preceding=True))}"


def _are_nested(elements: Iterable[etree._Element]) -> bool:
    known = set(elements)
    return any(not known.isdisjoint(element.iterancestors()) for element in known)


def _units(bodies: Sequence[etree._Element]) -> list[etree._Element] | None:
    """The whole posts: what holds one body each, right below what holds them all."""
    lines = [[body, *body.iterancestors()][::-1] for body in bodies]
    depth = 0
    while (
        all(len(line) > depth + 1 for line in lines) and len({line[depth] for line in lines}) == 1
    ):
        depth += 1
    units = list(dict.fromkeys(line[depth] for line in lines))
    return units if len(units) > 1 else None


def _are_signed(
    units: Sequence[etree._Element], bodies: Sequence[etree._Element], blocks: Sequence[Block]
) -> bool:
    inside, whole = set(bodies), set(units)
    dated = {
        unit
        for block in blocks
        if count_words(block.text) <= _LONGEST_DATE
        and (unit := _holder(block, whole)) is not None
        and _holder(block, inside) is None
        and date_within(block.text)
    }
    signed = [unit for unit in units if unit in dated and _has_writer(unit, inside)]
    return len(signed) >= _SIGNED * len(units)


def _has_writer(unit: etree._Element, bodies: set[etree._Element]) -> bool:
    return any(
        _WRITER.search(" ".join(element.get(name) or "" for name in _NAMED_IN))
        and bodies.isdisjoint((element, *element.iterancestors()))
        for element in unit.iterdescendants("a", "span", "div", "td", "p", "address", "b", "strong")
    )


def _is_index(
    units: Sequence[etree._Element], bodies: Sequence[etree._Element], blocks: Sequence[Block]
) -> bool:
    """Whether the units have headlines of their own that lead elsewhere, as in indexes."""
    inside, whole = set(bodies), set(units)
    titles = {
        block.text
        for block in blocks
        if block.kind == "heading"
        and block.is_linky
        and count_words(block.text) > 2
        and _holder(block, whole) is not None
        and _holder(block, inside) is None
    }
    return len(titles) > 1


def _holder(block: Block, elements: set[etree._Element]) -> etree._Element | None:
    line = (block.node, *block.node.iterancestors())
    return next((element for element in line if element in elements), None)


def _is_said(block: Block, bodies: set[etree._Element]) -> bool:
    """Whether a block is of a body; loose words right before a box are booked to the box."""
    if block.node not in bodies:
        return _holder(block, bodies) is not None
    return " ".join(block.text.split()) in text_content(block.node)


def _without_quotes(said: Sequence[Block], bodies: set[etree._Element]) -> list[Block]:
    """Leave out what stands in an earlier post, and the rest of the box that quotes it."""
    earlier: set[tuple[str, ...]] = set()
    current: Counter[tuple[str, ...]] = Counter()
    quoted: set[etree._Element] = set()
    body = None
    for block in said:
        if (holder := _holder(block, bodies)) is not body:
            earlier.update(current)
            current.clear()
            body = holder
        found = shingles(word_list(block.text))
        if found and sum(1 for run in found if run in earlier) >= _QUOTED * len(found):
            quoted.add(_quote(block))
        current.update(found)
    return [block for block in said if quoted.isdisjoint((block.node, *block.node.iterancestors()))]


def _quote(block: Block) -> etree._Element:
    return next(block.node.iterancestors("blockquote"), block.node)
