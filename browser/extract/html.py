"""An HTML page into a Document: what it says of itself, and the blocks that are its content.

Of an article the content is what trafilatura finds: it reads the tree, and what it found is looked
up among the page's own blocks, so that headings, lists, tables, links and code stay as the page
has them. The few steps after it go by the shape of blocks alone, in any language.

Which steps stay was chosen by nested five-fold cross-validation over 274 pages of three sets
(`tests/bench/article_steps.py`). F1 on folds that no choice saw, by each set's own measure:
.9692 / .974 / .9441, trafilatura's default .951 / .962 / .915, its precision mode .965 / .9744 /
.908. The figure at a constant or step is what F1 over all pages loses without it; those of
listings and gaps cost there, and stay for pages that the sets do not have.
"""

from __future__ import annotations

import itertools
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from lxml import etree

from browser.extract.blocks import render_markdown, render_text, walk
from browser.extract.dates import date_within
from browser.extract.hidden import strip_hidden
from browser.extract.links import main_controls, read_links
from browser.extract.metadata import Byline, read_byline, read_metadata
from browser.extract.tree import parse_page, remove
from browser.net.url import join
from browser.text.languages import language_of
from browser.text.words import count_words, word_list, word_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.extract.blocks import Block
    from browser.extract.metadata import Metadata
    from browser.types import Document

# A block is in the extractor's text when this share of its four-word runs is (.3 to .7 tie).
_FOUND = 0.5
# Below this share of the page's prose precision mode has lost the body: default mode is asked
# (.0037).
_LOST = 0.5
# A page that declares no article is none when the body has less than this share of its words.
_ARTICLE = 0.4
# No article has fewer words, and none so many blocks, or so many within each other: trafilatura
# takes seconds over an index, and a minute over 1,000 links or tables of which each holds the next.
# Of 339 saved pages the costliest counts 149,079; at this bound it takes a second.
_SHORTEST_BODY = 25
_MOST_BLOCKS = 5_000
_MOST_COST = 400_000
# What is left out between two kept blocks belongs to them, up to this share of the kept words:
# more is a box of teasers. Costs .0005, and keeps lists within a text.
_GAP = 0.3
# At most so many paragraphs between headline and body sum an article up, and at most so many
# lines introduce any other page (.0058).
_MOST_SUMMARY = 3
_MOST_LINES = 30
# A line with more of its characters in links is navigation (.0010).
_ALL_LINK = 0.8
# The lines that name writer and day are no longer (.0014); a label is shorter.
_LONGEST_BYLINE = 25
_LONGEST_LABEL = 2
# A listing has more headings than these.
_FEWEST_ENTRIES = 3
_SPOKEN = frozenset(("paragraph", "item", "item-rest", "quote", "detail"))
_ENDS = (".", "!", "?", "…", ":", "。", "！", "？")
_QUOTES = "\"'”’“»«)]"
_NO_ASIDES = frozenset(("table", "code", "heading"))
_LISTS = frozenset("ul ol dl li dt dd".split())
_WEIGHT = ("script", "style", "svg", "noscript", "template", "iframe", "link", "meta")


def extract(html: str | bytes, url: str, *, content_type: str = "") -> Document:
    """Read a page as a person sees it: its content, and what it says of itself.

    `html` as bytes is decoded as browsers do it (`content_type` is the header). Hidden text,
    navigation, cookie bars and footers are left out; of an article, its body is kept. What could
    not be read is said in `Document.notes`. Raises ExtractError where the input holds no element.
    """
    root, notes = parse_page(html, content_type)
    held = list(root.iter())  # lxml makes an element anew each time that nobody holds it
    strip_hidden(root)
    meta = read_metadata(root, url)
    base = _base(root, url)
    links = read_links(root, base)
    controls = main_controls(root)
    found = walk(root, base)
    said = meta.declared
    signed = said.author and (said.published or said.modified)
    byline = Byline() if signed else read_byline(found, said.title)
    blocks = content_blocks(found, root, meta)
    text = render_text(blocks)
    del held
    return replace(
        said,
        text=text,
        markdown=render_markdown(blocks),
        author=said.author or byline.author,
        published=said.published or byline.published,
        modified=said.modified or byline.modified,
        language=_language(said.language, text),
        links=links,
        tables=tuple(block.table for block in blocks if block.table is not None),
        controls=controls,
        notes=notes,
    )


def _language(declared: str | None, text: str) -> str | None:
    """The text's own language where the page names none, or English, which templates leave."""
    if declared and not declared.lower().startswith("en"):
        return declared
    found = language_of(text)
    return found if found and found != "en" else declared or found


