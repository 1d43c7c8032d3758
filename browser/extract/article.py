"""Which blocks of a page are its content: the article that trafilatura finds, or all but the frame.

trafilatura reads the tree; what it found is looked up among the page's own blocks, so that
headings, lists, tables, links and code stay as the page has them. The few steps after it go by
the shape of blocks alone, in any language. They were chosen by five-fold cross-validation over
274 pages; the figures at the constants are what F1 over all of them loses without the step.
"""

from __future__ import annotations

import functools
import itertools
import logging
from typing import TYPE_CHECKING

from lxml import etree

from browser.extract.blocks import word_list, word_runs
from browser.extract.dates import date_within
from browser.extract.thread import read_thread
from browser.extract.tree import remove
from browser.text import count_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from browser.extract.blocks import Block, Walk
    from browser.extract.metadata import Metadata

# A block is in the extractor's text when this share of its four-word runs is (.3 to .7 tie).
_FOUND = 0.5
# Below this share of the page's prose precision mode has lost the body: default mode is asked.
_LOST = 0.5
# A page that declares no article is none when the body has less than this share of its words.
_ARTICLE = 0.4
# No article has fewer words, and none so many blocks: trafilatura takes seconds over an index.
_SHORTEST_BODY = 25
_MOST_BLOCKS = 5_000
# What is left out between two kept blocks belongs to them, up to this share of the kept words:
# more is a box of teasers (.0009).
_GAP = 0.3
# At most so many paragraphs between headline and body sum an article up, and at most so many
# lines introduce any other page (.0025).
_MOST_SUMMARY = 3
_MOST_LINES = 30
# A line with more of its characters in links is navigation (.0018).
_ALL_LINK = 0.8
# The lines that name writer and day are no longer.
_LONGEST_BYLINE = 25
_LONGEST_LABEL = 2
# A <main> with less than this share of the text is a box that somebody called so.
_MAIN = 0.6
# A listing has more headings than these.
_FEWEST_ENTRIES = 3
_SPOKEN = frozenset(("paragraph", "item", "item-rest", "quote", "detail"))
_ENDS = (".", "!", "?", "…", ":", "。", "！", "？")
_QUOTES = "\"'”’“»«)]"
_LISTS = frozenset("ul ol dl li dt dd".split())
_WEIGHT = ("script", "style", "svg", "noscript", "template", "iframe", "link", "meta")


def content_blocks(walked: Walk, root: etree._Element, meta: Metadata) -> list[Block]:
    """Choose the blocks that a reader came for, in page order.

    Of an article the body without headline, byline and navigation; of a thread what its posts
    say; of any other page all that is not frame. Takes frames and scripts out of `root`.
    """
    blocks = [b for b in walked.blocks if not walked.regions.is_frame(b.region)]
    content = _in_main(blocks, root)
    if not content:
        return walked.blocks
    if (meta.is_thread or not meta.is_article) and (posts := read_thread(content)):
        return [block for post in posts for block in post.blocks]
    if len(content) > _MOST_BLOCKS or (not meta.is_article and _is_listing(content)):
        return content
    for frame in walked.regions.frames():
        remove(frame)
    etree.strip_elements(root, *_WEIGHT, with_tail=False)
    body = _Body(content, meta).choose(root)
    words = sum(count_words(block.text) for block in body)
    plain = sum(count_words(block.text) for block in content if not block.is_linky)
    share = 0.0 if meta.is_article else _ARTICLE
    return body if words >= max(_SHORTEST_BODY, share * plain) else content


def _is_listing(blocks: Sequence[Block]) -> bool:
    """Whether a page has more headings than paragraphs, and more than links: keep every entry.

    Catalogues, changelogs, overviews; costs .001 on pages that are all articles.
    """
    headings = sum(block.kind == "heading" for block in blocks)
    prose = sum(block.is_prose and block.kind in _SPOKEN for block in blocks)
    linked = sum(len(block.text) for block in blocks if block.is_linky)
    return headings > max(prose, _FEWEST_ENTRIES) and 2 * linked < sum(
        len(block.text) for block in blocks
    )


