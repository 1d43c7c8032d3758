"""Splits a page into blocks in reading order, and renders blocks as text or Markdown."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from browser.extract.formulas import formula_of
from browser.extract.regions import Regions
from browser.extract.tables import (
    fact_lines,
    is_data_table,
    is_name_value_table,
    read_table,
    table_markdown,
    table_text,
)
from browser.extract.tree import BLOCK_TAGS, FOLDED_MARK, LABEL_MARK, raw_text, text_content
from browser.net.url import join
from browser.text.words import FOLDED, clean, count_words, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from browser.extract.regions import Region
    from browser.extract.weighing import ContentWeigher
    from browser.types import Table

_SKIPPED_TAGS = frozenset(
    """script style noscript template head iframe frame svg canvas object embed audio video map
    input select datalist textarea meter progress button annotation annotation-xml rp rt optgroup
    option noembed noframes applet""".split()
)
# A block in which links make up a larger share of the text is navigation.
_NAVIGATION_SHARE = 0.5
# Blocks with fewer words are labels, not prose.
_PROSE_WORDS = 10
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_KIND_BY_TAG = {
    **dict.fromkeys(_HEADINGS, "heading"), "li": "item", "pre": "code", "blockquote": "quote",
    "figcaption": "caption", "dt": "term", "dd": "detail", "listing": "code",
}  # fmt: skip
# Forum software also builds quotes from other elements.
_QUOTE_TAGS = frozenset(("div", "td", "table", "fieldset", "section", "dl"))
_QUOTE_CLASS = re.compile(
    r"(?:\w+[-_])?(?:block)?quote[-_]?"
    r"(?:top|main|title|head|header|content|body|text|box|block|container|wrap|wrapper)?",
    re.IGNORECASE,
)
_DATA_KINDS = frozenset("item item-rest term detail table code".split())
_REFERENCE = re.compile(
    r"\s*(?:[\[(]?\s*(?:\d{1,3}|[a-z]|[*†‡§]+)\s*[\])]?[,\s]*)+|\s*\[[^\]]{1,24}\]\s*"
)
# Elements that may be formulas. A superscript that consists of the following characters is an
# exponent, not a reference mark or the ending of an ordinal.
_FORMULA_TAGS = frozenset(("math", "mjx-container", "img", "span"))
_EXPONENT_CHARS = frozenset("0123456789+-−–nxk")
# Elements whose children CSS may place side by side. Children with less text than this are letters
# of one word.
_ROW_TAGS = frozenset("div header footer nav section article aside main li ul form".split())
_MIN_SIBLING_CHARS = 3
# The name of an icon, such as `home_icon`, which a font displays as the icon.
_ICON = re.compile(r"[a-z][a-z0-9_]*")
_ICON_FONTS = ("material-icons", "material-symbols", "mat-icon")
# Maximum depth of a heading's link to itself within the heading.
_MAX_ANCHOR_DEPTH = 4
_FOLD_TAGS = frozenset(("details", "summary"))
_MARK_TAGS = frozenset(("sup", "a", "span", "i"))
_PERMALINKS = frozenset(
    ("headerlink", "anchor", "anchorjs-link", "heading-anchor", "permalink", "hash-link")
)


@dataclass(slots=True)
class Block:
    """One paragraph, heading, list item, code block or table.

    `kind` is paragraph, heading, item, item-rest, code, quote, caption, term, detail, table, or
    unquoted (an image or struck-out text, which only `markdown` contains). `source` is the
    Markdown, or a function that composes it only when needed, as most of a page's blocks are left
    out. `level` is the heading level, `words` the number of words, and `link_chars` the number of
    characters in links. `folded` marks text in a collapsed part of the page. `frame` is the
    outermost element around the block that is not part of the page's content, such as a footer.
    """

    kind: str
    text: str
    source: str | Callable[[], list[str]]
    node: etree._Element
    level: int = 0
    link_chars: int = 0
    table: Table | None = None
    folded: bool = False
    frame: etree._Element | None = None
    words: int = field(init=False)

    def __post_init__(self) -> None:
        """Count the words once, because every step needs the number."""
        self.words = count_words(self.text)

    @property
    def markdown(self) -> str:
        """The text as Markdown, with emphasis and links."""
        return self.source if isinstance(self.source, str) else self.source()[0]

    @property
    def link_density(self) -> float:
        """The share of the text that is in links, from 0 to 1."""
        return self.link_chars / max(1, len(self.text))

    @property
    def is_linky(self) -> bool:
        """Whether the block has so many links that it is navigation, not prose."""
        return self.link_density > _NAVIGATION_SHARE

    @property
    def is_prose(self) -> bool:
        """Whether the block is long enough to be prose and has few links."""
        return self.words >= _PROSE_WORDS and not self.is_linky

    @property
    def is_data(self) -> bool:
        """Whether the block is part of a list, a table or code, all of which have short lines."""
        return self.kind in _DATA_KINDS


def walk(root: etree._Element, base: str, weigher: ContentWeigher | None = None) -> list[Block]:
    """Split a page into blocks; scripts, form controls and reference markers are left out.

    With a `weigher`, a part that contains the page's body is never treated as a frame, and text
    that cannot be quoted is included: images with alt text, and struck-out text.
    """
    return _Walker(base, weigher).run(root)


# In the collected text, `\0+**\0` starts bold text, `\0-**\0` ends it, and `[3` is a link to the
# address with index 3. Pages cannot contain NUL characters: the parser drops them.
_MARKDOWN_PLACEHOLDER = re.compile("\0([+-])([^\0]*)\0")
_LINE_BREAK = "\u2028"
_EMPHASIS = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`",
    **dict.fromkeys(("del", "s", "strike"), "~~"),
}  # fmt: skip
# Struck-out text is no longer valid, such as an old price or a mistake.
_STRUCK = re.compile("\0\\+~~\0.*?\0-~~\0", re.DOTALL)
# Links beyond this number keep their relative addresses: nobody reads such an index as Markdown.
_MAX_LINKS = 10_000


class _Paragraph(NamedTuple):
    """A paragraph as plain text and as Markdown, with the number of characters in links."""

    text: str
    source: str | Callable[[], list[str]]
    link_chars: int


class _Inline:
    """Collects the text nodes of a block; `take` returns its paragraphs and starts the next one."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._parts: list[str] = []
        self._open: list[str] = []
        self._targets: list[str] = []
        self._link: etree._Element | None = None
        self._link_chars = 0
        self.has_text = False

    def add(self, text: str | None) -> None:
        """Add a text node or a line break; two breaks in a row separate paragraphs."""
        if text:
            self._parts.append(text)
            self.has_text = self.has_text or not text.isspace()
            if self._link is not None:
                self._link_chars += len(text.strip())

    def open(self, node: etree._Element) -> None:
        """Enter an inline element."""
        mark = _EMPHASIS.get(node.tag, "")
        href = node.get("href") if node.tag == "a" and self._link is None else None
        if href is not None and not _is_own_anchor(node, href):
            mark, self._link = f"[{len(self._targets)}", node
            self._targets.append(href)
        if mark in self._open:  # nested bold is marked only once
            mark = ""
        self._open.append(mark)
        if mark:
            self._parts.append(f"\0+{mark}\0")

    def close(self, node: etree._Element) -> None:
        """Leave an inline element."""
        if node is self._link:
            self._link = None
        if mark := self._open.pop():
            self._parts.append(f"\0-{mark}\0")

    def drop_blanks(self) -> None:
        """Discard collected whitespace, which separates two blocks."""
        if self._parts:
            self._parts = [f"\0+{mark}\0" for mark in self._open if mark]

    def take(self, *, verbatim: bool = False) -> list[_Paragraph]:
        """Return the paragraphs collected so far. `verbatim` keeps whitespace, as <pre> does."""
        self.has_text = False
        # An element that spans several blocks is closed at the end of each block and then reopened.
        spanning = [mark for mark in self._open if mark]
        raw = "".join([*self._parts, *(f"\0-{mark}\0" for mark in reversed(spanning))])
        plain = _MARKDOWN_PLACEHOLDER.sub("", _STRUCK.sub("", raw)) if "\0" in raw else raw
        links, self._link_chars = self._link_chars, 0
        self._parts = [f"\0+{mark}\0" for mark in spanning]
        if not plain or plain.isspace():
            struck = one_line(self._with_marks(raw)) if "~~" in raw else ""
            return [_Paragraph("", struck, 0)] if struck else []
        if verbatim:
            code = clean(plain.replace(_LINE_BREAK, "\n")).strip("\n").rstrip()
            return [_Paragraph(code, code, links)] if code.strip() else []
        texts = _paragraphs(plain)
        is_marked = len(plain) < len(raw)
        if is_marked and len(texts) == 1:
            return [_Paragraph(texts[0], partial(self._markdowns, raw, texts), links)]
        markdowns = self._markdowns(raw, texts) if is_marked else texts
        # Links are counted for all paragraphs together; each paragraph's share depends on its
        # length.
        share = links / max(1, sum(map(len, texts)))
        return [
            _Paragraph(t, m, round(share * len(t))) for t, m in zip(texts, markdowns, strict=True)
        ]

    def _markdowns(self, raw: str, texts: list[str]) -> list[str]:
        found = _paragraphs(self._with_marks(raw))
        # If `clean` dropped the characters inside a mark, the number of paragraphs differs.
        return found if len(found) == len(texts) else texts

    def _with_marks(self, raw: str) -> str:
        """Convert the marks to Markdown.

        Spaces are moved outside marks, empty marks are dropped, and adjacent equal marks are
        joined.
        """
        out: list[str] = []
        opened: list[str] = []  # marks without content so far
        closed: list[str] = []  # marks closed directly after the last words
        blanks = ""
        parts = ["", "", *_MARKDOWN_PLACEHOLDER.split(raw)]
        for sign, mark, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            target = self._target(int(mark[1:])) if mark[:1] == "[" else ""
            if target.lower().startswith("javascript:"):
                pass
            elif sign == "+":
                opened.append(mark)
            elif mark in opened:
                opened.remove(mark)
            elif mark:
                out.append(f"]({target})" if mark[0] == "[" else mark)
                closed.append(mark)
            words = text.strip()
            if not words:
                blanks += text
                continue
            blanks += text[: len(text) - len(text.lstrip())]
            if blanks:
                out.append(blanks)
            for opening in opened:
                if closed[-1:] == [opening] and not blanks:
                    closed.pop()
                    out.pop()
                else:
                    closed = []
                    out.append("[" if opening[0] == "[" else opening)
            out.append(words)
            opened, closed, blanks = [], [], text[len(text.rstrip()) :]
        return "".join(out) + blanks

    def _target(self, place: int) -> str:
        href = self._targets[place]
        return (join(self._base, href) if place < _MAX_LINKS else href) or href