def _base(root: etree._Element, url: str) -> str:
    element = next(root.iter("base"), None)
    href = element.get("href") if element is not None else None
    return (join(url, href) or url) if href else url


def content_blocks(blocks: list[Block], root: etree._Element, meta: Metadata) -> list[Block]:
    """Choose the blocks that a reader came for, in page order.

    Of an article the body without headline, byline and navigation; of any other page, and of one
    that declares itself a discussion, all that is not frame. Takes frames and scripts out.
    """
    content = [block for block in blocks if block.frame is None]
    if not content:
        return blocks
    if meta.is_thread or len(content) > _MOST_BLOCKS:
        return content
    if (not meta.is_article and _is_listing(content)) or _cost(root) > _MOST_COST:
        return content
    for frame in {block.frame for block in blocks if block.frame is not None}:
        remove(frame)
    etree.strip_elements(root, *_WEIGHT, with_tail=False)
    body = _Body(content, meta).choose(root)
    words = sum(count_words(block.text) for block in body)
    plain = sum(count_words(block.text) for block in content if not block.is_linky)
    share = 0.0 if meta.is_article else _ARTICLE
    return body if words >= max(_SHORTEST_BODY, share * plain) else content


def _cost(root: etree._Element) -> int:
    """Count how often a reader meets an element that looks at each one's inside, and its links'.

    The sum of all depths; a link counts with what is in it, since its text is read each time.
    """
    depths: dict[etree._Element | None, int] = {None: 0}
    for element in root.iter():
        depths[element] = depths[element.getparent()] + 1
    total = sum(depths.values())
    for link in root.iter("a"):
        if total > _MOST_COST:
            break
        total += depths[link] * sum(1 for _ in link.iter())
    return total


def _is_listing(blocks: Sequence[Block]) -> bool:
    """Whether a page has more headings than paragraphs, and more text than links: keep every entry.

    Catalogues, changelogs, overviews; costs .0023 on pages that are all articles.
    """
    headings = sum(block.kind == "heading" for block in blocks)
    prose = sum(block.is_prose and block.kind in _SPOKEN for block in blocks)
    linked = sum(len(block.text) for block in blocks if block.is_linky)
    return headings > max(prose, _FEWEST_ENTRIES) and 2 * linked < sum(
        len(block.text) for block in blocks
    )