class _Body:
    """The body of an article, chosen among the blocks of its page."""

    def __init__(self, blocks: Sequence[Block], meta: Metadata) -> None:
        self._blocks = blocks
        self._declared = meta.is_article
        self._title = word_list(meta.title)
        self._authors = [n.strip().casefold() for n in (meta.author or "").split(",") if n.strip()]
        self._prose = [block.is_prose for block in blocks]

    def choose(self, root: etree._Element) -> list[Block]:
        """Ask trafilatura, then mend its choice."""
        kept = self._found(root, precise=True)
        if self._prose_words(kept) < _LOST * self._prose_words([True] * len(kept)):
            wider = self._found(root, precise=False)
            kept = wider if any(wider) else kept
        self._fill_gaps(kept)
        self._add_opening(kept)
        self._drop_asides(kept)
        return [block for block, keep in zip(self._blocks, kept, strict=True) if keep]

    def _found(self, root: etree._Element, *, precise: bool) -> list[bool]:
        extracted = _extractor().extract(root, favor_precision=precise, include_comments=False)
        known = set(word_runs(word_list(extracted or "")))
        lines = {tuple(word_list(line)) for line in (extracted or "").split("\n")}
        return [_stands_in(word_list(block.text), known, lines) for block in self._blocks]

    def _prose_words(self, kept: Sequence[bool]) -> int:
        rows = zip(self._blocks, self._prose, kept, strict=True)
        return sum(count_words(block.text) for block, prose, keep in rows if prose and keep)

    def _fill_gaps(self, kept: list[bool]) -> None:
        """Keep what stands between two kept blocks, in a parent that holds kept ones."""
        places = [n for n, keep in enumerate(kept) if keep]
        parents = {_home(self._blocks[n]) for n in places}
        most = _GAP * sum(count_words(self._blocks[n].text) for n in places)
        for before, after in itertools.pairwise(places):
            gap = range(before + 1, after)
            if sum(count_words(self._blocks[n].text) for n in gap) <= most:
                for n in gap:
                    block = self._blocks[n]
                    kept[n] = not block.is_linky and _home(block) in parents
        for n in range(places[-1] + 1 if places else 0, len(kept)):
            kept[n] = kept[n] or _is_note(self._blocks[n])

    def _add_opening(self, kept: list[bool]) -> None:
        """Keep what stands between headline and body.

        Of a declared article a few paragraphs that sum it up, of any other page every line: when
        and where of an event, the numbers of a thing. And the headings right above what is kept.
        """
        first = next((n for n, keep in enumerate(kept) if keep and self._prose[n]), 0)
        heads = [n for n, b in enumerate(self._blocks[:first]) if b.level == 1 or self._is_title(b)]
        opening = list(range(heads[-1] + 1, first)) if heads else []
        if self._declared:
            opening = [n for n in opening if self._sums_up(n)]
        if len(opening) <= (_MOST_SUMMARY if self._declared else _MOST_LINES):
            for n in opening:
                kept[n] = not self._blocks[n].is_linky
        for n in range(len(kept) - 1):
            block = self._blocks[n]
            if block.kind == "heading" and not block.is_linky:
                kept[n] = kept[n] or kept[n + 1]

    def _drop_asides(self, kept: list[bool]) -> None:
        """Drop headline, captions and lines of links; byline above, short lines below the body."""
        chosen = [n for n, keep in enumerate(kept) if keep]
        first = next((n for n in chosen if self._prose[n]), len(kept))
        last = max((n for n in chosen if self._says_something(n)), default=len(kept))
        for n in chosen:
            block = self._blocks[n]
            above = n <= first and (block.level == 1 or self._is_byline(n))
            below = n > last and not (_is_note(block) or block.kind in {"table", "code", "item"})
            if above or below or self._is_title(block) or _is_aside(block):
                kept[n] = False
        following: Block | None = None
        for n in reversed(chosen):  # linked headings of which the section went
            block = self._blocks[n]
            ended = following is None or 0 < following.level <= block.level
            if kept[n] and block.kind == "heading" and block.is_linky and ended:
                kept[n] = False
            if kept[n]:
                following = block

    def _is_title(self, block: Block) -> bool:
        named = block.kind in {"heading", "paragraph"} and bool(self._title)
        return named and word_list(block.text) == self._title

    def _sums_up(self, place: int) -> bool:
        block = self._blocks[place]
        plain = block.kind == "paragraph" and self._prose[place]
        return plain and not (self._is_byline(place) or is_caption(block))

    def _is_byline(self, place: int) -> bool:
        """Whether a line names writer or day and is no sentence; the Document says both.

        A day right below a label is that of an event.
        """
        block, before = self._blocks[place], self._blocks[max(0, place - 1)]
        if block.kind not in {"paragraph", "item"} or _is_sentence(block.text):
            return False
        if before.kind == "paragraph" and count_words(before.text) <= _LONGEST_LABEL:
            return False
        if count_words(block.text) > _LONGEST_BYLINE:
            return False
        text = block.text.casefold()
        return any(name in text for name in self._authors) or date_within(text) is not None

    def _says_something(self, place: int) -> bool:
        block = self._blocks[place]
        return self._prose[place] or (not block.is_linky and _is_sentence(block.text))


