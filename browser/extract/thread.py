"""Pages that are conversations: what was said, without who said it, how often and since when.

Forums, question sites and guest books show their posts in boxes of one class, and in each box the
words in a box of another, each beside a day and a name. Nobody's class names are known here: the
boxes are told by what they hold, nearly all the prose of the page between them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from browser.extract.dates import date_within
from browser.extract.tree import text_content
from browser.text.words import count_words, word_list, word_runs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from lxml import etree

    from browser.extract.blocks import Block

# What people write in: lists, tables and paragraphs are parts of what they write.
_BOXES = frozenset("div article section td li dd blockquote".split())
# The boxes hold most prose of the page; signatures and the rules of the house may be outside.
_MOST = 0.7
# A notice of the house may stand above the first box; what is longer is the page's own text.
_LONGEST_NOTICE = 25
# Above the first post stand the site's name, the way here, a login: not a thing's description.
_LONGEST_FRAME = 80
# So many of the posts name a day and a writer.
_SIGNED = 0.6
_FEWEST_DAYS = 2
# A text may be quoted once; what stands on a page more often is furniture.
_MOST_REPEATED = 2
# A text whose runs of words stand in earlier posts by this share is quoted from them.
_QUOTED = 0.7
# A line that names a day is short (words).
_LONGEST_DATE = 30
# Days that cannot be told from the page alone, and still are days.
_WHEN = re.compile(
    r"\b\d{1,2}[-/]\d{1,2}[-/](?:19|20)?\d\d\b|\b\d+ (?:min|hour|day|week|month|year)\w* ago\b"
    r"|\bvor (?:\d+|eine[mr]?) (?:Minute|Stunde|Tag|Woche|Monat|Jahr)"
    r"|\b(?:yesterday|today|gestern|heute)\b,?(?: at| um)? \d{1,2}[:.]\d\d",
    re.IGNORECASE,
)
# What mail and forums put before a title to answer under it.
_REPLY = re.compile(r"(?:(?:re|aw|antw|fwd?)\s*:\s*)+", re.IGNORECASE)
_WRITER = re.compile(
    r"user|author|poster|posted|member|profile|creator|autor|verfasser|benutzer|nick|membre|usuario",
    re.IGNORECASE,
)
_NAMED_IN = ("class", "id", "itemprop", "href", "rel")
_NAMED = ("a", "span", "div", "td", "p", "address", "b", "strong")


def read_thread(blocks: Sequence[Block]) -> list[Block]:
    """Give what the posts of a thread of signed posts say, in order; nothing of any other page.

    Ranks, counts and signatures beside the posts are left out, and so is what a post quotes from
    one before it.
    """
    if sum(1 for block in blocks if _is_stamp(block)) < _FEWEST_DAYS:
        return []
    boxes = _find_boxes(blocks)
    if boxes is None or not _are_signed(boxes, blocks) or _is_index(boxes, blocks):
        return []
    said = _without_quotes([block for block in blocks if _is_said(block, boxes)], boxes)
    posts = itertools.groupby(said, boxes.body_of)
    return [block for body, post in posts if body is not None for block in _undated(list(post))]


@dataclass(frozen=True, slots=True)
class _Boxes:
    """What repeats on a page: `bodies` hold the words, `units` all that belongs to each of them.

    Both are in page order, and quick to look up: a thread may have thousands of posts.
    """

    bodies: Collection[etree._Element]
    units: Collection[etree._Element]

    def body_of(self, block: Block) -> etree._Element | None:
        return _holder(block, self.bodies)


@dataclass(slots=True)
class _Kind:
    """Elements that are built alike: of one tag and one class."""

    elements: dict[etree._Element, None] = field(default_factory=dict)
    prose: int = 0
    chars: int = 0


def _find_boxes(blocks: Sequence[Block]) -> _Boxes | None:
    """The smallest boxes of one kind that hold most of the prose."""
    said = [b for b in blocks if b.is_prose and b.kind not in {"heading", "table"}]
    times = Counter(block.text for block in said)  # below every post stands a signature
    prose = [block for block in said if times[block.text] <= _MOST_REPEATED]
    wanted = _MOST * sum(count_words(block.text) for block in prose)
    fitting = [
        kind
        for kind in _kinds(blocks, prose).values()
        if len(kind.elements) > 1
        and kind.prose >= wanted
        and _words_above(kind, prose) <= _LONGEST_NOTICE
        and not _are_nested(kind.elements)
    ]
    best = min(fitting, key=lambda kind: kind.chars, default=None)
    if best is None:
        return None
    # Units hold one body each, right below what holds them all.
    lines = [[body, *body.iterancestors()][::-1] for body in best.elements]
    shared = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*lines, strict=False))
    depth = min(sum(1 for _ in shared), min(map(len, lines)) - 1)
    units = dict.fromkeys(line[depth] for line in lines)
    return _Boxes(best.elements, units) if len(units) > 1 else None


def _kinds(blocks: Sequence[Block], prose: Sequence[Block]) -> dict[tuple[str, str], _Kind]:
    kinds: dict[tuple[str, str], _Kind] = {}
    counted = {id(block) for block in prose}
    for block in blocks:
        words = count_words(block.text) if id(block) in counted else 0
        for element in (block.node, *block.node.iterancestors()):
            if element.tag not in _BOXES:
                continue
            name = element.get("class") or element.get("id") or ""
            name = "".join(c for c in name if not c.isdigit()).strip()
            if element.tag == "td" and not name:  # cells of bare tables are alike by their column
                name = f"/{sum(1 for _ in element.itersiblings('td', preceding=True))}"
            if name:
                kind = kinds.setdefault((element.tag, name), _Kind())
                kind.elements[element] = None
                kind.prose += words
                kind.chars += len(block.text)
    return kinds


def _words_above(kind: _Kind, prose: Sequence[Block]) -> int:
    above = itertools.takewhile(lambda block: _holder(block, kind.elements) is None, prose)
    return sum(count_words(block.text) for block in above)


def _are_nested(elements: Iterable[etree._Element]) -> bool:
    known = set(elements)
    return any(not known.isdisjoint(element.iterancestors()) for element in known)


def _holder(block: Block, elements: Collection[etree._Element]) -> etree._Element | None:
    line = (block.node, *block.node.iterancestors())
    return next((element for element in line if element in elements), None)


def _are_signed(boxes: _Boxes, blocks: Sequence[Block]) -> bool:
    dated = {_holder(block, boxes.units) for block in blocks if _is_stamp(block)}
    signed = [u for u in boxes.units if u in dated and _names_writer(u, boxes.bodies)]
    return len(signed) >= _SIGNED * len(boxes.units)


def _is_stamp(block: Block) -> bool:
    if count_words(block.text) > _LONGEST_DATE:
        return False
    return _WHEN.search(block.text) is not None or date_within(block.text) is not None


def _names_writer(unit: etree._Element, bodies: Collection[etree._Element]) -> bool:
    """Whether some text of a unit, beside its words, is named after who wrote it."""
    named = (e for e in unit.iterdescendants(*_NAMED) if _is_writers(e) and not _in(e, bodies))
    return any(map(text_content, named))


def _is_writers(element: etree._Element) -> bool:
    return _WRITER.search(" ".join(element.get(name) or "" for name in _NAMED_IN)) is not None


def _in(element: etree._Element, outer: Collection[etree._Element]) -> bool:
    return any(node in outer for node in (element, *element.iterancestors()))


def _is_index(boxes: _Boxes, blocks: Sequence[Block]) -> bool:
    """Whether the units have headlines of their own, or more than a forum's frame above them.

    Lists of articles have the first, reviews of a thing the second.
    """
    titles = {
        _REPLY.sub("", block.text)
        for block in blocks
        if block.kind == "heading"
        and count_words(block.text) > 2
        and boxes.body_of(block) is None
        and _holder(block, boxes.units) is not None
        and not any(map(_is_writers, (block.node, *block.node.iterdescendants())))
    }
    above = itertools.takewhile(lambda block: _holder(block, boxes.units) is None, blocks)
    words = sum(count_words(block.text) for block in above if not block.is_linky)
    return len(titles) > 1 or words > _LONGEST_FRAME


def _is_said(block: Block, boxes: _Boxes) -> bool:
    """Whether a block is of a body; loose words right before a box are booked to the box."""
    if block.node in boxes.bodies:
        return " ".join(block.text.split()) in text_content(block.node)
    return boxes.body_of(block) is not None


def _without_quotes(said: Sequence[Block], boxes: _Boxes) -> list[Block]:
    """Leave out what stands in an earlier post, and the rest of the box that quotes it."""
    earlier: set[tuple[str, ...]] = set()
    quoted: set[etree._Element] = set()
    for _, group in itertools.groupby(said, boxes.body_of):
        post = [(block, word_runs(word_list(block.text))) for block in group]
        for block, found in post:
            if found and sum(run in earlier for run in found) >= _QUOTED * len(found):
                quoted.add(next(block.node.iterancestors("blockquote"), block.node))
        earlier.update(run for _, found in post for run in found)
    kept = [b for b in said if quoted.isdisjoint((b.node, *b.node.iterancestors()))]
    # Posts that are all alike are a log, and quote nobody.
    return kept if len(kept) * 3 >= len(said) else list(said)


def _undated(post: list[Block]) -> list[Block]:
    """Old forums write the day into the post's own box: it opens the text, and is none of it."""
    opening = post[0].text
    dated = len(post) > 1 and count_words(opening) <= _LONGEST_DATE and date_within(opening)
    return post[1:] if dated and not opening.rstrip().endswith((".", "!", "?")) else post
