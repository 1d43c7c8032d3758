"""What changed on a page, in passages: its blocks, the noise among them, and the difference.

A block is the text of one element (a paragraph, a row, an item), named by the tags and classes
above it. Which blocks are noise is not known from words: it is what differed between reads that
were made one after the other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from lxml.cssselect import CSSSelector, SelectorError
from lxml.etree import XPathError

from agent.errors import UsageError
from browser.extract.hidden import strip_hidden
from browser.extract.tree import parse_html
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lxml import etree

_INLINE: Final = frozenset(
    "a abbr b bdi bdo big br cite code data del dfn em font i img ins kbd label mark meter output "
    "q s samp small span strong sub sup time tt u var wbr td th".split()
)
"""Elements whose text belongs to what is around them; a table is told row by row."""
_UNREAD: Final = frozenset("script style template noscript svg math head iframe object".split())
_HEADING: Final = re.compile(r"h[1-6]")
_NUMBER: Final = re.compile(r"\d[\d.,:]*")
_CELLS: Final = frozenset({"td", "th"})


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A text of a page: `path` is the tags and classes above it, `heading` what it stands under."""

    path: str
    text: str
    heading: str = ""

    @property
    def form(self) -> str:
        """The text without its figures."""
        return _NUMBER.sub("#", self.text)


@dataclass(frozen=True, slots=True)
class Change:
    """What was there, and what is there now; one of them is empty where text came or went."""

    before: str
    after: str
    heading: str = ""

    def told(self) -> str:
        """Write it as a diff."""
        lines = [f"@ {self.heading}"] if self.heading else []
        lines += [f"- {self.before}"] if self.before else []
        return "\n".join([*lines, *([f"+ {self.after}"] if self.after else [])])


Noise = frozenset[tuple[str, str]]
"""Blocks that differ by themselves: their path, and the form (`""` for whatever stands there) or,
with a tab before it, the text of the block above."""


def blocks_of(body: bytes, content_type: str, css: str = "", words: str = "") -> list[PageBlock]:
    """Read a page as blocks: of the elements that `css` selects, or with `words` in or above them.

    Raises `UsageError` for a selector that is none.
    """
    root = parse_html(body, content_type)
    strip_hidden(root, list(root.iter()))
    parts: list[Any] = [root]
    if css:
        try:
            parts = list(CSSSelector(css)(root))  # type: ignore[arg-type] # elements, for CSS
        except (SelectorError, XPathError) as error:
            raise UsageError(f"{css!r} is no CSS selector: {error}") from error
    found = [block for part in parts for block in _walk(part)]
    wanted = words.casefold()
    if wanted:
        found = [b for b in found if wanted in b.text.casefold() or wanted in b.heading.casefold()]
    return found


class _BlockWalk:
    """Goes through a part in the order of the page, and gathers texts into blocks."""

    def __init__(self) -> None:
        self.found: list[PageBlock] = []
        self._pieces: list[str] = []
        self._heading = ""

    def visit(self, element: etree._Element, at: etree._Element) -> None:
        """Take in an element; `at` is the one whose block its text would belong to."""
        tag = element.tag
        if not isinstance(tag, str) or tag in _UNREAD:
            return
        inline = tag in _INLINE and element is not at
        if not inline:
            self.end(at)
            at = element
        self._pieces += [" | "] if tag in _CELLS else [" "] if tag == "br" else []
        self._pieces.append(element.text or "")
        for child in element:
            self.visit(child, at)
            self._pieces.append(child.tail or "")
        if not inline:
            self.end(at)

    def end(self, at: etree._Element) -> None:
        """End the block of an element."""
        text = clean(" ".join("".join(self._pieces).split())).strip(" |")
        self._pieces.clear()
        if not text:
            return
        is_heading = _HEADING.fullmatch(str(at.tag)) is not None
        self.found.append(PageBlock(_path(at), text, "" if is_heading else self._heading))
        if is_heading:
            self._heading = text


def _walk(part: etree._Element) -> list[PageBlock]:
    walk = _BlockWalk()
    walk.visit(part, part)
    return walk.found


def _path(element: etree._Element) -> str:
    names = []
    for one in (element, *element.iterancestors()):
        classes = sorted((one.get("class") or "").split())
        names.append(".".join([str(one.tag), *classes]))
    return ">".join(reversed(names))