def _paragraphs(raw: str) -> list[str]:
    if _LINE_BREAK not in raw:
        text = one_line(raw)
        return [text] if text else []
    found: list[list[str]] = [[]]
    for line in raw.split(_LINE_BREAK):
        if text := one_line(line):
            found[-1].append(text)
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]


class _Walker:
    def __init__(self, base: str, weigher: ContentWeigher | None) -> None:
        self._base = base
        self._inline = _Inline(base)
        self._blocks: list[tuple[Block, Region | None]] = []
        self._regions = Regions(weigher)
        self._kinds: list[tuple[str, etree._Element]] = []
        self._folds = [False]
        self._has_unquoted = weigher is not None
        self._images: list[etree._Element] = []

    def run(self, root: etree._Element) -> list[Block]:
        self._kinds.append(("paragraph", root))
        walker = etree.iterwalk(root, events=("start", "end"))
        skipped = None
        for event, node in walker:
            if event == "end":
                if node is not skipped:
                    self._end(node)
                if node is not root and (tail := node.tail):
                    self._inline.add(tail)
            elif not self._start(node):
                skipped = node
                walker.skip_subtree()
        self._flush(root)
        for block, region in self._blocks:
            block.frame = self._regions.frame_of(region)
        return [block for block, _ in self._blocks]

    def _start(self, node: etree._Element) -> bool:
        """Enter an element; returns False if its content must be skipped."""
        tag = node.tag
        if tag in _SKIPPED_TAGS and not _has_readable_content(node):
            return False
        if tag in _FORMULA_TAGS and (drawn := formula_of(node)) is not None:
            self._inline.add(drawn)
            return False
        if tag in BLOCK_TAGS:
            return self._start_block(node)
        if tag in _MARK_TAGS and _is_mark(node):
            return False
        if tag == "img" and self._has_unquoted and (node.get("alt") or "").strip():
            self._images.append(node)
        if tag == "br":
            self._inline.add(_LINE_BREAK)
        if _is_separate_sibling(node):
            self._inline.add(" ")
        self._inline.open(node)
        if tag == "sup" and _is_exponent(node):
            self._inline.add("^")
        self._inline.add(node.text)
        return True

    def _start_block(self, node: etree._Element) -> bool:
        tag = node.tag
        self._flush(node)
        self._regions.enter(node)
        if tag == "table" and is_data_table(node):
            table = read_table(node, self._cell_text)
            if table.rows:
                facts = is_name_value_table(node)
                text = fact_lines(table) if facts else table_text(table, ruled=table.header)
                self._append(Block("table", text, table_markdown(table), node, table=table))
            self._regions.leave(node)
            return False
        if kind := _KIND_BY_TAG.get(tag) or ("quote" if _is_quote(node) else ""):
            self._kinds.append((kind, node))
        if tag == "details":
            self._folds.append(node.get("open") is None or self._folds[-1])
        elif tag == "summary":  # visible if the element around its <details> is visible
            self._folds.append(self._folds[-2:][0])
        elif node.get(FOLDED_MARK) is not None:
            self._folds.append(True)
        self._inline.add(node.text)
        return True

    def _end(self, node: etree._Element) -> None:
        tag = node.tag
        if tag not in BLOCK_TAGS:
            self._inline.close(node)
            if tag == "cite" and _opens_quote(node):
                self._inline.add(_LINE_BREAK)
            return
        self._flush(node)
        if self._kinds[-1][1] is node and len(self._kinds) > 1:
            self._kinds.pop()
        if tag in _FOLD_TAGS or node.get(FOLDED_MARK) is not None:
            self._folds.pop()
        self._regions.leave(node)

    def _flush(self, node: etree._Element) -> None:
        if not (self._inline.has_text or self._images):  # true of most elements
            self._inline.drop_blanks()
            return
        kind, owner = self._kinds[-1]
        for piece in self._inline.take(verbatim=kind == "code"):
            if not piece.text:
                self._append(Block("unquoted", "", piece.source, node))
                continue
            level = _HEADINGS.get(owner.tag, 0) if kind == "heading" else 0
            place = node if kind in {"paragraph", "item-rest"} else owner
            self._append(Block(kind, piece.text, piece.source, place, level, piece.link_chars))
            if kind == "item":
                kind = "item-rest"
                self._kinds[-1] = (kind, owner)
        for image in self._images:
            self._append(Block("unquoted", "", image_markdown(image, self._base), image))
        self._images.clear()

    def _append(self, block: Block) -> None:
        if block.kind == "unquoted" and not self._has_unquoted:
            return
        block.folded = self._folds[-1]
        self._regions.count(len(block.text), block.link_chars, is_prose=block.is_prose)
        self._blocks.append((block, self._regions.current))

    def _cell_text(self, cell: etree._Element) -> str:
        if len(cell) == 0:  # fast path: most cells in large tables contain only text
            return one_line(cell.text or "")
        return " ".join(
            FOLDED * block.folded + " ".join(block.text.split()) for block in walk(cell, self._base)
        )


