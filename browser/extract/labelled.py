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


def with_facts(body: Sequence[Block], blocks: Sequence[Block]) -> list[Block]:
    """Add to a body each label with its value: two lines alone in an element beside it."""
    chosen = {id(block) for block in body}
    alone = Counter(_box(block) for block in blocks)
    around = {node for block in body for node in block.node.iterancestors()}
    for label, value in itertools.pairwise(blocks):
        box = _box(label)
        if box is not None and box is _box(value) and alone[box] == 2:
            beside = box.getparent() in around and box not in around
            if beside and _is_label(label) and _is_value(value):
                chosen |= {id(label), id(value)}
    return [block for block in blocks if id(block) in chosen]


def _box(block: Block) -> etree._Element | None:
    return block.node.getparent()


def _is_label(block: Block) -> bool:
    short = count_words(block.text) <= _LONGEST_LABEL and not block.is_linky
    return block.kind == "paragraph" and short and not block.text.endswith((".", "!", "?"))


def _is_value(block: Block) -> bool:
    short = count_words(block.text) <= _LONGEST_FACT and not block.is_linky
    return block.kind == "paragraph" and short
