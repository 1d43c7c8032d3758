"""Labelled facts beside a body: when and where of an event, who of a speaker."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

    from browser.extract.blocks import Block

# A label is a word or two, what it labels a line.
_LONGEST_LABEL, _LONGEST_FACT = 3, 25


def with_facts(blocks: Sequence[Block], kept: Sequence[bool]) -> list[bool]:
    """Keep, too, each label with its value: two lines alone in an element beside kept ones."""
    chosen = list(kept)
    alone = Counter(_box(block) for block in blocks)
    around = {
        node
        for block, keep in zip(blocks, kept, strict=True)
        if keep
        for node in block.node.iterancestors()
    }
    for place, (label, value) in enumerate(itertools.pairwise(blocks)):
        box = _box(label)
        if box is not None and box is _box(value) and alone[box] == 2:
            beside = box.getparent() in around and box not in around
            if beside and _is_label(label) and _is_value(value):
                chosen[place] = chosen[place + 1] = True
    return chosen


def _box(block: Block) -> etree._Element | None:
    return block.node.getparent()


def _is_label(block: Block) -> bool:
    short = count_words(block.text) <= _LONGEST_LABEL and not block.is_linky
    return block.kind == "paragraph" and short and not block.text.endswith((".", "!", "?"))


def _is_value(block: Block) -> bool:
    short = count_words(block.text) <= _LONGEST_FACT and not block.is_linky
    return block.kind == "paragraph" and short