def _is_quote(node: etree._Element) -> bool:
    if node.tag not in _QUOTE_TAGS or "class" not in node.keys():  # noqa: SIM118 - no mapping
        return False
    names = (node.get("class") or "").split()
    return any(map(_QUOTE_CLASS.fullmatch, names))


def _opens_quote(node: etree._Element) -> bool:
    """Whether an element is the first in a quote, such as its author, whom CSS shows on a line."""
    if node.getprevious() is not None:
        return False
    parent = node.getparent()
    while parent is not None and parent.tag == "div" and parent.getprevious() is None:
        parent = parent.getparent()
    return parent is not None and parent.tag == "blockquote"


def _is_exponent(node: etree._Element) -> bool:
    """Whether a superscript is an exponent, which would run into its base in plain text."""
    before, parent = node.getprevious(), node.getparent()
    base = before.tail if before is not None else parent.text if parent is not None else ""
    text = raw_text(node).strip()
    return bool(text) and _EXPONENT_CHARS.issuperset(text) and (base or "")[-1:].isalnum()


def _is_separate_sibling(node: etree._Element) -> bool:
    """Whether an inline element is separated from its siblings by CSS instead of spaces."""
    previous, parent = node.getprevious(), node.getparent()
    if previous is None or parent is None or parent.tag not in _ROW_TAGS:
        return False
    if previous.tag in BLOCK_TAGS or (previous.tail and not previous.tail.isspace()):
        return False
    return min(len(raw_text(previous).strip()), len(raw_text(node).strip())) >= _MIN_SIBLING_CHARS


