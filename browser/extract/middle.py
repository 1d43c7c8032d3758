"""The part of a page in which its content stands: its <main>, or the widest column of a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

    from browser.extract.blocks import Block

# A <main> with less than this share of the text is a box that somebody called so.
_MAIN = 0.6
# A row that sets the page's columns holds this share of its text, and the middle one this of it.
_LAYOUT = 0.5
_WIDEST = 0.6
# What stands beside it is a menu or a few notices, each of at most this share of the middle one.
_BESIDE = 0.25


def middle(blocks: Sequence[Block], root: etree._Element) -> list[Block]:
    """Leave out what stands around a page's <main>, or beside the column that holds its text."""
    return _in_column(_in_main(list(blocks), root))


def _in_main(blocks: list[Block], root: etree._Element) -> list[Block]:
    mains = set(root.iter("main")) or set(root.iterfind(".//*[@role='main']"))
    if not mains:
        return blocks
    inside = [block for block in blocks if _within(block, mains)]
    return inside if _chars(inside) >= _MAIN * _chars(blocks) else blocks


def _in_column(blocks: list[Block]) -> list[Block]:
    """Undo layout by tables: of the cells side by side in one row, the one that holds the text."""
    rows: dict[etree._Element | None, Counter[etree._Element]] = {}
    for block in blocks:
        for cell in (block.node, *block.node.iterancestors("td")):
            if cell.tag == "td":
                rows.setdefault(cell.getparent(), Counter())[cell] += len(block.text)
    total = _chars(blocks)
    beside: set[etree._Element] = set()
    for row, columns in rows.items():
        (_, chars), *others = columns.most_common()
        wide = columns.total() >= _LAYOUT * total and chars >= _WIDEST * columns.total()
        if wide and others:
            beside.update(cell for cell, size in others if size <= _BESIDE * chars)
            beside.update(_banners(row, blocks))
    return [block for block in blocks if not _within(block, beside)] if beside else blocks


def _banners(row: etree._Element | None, blocks: Sequence[Block]) -> set[etree._Element]:
    """The rows above and below that hold no prose: the site's name, its links."""
    if row is None:
        return set()
    others = {other for other in row.itersiblings() if other.tag == "tr"}
    others |= {other for other in row.itersiblings(preceding=True) if other.tag == "tr"}
    spoken = {node for block in blocks if block.is_prose for node in block.node.iterancestors("tr")}
    return others - spoken


def _within(block: Block, elements: set[etree._Element]) -> bool:
    return block.node in elements or any(node in elements for node in block.node.iterancestors())


def _chars(blocks: Sequence[Block]) -> int:
    return sum(len(block.text) for block in blocks)
