"""Boxes of one kind on a page: posts of a thread, entries of a live blog.

Nobody's class names are known here: the boxes are told by what they hold, nearly all the prose of
the page between them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from lxml import etree

    from browser.extract.blocks import Block

# What people write in: lists, tables and paragraphs are parts of what they write.
_BOXES = frozenset("div article section td li dd blockquote".split())
# A text may be quoted once; what stands on a page more often is furniture.
_MOST_REPEATED = 2
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Owned:
    """What belongs to one body alone."""

    unit: etree._Element
    blocks: list[Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Boxes:
    """What repeats on a page: `bodies` hold the words, `units` all that belongs to each of them.

    Both are in page order, and quick to look up: a thread may have thousands of posts.
    """

    bodies: Collection[etree._Element]
    units: Collection[etree._Element]

    def body_of(self, block: Block) -> etree._Element | None:
        """The body that a block stands in."""
        return _holder(block, self.bodies)

    def unit_of(self, block: Block) -> etree._Element | None:
        """The unit that a block stands in."""
        return _holder(block, self.units)

    def owned(self, blocks: Sequence[Block]) -> dict[etree._Element, Owned]:
        """Of each body the largest element that holds no other one, and the blocks in it."""
        held = Counter(node for body in self.bodies for node in (body, *body.iterancestors()))
        found = {
            body: Owned(
                list(itertools.takewhile(lambda n: held[n] == 1, (body, *body.iterancestors())))[-1]
            )
            for body in self.bodies
        }
        units = {owned.unit: owned for owned in found.values()}
        for block in blocks:
            if (unit := _holder(block, units)) is not None:
                units[unit].blocks.append(block)
        return found

    def beside(self, blocks: Sequence[Block]) -> Iterator[tuple[etree._Element, Block]]:
        """What stands in a unit and outside its body, with the unit."""
        for block in blocks:
            unit = self.unit_of(block)
            if unit is not None and self.body_of(block) is None:
                yield unit, block


def find_boxes(blocks: Sequence[Block], *, share: float, lead: int) -> Boxes | None:
    """The smallest boxes of one kind that hold this share of the prose, below `lead` words."""
    bodies = _bodies(blocks, share, lead)
    units = _units(bodies)
    return Boxes(dict.fromkeys(bodies), dict.fromkeys(units)) if len(units) > 1 else None


@dataclass(slots=True)
class _Kind:
    """Elements that are built alike: of one tag and one class."""

    elements: dict[etree._Element, None] = field(default_factory=dict)
    prose: int = 0
    chars: int = 0


def _bodies(blocks: Sequence[Block], share: float, lead: int) -> list[etree._Element]:
    prose = _prose(blocks)
    wanted = share * sum(count_words(block.text) for block in prose)
    fitting = [
        kind
        for kind in _kinds(blocks, prose).values()
        if len(kind.elements) > 1
        and kind.prose >= wanted
        and _words_above(kind, prose) <= lead
        and not _are_nested(kind.elements)
    ]
    best = min(fitting, key=lambda kind: kind.chars, default=None)
    return list(best.elements) if best is not None else []


def _words_above(kind: _Kind, prose: Sequence[Block]) -> int:
    above = itertools.takewhile(lambda block: _holder(block, kind.elements) is None, prose)
    return sum(count_words(block.text) for block in above)


def _prose(blocks: Sequence[Block]) -> list[Block]:
    """What is said at some length; not what is below every post, as signatures are."""
    said = [b for b in blocks if b.is_prose and b.kind not in {"heading", "table"}]
    times = Counter(block.text for block in said)
    return [block for block in said if times[block.text] <= _MOST_REPEATED]


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


def _units(bodies: Sequence[etree._Element]) -> list[etree._Element]:
    """What holds one body each, right below what holds them all."""
    lines = [[body, *body.iterancestors()][::-1] for body in bodies]
    shared = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*lines, strict=False))
    depth = min(sum(1 for _ in shared), min(map(len, lines), default=1) - 1)
    return list(dict.fromkeys(line[depth] for line in lines))


def _holder(block: Block, elements: Collection[etree._Element]) -> etree._Element | None:
    line = (block.node, *block.node.iterancestors())
    return next((element for element in line if element in elements), None)
