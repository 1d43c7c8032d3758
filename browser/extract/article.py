"""Which blocks of a page are its content: the article's body, or all but the frame."""

from __future__ import annotations

import functools
import logging
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from lxml import etree

from browser.extract.asides import is_caption, is_footnote, is_trail
from browser.extract.blocks import LINKY
from browser.extract.labelled import with_facts
from browser.extract.live import entries
from browser.extract.middle import middle
from browser.extract.shape import reads_on, without_teasers
from browser.extract.shingles import shingles, word_list
from browser.extract.thread import read_thread
from browser.extract.tree import remove
from browser.extract.trim import standfirst, trim, without_empty_sections
from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from browser.extract.blocks import Block, Walk
    from browser.extract.metadata import Metadata

# A page whose content holds at most this share of linky blocks needs no second opinion.
_CLEAN = 0.05
# A block is in an extractor's output when this share of its four-word shingles is.
_FOUND = 0.5
# An undeclared page counts as an article when this share of its words is the body ...
_MOSTLY = 0.7
# ... and a smaller one when more than half of the page is lists of links.
_HALF = 0.5
# With less than this share of the page's prose an extractor has missed the body.
_THIN = 0.15
# An article's body has at least so many words; with fewer the extractor has missed it.
_SHORTEST_BODY = 25
# An article that holds others and has fewer words itself only leads them in, as of a live blog.
_LONGEST_LEAD = 40
# An article of more blocks is none: the extractor would take seconds over an index.
_MOST_BLOCKS = 5_000
_LISTS = frozenset("ul ol dl li dt dd".split())
_WEIGHT = ("script", "style", "svg", "noscript", "template", "iframe", "link", "meta")


def content_blocks(walk: Walk, root: etree._Element, meta: Metadata) -> list[Block]:
    """Choose the blocks that a reader came for, in page order.

    Of an article the body, without headline, related links and notes; of a thread what its posts
    say; of any other page all that is not frame. May take parts out of `root`.
    """
    content = middle(
        [
            block
            for block in walk.blocks
            if not walk.regions.is_frame(block.region) and not is_trail(block)
        ],
        root,
    )
    if not content:
        return walk.blocks
    if (meta.is_thread or not meta.is_article) and (posts := read_thread(content)):
        return [block for post in posts for block in post.blocks]
    if meta.is_article and (said := entries(content, meta)):
        return said
    if not meta.is_article and _is_clean(content):
        if not reads_on(content):
            return content
        if _is_bare(content):
            return trim(content, meta.title)
    rest = content if meta.is_article else without_teasers(content)
    _lighten(root, walk.regions.frames())
    body = _body(rest, root, meta)
    if _is_article(rest, body, declared=meta.is_article):
        return body
    if meta.is_article or not reads_on(content):
        return content
    return trim(rest, meta.title)


def _lighten(root: etree._Element, frames: Sequence[etree._Element]) -> None:
    """Take out what is no content anyway: an extractor copies the tree several times over."""
    for frame in frames:
        remove(frame)
    etree.strip_elements(root, *_WEIGHT, with_tail=False)


def _is_clean(content: Sequence[Block]) -> bool:
    return _linked(content) <= _CLEAN


def _is_bare(content: Sequence[Block]) -> bool:
    """Whether a page is next to nothing but prose, so that no extractor finds more to drop."""
    beside = sum(
        count_words(block.text)
        for block in content
        if block.kind != "heading" and not block.is_prose
    )
    return beside <= _CLEAN * sum(count_words(block.text) for block in content)


def _is_article(content: Sequence[Block], body: Sequence[Block], *, declared: bool) -> bool:
    words = sum(count_words(block.text) for block in body)
    if declared or words < _SHORTEST_BODY:
        return words >= _SHORTEST_BODY
    plain = [block for block in content if not block.is_linky]
    share = _MOSTLY if _linked(content) <= LINKY else _HALF
    return words >= share * sum(count_words(block.text) for block in plain)


def _linked(blocks: Sequence[Block]) -> float:
    linked = sum(len(block.text) for block in blocks if block.is_linky)
    return linked / max(1, sum(len(block.text) for block in blocks))


def _body(content: Sequence[Block], root: etree._Element, meta: Metadata) -> list[Block]:
    found = [False] * len(content)
    if len(content) <= _MOST_BLOCKS:
        found = _found(content, _extractor_text(root))
    if _thin(content, found) and (meta.is_article or _linked(content) > _HALF):
        found = _in_densest(content)
    filled = standfirst(content, _fill(content, found), meta)
    kept = [block for block, keep in zip(content, filled, strict=True) if keep]
    body = without_empty_sections(trim(_one_article(kept), meta.title), content)
    return body if meta.is_article else with_facts(body, content)


