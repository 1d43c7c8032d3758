"""What a page is by its shape: prose that reads on, or units that repeat, as on indexes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml import etree

    from browser.extract.blocks import Block

# Fewer paragraphs than these are no article, whatever stands around them.
_FEWEST_PARAGRAPHS = 2
# An article has more paragraphs than headings; a catalogue has a heading an entry.
_PARAGRAPHS_A_HEADING = 1.5
# So much of the prose within one element is a body, however many headings there are.
_ONE_BODY = 0.4
# A teaser says no more than this of what it leads to; two of them may be sections.
_LONGEST_TEASER = 45
_FEWEST_TEASERS = 3


def reads_on(blocks: Sequence[Block]) -> bool:
    """Whether a page is prose from top to bottom, rather than entries side by side."""
    rest = without_teasers(blocks)
    prose = [block for block in rest if _is_prose(block)]
    if len(prose) < _FEWEST_PARAGRAPHS:
        return False
    headings = sum(1 for block in rest if block.kind == "heading")
    if len(prose) > _PARAGRAPHS_A_HEADING * headings:
        return True
    sizes: Counter[etree._Element | None] = Counter()
    for block in prose:
        sizes[block.node.getparent()] += len(block.text)
    return max(sizes.values()) > _ONE_BODY * sum(sizes.values())


def without_teasers(blocks: Sequence[Block]) -> list[Block]:
    """Leave out rows of teasers (a linked heading and a line or two each) beside longer prose."""
    dropped: set[int] = set()
    for first, last, count in _runs(blocks):
        if count >= _FEWEST_TEASERS:
            dropped.update(range(first, last))
    kept = [block for n, block in enumerate(blocks) if n not in dropped]
    return kept if any(map(_is_prose, kept)) else list(blocks)


def _runs(blocks: Sequence[Block]) -> Iterator[tuple[int, int, int]]:
    """Teasers one after the other: where they begin and end, and how many they are."""
    first, count, at = 0, 0, 0
    while at < len(blocks):
        size = _teaser(blocks, at)
        if size == 0 and count:
            yield first, at, count
            count = 0
        if size and not count:
            first = at
        count += size > 0
        at += max(size, 1)
    if count:
        yield first, at, count


def _teaser(blocks: Sequence[Block], at: int) -> int:
    """How many blocks the teaser has that begins here; 0 where none does."""
    if blocks[at].kind != "heading" or not blocks[at].is_linky:
        return 0
    size, words = 1, 0
    while at + size < len(blocks) and blocks[at + size].kind != "heading":
        words += count_words(blocks[at + size].text)
        if words > _LONGEST_TEASER:
            return size if size > 1 else 0
        size += 1
    return size


def _is_prose(block: Block) -> bool:
    return block.is_prose and block.kind not in {"heading", "table", "code", "caption"}