def _has_readable_content(node: etree._Element) -> bool:
    """Whether to read an element that is usually skipped.

    These are shadow roots, and buttons in a heading, above a panel or among a sentence's words.
    """
    if node.tag == "template":
        return node.get("shadowrootmode") in {"open", "closed"}
    if node.tag == "button":
        parent = node.getparent()
        if parent is None or parent.tag in _HEADINGS or parent.tag in {"summary", "th"}:
            return parent is not None
        return node.get(LABEL_MARK) is not None or _is_in_sentence(node)
    return False


def _is_in_sentence(button: etree._Element) -> bool:
    """Whether a button is among words, such as a term with an explanation; not a reference mark."""
    text = raw_text(button).strip(" []()")
    if len(text) <= 1 or text.isdecimal():
        return False
    before = after = ""
    node = button
    while node.tag not in BLOCK_TAGS:
        previous, following, parent = node.getprevious(), node.getnext(), node.getparent()
        if parent is None:
            return False
        start = parent.text if previous is None else _inline_text(previous) + (previous.tail or "")
        end = node.tail or ("" if following is None else _inline_text(following))
        before, after = before.strip() or start or "", after.strip() or end
        node = parent
    is_sentence = node.tag == "p" or count_words(f"{before} {after}") >= _PROSE_WORDS
    return is_sentence and any(map(str.isalnum, before)) and bool(after.strip())


