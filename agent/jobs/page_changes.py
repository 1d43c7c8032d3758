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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lxml.cssselect import CSSSelector, SelectorError
from lxml.etree import XPathError

from agent.errors import UsageError
from browser.extract.hidden import strip_hidden
from browser.extract.tree import parse_html
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml import etree

_INLINE: Final = frozenset(
    "a abbr b bdi bdo big br cite code data del dfn em font i img ins kbd label mark meter output "
    "q s samp small span strong sub sup time tt u var wbr td th".split()
)
"""Elements whose text belongs to what is around them; a table is told row by row."""
_UNREAD: Final = frozenset("script style template noscript svg math head iframe object".split())
_HEADING: Final = re.compile(r"h[1-6]")
_NUMBER: Final = re.compile(r"\d[\d.,:]*")
_ALIKE: Final = 0.5
"""Share of words from which a text is another's new form though its element's classes changed."""
_WORD: Final = re.compile(r"[^\W_]+")
_CELLS: Final = frozenset({"td", "th"})


class PageBlock(NamedTuple):
    """A text of a page: `path` is the tags and classes above it, `heading` what it stands under."""

    path: str
    text: str
    heading: str = ""

    @property
    def tags(self) -> list[str]:
        """The tags above it, without their classes."""
        return [step.partition(".")[0] for step in self.path.split(">")]

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
"""Blocks that differ by themselves: their path, and the form (`""` for whatever stands there); or,
with a tab before it, the form of the block above; or, with a line's end before it, the heading."""


def blocks_of(body: bytes, content_type: str, css: str = "", words: str = "") -> list[PageBlock]:
    """Read a page as blocks: of the elements that `css` selects, or with `words` in or above them.

    Raises `UsageError` for a selector that is none.
    """
    root = parse_html(body, content_type)
    strip_hidden(root)
    parts: list[Any] = [root]
    if css:
        try:
            parts = list(CSSSelector(css)(root))  # type: ignore[arg-type] # elements, for CSS
        except (SelectorError, XPathError) as error:
            raise UsageError(f"{css!r} is no CSS selector: {error}") from error
    found = [block for part in parts for block in _BlockWalk(part).found]
    wanted = words.casefold()
    if wanted:
        found = [b for b in found if wanted in b.text.casefold() or wanted in b.heading.casefold()]
    return found


class _BlockWalk:
    """Goes through a part in the order of the page, and gathers texts into blocks."""

    def __init__(self, part: etree._Element) -> None:
        self.found: list[PageBlock] = []
        self._pieces: list[str] = []
        self._heading = ""
        self._visit(part, part)

    def _visit(self, element: etree._Element, at: etree._Element) -> None:
        """Take in an element; `at` is the one whose block its text would belong to."""
        tag = element.tag
        if not isinstance(tag, str) or tag in _UNREAD:
            return
        inline = tag in _INLINE and element is not at
        if not inline:
            self._end(at)
            at = element
        self._pieces += [" | "] if tag in _CELLS else [" "] if tag == "br" else []
        self._pieces.append(element.text or "")
        for child in element:
            self._visit(child, at)
            self._pieces.append(child.tail or "")
        if not inline:
            self._end(at)

    def _end(self, at: etree._Element) -> None:
        """End the block of an element."""
        text = clean(" ".join("".join(self._pieces).split())).strip(" |")
        self._pieces.clear()
        if not text:
            return
        is_heading = _HEADING.fullmatch(str(at.tag)) is not None
        self.found.append(PageBlock(_path(at), text, "" if is_heading else self._heading))
        if is_heading:
            self._heading = text


def _path(element: etree._Element) -> str:
    names = []
    for one in (element, *element.iterancestors()):
        classes = sorted((one.get("class") or "").split())
        names.append(".".join([str(one.tag), *classes]))
    return ">".join(reversed(names))


def learn(reads: Sequence[Sequence[PageBlock]]) -> Noise:
    """Learn what differs from read to read though nothing changed."""
    noise: set[tuple[str, str]] = set()
    noise |= {(path, f"\n{heading}") for path, heading in _pools(reads)}
    by_path: dict[str, list[Counter[str]]] = defaultdict(lambda: [Counter() for _ in reads])
    for n, read in enumerate(reads):
        for block in read:
            if (block.path, f"\n{block.heading}") not in noise:
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


