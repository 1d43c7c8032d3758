"""The last cut: what stands among the chosen blocks of a page but is none of its body."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

from browser.extract.asides import is_aside, is_caption, is_dateline, is_title, opens_related
from browser.extract.blocks import PROSE_WORDS
from browser.extract.shingles import word_list
from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.extract.blocks import Block
    from browser.extract.metadata import Metadata

# A byline may stand below a first paragraph or two that sum the article up.
_STANDFIRST = 3


def trim(blocks: Sequence[Block], title: str) -> list[Block]:
    """Leave out headline, byline, links to other articles and small print."""
    kept: list[Block] = []
    related, begun = False, False
    for block in _from_headline(blocks, title):
        if opens_related(block):
            related = True
        elif related and not block.is_linky and _speaks(block):
            related = False
        aside = is_aside(block) or is_title(block, title)
        aside = aside or (not begun and block.level == 1)
        aside = aside or ((not begun or len(kept) < _STANDFIRST) and is_dateline(block))
        begun = begun or (not aside and count_words(block.text) >= PROSE_WORDS)
        if not (related or aside):
            kept.append(block)
    return kept


def standfirst(blocks: Sequence[Block], kept: Sequence[bool], meta: Metadata) -> list[bool]:
    """Keep the lines between headline and body that sum the article up, too.

    One that is the page's own description is left out: the Document carries that by itself.
    """
    chosen = list(kept)
    first = next((n for n, keep in enumerate(kept) if keep and blocks[n].is_prose), 0)
    head = max((n for n in range(first) if _is_headline(blocks[n], meta.title)), default=first)
    known = word_list(meta.description or "")
    summary = [n for n in range(head + 1, first) if _sums_up(blocks[n], known)]
    if len(summary) <= _STANDFIRST:
        for place in summary:
            chosen[place] = True
    return chosen


def without_empty_sections(kept: Sequence[Block], content: Sequence[Block]) -> list[Block]:
    """Leave out the headings of sections of which nothing else was kept."""
    chosen = {id(block) for block in kept}
    empty: set[int] = set()
    for place, block in enumerate(content):
        if block.kind == "heading" and id(block) in chosen:
            section = list(itertools.takewhile(partial(_is_below, block), content[place + 1 :]))
            if section and not any(id(part) in chosen for part in section):
                empty.add(id(block))
    return [block for block in kept if id(block) not in empty]


def _is_below(heading: Block, block: Block) -> bool:
    return block.kind != "heading" or block.level > heading.level


def _from_headline(blocks: Sequence[Block], title: str) -> list[Block]:
    """Short lines above the headline name the site and the section."""
    head = next((n for n, block in enumerate(blocks) if _is_headline(block, title)), 0)
    return [block for block in blocks[:head] if block.is_prose] + list(blocks[head:])


def _is_headline(block: Block, title: str) -> bool:
    return block.level == 1 or is_title(block, title)


def _sums_up(block: Block, known: list[str]) -> bool:
    plain = block.kind == "paragraph" and block.is_prose and not is_caption(block)
    return plain and not (is_aside(block) or is_dateline(block) or word_list(block.text) == known)


def _speaks(block: Block) -> bool:
    return block.kind == "heading" or count_words(block.text) >= PROSE_WORDS