def _thin(content: Sequence[Block], found: Sequence[bool]) -> bool:
    kept = [block for block, keep in zip(content, found, strict=True) if keep]
    return _prose(kept) < max(_SHORTEST_BODY, _THIN * _prose(content))


def _prose(blocks: Sequence[Block]) -> int:
    return sum(count_words(block.text) for block in blocks if block.is_prose)


def _in_densest(blocks: Sequence[Block]) -> list[bool]:
    """Choose what stands in the element that holds most prose and least links."""
    scores: Counter[etree._Element] = Counter()
    depths: dict[etree._Element, int] = {}
    for block in blocks:
        linky = block.is_linky
        worth = -len(block.text) if linky else len(block.text)
        line = list(block.node.iterancestors())
        for depth, ancestor in enumerate(reversed(line)):
            scores[ancestor] += worth
            depths[ancestor] = depth
    best = max(scores, key=lambda element: (scores[element], depths[element]))
    return [not block.is_linky and best in set(block.node.iterancestors()) for block in blocks]


def _extractor_text(root: etree._Element) -> str:
    extractor = _extractor()
    text = extractor.extract(root, fast=True, favor_precision=True, include_comments=False)
    return text or ""


@functools.cache
def _extractor() -> ModuleType:
    import trafilatura  # noqa: PLC0415 - 0.17 s, for the pages that need it only

    # What it finds nothing in is no matter for the terminal: the page is read without it.
    logging.getLogger("trafilatura").addHandler(logging.NullHandler())
    return trafilatura


def _found(blocks: Sequence[Block], text: str) -> list[bool]:
    known = set(shingles(word_list(text)))
    lines = {tuple(word_list(line)) for line in text.split("\n")}
    return [_stands_in(block, known, lines) for block in blocks]


def _stands_in(block: Block, known: set[tuple[str, ...]], lines: set[tuple[str, ...]]) -> bool:
    words = word_list(block.text)
    found = shingles(words)
    if not found:
        return tuple(words) in lines
    return sum(1 for shingle in found if shingle in known) >= _FOUND * len(found)


def _fill(blocks: Sequence[Block], found: Sequence[bool]) -> list[bool]:
    """Keep what stands between two kept blocks in the same parent, and its tables and code."""
    parents = {_home(block) for block, keep in zip(blocks, found, strict=True) if keep}
    before = list(accumulate(found, max))
    after = list(accumulate(reversed(found), max))[::-1]
    filled = [
        keep or _belongs(block, parents, after=inside, before=outside)
        for block, keep, inside, outside in zip(blocks, found, before, after, strict=True)
    ]
    return [keep or (_leads(blocks, filled, n) and before[n]) for n, keep in enumerate(filled)]


def _leads(blocks: Sequence[Block], kept: Sequence[bool], at: int) -> bool:
    """Whether a block is the heading right above a kept one."""
    head = blocks[at]
    return head.kind == "heading" and not head.is_linky and any(kept[at + 1 : at + 2])


def _belongs(
    block: Block, parents: set[etree._Element | None], *, after: bool, before: bool
) -> bool:
    """Whether a block `after` a kept one, `before` a kept one, or both, is of the body, too."""
    if block.kind in {"table", "code"}:
        return (after and before) or _home(block) in parents
    if after and is_footnote(block):
        return True
    if not before or not (after or block.is_prose):
        return False  # what follows the body is about something else; what opens it may be missed
    return not is_caption(block) and not block.is_linky and _home(block) in parents


def _home(block: Block) -> etree._Element | None:
    """What a block stands in; a list's entries stand in what the list does."""
    parent = block.node.getparent()
    while parent is not None and parent.tag in _LISTS:
        parent = parent.getparent()
    return parent


def _one_article(blocks: list[Block]) -> list[Block]:
    """Drop nested articles, which are comments or teasers, where an outer one holds the body."""
    chains = [list(block.node.iterancestors("article")) for block in blocks]
    words: Counter[etree._Element] = Counter()
    for block, chain in zip(blocks, chains, strict=True):
        if chain:
            words[chain[0]] += count_words(block.text)
    return [
        block
        for block, chain in zip(blocks, chains, strict=True)
        if all(words[outer] < _LONGEST_LEAD for outer in chain[1:])
    ]
