"""Which blocks of a page are its content: the article's body, or all but the frame."""

from __future__ import annotations

import copy
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

    from browser.extract.blocks import Block, Walk

_WORD = re.compile(r"\w+")
# Shingles of so many words tell whether a block stands in an extractor's output.
_SHINGLE = 4
# ... and this share of them must.
_FOUND = 0.5


def content_blocks(walk: Walk, root: etree._Element, *, article: bool) -> list[Block]:
    """Choose the blocks that a reader came for, in page order."""
    content = [block for block in walk.blocks if not walk.regions.is_frame(block.region)]
    if not article:
        return content or walk.blocks
    found = _extractor_text(root)
    return _kept(walk.blocks, found) or content


def _extractor_text(root: etree._Element) -> str:
    import trafilatura  # noqa: PLC0415 - 0.17 s, for pages that need it only

    text = trafilatura.extract(copy.deepcopy(root), favor_precision=True, include_comments=False)
    return text or ""


def _kept(blocks: Sequence[Block], text: str) -> list[Block]:
    known = Counter(_shingles(_WORD.findall(text)))
    lines = {tuple(_WORD.findall(line)) for line in text.split("\n")}
    return [block for block in blocks if _stands_in(block, known, lines)]


def _stands_in(block: Block, known: Counter[tuple[str, ...]], lines: set[tuple[str, ...]]) -> bool:
    words = _WORD.findall(block.text)
    if len(words) < _SHINGLE:
        return tuple(words) in lines
    shingles = _shingles(words)
    return sum(1 for shingle in shingles if shingle in known) >= _FOUND * len(shingles)


def _shingles(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)]