def _stands_in(
    words: Sequence[str], known: set[tuple[str, ...]], lines: set[tuple[str, ...]]
) -> bool:
    found = word_runs(words)
    if not found:
        return tuple(words) in lines
    return sum(run in known for run in found) >= _FOUND * len(found)


def _is_aside(block: Block) -> bool:
    if block.kind in {"table", "code", "heading"}:
        return False
    return block.link_density > _ALL_LINK or is_caption(block)


def is_caption(block: Block) -> bool:
    """Whether a line is about a picture, by its element or by what its class calls it (.0011)."""
    if block.kind == "caption" or block.node.tag == "figure":
        return True
    names = f"{block.node.get('class') or ''} {_parent_class(block)}".lower()
    return "caption" in names or "credit" in names


def _parent_class(block: Block) -> str:
    parent = block.node.getparent()
    return "" if parent is None else parent.get("class") or ""


def _is_note(block: Block) -> bool:
    """Whether a line is one of the foot- or endnotes below a text, by their box."""
    return any(
        box.get("role") == "doc-endnotes" or "footnotes" in (box.get("class") or "").split()
        for box in block.node.iterancestors()
    )


def _is_sentence(text: str) -> bool:
    return text.rstrip().rstrip(_QUOTES).endswith(_ENDS)


def _home(block: Block) -> etree._Element | None:
    """What a block stands in; a list's entries stand in what the list does."""
    ancestors: Iterator[etree._Element] = block.node.iterancestors()
    return next((node for node in ancestors if node.tag not in _LISTS), None)


def _in_main(blocks: list[Block], root: etree._Element) -> list[Block]:
    """Leave out what stands around a page's <main>."""
    mains = set(root.iter("main")) or set(root.iterfind(".//*[@role='main']"))
    inside = [b for b in blocks if b.node in mains or not mains.isdisjoint(b.node.iterancestors())]
    chars, inner = sum(len(b.text) for b in blocks), sum(len(b.text) for b in inside)
    return inside if mains and inner >= _MAIN * chars else blocks


@functools.cache
def _extractor() -> ModuleType:
    import trafilatura  # noqa: PLC0415 - 0.17 s, for the pages that need it only

    # What it finds nothing in is no matter for the terminal: the page is read without it.
    logging.getLogger("trafilatura").addHandler(logging.NullHandler())
    return trafilatura
