"""Live blogs: what each entry says, with its headline and its hour."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from browser.extract.asides import is_aside, is_caption, is_dateline
from browser.extract.repeats import find_boxes
from browser.extract.trim import trim, without_empty_sections
from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.extract.blocks import Block
    from browser.extract.metadata import Metadata

# The entries hold most of the prose; the rest is the lead, and teasers of other pages.
_MOST = 0.5
_LONGEST_LEAD = 200
# Two entries may be anything; live blogs have dozens.
_FEWEST = 3
_TIMED = 0.6
_HOUR = re.compile(r"\b(?:[01]?\d|2[0-3])[:.][0-5]\d\b")
# An entry's hour is a word or three: `17:40`, `5:40 p.m.`, `17:40 Uhr`.
_MOST_OF_HOUR = 3


def entries(blocks: Sequence[Block], meta: Metadata) -> list[Block] | None:
    """The lead and the entries of a live blog in page order; None where a page is none."""
    if sum(1 for block in blocks if _HOUR.search(block.text)) < _FEWEST:
        return None
    boxes = find_boxes(blocks, share=_MOST, lead=_LONGEST_LEAD)
    if boxes is None or len(boxes.units) < _FEWEST:
        return None
    places = [n for n, block in enumerate(blocks) if boxes.unit_of(block) is not None]
    lead, rest = blocks[: places[0]], blocks[places[0] : places[-1] + 1]
    hours = {boxes.unit_of(block) for block in rest if _HOUR.search(block.text)}
    if len(hours) < _TIMED * len(boxes.units):
        return None
    above = [block for block in trim(lead, meta.title) if not block.is_linky]
    told = [
        _entry(list(group))
        for unit, group in itertools.groupby(rest, boxes.unit_of)
        if unit is not None
    ]
    return [*without_empty_sections(above, lead), *itertools.chain.from_iterable(told)]


def _entry(blocks: Sequence[Block]) -> list[Block]:
    first = next((n for n, block in enumerate(blocks) if block.is_prose), 0)
    return [
        block
        for n, block in enumerate(blocks)
        if not (block.is_linky or is_caption(block) or is_aside(block) or is_dateline(block))
        and not (n < first and _is_signed(block))
    ]


def _is_signed(block: Block) -> bool:
    """Whether a line says more than an entry's hour: who wrote it, too."""
    signed = _HOUR.search(block.text) is not None and count_words(block.text) > _MOST_OF_HOUR
    return signed and block.kind != "heading"