def _pools(reads: Sequence[Sequence[PageBlock]]) -> Iterator[tuple[str, str]]:
    """Find what is drawn from a pool: beside each other, others each time, and in another order."""
    groups: dict[tuple[str, str], list[list[str]]] = defaultdict(lambda: [[] for _ in reads])
    for n, read in enumerate(reads):
        for block in read:
            groups[block.path, block.heading][n].append(block.text)
    for group, texts in groups.items():
        shuffled = any(
            [text for text in one if text in other] != [text for text in other if text in one]
            for one, other in pairwise(texts)
        )
        if shuffled and any({*one} != {*texts[0]} for one in texts):
            yield group


def _above(
    reads: Sequence[Sequence[PageBlock]], path: str, varying: Sequence[Counter[str]]
) -> Iterator[str]:
    for read, texts in zip(reads, varying, strict=True):
        for above, block in pairwise([PageBlock("", ""), *read]):
            if block.path == path and block.text in texts:
                yield above.form


def is_noise(blocks: Sequence[PageBlock], noise: Noise) -> list[bool]:
    """Say of each block whether it is noise."""
    told = []
    for above, block in pairwise([PageBlock("", ""), *blocks]):
        marks = ("", block.form, f"\t{above.form}", f"\n{block.heading}")
        told.append(any((block.path, mark) in noise for mark in marks))
    return told


def changes(
    before: Sequence[PageBlock], after: Sequence[PageBlock], noise: Noise = frozenset()
) -> list[Change]:
    """Tell two reads apart, in the order of the page; what only moved is no change.

    Noise is not told; what came in the place of such a block is told with what stood there.
    """
    quiet_before, quiet_after = is_noise(before, noise), is_noise(after, noise)
    old = [b.text for b, quiet in zip(before, quiet_before, strict=True) if not quiet]
    new = [b.text for b, quiet in zip(after, quiet_after, strict=True) if not quiet]
    still = {text for text in {*old} & {*new} if old.count(text) == new.count(text)}
    forms = {(b.path, b.form) for b in before} & {(b.path, b.form) for b in after}
    found: list[Change] = []

    def others(blocks: Sequence[PageBlock], quiet: Sequence[bool]) -> list[tuple[PageBlock, bool]]:
        """Leave out what only moved, and noise that is there as before."""
        pairs = zip(blocks, quiet, strict=True)
        return [
            (b, noisy)
            for b, noisy in pairs
            if b.text not in still and not (noisy and (b.path, b.form) in forms)
        ]

    matcher = SequenceMatcher(
        None, [b.text for b in before], [b.text for b in after], autojunk=False
    )
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            gone = others(before[a:b], quiet_before[a:b])
            found += _paired(gone, others(after[c:d], quiet_after[c:d]))
    return found


def _paired(
    gone: Sequence[tuple[PageBlock, bool]], came: Sequence[tuple[PageBlock, bool]]
) -> Iterator[Change]:
    """Put what stands in the place of something beside it: of the same tags, the likest first."""
    left = list(came)
    for block, quiet in gone:
        beside = [one for one in left if _may_replace(block, one[0], known=quiet == one[1])]
        match = max(beside, key=lambda one: _likeness(block, one[0]), default=None)
        if match is not None:
            left.remove(match)
        if not (quiet and (match is None or match[1])):
            after, noisy = match or (block, True)
            yield Change(block.text, "" if noisy else after.text, after.heading)
    for one, quiet in left:
        if not quiet:
            yield Change("", one.text, one.heading)


def _may_replace(block: PageBlock, other: PageBlock, *, known: bool) -> bool:
    """Say whether a block may stand where another did; noise and what is none have to be alike."""
    if known and block.path == other.path:
        return True
    return block.tags == other.tags and _likeness(block, other) >= _ALIKE


def _likeness(one: PageBlock, other: PageBlock) -> float:
    words, others = _WORD.findall(one.text), _WORD.findall(other.text)
    return SequenceMatcher(None, words, others, autojunk=False).ratio()


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