class _Body:
    """The body of an article, chosen among the blocks of its page: `kept` says of each."""

    def __init__(self, blocks: Sequence[Block], meta: Metadata) -> None:
        self._blocks = blocks
        self._declared = meta.is_article
        self._title = word_list(meta.declared.title)
        names = (meta.declared.author or "").split(",")
        self._authors = [name.strip().casefold() for name in names if name.strip()]
        self._prose = [block.is_prose for block in blocks]
        self._words = [count_words(block.text) for block in blocks]

    def choose(self, root: etree._Element) -> list[Block]:
        """Ask trafilatura, then mend its choice."""
        kept = self._found(root, precise=True)
        if self._prose_words(kept) < _LOST * self._prose_words([True] * len(kept)):
            wider = self._found(root, precise=False)
            kept = wider if any(wider) else kept
        self._fill_gaps(kept)
        self._add_opening(kept)
        for n, block in enumerate(self._blocks[:-1]):
            if block.kind == "heading" and not block.is_linky:
                kept[n] = kept[n] or kept[n + 1]
        self._trim(kept)
        return [block for block, keep in zip(self._blocks, kept, strict=True) if keep]

    def _found(self, root: etree._Element, *, precise: bool) -> list[bool]:
        extracted = _extract(root, precise=precise)
        known = set(word_runs(word_list(extracted)))
        lines = {tuple(word_list(line)) for line in extracted.split("\n")}
        kept = []
        for block in self._blocks:
            words = word_list(block.text)
            runs = word_runs(words)
            shared = sum(run in known for run in runs)
            kept.append(shared >= _FOUND * len(runs) if runs else tuple(words) in lines)
        return kept

    def _prose_words(self, kept: Sequence[bool]) -> int:
        rows = zip(self._words, self._prose, kept, strict=True)
        return sum(count for count, prose, keep in rows if prose and keep)

    def _fill_gaps(self, kept: list[bool]) -> None:
        """Keep what stands between two kept blocks, in a parent that holds kept ones."""
        places = [n for n, keep in enumerate(kept) if keep]
        parents = {_home(self._blocks[n]) for n in places}
        most = _GAP * sum(self._words[n] for n in places)
        for before, after in itertools.pairwise(places):
            if sum(self._words[before + 1 : after]) <= most:
                for n in range(before + 1, after):
                    block = self._blocks[n]
                    kept[n] = not block.is_linky and _home(block) in parents

    def _add_opening(self, kept: list[bool]) -> None:
        """Keep what stands between headline and body.

        Of a declared article a few paragraphs that sum it up, of any other page every line: when
        and where of an event, the numbers of a thing.
        """
        first = next((n for n, keep in enumerate(kept) if keep and self._prose[n]), 0)
        heads = [n for n, b in enumerate(self._blocks[:first]) if b.level == 1 or self._is_title(b)]
        opening = list(range(heads[-1] + 1, first)) if heads else []
        if self._declared:
            opening = [n for n in opening if self._sums_up(n)]
        if len(opening) <= (_MOST_SUMMARY if self._declared else _MOST_LINES):
            for n in opening:
                kept[n] = not self._blocks[n].is_linky

    def _trim(self, kept: list[bool]) -> None:
        """Drop what is no part of the body; keep the facts below it, in one box with it."""
        places = [n for n, keep in enumerate(kept) if keep]
        first = next((n for n in places if self._prose[n]), len(kept))
        last = max((n for n in places if self._says_something(n)), default=len(kept))
        for n in places:
            kept[n] = not self._is_apart(n, first, last)
        homes = {_home(self._blocks[n]) for n in places if kept[n] and self._prose[n]}
        for n in range(last + 1, len(kept)):
            block = self._blocks[n]
            kept[n] = kept[n] or (_is_fact(block) and _home(block) in homes)

    def _is_apart(self, place: int, first: int, last: int) -> bool:
        """Whether a block is headline, byline, caption, navigation, or stands below the body."""
        block = self._blocks[place]
        return (
            self._is_title(block)
            or (place <= first and (block.level == 1 or self._is_byline(place)))
            or (place > last and block.kind not in {"table", "code", "item"})
            or (
                block.kind not in _NO_ASIDES
                and (_is_caption(block) or block.link_density > _ALL_LINK)
            )
        )

    def _is_title(self, block: Block) -> bool:
        named = block.kind in {"heading", "paragraph"} and bool(self._title)
        return named and word_list(block.text) == self._title

    def _sums_up(self, place: int) -> bool:
        block = self._blocks[place]
        plain = block.kind == "paragraph" and self._prose[place]
        return plain and not (self._is_byline(place) or _is_caption(block))

    def _is_byline(self, place: int) -> bool:
        """Whether a line names writer or day and is no sentence; the Document says both."""
        block, before = self._blocks[place], max(0, place - 1)
        if block.kind not in {"paragraph", "item"} or _is_sentence(block.text):
            return False
        # A day right below a label is that of an event.
        labelled = (
            self._blocks[before].kind == "paragraph" and self._words[before] <= _LONGEST_LABEL
        )
        if labelled or self._words[place] > _LONGEST_BYLINE:
            return False
        text = block.text.casefold()
        return any(name in text for name in self._authors) or date_within(text) is not None

    def _says_something(self, place: int) -> bool:
        block = self._blocks[place]
        return self._prose[place] or (not block.is_linky and _is_sentence(block.text))


def _is_caption(block: Block) -> bool:
    """Whether a line is about a picture, by its element or by what its class calls it (.0014)."""
    if block.kind == "caption" or block.node.tag == "figure":
        return True
    boxes = (block.node, block.node.getparent())
    names = " ".join(box.get("class") or "" for box in boxes if box is not None).lower()
    return "caption" in names or "credit" in names


def _is_fact(block: Block) -> bool:
    """Whether a block is a name with its value: of a list of terms, a table's, or `Age: 200`.

    Of lists only: bare paragraphs of that form are bylines and tags as well, and cost .0020.
    """
    name, colon, value = block.text.partition(": ")
    short = count_words(name) <= _LONGEST_LABEL and count_words(value) <= _LONGEST_BYLINE
    pair = block.kind == "item" and bool(colon and value) and short
    return not block.is_linky and (pair or block.kind in {"term", "detail", "table"})


def _is_sentence(text: str) -> bool:
    return text.rstrip().rstrip(_QUOTES).endswith(_ENDS)


def _home(block: Block) -> etree._Element | None:
    """What a block stands in; a list's entries stand in what the list does."""
    return next((node for node in block.node.iterancestors() if node.tag not in _LISTS), None)


def _extract(root: etree._Element, *, precise: bool) -> str:
    import trafilatura  # noqa: PLC0415 - 0.17 s, for the pages that need it only

    # What it finds nothing in is no matter for the terminal: the page is read without it.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    return trafilatura.extract(root, favor_precision=precise, include_comments=False) or ""
