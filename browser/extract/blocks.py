"""One walk over a page: what a person sees, as blocks in reading order; and blocks as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from lxml import etree

from browser.extract.formulas import formula_of
from browser.extract.regions import Regions
from browser.extract.tree import raw_text
from browser.net.url import join
from browser.text.words import FOLDED, clean, count_words
from browser.types import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    CellText = Callable[[etree._Element], str]  # noqa: SLF001 - lxml names its public type so

SILENT = frozenset(
    """script style noscript template head iframe frame svg canvas object embed audio video map
    input select datalist textarea meter progress button annotation annotation-xml rp rt optgroup
    option noembed noframes applet""".split()
)
BLOCKS = frozenset(
    """address article aside blockquote body caption center dd details dialog dir div dl dt
    fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend
    li main menu nav ol p pre search section summary table tbody tfoot thead td th tr ul
    template""".split()
)
LINKY: Final = 0.5
"""A share of links above which a text is navigation."""
PROSE_WORDS: Final = 10
"""Prose begins at so many words; what is shorter is a label."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_KINDS = {
    **dict.fromkeys(_HEADINGS, "heading"), "li": "item", "pre": "code", "blockquote": "quote",
    "figcaption": "caption", "dt": "term", "dd": "detail", "listing": "code",
}  # fmt: skip
_REFERENCE = re.compile(
    r"\s*(?:[\[(]?\s*(?:\d{1,3}|[a-z]|[*†‡§]+)\s*[\])]?[,\s]*)+|\s*\[[^\]]{1,24}\]\s*"
)
# What may be a formula; `sup` with a number is a power, unlike a reference or an ordinal.
_DRAWN = frozenset(("math", "mjx-container", "img"))
_POWER = frozenset("0123456789+-−–nxk")
# Elements that set their children side by side; and letters set apart within a word are shorter.
_ROWS = frozenset("div header footer nav section article aside main li ul form".split())
_SHORTEST_PIECE = 3
# Stands for <br>. Pages cannot bring it: the parser drops NUL.
_BREAK = "\x00"
_BLANK = f" \t\r\n\f\xa0{_BREAK}"
_EMPHASIS = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`", "del": "~~"}
# Links beyond these keep their relative address: an index of more is not read as Markdown.
_MOST_LINKS = 10_000
_FOLDS = frozenset(("details", "summary"))
_PERMALINKS = frozenset(
    ("headerlink", "anchor", "anchorjs-link", "heading-anchor", "permalink", "hash-link")
)


@dataclass(slots=True)
class Block:
    """One paragraph, heading, list item, code block or table.

    `kind` is paragraph, heading, item, item-rest, code, quote, caption, term, detail or table;
    `region` numbers the part of the page it stands in (see Regions), -1 for none; `level` is the
    heading's; `link_chars` counts the characters that are links; `folded` is what nobody sees
    before it is unfolded, which the text says.
    """

    kind: str
    text: str
    markdown: str
    node: etree._Element
    region: int = -1
    level: int = 0
    link_chars: int = 0
    table: Table | None = None
    folded: bool = False

    @property
    def link_density(self) -> float:
        """The share of the text that is links, 0 to 1."""
        return self.link_chars / max(1, len(self.text))

    @property
    def is_linky(self) -> bool:
        """Whether it is navigation rather than prose, by its links."""
        return self.link_density > LINKY

    @property
    def is_prose(self) -> bool:
        """Whether it has the length of prose, and few links."""
        return not self.is_linky and count_words(self.text) >= PROSE_WORDS


@dataclass(slots=True)
class Walk:
    """What one walk found: the blocks, and the regions that they stand in."""

    blocks: list[Block]
    regions: Regions


def walk(root: etree._Element, base: str) -> Walk:
    """Cut a page into blocks; scripts, form controls and reference marks are left out."""
    return _Walker(base).run(root)


class _Piece(NamedTuple):
    """A paragraph: as plain text, as Markdown, and how many of its characters are links."""

    text: str
    markdown: str
    link_chars: int


class _Inline:
    """Gathers text nodes until a block ends; `take` gives the paragraphs and starts anew."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._text: list[str] = []
        self._markdown: list[str] = []
        self._links: list[str] = []
        self._link_chars = 0
        self._joined = 0
        self._spans: list[tuple[str, str, int]] = []

    def add(self, text: str | None) -> None:
        """Add a text node."""
        if not text:
            return
        self._text.append(text)
        self._markdown.append(text)
        if self._links:
            self._link_chars += len(text.strip())

    def line_break(self) -> None:
        """Add a <br>; two in a row part paragraphs."""
        self._text.append(_BREAK)
        self._markdown.append(_BREAK)

    def open(self, tag: str, href: str | None) -> None:
        """Enter an inline element."""
        mark = "[" if tag == "a" and href is not None else _EMPHASIS.get(tag, "")
        if mark:
            self._spans.append((mark, href or "", len(self._markdown)))
            self._markdown.append("")
            if mark == "[":
                self._links.append(href or "")

    def close(self, tag: str, href: str | None) -> None:
        """Leave an inline element."""
        mark = "[" if tag == "a" and href is not None else _EMPHASIS.get(tag, "")
        if mark and self._spans and self._spans[-1][0] == mark:
            span = self._spans.pop()
            if mark == "[":
                self._links.pop()
            elif self._spans and self._spans[-1][0] == mark:
                return  # bold within bold
            self._mark(*span)

    def _mark(self, mark: str, href: str, start: int) -> None:
        """Set marks around what came since `start`, blanks outside of them; none around nothing."""
        pieces, after = self._markdown, ""
        while len(pieces) > start + 1 and not pieces[-1].strip(_BLANK):
            after = pieces.pop() + after
        if len(pieces) == start + 1:
            pieces[start] = after
            return
        before, first = "", start + 1
        while not pieces[first].strip(_BLANK):
            before += pieces[first]
            pieces[first] = ""
            first += 1
        inner = pieces[first].lstrip(_BLANK)
        before += pieces[first][: len(pieces[first]) - len(inner)]
        pieces[first] = inner
        last = pieces[-1].rstrip(_BLANK)
        after = pieces[-1][len(last) :] + after
        pieces[-1] = last
        closing = mark
        if mark == "[":
            self._joined += 1
            target = join(self._base, href) if self._joined <= _MOST_LINKS else href
            if target.lower().startswith("javascript:"):
                mark = closing = ""
            else:
                closing = f"]({target or href})"
        elif start and not before and pieces[start - 1] == mark:  # bold right behind bold
            pieces[start - 1] = mark = ""
        pieces[start] = before + mark
        pieces.append(closing + after)

    def take(self, *, verbatim: bool = False) -> list[_Piece]:
        """Hand over the paragraphs gathered so far. `verbatim` keeps whitespace, as <pre> does."""
        for span in reversed(self._spans):  # what spans paragraphs is marked in each
            self._mark(*span)
        text, markdown, links = "".join(self._text), "".join(self._markdown), self._link_chars
        self._text, self._markdown, self._link_chars = [], [""] * len(self._spans), 0
        self._spans = [(mark, href, n) for n, (mark, href, _) in enumerate(self._spans)]
        if not text or text.isspace():
            return []
        if verbatim:
            code = clean(text.replace(_BREAK, "\n")).strip("\n").rstrip()
            return [_Piece(code, code, links)] if code.strip() else []
        texts, markdowns = _paragraphs(text), _paragraphs(markdown)
        if len(texts) != len(markdowns):  # a mark stood alone between two breaks
            markdowns = texts
        share = links / max(1, sum(map(len, texts)))
        return [_Piece(t, m, round(share * len(t))) for t, m in zip(texts, markdowns, strict=True)]


def _paragraphs(raw: str) -> list[str]:
    if _BREAK not in raw:
        text = clean(" ".join(raw.split()))
        return [text] if text else []
    found: list[list[str]] = [[]]
    for line in raw.split(_BREAK):
        text = clean(" ".join(line.split()))
        if text:
            found[-1].append(text)
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]


class _Walker:
    def __init__(self, base: str) -> None:
        self._base = base
        self._inline = _Inline(base)
        self._blocks: list[Block] = []
        self._regions = Regions()
        self._kinds: list[tuple[str, etree._Element]] = []
        self._folds = [False]

    def run(self, root: etree._Element) -> Walk:
        self._kinds.append(("paragraph", root))
        walker = etree.iterwalk(root, events=("start", "end"))
        skipped = None
        for event, node in walker:
            if event == "start":
                if self._start(node):
                    continue
                skipped = node
                walker.skip_subtree()
            else:
                if node is not skipped:
                    self._end(node)
                if node is not root:
                    self._inline.add(node.tail)
        self._flush(root)
        return Walk(self._blocks, self._regions)

    def _start(self, node: etree._Element) -> bool:
        """Enter an element; false where nothing in it is to be read."""
        tag = node.tag
        if tag == "br":
            self._inline.line_break()
            return True
        if tag in SILENT and not _is_open(node):
            return False
        if (tag in _DRAWN or tag == "span") and (drawn := formula_of(node)) is not None:
            self._inline.add(drawn)
            return False
        if tag in BLOCKS:
            return self._start_block(node, tag)
        if tag in {"sup", "a", "span"} and _is_mark(node):
            return False
        if _stands_apart(node):
            self._inline.add(" ")
        self._inline.open(tag, node.get("href"))
        if tag == "sup" and _is_power(node):
            self._inline.add("^")
        self._inline.add(node.text)
        return True

    def _start_block(self, node: etree._Element, tag: str) -> bool:
        self._flush(node)
        self._regions.enter(node)
        if tag == "table" and is_data_table(node):
            self._add_table(node)
            self._regions.leave(node)
            return False
        if tag in _KINDS:
            self._kinds.append((_KINDS[tag], node))
        if tag in _FOLDS:
            closed = tag == "details" and node.get("open") is None
            self._folds.append(closed or self._folds[-2:][0 if tag == "summary" else -1])
        self._inline.add(node.text)
        return True

    def _end(self, node: etree._Element) -> None:
        tag = node.tag
        if tag not in BLOCKS:
            if tag != "br":
                self._inline.close(tag, node.get("href"))
            return
        self._flush(node)
        if tag in _KINDS and len(self._kinds) > 1:
            self._kinds.pop()
        if tag in _FOLDS:
            self._folds.pop()
        self._regions.leave(node)

    def _flush(self, node: etree._Element) -> None:
        kind, owner = self._kinds[-1]
        for piece in self._inline.take(verbatim=kind == "code"):
            block = Block(kind, piece.text, piece.markdown, owner if kind != "paragraph" else node)
            block.link_chars = piece.link_chars
            block.level = _HEADINGS.get(owner.tag, 0) if kind == "heading" else 0
            self._append(block)
            if kind == "item":
                kind = "item-rest"
                self._kinds[-1] = (kind, owner)

    def _append(self, block: Block) -> None:
        block.region = self._regions.current
        block.folded = self._folds[-1]
        self._regions.count(len(block.text))
        self._blocks.append(block)

    def _add_table(self, node: etree._Element) -> None:
        table = read_table(node, self._cell_text)
        if table.rows:
            text = (
                _fact_lines(table) if _holds_facts(node) else table_text(table, ruled=table.header)
            )
            self._append(Block("table", text, table_markdown(table), node, table=table))

    def _cell_text(self, cell: etree._Element) -> str:
        if len(cell) == 0:  # most cells of large tables hold nothing but text
            return clean(" ".join((cell.text or "").split()))
        blocks = _Walker(self._base).run(cell).blocks
        return " ".join(" ".join(block.text.split()) for block in blocks)


def _is_power(node: etree._Element) -> bool:
    """Whether a superscript is an exponent, that the text would run together with its base."""
    before, parent = node.getprevious(), node.getparent()
    base = before.tail if before is not None else parent.text if parent is not None else ""
    text = raw_text(node).strip()
    return bool(text) and _POWER.issuperset(text) and (base or "")[-1:].isalnum()


def _stands_apart(node: etree._Element) -> bool:
    """Whether an inline element is one of a row of its own: style sets those apart, not spaces."""
    previous, parent = node.getprevious(), node.getparent()
    if previous is None or parent is None or parent.tag not in _ROWS:
        return False
    if previous.tag in BLOCKS or (previous.tail and not previous.tail.isspace()):
        return False
    return min(len(raw_text(previous).strip()), len(raw_text(node).strip())) >= _SHORTEST_PIECE


def _is_open(node: etree._Element) -> bool:
    """Declarative shadow roots are read, and buttons that carry a heading or head a column."""
    if node.tag == "template":
        return node.get("shadowrootmode") in {"open", "closed"}
    if node.tag == "button":
        parent = node.getparent()
        return parent is not None and (parent.tag in _HEADINGS or parent.tag in {"summary", "th"})
    return False


def _is_mark(node: etree._Element) -> bool:
    """Reference numbers, edit links, permalink signs, skip links: no words of the text."""
    names = (node.get("class") or "").split()
    if node.tag == "span":
        return "mw-editsection" in names
    if node.tag == "a":
        if (node.get("href") or "").startswith("#") and "skip" in (node.get("class") or "").lower():
            return True
        return not _PERMALINKS.isdisjoint(names) and len(raw_text(node).strip()) <= 2
    if not _REFERENCE.fullmatch(raw_text(node)):
        return False
    link = next(node.iterdescendants("a"), None)
    return "reference" in names or (link is not None and "#" in (link.get("href") or ""))


_LIST_ITEMS = frozenset(("item", "item-rest"))
_GLOSSARY = frozenset(("term", "detail"))


def render_text(blocks: Sequence[Block]) -> str:
    """Join blocks by blank lines; the items of a list, and a term and its details, by newlines."""
    return _join(blocks, (_with_prefix(block, block.text) for block in blocks))


def render_markdown(blocks: Sequence[Block]) -> str:
    """Join blocks as Markdown, with emphasis, links and code fences."""
    return _join(blocks, (_as_markdown(block) for block in blocks))


def _join(blocks: Sequence[Block], texts: Iterable[str]) -> str:
    parts: list[str] = []
    previous: Block | None = None
    for block, text in zip(blocks, texts, strict=True):
        if previous is not None and previous.kind == "term" and block.kind == "detail":
            parts.append(" " if parts[-1].endswith((":", "?", ".")) else ": ")
        elif previous is not None:
            parts.append("\n" if _belongs(previous, block) else "\n\n")
        parts.append(text)
        previous = block
    return "".join(parts)


def _belongs(previous: Block, block: Block) -> bool:
    if block.kind == "detail":
        return previous.kind in _GLOSSARY
    return block.kind in _LIST_ITEMS and previous.kind in _LIST_ITEMS


def _with_prefix(block: Block, text: str) -> str:
    text = FOLDED * block.folded + text
    if block.kind == "heading":
        return f"{'#' * block.level} {' '.join(text.split())}"
    if block.kind == "item":
        return f"- {text}"
    return f"  {text}" if block.kind == "item-rest" else text


def _as_markdown(block: Block) -> str:
    if block.kind == "code":
        return f"{FOLDED * block.folded}```\n{block.markdown}\n```"
    if block.kind == "quote":
        return "\n".join(f"> {line}" for line in block.markdown.split("\n"))
    return _with_prefix(block, block.markdown)


# Longer cells are columns of a page, not values.
_LONGEST_CELL = 1_500
# Spans are page-controlled: HTML itself allows 1000 columns.
_LARGEST_SPAN = 100


def is_data_table(node: etree._Element) -> bool:
    """Tell by structure: header cells or a regular grid, and no table, rule or heading within."""
    if (
        node.get("role") in {"presentation", "none"}
        or next(node.iterdescendants("table", "form", "hr", "blockquote"), None) is not None
    ):
        return False
    rows = list(node.iter("tr"))
    wide = sum(1 for row in rows if len(_cells(row)) > 1)
    if wide == 0 or next(node.iterdescendants("h1", "h2", "article"), None) is not None:
        return False
    if next(node.iterdescendants("th", "caption"), None) is not None:
        return True
    longest = max(len(raw_text(cell)) for row in rows for cell in _cells(row))
    return wide > 1 and longest <= _LONGEST_CELL


def read_table(node: etree._Element, cell_text: CellText) -> Table:
    """Read the rows; a cell that spans rows is repeated in each of them, as a reader takes it."""
    caption = next(node.iterchildren("caption"), None)
    rows = [row for row in _grid(node, cell_text) if any(row)]
    width = max((len(row) for row in rows), default=0)
    return Table(
        rows=tuple(tuple(row + [""] * (width - len(row))) for row in rows),
        caption=cell_text(caption) if caption is not None else "",
        header=_has_header(node),
    )


def table_text(table: Table, *, ruled: bool = False) -> str:
    """The table as saved text: its caption, then `| a | b |` rows.

    `ruled` sets a rule below the first: by it a reader knows that it names the columns.
    """
    rows = [_row(row) for row in table.rows]
    rule = [_row(["---"] * len(table.rows[0]))] if ruled and len(rows) > 1 else []
    return "\n".join([*([table.caption] if table.caption else []), *rows[:1], *rule, *rows[1:]])


def _fact_lines(table: Table) -> str:
    """Rows of a name and a value as `- First lit: 1 November 1829`; what stands alone as a line."""
    rows = ([cell for cell in row if cell] for row in table.rows)
    lines = (f"- {cells[0].rstrip(' :')}: {cells[1]}" if len(cells) > 1 else cells[0]
             for cells in rows)  # fmt: skip
    return "\n".join([*([table.caption] if table.caption else []), *lines])


def table_markdown(table: Table) -> str:
    """The table in Markdown proper, with the rule below the header."""
    rows = [_row(cell.replace("|", "\\|") for cell in row) for row in table.rows]
    width = len(table.rows[0]) if table.rows else 0
    rule = _row(["---"] * width)
    lines = [rows[0], rule, *rows[1:]] if table.header else [_row([""] * width), rule, *rows]
    return "\n".join(([f"{table.caption}\n"] if table.caption else []) + lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: etree._Element) -> list[etree._Element]:
    return [cell for cell in row if cell.tag in {"td", "th"}]


def _has_header(node: etree._Element) -> bool:
    """Whether the first row names the columns; its corner may be empty."""
    cells = next(([*_cells(row)] for row in node.iter("tr")), [])
    names = [cell for cell in cells if cell.tag == "th"]
    others = (raw_text(cell).strip() for cell in cells[:1] if cell.tag == "td")
    return len(names) > 1 and not any(others) and len(names) >= len(cells) - 1


def _holds_facts(node: etree._Element) -> bool:
    """Whether the rows are a name and its value each, but for titles that stand alone."""
    rows = [[cell.tag for cell in _cells(row)] for row in node.iter("tr")]
    pairs = rows.count(["th", "td"])
    return pairs > 1 and all(len(row) < 2 or row == ["th", "td"] for row in rows)


def _grid(node: etree._Element, cell_text: CellText) -> list[list[str]]:
    rows: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}
    for row in node.iter("tr"):
        filled: list[str] = []
        for cell in _cells(row):
            _fill(filled, pending)
            text, across, down = cell_text(cell), _span(cell, "colspan"), _span(cell, "rowspan")
            for extra in range(across):
                value = text if extra == 0 else ""
                if down > 1:
                    pending[len(filled)] = (down - 1, value)
                filled.append(value)
        _fill(filled, pending)
        rows.append(filled)
    return rows


def _fill(filled: list[str], pending: dict[int, tuple[int, str]]) -> None:
    while len(filled) in pending:
        left, text = pending.pop(len(filled))
        if left > 1:
            pending[len(filled)] = (left - 1, text)
        filled.append(text)


def _span(cell: etree._Element, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return max(1, min(int(value), _LARGEST_SPAN)) if value.isdecimal() else 1
