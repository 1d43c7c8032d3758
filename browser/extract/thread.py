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

from browser.extract.blocks import word_list, word_runs
from browser.extract.dates import date_within, iso_date
from browser.extract.tree import text_content
from browser.text.words import count_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

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
# A name is shorter than a title (characters), and a line that names a day is short (words).
_LONGEST_NAME = 40
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


@dataclass(frozen=True, slots=True)
class Post:
    """What one person said: its blocks, who that is, and the day (ISO 8601)."""

    blocks: tuple[Block, ...]
    author: str | None = None
    published: str | None = None


def read_thread(blocks: Sequence[Block]) -> list[Post]:
    """Read a page that is a thread of signed posts, in order; none of any other page.

    Ranks, counts and signatures beside the posts are left out, and so is what a post quotes from
    one before it.
    """
    if sum(1 for block in blocks if _is_stamp(block)) < _FEWEST_DAYS:
        return []
    boxes = _find_boxes(blocks)
    if boxes is None or not _are_signed(boxes, blocks) or _is_index(boxes, blocks):
        return []
    said = _without_quotes([block for block in blocks if _is_said(block, boxes)], boxes)
    units = boxes.own_units(blocks)
    return [
        _post(list(group), body, *units[body])
        for body, group in itertools.groupby(said, boxes.body_of)
        if body is not None
    ]


@dataclass(frozen=True, slots=True)
class _Boxes:
    """What repeats on a page: `bodies` hold the words, `units` all that belongs to each of them.

    Both are in page order, and quick to look up: a thread may have thousands of posts.
    """

    bodies: Collection[etree._Element]
    units: Collection[etree._Element]

    def body_of(self, block: Block) -> etree._Element | None:
        return _holder(block, self.bodies)

    def own_units(
        self, blocks: Sequence[Block]
    ) -> dict[etree._Element, tuple[etree._Element, list[Block]]]:
        """Of each body the largest element that holds no other one, and the blocks in it."""
        held = Counter(node for body in self.bodies for node in (body, *body.iterancestors()))
        units = {
            body: list(itertools.takewhile(lambda n: held[n] == 1, (body, *body.iterancestors())))[
                -1
            ]
            for body in self.bodies
        }
        inside: dict[etree._Element, list[Block]] = {unit: [] for unit in units.values()}
        for block in blocks:
            if (unit := _holder(block, inside)) is not None:
                inside[unit].append(block)
        return {body: (unit, inside[unit]) for body, unit in units.items()}


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
    signed = [u for u in boxes.units if u in dated and any(_writers(u, boxes.bodies))]
    return len(signed) >= _SIGNED * len(boxes.units)


def _is_stamp(block: Block) -> bool:
    if count_words(block.text) > _LONGEST_DATE:
        return False
    return _WHEN.search(block.text) is not None or date_within(block.text) is not None


def _writers(unit: etree._Element, bodies: Collection[etree._Element]) -> Iterator[str]:
    """The text of a unit's elements that are named after who wrote it; links to a person first."""
    named = [e for e in unit.iterdescendants(*_NAMED) if _is_writers(e) and not _in(e, bodies)]
    yield from map(text_content, sorted(named, key=lambda element: element.tag != "a"))


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


def _post(
    said: list[Block], body: etree._Element, unit: etree._Element, blocks: Sequence[Block]
) -> Post:
    """Old forums write the day into the post's own box: it opens the text, and is none of it."""
    opening = said[0].text
    dated = len(said) > 1 and count_words(opening) <= _LONGEST_DATE
    day = date_within(opening) if dated and not opening.rstrip().endswith((".", "!", "?")) else None
    author = next((name for name in _writers(unit, (body,)) if _is_name(name)), None)
    times = (e.get("datetime") or "" for e in unit.iter("time") if not _in(e, (body,)))
    lines = [b.text for b in blocks if _is_stamp(b) and not _in(b.node, (body,))]
    stamps = itertools.chain(map(iso_date, times), map(date_within, lines))
    published = day or next(filter(None, stamps), None)
    return Post(tuple(said[day is not None :]), author, published)


def _is_name(text: str) -> bool:
    short = 0 < len(text) <= _LONGEST_NAME
    return short and any(map(str.isalpha, text)) and not date_within(text)
