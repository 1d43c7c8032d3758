"""Turns an HTML page into a Document: its metadata, and the blocks that are its content.

An article's content is the text that trafilatura finds. That text is looked up among the page's
blocks, so that headings, lists, tables, links and code stay as they are on the page. The few steps
after that depend only on the shape of blocks, so they work in any language. Each step that leaves
something out weighs it first (`weighing`).

The steps were chosen by nested five-fold cross-validation on 274 pages from three sets
(`bench/article_steps.py`). F1 on the held-out folds, by each set's own measure, is .9692 / .974 /
.9441; trafilatura's default mode reaches .951 / .962 / .915, its precision mode .965 / .9744 /
.908. The figure given with a constant or step is how much F1 on all pages drops without it. The
steps for listings and gaps lower F1 on these sets; they are kept for kinds of pages that the sets
lack.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from lxml import etree

from browser.extract.blocks import render_markdown, render_text, walk
from browser.extract.dates import date_within
from browser.extract.hidden import strip_hidden
from browser.extract.items import read_items
from browser.extract.links import embedded_pdf, main_controls, read_links
from browser.extract.metadata import add_byline, declared_body, read_jsonld, read_metadata
from browser.extract.tree import LABEL_MARK, parse_page, raw_text, remove
from browser.extract.weighing import (
    MAJORITY,
    OUTSIDE_CONTENT_REASON,
    ContentWeigher,
    extract_article,
)
from browser.net.url import join
from browser.text.languages import language_of
from browser.text.words import count_words, ends_sentence, same_words, word_list, word_runs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from browser.extract.blocks import Block
    from browser.extract.metadata import Metadata
    from browser.types import Document

# A block belongs to trafilatura's text if that contains this share of the block's sequences of four
# words (values from .3 to .7 are equally good).
_MATCH_SHARE = 0.5
# A page that does not declare an article is treated as one only if its body has this share of the
# page's words.
_ARTICLE_SHARE = 0.4
# Limits for articles: the minimum number of words, and the maximum number of blocks and cost.
# trafilatura takes seconds for an index and a minute for 1,000 nested links or tables. The highest
# cost among 339 saved pages is 149,079; at the limit, trafilatura takes a second.
_MIN_BODY_WORDS = 25
_MAX_BLOCKS = 5_000
_MAX_COST = 400_000
# Blocks between two kept blocks are also kept, up to this share of the kept words: anything longer
# is a box of teasers. This lowers F1 by .0005, but keeps lists within an article.
_GAP_SHARE = 0.3
# Maximum number of summary paragraphs between headline and body, and of lines in the introduction
# on a page that does not declare an article (.0058).
_MAX_SUMMARY_PARAGRAPHS = 3
_MAX_INTRODUCTION_LINES = 30
# A line in which links have a larger share of the characters is navigation (.0010).
_LINK_SHARE = 0.8
# Maximum number of words in a line with author and date (.0014), and in a label.
_MAX_BYLINE_WORDS = 25
_MAX_LABEL_WORDS = 2
# A listing has more than this many headings, a list of declared lines at least as many lines.
_MIN_ENTRIES = 3
_TEXT_KINDS = frozenset(("paragraph", "item", "item-rest", "quote", "detail"))
EDGE_KINDS = frozenset("paragraph quote term detail table".split())
_FACT_KINDS = frozenset(("table", "term", "detail"))
_NEVER_CAPTIONS = frozenset(("table", "code", "heading"))
_LIST_TAGS = frozenset("ul ol dl li dt dd".split())
_TEXTLESS_TAGS = ("script", "style", "svg", "noscript", "template", "iframe", "link", "meta")


def extract(html: str | bytes, url: str, *, content_type: str = "") -> Document:
    """Extract a page's content as a user sees it, and its metadata.

    If `html` is bytes, it is decoded as in browsers (`content_type` is the header). Hidden text,
    navigation, cookie bars and footers are left out; for an article, only the body is kept.
    `Document.notes` lists what could not be read. Raises ExtractError if the input contains no
    element.
    """
    root, notes = parse_page(html, content_type)
    # Keeps lxml's proxy objects alive: recreating them on each access is slow.
    elements = list(root.iter())
    nodes = read_jsonld(root)
    weigher = ContentWeigher(root, declared_body(nodes))
    shown_late = strip_hidden(root, weigher)
    meta = read_metadata(root, url, nodes)
    base = _base_url(root, url)
    links = read_links(root, base)
    controls = main_controls(root)
    if pdf := embedded_pdf(root, base):
        notes += (f"it shows a PDF, which was not read: {pdf}",)
    all_blocks = walk(root, base, weigher)
    if not all_blocks:  # nothing is visible, not even navigation: scripts make the page visible
        root = parse_page(html, content_type)[0]
        all_blocks, shown_late = walk(root, base, weigher), [root] if raw_text(root).strip() else []
    quoted = [block for block in all_blocks if block.kind != "unquoted"]
    blocks = content_blocks(quoted, root, meta, weigher)
    if late := _late_blocks(blocks, shown_late) if shown_late else []:
        late[0].folded = True  # marks the beginning of the late blocks
        weigher.keep_hidden(sum(block.words for block in late))
    text = render_text(blocks)
    weigher.finish(text)
    if not text.strip() and next(root.iter("script"), None) is not None:
        notes += ("it contains no text before its scripts run; open it in the browser",)
    del elements
    return replace(
        add_byline(meta.declared, quoted),
        text=text,
        markdown=render_markdown(_add_unquoted_blocks(blocks, all_blocks)),
        language=_language(meta.declared.language, text),
        links=links,
        tables=tuple(block.table for block in blocks if block.table is not None),
        controls=controls,
        notes=(*notes, *weigher.notes),
        needs_scripts=weigher.needs_scripts,
    )


def _add_unquoted_blocks(kept: list[Block], blocks: list[Block]) -> list[Block]:
    """Add the images and struck-out text that are directly above the kept blocks or among them."""
    chosen, homes = {id(block) for block in kept}, {_container(block) for block in kept}
    above: defaultdict[int, list[Block]] = defaultdict(list)
    below, is_near = 0, False
    for block in reversed(blocks):
        if block.kind != "unquoted":
            is_near = id(block) in chosen or (is_near and _is_caption(block))
            below = id(block) if id(block) in chosen else below
        elif block.frame is None and (
            is_near or not homes.isdisjoint(itertools.islice(block.node.iterancestors(), 3))
        ):
            above[below].append(block)
    found = [one for block in kept for one in (*reversed(above[id(block)]), block)]
    return [*found, *reversed(above[0])]


def _late_blocks(blocks: list[Block], parts: list[etree._Element]) -> list[Block]:
    """The blocks that only a script would show."""
    late = frozenset(parts)
    return [b for b in blocks if b.node in late or not late.isdisjoint(b.node.iterancestors())]


def _language(declared: str | None, text: str) -> str | None:
    """Return the declared language or, if none or English is declared, the language of the text.

    Many templates declare English, whatever the language of the page.
    """
    if declared and not declared.lower().startswith("en"):
        return declared
    detected = language_of(text)
    return detected if detected and detected != "en" else declared or detected


def _base_url(root: etree._Element, url: str) -> str:
    href = next((href for base in root.iter("base") if (href := base.get("href"))), "")
    return (join(url, href) or url) if href else url


def content_blocks(
    blocks: list[Block], root: etree._Element, meta: Metadata, weigher: ContentWeigher
) -> list[Block]:
    """Select the content blocks of a page, in page order.

    For an article, these are the body without headline, byline and navigation; for any other page,
    including declared discussions, all blocks outside frames (navigation, footers and the like).
    Frames and scripts are removed from the tree.
    """
    _keep_declared_lines(blocks, meta.recipe_lines)
    content = [block for block in blocks if block.frame is None]
    if not content:
        return blocks
    framed = [block for block in blocks if block.frame is not None]
    weigher.leave_out(
        "navigation, comments or similar", _word_counts_by_kind(b for b in framed if b.is_prose)
    )
    homes = {block.frame: block.frame.getparent() for block in framed if block.frame is not None}
    chosen, dropped = _choose(content, homes, root, meta)
    weigher.leave_out(
        OUTSIDE_CONTENT_REASON,
        _word_counts_by_kind([*dropped, *_framed_content(blocks, chosen, homes)]),
    )
    return chosen


def _keep_declared_lines(blocks: Sequence[Block], lines: Sequence[str]) -> None:
    """Take the lines that a page declares out of frames, such as ingredients in a sidebar."""
    known = _line_index(lines)
    framed = [b for b in blocks if b.frame is not None and b.words > 1] if known else []
    declared = [block for block in framed if _is_declared(block, known)]
    counts = Counter(block.frame for block in declared)
    for block in declared:
        if counts[block.frame] >= _MIN_ENTRIES or block.kind == "table":
            block.frame = None


def _line_index(lines: Iterable[str]) -> str:
    return "".join(f"\n {' '.join(word_list(line.casefold()))} " for line in lines if line)


def _is_declared(block: Block, known: str) -> bool:
    """Whether a block consists of declared lines, or of parts of them."""
    rows = [words for row in block.text.split("\n") if (words := word_list(row))]
    found = sum(f" {' '.join(words).casefold()} " in known for words in rows)
    return bool(known) and found > MAJORITY * len(rows)


def _word_counts_by_kind(blocks: Iterable[Block]) -> list[tuple[str, int]]:
    """The kind and number of words of each block that is not navigation."""
    return [(block.kind, block.words) for block in blocks if block.words and not block.is_linky]


def _choose(
    content: list[Block],
    frames: Iterable[etree._Element],
    root: etree._Element,
    meta: Metadata,
) -> tuple[list[Block], list[Block]]:
    """Return the content blocks, and those dropped blocks that are neither labels nor titles."""
    is_large = len(content) > _MAX_BLOCKS
    may_have_items = meta.is_thread or not (meta.recipe_lines or is_large)
    is_article = meta.is_article and not meta.is_thread
    if may_have_items and (items := read_items(content, is_article=is_article)):
        dropped = _exclude_blocks(content, items)
        counted = (b for b in dropped if b.is_prose or b.is_data or b.kind == "quote")
        return items, list(counted)
    is_listing = not meta.is_article and _is_listing(content)
    if meta.is_thread or is_large or is_listing or _parsing_cost(root) > _MAX_COST:
        return content, []
    for frame in frames:
        remove(frame)
    etree.strip_elements(root, *_TEXTLESS_TAGS, with_tail=False)
    selection = _Body(content, meta)
    body = selection.choose(root)
    words = sum(block.words for block in body)
    page_words = sum(block.words for block in content if not block.is_linky)
    share = 0.0 if meta.is_article else _ARTICLE_SHARE
    if words < max(_MIN_BODY_WORDS, share * page_words):
        return content, []
    return body, _exclude_blocks(content, [*body, *selection.head()])


def _exclude_blocks(blocks: Sequence[Block], others: Sequence[Block]) -> list[Block]:
    known = {id(block) for block in others}
    return [block for block in blocks if id(block) not in known]


def _framed_content(
    blocks: Sequence[Block], chosen: Sequence[Block], homes: Mapping[etree._Element, object]
) -> list[Block]:
    """Return the blocks of frames that may be content.

    These are blocks between the chosen blocks or in the same element, facts and tables, and lists
    in a frame without links. Of 403 articles, 12 have a table or facts in another frame.
    """
    known = {id(block) for block in chosen}
    places = [n for n, block in enumerate(blocks) if id(block) in known]
    around = {_container(block) for block in chosen if block.is_prose}
    linked = {block.frame for block in blocks if block.link_chars}
    return [
        block
        for n, block in enumerate(blocks)
        if block.frame is not None
        and (
            places[0] < n < places[-1]
            or homes[block.frame] in around
            or block.kind in _FACT_KINDS
            or (block.is_data and block.frame not in linked)
        )
    ]


def _parsing_cost(root: etree._Element) -> int:
    """Estimate trafilatura's cost, that is, how many times it visits an element of the tree.

    This is the sum of all depths; a link counts once for each element inside it, because its text
    is read each time.
    """
    depths: dict[etree._Element | None, int] = {None: 0}
    for element in root.iter():
        depths[element] = depths[element.getparent()] + 1
    total = sum(depths.values())
    for link in root.iter("a"):
        if total > _MAX_COST:
            break
        total += depths[link] * sum(1 for _ in link.iter())
    return total


def _is_listing(blocks: Sequence[Block]) -> bool:
    """Whether a page is a listing of entries (a catalogue, changelog or overview).

    A listing has more headings than paragraphs, and more text than links. This step lowers F1 by
    .0037 on one set of articles, but without it, half of the words on the abstract pages of papers
    and on repository pages are lost.
    """
    headings = sum(block.kind == "heading" for block in blocks)
    prose = sum(block.is_prose and block.kind in _TEXT_KINDS for block in blocks)
    chars = sum(len(block.text) for block in blocks)
    link_chars = sum(len(block.text) for block in blocks if block.is_linky)
    return headings > max(prose, _MIN_ENTRIES) and 2 * link_chars < chars


class _Body:
    """Selects the body of an article; `kept` lists for each block whether it is in the body."""

    def __init__(self, blocks: Sequence[Block], meta: Metadata) -> None:
        self._blocks = blocks
        self._declared = meta.is_article
        self._title = word_list(meta.declared.title)
        names = (meta.declared.author or "").split(",")
        self._authors = [name.strip().casefold() for name in names if name.strip()]
        self._prose = [block.is_prose for block in blocks]
        self._words = [block.words for block in blocks]
        self._is_photo_story = False
        self._word_lists = [word_list(block.text) for block in blocks]
        known = _line_index(meta.recipe_lines)
        self._lines = [_is_declared(block, known) for block in blocks]

    def choose(self, root: etree._Element) -> list[Block]:
        """Select the blocks that trafilatura finds, then correct its selection.

        If trafilatura's fast mode finds little of the page (as on 14 of 204 pages), its slower
        modes are used. On both halves of four sets of pages, F1 stays within .0001 of what always
        using the slower modes would give.
        """
        kept = self._blocks_in(extract_article(root, precise=True, fast=True))
        if self._kept_prose_share(kept) < MAJORITY:
            kept = self._blocks_in(extract_article(root, precise=True))
        if self._kept_prose_share(kept) < MAJORITY:
            wider = self._blocks_in(extract_article(root))
            kept = wider if any(wider) else kept
        self._keep_gaps(kept)
        self._keep_panels(kept)
        self._keep_opening(kept)
        kept[:] = map(operator.or_, kept, self._lines)
        if not self._declared:
            self._keep_lists(kept)
            self._keep_scattered_prose(kept)
        # A heading belongs to the block below it.
        for n in reversed(range(len(kept) - 1)):
            if self._blocks[n].kind == "heading" and not self._blocks[n].is_linky:
                kept[n] = kept[n] or kept[n + 1]
        self._keep_photo_story(kept)
        self._trim(kept)
        return [block for block, keep in zip(self._blocks, kept, strict=True) if keep]

    def head(self) -> list[Block]:
        """The headline and the lines with the author or date, which are fields of the Document."""
        rows = enumerate(self._blocks)
        return [block for n, block in rows if self._is_title(block) or self._is_byline(n)]

    def _blocks_in(self, extracted: str) -> list[bool]:
        rows = [tuple(word_list(line)) for line in extracted.split("\n")]
        known, lines = set(word_runs([*itertools.chain(*rows)])), set(rows)
        kept = []
        for words in self._word_lists:
            runs = word_runs(words)
            shared = sum(map(known.__contains__, runs))
            kept.append(shared >= _MATCH_SHARE * len(runs) if runs else tuple(words) in lines)
        return kept

    def _kept_prose_share(self, kept: Sequence[bool]) -> float:
        """The share of the page's prose that is kept, from 0 to 1."""
        rows = zip(self._words, self._prose, kept, strict=True)
        prose = [(count, keep) for count, is_prose, keep in rows if is_prose]
        total = sum(count for count, _ in prose)
        return sum(count for count, keep in prose if keep) / total if total else 1.0

    def _keep_gaps(self, kept: list[bool]) -> None:
        """Keep the blocks between two kept blocks if their container also has kept blocks."""
        places = [n for n, keep in enumerate(kept) if keep]
        parents = {_container(self._blocks[n]) for n in places}
        most = _GAP_SHARE * sum(self._words[n] for n in places)
        for before, after in itertools.pairwise(places):
            if sum(self._words[before + 1 : after]) <= most:
                for n in range(before + 1, after):
                    block = self._blocks[n]
                    kept[n] = not block.is_linky and _container(block) in parents

    def _keep_panels(self, kept: list[bool]) -> None:
        """Keep the text that the user can unfold, and its label."""
        for n, block in enumerate(self._blocks):
            if block.folded and not block.is_linky:
                kept[n] = True
                if n and _is_panel_label(self._blocks[n - 1]):
                    kept[n - 1] = True

    def _keep_opening(self, kept: list[bool]) -> None:
        """Keep the blocks between headline and body.

        For a declared article, only a few paragraphs of summary are kept; for any other page, all
        lines are, such as the time and place of an event or the specifications of a product.
        """
        first = next((n for n, keep in enumerate(kept) if keep and self._prose[n]), 0)
        heads = [n for n, b in enumerate(self._blocks[:first]) if b.level == 1 or self._is_title(b)]
        opening = list(range(heads[-1] + 1, first)) if heads else []
        if self._declared:
            opening = [n for n in opening if self._is_summary(n)]
        if len(opening) <= (_MAX_SUMMARY_PARAGRAPHS if self._declared else _MAX_INTRODUCTION_LINES):
            for n in opening:
                kept[n] = not self._blocks[n].is_linky

    def _keep_photo_story(self, kept: list[bool]) -> None:
        """Keep captions if they have over half as many words as the text (on 1 of 15 pages)."""
        captions = [n for n, b in enumerate(self._blocks) if _is_caption(b) and not b.is_linky]
        words = sum(self._words[n] for n in captions)
        text = sum(self._words[n] for n, keep in enumerate(kept) if keep and n not in captions)
        self._is_photo_story = words > MAJORITY * text
        for n in captions if self._is_photo_story else ():
            kept[n] = True

    def _trim(self, kept: list[bool]) -> None:
        """Drop blocks that are not part of the body; keep short lines that are next to it."""
        places = [n for n, keep in enumerate(kept) if keep]
        first = next((n for n in places if self._prose[n]), len(kept))
        last = max((n for n in places if self._is_content(n)), default=len(kept))
        for n in reversed(places):
            heads_list = n > last and kept[n + 1 : n + 2] == [True] and self._heads_list(n)
            kept[n] = heads_list or self._lines[n] or not self._is_outside_body(n, first, last)
        self._keep_edges(kept)

    def _keep_edges(self, kept: list[bool]) -> None:
        """Keep blocks that are next to the first or last paragraph and in the same element.

        These are short lines, formulas, addresses and facts, which trafilatura misses.
        """
        prose = [n for n, keep in enumerate(kept) if keep and self._prose[n]]
        homes = {_container(self._blocks[n]) for n in prose}
        for start, step in ((prose[0], -1), (prose[-1], 1)) if len(prose) > 1 else ():
            n = start + step
            while 0 <= n < len(kept) and (kept[n] or self._is_edge(n, homes, below=step > 0)):
                kept[n] = True
                n += step

    def _keep_lists(self, kept: list[bool]) -> None:
        """Keep code, and lists and tables among the paragraphs, if a page declares no article.

        Examples are a recipe's ingredients, the versions in a changelog and the stages of a walk,
        which trafilatura drops if their lines are short. Short lines in a box without links, such
        as `Prep time 15 mins`, are kept, too. Code is kept wherever it is.
        """
        prose = [n for n, keep in enumerate(kept) if keep and self._prose[n]]
        homes = {_container(self._blocks[n]) for n in prose if self._blocks[n].kind == "paragraph"}
        linked = {_container(block) for block in self._blocks if block.link_chars}
        for n, block in enumerate(self._blocks):
            box = _container(block)
            is_row = not (box in linked or self._prose[n] or _is_caption(block))
            if (
                block.kind == "code"
                or (block.is_data and not block.is_linky and box in homes)
                or (is_row and box is not None and box.getparent() in homes)
            ):
                kept[n] = True

    def _keep_scattered_prose(self, kept: list[bool]) -> None:
        """Keep all prose if no box, or box of boxes, contains most of it, as on a product page.

        On 19 unseen pages of shops, services and forums, word F1 rises from .767 to .773 (on
        services, from .756 to .789). F1 on articles does not change.
        """
        words: Counter[etree._Element | None] = Counter()
        for n, block in enumerate(self._blocks):
            if kept[n] and self._prose[n] and (box := _container(block)) is not None:
                words[box] += block.words
                words[box.getparent()] += block.words
        if max(words.values(), default=0) < MAJORITY * words.total() / 2:  # each counts twice
            for n, block in enumerate(self._blocks):
                kept[n] = kept[n] or (self._prose[n] and block.kind != "heading")

    def _is_edge(
        self, place: int, homes: Collection[etree._Element | None], *, below: bool
    ) -> bool:
        block = self._blocks[place]
        is_signature = below and "\n" in block.text  # place and date, office and name
        return (
            (block.kind in EDGE_KINDS or _is_labelled(block))
            and _container(block) in homes
            and not (block.link_chars or self._is_title(block) or _is_caption(block))
            and (is_signature or not self._is_byline(place))
        )

    def _is_outside_body(self, place: int, first: int, last: int) -> bool:
        """Whether a block is a headline, byline, caption, navigation, or below the body."""
        block = self._blocks[place]
        return (
            self._is_title(block)
            or (place <= first and (block.level == 1 or self._is_byline(place)))
            or (place > last and block.kind not in {"table", "code", "item"})
            or (
                block.kind not in _NEVER_CAPTIONS
                and (
                    (_is_caption(block) and not self._is_photo_story)
                    or block.link_density > _LINK_SHARE
                )
            )
        )

    def _heads_list(self, place: int) -> bool:
        block, below = self._blocks[place : place + 2]
        return block.kind == "heading" and not block.is_linky and below.is_data

    def _is_title(self, block: Block) -> bool:
        return block.kind in {"heading", "paragraph"} and same_words(block.text, self._title)

    def _is_summary(self, place: int) -> bool:
        block = self._blocks[place]
        plain = block.kind == "paragraph" and self._prose[place]
        return plain and not (self._is_byline(place) or _is_caption(block))

    def _is_byline(self, place: int) -> bool:
        """Whether a line names the Document's author or contains a date, and is not a sentence."""
        block, before = self._blocks[place], max(0, place - 1)
        if block.kind not in {"paragraph", "item"} or _is_sentence(block.text):
            return False
        # A date directly below a label is an event's date.
        labelled = (
            self._blocks[before].kind == "paragraph" and self._words[before] <= _MAX_LABEL_WORDS
        )
        if labelled or self._words[place] > _MAX_BYLINE_WORDS:
            return False
        text = block.text.casefold()
        return any(name in text for name in self._authors) or date_within(text) is not None

    def _is_content(self, place: int) -> bool:
        block = self._blocks[place]
        return self._prose[place] or (not block.is_linky and _is_sentence(block.text))


