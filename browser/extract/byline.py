"""Author and dates by the lines around a page's title, where the page declares none."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.extract.blocks import word_list
from browser.extract.dates import date_within
from browser.extract.tree import text_content
from browser.text.words import count_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from browser.extract.blocks import Block

# A byline is a line; what is longer speaks of something, and so does a sentence of this length.
_LONGEST_LINE = 30
_SENTENCE = 6
_PROSE = 25
# Lines looked at before and after the title; after them the body has begun.
_BEFORE, _AFTER = 4, 12
_UPDATED = re.compile(
    r"\b(?:updated?|modified|revised|edited|aktualisiert|geändert|stand|zuletzt|mis à jour"
    r"|actualizado)\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\W*(?:first |originally )?(?:published|posted|created|released|updated"
    r"|last (?:updated?|modified|edited)|veröffentlicht|erstellt|stand|zuletzt|aktualisiert"
    r"|publié|publicado|actualizado|pubblicato)\b",
    re.IGNORECASE,
)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'.-]*"
_PARTICLE = r"(?:van|von|de|der|den|da|di|del|la|le|bin|al|zu|ter)\b"
_FULL_NAME = rf"{_CAPITAL}(?:\s+(?:{_PARTICLE}|{_CAPITAL})){{1,3}}"
_NAMES = rf"{_FULL_NAME}(?:\s*(?:,|and|und|et|y|&)\s+{_FULL_NAME})*"
_NAMED_BY = re.compile(
    rf"(?:^|[\s|·•—–-])(?i:by|von|par|por|di|text[oe]?:|autor(?:in)?:|author:)\s+({_NAMES})"
)
_WHOLE_NAME = re.compile(_FULL_NAME)
_ENDS = re.compile(r"[^\W\d_]{3}[.!?…][\"”’)]*\s*$|\d{4}[.!?]\s*$")
_PARTS = re.compile(r"\s*[|·•—–/\n]\s*|,\s+(?=[^\W\d_])")
_PERSON_LINK = re.compile(
    r"/(?:authors?|autor(?:en|in)?|by|people|profile|user|u|staff|contributor)/|/@"
)
_DATE_WORDS = re.compile(
    r"\d|^(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:tag|woch)$|^(?:min|read|share|home|news)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Byline:
    """What the lines around a title say; dates are ISO 8601."""

    author: str | None = None
    published: str | None = None
    modified: str | None = None


def read_byline(blocks: Sequence[Block], title: str) -> Byline:
    """Read author and dates from the lines around the title, and dated lines below the body."""
    place = _title_place(blocks, title)
    near = [block for block in _near(blocks, place) if not _is_entry(block, blocks)]
    dated = [(block.text, date) for block in near if (date := _date_in(block))]
    dated += [
        (block.text, date)
        for block in blocks[place:]
        if _DATED.match(block.text) and (date := _date_in(block))
    ]
    return Byline(
        author=next((name for block in near if (name := _author_in(block))), None),
        published=next((date for text, date in dated if not _UPDATED.search(text)), None),
        modified=next((date for text, date in dated if _UPDATED.search(text)), None),
    )


def _title_place(blocks: Sequence[Block], title: str) -> int:
    named = (n for n, b in enumerate(blocks) if title and word_list(b.text) == word_list(title))
    first = (n for n, block in enumerate(blocks) if block.level == 1)
    prose = (n for n, block in enumerate(blocks) if count_words(block.text) >= _PROSE)
    return next(named, next(first, next(prose, 0)))


def _near(blocks: Sequence[Block], place: int) -> Iterator[Block]:
    """Short lines, those after the title first; two paragraphs after it the body has begun."""
    paragraphs = 0
    for block in blocks[place + 1 : place + 1 + _AFTER]:
        if _speaks(block.text):
            paragraphs += 1
            if paragraphs == 2:
                break
        else:
            yield block
    for block in reversed(blocks[max(0, place - _BEFORE) : place]):
        if not _speaks(block.text):
            yield block


def _speaks(text: str) -> bool:
    """Whether a text speaks of something: it is long, or a sentence that names no maker."""
    length = count_words(text)
    says_of_itself = _DATED.match(text) or _NAMED_BY.match(text)
    is_sentence = _ENDS.search(text) is not None and not says_of_itself
    return length > _LONGEST_LINE or (length > _SENTENCE and is_sentence)


def _is_entry(block: Block, blocks: Sequence[Block]) -> bool:
    """Whether a heading is one of several days, as those of a log or a live blog are."""
    days = (b for b in blocks if b.kind == "heading" and _date_in(b))
    return block.kind == "heading" and len(list(itertools.islice(days, 2))) > 1


def _date_in(block: Block) -> str | None:
    if block.kind in {"table", "code"} or count_words(block.text) > _LONGEST_LINE:
        return None
    if block.kind == "heading" and count_words(block.text) > 5:
        return None  # a headline that speaks of a day
    return date_within(block.text)


def _author_in(block: Block) -> str | None:
    if block.kind in {"table", "code", "heading"}:
        return None
    text = " ".join(block.text.split())
    if match := _NAMED_BY.search(text):
        return _tidy(match[1])
    linked = next(
        (a for a in block.node.iter("a") if _PERSON_LINK.search(a.get("href") or "")), None
    )
    if linked is not None:
        name = text_content(linked)
        return name if _is_full_name(name) else None
    if date_within(text):
        return next((part for part in _PARTS.split(block.text) if _is_full_name(part)), None)
    return None


def _is_full_name(text: str) -> bool:
    return _WHOLE_NAME.fullmatch(text) is not None and not any(
        _DATE_WORDS.search(word) for word in text.split()
    )


def _tidy(names: str) -> str:
    return re.sub(r"\s*(?:,|\band\b|\bund\b|\bet\b|&)\s+", ", ", names).rstrip(" .,")
