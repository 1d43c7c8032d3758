"""The difference between two reads of a page, block by block and ignoring noise.

A block is the text of one element (a paragraph, a row, an item), identified by the tags and classes
above it. Noise is not detected by its wording: it is anything that differs between reads in
immediate succession.
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
from browser.extract.blocks import walk
from browser.extract.hidden import strip_hidden
from browser.extract.platforms.parsing import parse_decimal
from browser.extract.tree import parse_html

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml import etree

_FIGURE_RE: Final = re.compile(r"\d[\d.,:]*")
_WORD_RE: Final = re.compile(r"[^\W_]+")
_NUMBER_RE: Final = re.compile(r"[-−]?\d[\d.,\u00a0\u202f']*")
_MIN_SIMILARITY: Final = 0.5
"""Minimum share of common words for a block to count as the new version of another if its element's
classes have changed.
"""


class PageBlock(NamedTuple):
    """A text block; `path` contains the tags and classes above it, `heading` its heading."""

    path: str
    text: str
    heading: str = ""

    @property
    def tags(self) -> list[str]:
        """The tags above the block, without their classes."""
        return [step.partition(".")[0] for step in self.path.split(">")]

    @property
    def text_without_numbers(self) -> str:
        """The text without its numbers."""
        return _FIGURE_RE.sub("#", self.text)


@dataclass(frozen=True, slots=True)
class Change:
    """The text before and after the change; one is empty if text was only added or removed."""

    before: str
    after: str
    heading: str = ""

    def as_diff(self) -> str:
        """Format the change as a diff."""
        lines = (("@", self.heading), ("-", self.before), ("+", self.after))
        return "\n".join(f"{sign} {text}" for sign, text in lines if text)


Noise = frozenset[tuple[str, str]]
"""Blocks that always change, as pairs of their path and either their form (`""` matches any text),
the form of the block above (prefixed with a tab) or their heading (prefixed with a newline).
"""


def read_blocks(body: bytes, content_type: str, css: str = "", words: str = "") -> list[PageBlock]:
    """Split a page into blocks; keep those that `css` selects, with `words` in text or heading.

    Raises `UsageError` for an invalid selector.
    """
    root = parse_html(body, content_type)
    strip_hidden(root)
    parts: list[Any] = [root]
    if css:
        try:
            parts = list(CSSSelector(css)(root))  # type: ignore[arg-type] # elements, for CSS
        except (SelectorError, XPathError) as error:
            raise UsageError(f"{css!r} is not a CSS selector: {error}") from error
    for control in [*root.iter("button", "select", "option", "textarea")]:
        control.tag = "div"  # also watch text on controls, which the extractor omits
    blocks = [block for part in parts for block in _part_blocks(part)]
    words = words.casefold()
    return [b for b in blocks if words in b.text.casefold() or words in b.heading.casefold()]


def _part_blocks(part: etree._Element) -> Iterator[PageBlock]:
    """Yield the blocks of a part in reading order; tables yield one block per row."""
    heading = ""
    for block in walk(part, ""):
        path = _path(block.node)
        if block.table is not None:
            for row in block.table.rows:
                yield PageBlock(f"{path}>tr", " | ".join(row), heading)
            continue
        text = " ".join(block.text.split())
        yield PageBlock(path, text, "" if block.kind == "heading" else heading)
        if block.kind == "heading":
            heading = text


def _path(element: etree._Element) -> str:
    names = []
    for one in (element, *element.iterancestors()):
        classes = sorted((one.get("class") or "").split())
        names.append(".".join([str(one.tag), *classes]))
    return ">".join(reversed(names))


def learn_noise(reads: Sequence[Sequence[PageBlock]]) -> Noise:
    """Learn which parts always differ between reads, even if the page has not changed."""
    noise = {(path, f"\n{heading}") for path, heading in _rotating_blocks(reads)}
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
        forms = [{_FIGURE_RE.sub("#", text) for text in one} for one in varying]
        if all(form == forms[0] for form in forms):  # only numbers differ, as in a clock
            noise |= {(path, form) for form in forms[0]}
        elif stable.total() <= max(one.total() for one in varying):  # the rest match by chance
            noise.add((path, ""))
        else:  # most blocks on this path are stable: identify the others by the block above
            noise |= {
                (path, f"\t{above.text_without_numbers}")
                for read, texts in zip(reads, varying, strict=True)
                for above, block in pairwise([PageBlock("", ""), *read])
                if block.path == path and block.text in texts
            }
    return frozenset(noise)


def _rotating_blocks(reads: Sequence[Sequence[PageBlock]]) -> Iterator[tuple[str, str]]:
    """Find rotating blocks: adjacent blocks whose content and order change with each read."""
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


def diff_blocks(
    before: Sequence[PageBlock], after: Sequence[PageBlock], noise: Noise = frozenset()
) -> list[Change]:
    """Compare two versions of a page in page order; moved blocks do not count as changes.

    Noise is not reported. If other text replaces a noise block, both are reported.
    """
    old, new = _mark_noise(before, noise), _mark_noise(after, noise)
    old_texts = Counter(block.text for block, noisy in old if not noisy)
    new_texts = Counter(block.text for block, noisy in new if not noisy)
    kept = {text for text, number in old_texts.items() if new_texts[text] == number}
    forms = {(b.path, b.text_without_numbers) for b in before} & {
        (b.path, b.text_without_numbers) for b in after
    }

    def changed(marked: Sequence[tuple[PageBlock, bool]]) -> list[tuple[PageBlock, bool]]:
        """Remove moved blocks and unchanged noise."""
        return [
            (block, noisy)
            for block, noisy in marked
            if block.text not in kept
            and not (noisy and (block.path, block.text_without_numbers) in forms)
        ]

    found: list[Change] = []
    texts, others = [block.text for block in before], [block.text for block in after]
    matcher = SequenceMatcher(None, texts, others, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            found += _pair_changes(changed(old[a:b]), changed(new[c:d]))
    return found


def _mark_noise(blocks: Sequence[PageBlock], noise: Noise) -> list[tuple[PageBlock, bool]]:
    """Pair each block with True if it is noise, otherwise False."""
    marked = []
    for above, block in pairwise([PageBlock("", ""), *blocks]):
        marks = (
            "",
            block.text_without_numbers,
            f"\t{above.text_without_numbers}",
            f"\n{block.heading}",
        )
        marked.append((block, any((block.path, mark) in noise for mark in marks)))
    return marked


def _pair_changes(
    gone: Sequence[tuple[PageBlock, bool]], came: Sequence[tuple[PageBlock, bool]]
) -> Iterator[Change]:
    """Pair new blocks with the blocks that they replace: same tags, most similar first."""
    left = list(came)
    for block, noisy in gone:
        # A noise block is paired with another block only if their words are similar.
        candidates = [
            (other, other_noisy)
            for other, other_noisy in left
            if (noisy == other_noisy and block.path == other.path)
            or (block.tags == other.tags and _similarity(block, other) >= _MIN_SIMILARITY)
        ]
        match = max(candidates, key=lambda pair: _similarity(block, pair[0]), default=None)
        if match is not None:
            left.remove(match)
        if noisy and (match is None or match[1]):
            continue
        if match is None:
            yield Change(block.text, "", block.heading)
        else:
            other, other_noisy = match
            yield Change(block.text, "" if other_noisy else other.text, other.heading)
    for block, noisy in left:
        if not noisy:
            yield Change("", block.text, block.heading)


def _similarity(one: PageBlock, other: PageBlock) -> float:
    words, others = _WORD_RE.findall(one.text), _WORD_RE.findall(other.text)
    return SequenceMatcher(None, words, others, autojunk=False).ratio()


def first_number(blocks: Sequence[PageBlock]) -> float | None:
    """Return the first number in the watched part, or None.

    In `1.234,5` and `1,234.5`, the last separator is the decimal point. A single separator before
    three digits is a thousands separator.
    """
    found = next(filter(None, (_NUMBER_RE.search(block.text) for block in blocks)), None)
    if found is None:
        return None
    return parse_decimal(found[0])