def _is_caption(block: Block) -> bool:
    """Whether a line is the caption or credit of a picture, by its element or class (.0014)."""
    if block.kind == "caption" or block.node.tag == "figure":
        return True
    boxes = (block.node, block.node.getparent())
    names = " ".join(box.get("class") or "" for box in boxes if box is not None).lower()
    return "caption" in names or "credit" in names


def _is_panel_label(block: Block) -> bool:
    """Whether a line is the label of the panel below it."""
    node = block.node
    near = (*itertools.islice(node.iterancestors(), 4), *itertools.islice(node.iter(), 8))
    return (
        node.tag == "summary"
        or any(e.get(LABEL_MARK) is not None for e in near)
        or ((before := node.getprevious()) is not None and before.get(LABEL_MARK) is not None)
    )


def _is_labelled(block: Block) -> bool:
    """Whether an item consists of a name and its value: `Age: 200`."""
    name, colon, value = block.text.partition(": ")
    return block.kind == "item" and bool(colon and value) and count_words(name) <= _MAX_LABEL_WORDS


def _is_sentence(text: str) -> bool:
    return text.endswith(":") or ends_sentence(text)


def _container(block: Block) -> etree._Element | None:
    """The element around a block; for list entries, the element around the list."""
    for node in block.node.iterancestors():
        if node.tag not in _LIST_TAGS:
            return node
    return None