def _inline_text(node: etree._Element) -> str:
    is_skipped = node.tag in _SKIPPED_TAGS or node.tag in BLOCK_TAGS
    return "" if is_skipped else raw_text(node)


def _is_own_anchor(node: etree._Element, href: str) -> bool:
    """Whether a link is a heading's link to itself, or opens a panel: it is not navigation."""
    if not href.startswith("#"):
        return False
    if node.get(LABEL_MARK) is not None:
        return True
    around = (above.tag for above in itertools.islice(node.iterancestors(), _MAX_ANCHOR_DEPTH))
    return not _HEADINGS.keys().isdisjoint(around) or any(e.tag in _HEADINGS for e in node)


def image_markdown(image: etree._Element, base: str) -> str:
    """Format an image as `![alt](address "caption")`, with the caption of its figure."""
    sources = (image.get(name) or "" for name in ("src", "data-src", "data-original"))
    source = next((s.strip() for s in sources if s and not s.startswith("data:")), "")
    figure = next(image.iterancestors("figure"), None)
    caption = next(figure.iter("figcaption"), None) if figure is not None else None
    title = text_content(caption).replace('"', "'") if caption is not None else ""
    alt = clean(" ".join((image.get("alt") or "").split())).replace("[", "(").replace("]", ")")
    address = join(base, source).replace(" ", "%20") if source else ""
    return f'![{alt}]({address} "{title}")' if title else f"![{alt}]({address})"


def _is_mark(node: etree._Element) -> bool:
    """Whether an element is a reference number, edit link, permalink, skip link or icon."""
    tag, names = node.tag, (node.get("class") or "").split()
    if tag != "sup" and not names:
        return False
    if tag == "a":
        if (node.get("href") or "").startswith("#") and "skip" in (node.get("class") or "").lower():
            return True
        return not _PERMALINKS.isdisjoint(names) and len(raw_text(node).strip()) <= 2
    if tag != "sup":
        named = any(name.startswith(_ICON_FONTS) for name in names)
        is_icon = named and node.get("aria-hidden") == "true"
        is_icon = is_icon and _ICON.fullmatch(raw_text(node).strip()) is not None
        return is_icon or (tag == "span" and ("mw-editsection" in names or "editsection" in names))
    if not _REFERENCE.fullmatch(raw_text(node)):
        return False
    link = next(node.iterdescendants("a"), None)
    return "reference" in names or (link is not None and "#" in (link.get("href") or ""))


# A block of one of these kinds follows a block of the listed kinds without a blank line.
_JOINED_AFTER = {
    "item": ("item", "item-rest"), "item-rest": ("item", "item-rest"), "detail": ("term", "detail"),
}  # fmt: skip


def render_text(blocks: Sequence[Block]) -> str:
    """Join blocks with blank lines, list items with newlines, and terms and details with colons."""
    quoted = [block for block in blocks if block.kind != "unquoted"]
    return _join(quoted, (_with_prefix(block, block.text) for block in quoted))


def render_markdown(blocks: Sequence[Block]) -> str:
    """Join blocks as Markdown, with emphasis, links and code fences."""
    texts = []
    for block in blocks:
        if block.kind == "code":
            texts.append(f"{FOLDED * block.folded}```\n{block.markdown}\n```")
        elif block.kind == "quote":
            texts.append("\n".join(f"> {line}" for line in block.markdown.split("\n")))
        else:
            texts.append(_with_prefix(block, block.markdown))
    return _join(blocks, texts)


def _join(blocks: Sequence[Block], texts: Iterable[str]) -> str:
    parts: list[str] = []
    before = ""
    for block, text in zip(blocks, texts, strict=True):
        if before == "term" and block.kind == "detail":
            parts.append(" " if parts[-1].endswith((":", "?", ".")) else ": ")
        elif before:
            parts.append("\n" if before in _JOINED_AFTER.get(block.kind, ()) else "\n\n")
        parts.append(text)
        before = block.kind
    return "".join(parts)


def _with_prefix(block: Block, text: str) -> str:
    text = FOLDED * block.folded + text
    if block.kind == "heading":
        return f"{'#' * block.level} {' '.join(text.split())}"
    return {"item": "- ", "item-rest": "  "}.get(block.kind, "") + text