def learn(reads: Sequence[Sequence[PageBlock]]) -> Noise:
    """Learn what differs from read to read though nothing changed."""
    noise: set[tuple[str, str]] = set()
    by_path: dict[str, list[Counter[str]]] = defaultdict(lambda: [Counter() for _ in reads])
    for n, read in enumerate(reads):
        for block in read:
            by_path[block.path][n][block.text] += 1
    for path, counted in by_path.items():
        stable = counted[0].copy()
        for one in counted[1:]:
            stable &= one
        varying = [one - stable for one in counted]
        if not any(varying):
            continue
        forms = [{_NUMBER.sub("#", text) for text in one} for one in varying]
        if all(form == forms[0] for form in forms):
            noise |= {(path, form) for form in forms[0]}
        elif stable.total() <= max(one.total() for one in varying):  # by chance some stayed
            noise.add((path, ""))
        else:
            noise |= {(path, f"\t{above}") for above in _above(reads, path, varying)}
    return frozenset(noise)


def _above(
    reads: Sequence[Sequence[PageBlock]], path: str, varying: Sequence[Counter[str]]
) -> Iterator[str]:
    for read, texts in zip(reads, varying, strict=True):
        for above, block in pairwise([PageBlock("", ""), *read]):
            if block.path == path and block.text in texts:
                yield above.form


def quiet(blocks: Sequence[PageBlock], noise: Noise) -> list[PageBlock]:
    """Leave the noise out."""
    kept = []
    for above, block in pairwise([PageBlock("", ""), *blocks]):
        marks = {(block.path, ""), (block.path, block.form), (block.path, f"\t{above.form}")}
        if not marks & noise:
            kept.append(block)
    return kept


def changes(before: Sequence[PageBlock], after: Sequence[PageBlock]) -> list[Change]:
    """Tell two reads apart, in the order of the page; what only moved is no change."""
    old, new = [b.text for b in before], [b.text for b in after]
    moved = Counter(old) & Counter(new)
    found: list[Change] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        gone = [one for one in before[a:b] if not _is_moved(one, moved, old, new)]
        came = [one for one in after[c:d] if not _is_moved(one, moved, old, new)]
        found += _paired(gone, came)
    return found


def _is_moved(block: PageBlock, moved: Counter[str], old: list[str], new: list[str]) -> bool:
    text = block.text
    return text in moved and old.count(text) == new.count(text)


def _paired(gone: list[PageBlock], came: list[PageBlock]) -> Iterator[Change]:
    """Put what stands in the place of something beside it: the same path, the likest first."""
    left = list(came)
    for block in gone:
        beside = [one for one in left if one.path == block.path]
        match = max(beside, key=lambda one: _likeness(block, one), default=None)
        if match is not None:
            left.remove(match)
        heading = (match or block).heading
        yield Change(block.text, match.text if match else "", heading)
    for one in left:
        yield Change("", one.text, one.heading)


def _likeness(one: PageBlock, other: PageBlock) -> float:
    return SequenceMatcher(None, one.text.split(), other.text.split(), autojunk=False).ratio()


def figure_in(blocks: Sequence[PageBlock]) -> float | None:
    """Read the first number of a part; None where it has none.

    Of `1.234,5` and `1,234.5` the last mark is the decimal one, and a single mark before three
    digits parts thousands.
    """
    for block in blocks:
        if found := re.search(r"[-−]?\d[\d.,\u00a0\u202f']*", block.text):
            return _number(found[0].rstrip(".,"))
    return None


def _number(said: str) -> float:
    said = re.sub(r"[\u00a0\u202f']", "", said.replace("−", "-"))
    marks = [c for c in said if c in ".,"]
    if not marks:
        return float(said)
    last = marks[-1]
    behind = said.rpartition(last)[2]
    if len(set(marks)) == 1 and (len(marks) > 1 or len(behind) == 3):
        return float(said.replace(last, ""))
    whole = said.replace("," if last == "." else ".", "")
    return float(whole.replace(last, "."))


def to_rows(blocks: Sequence[PageBlock]) -> list[list[Any]]:
    """Write blocks as JSON."""
    return [[block.path, block.text, block.heading] for block in blocks]


def from_rows(rows: Iterable[Sequence[Any]]) -> list[PageBlock]:
    """Read blocks from JSON."""
    return [PageBlock(*map(str, row)) for row in rows]
