"""Splits text into sentences with exact offsets, and joins hard-wrapped lines."""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import NamedTuple

from browser.text.words import SENTENCE_ENDS, clean

# A full stop after one of these, or after a single capital letter, does not end a sentence.
_ABBREVIATIONS = frozenset(
    """adm al approx apr aug ave bros c ca capt cf ch co col corp dec dept dr e.g ed eds est etc
    feb fig gen gov inc jan jr jul jun lt ltd mar mr mrs ms mt no nos nov oct op p pp prof pt rep
    rev sen sep sept sgt sr st u.k u.s v viz vol vs""".split()
)
# A full stop after one of these does not end a sentence if a number follows; in other cases, such
# as `voted no. Hanna …`, it does.
_NUMBER_ABBREVIATIONS = frozenset(("no", "nos"))
# A full stop after one of these ends a sentence if the next word is one of _SENTENCE_OPENERS.
_MAY_END_SENTENCE = frozenset("etc inc ltd co corp bros jr sr u.s u.k a.m p.m".split())
_SENTENCE_OPENERS = frozenset(
    """a although an as at but during for he her his however i if in it its many most on one
    several she since some that the their there these they this those though to we when while
    with""".split()
)
_OPENERS_AS_SURNAMES = frozenset("an he her one so to".split())
"""The _SENTENCE_OPENERS that may also be a surname after an initial, as in `K. He`."""

# Ends that need no space after them.
_UNSPACED_ENDS = re.escape(SENTENCE_ENDS.translate(dict.fromkeys(map(ord, ".!?…"))))
_BOUNDARY = re.compile(
    r"""(?P<end>[.!?…]+["'”’)\]»*_]*)(?:\[[^\]\s]{1,12}\])*(?=\s)\s+"""
    rf"""|[{_UNSPACED_ENDS}]["”」』]*\s*|\n{{2,}}"""
)
_GERMAN_MONTHS = frozenset(
    """Jan Feb Apr Jun Jul Aug Sep Sept Okt Nov Dez Januar Februar März April Mai Juni Juli August
    September Oktober November Dezember""".split()
)
"""After `7.`, a month in German continues a date; in English dates, the day has no full stop."""

_WORD = re.compile(r"\w+")
_LINE_START_SIGNS = frozenset('-*+•|#>$"{}[<=_~:')
"""Characters that a list item, a table row, a command or a line of code may begin with."""


class Span(NamedTuple):
    """A range of characters, `text[start:end]`."""

    start: int
    end: int


def sentences(text: str) -> list[Span]:
    """Split text into sentences; spans do not include whitespace at their edges."""
    spans: list[Span] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match["end"] and not _ends_sentence(text, start, match):
            continue
        _append_span(spans, text, start, match.end())
        start = match.end()
    _append_span(spans, text, start, len(text))
    return spans


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 1]
    if following.islower():
        return False
    if match["end"] != ".":
        return True
    at = full_stop = match.start("end")
    while at > start and (text[at - 1] in "._" or text[at - 1].isalnum()):
        at -= 1
    last = text[at:full_stop]
    if not last:
        return True
    word = last.casefold()
    if word.isdigit() and _word_at(text, match.end()) in _GERMAN_MONTHS:
        return False
    if word in _NUMBER_ABBREVIATIONS:
        return not following.isdigit()
    if word in _MAY_END_SENTENCE:
        return _is_opener(text, match.end())
    if len(last) == 1 and (last.isupper() or text[at - 1 : at] in {"(", "["}):  # `(b. 1960)`
        is_degree = text[:at].rstrip().endswith("°")  # `46 °C`
        return is_degree or _is_opener(text, match.end(), but=_OPENERS_AS_SURNAMES)
    return word not in _ABBREVIATIONS


def _is_opener(text: str, at: int, but: frozenset[str] = frozenset()) -> bool:
    """Whether the word at an offset is capitalised and one of _SENTENCE_OPENERS."""
    word = _word_at(text, at)
    return word[:1].isupper() and word.casefold() in _SENTENCE_OPENERS - but


def _word_at(text: str, at: int) -> str:
    word = _WORD.match(text, at)
    return word[0] if word else ""


def _append_span(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = start + len(piece.rstrip())
    if left < right:
        spans.append(Span(left, right))


# Text is not wrapped at a column narrower than this; shorter lines are poems or addresses.
_MIN_COLUMN = 60
# A line that fills this share of the column may have been wrapped early by a program that evens out
# line lengths. With this rule, 86-98 % of the breaks made by `fmt` in 855 unseen paragraphs are
# joined (75-88 % without it), and 7.4 % of the lines in 778 pieces of code are wrongly joined (7.1
# % without it).
_LATE_BREAK_SHARE = 0.8
_LIST_MARKERS = frozenset("-*+•")


def text_blocks(text: str, *, unwrapped: bool = False) -> str:
    """Put exactly one blank line between blocks; `unwrapped` joins hard-wrapped lines."""
    lines = [line.rstrip() for line in clean(text).split("\n")]
    blocks = (list(block) for filled, block in groupby(lines, bool) if filled)
    return "\n\n".join("\n".join(unwrap(b, _LINE_START_SIGNS) if unwrapped else b) for b in blocks)


def unwrap(lines: list[str], signs: frozenset[str] = frozenset()) -> list[str]:
    """Join a block's lines (at least one) that were hard-wrapped at a column.

    A line break is removed if the next word would not have fitted on the line, or if the line is
    nearly full and the sentence continues in lower case. All other breaks are kept. A break is
    always kept before a line that is indented further or begins with one of `signs`, a number or a
    label.
    """
    wide = [line.expandtabs() for line in lines]
    column = max(map(len, wide))
    if column < _MIN_COLUMN:
        return lines
    joined = lines[:1]
    for (before, after), line in zip(pairwise(wide), lines[1:], strict=True):
        word = line.lstrip().partition(" ")[0]
        is_full = len(before) + 1 + len(word) > column
        continues = len(before) >= _LATE_BREAK_SHARE * column and _continues_sentence(before, word)
        is_wrapped = (is_full or continues) and _indentation(after) <= _text_indentation(before)
        is_new_item = word[:1] in signs or word.endswith(":") or word.rstrip(".)").isdigit()
        if is_wrapped and not is_new_item:
            start, rest = joined[-1], " ".join(line.split())
            words = " ".join(start.split())
            # `man` hyphenates words with U+2010.
            both = words[:-1] + rest if words.endswith("\u2010") else f"{words} {rest}"
            joined[-1] = start[: _indentation(start)] + both
        else:
            joined.append(line)
    return joined


def _continues_sentence(before: str, word: str) -> bool:
    plain = word.strip("\"'(),;:.!?")
    return plain.isalpha() and plain.islower() and (before[-1:].isalnum() or before[-1:] in ",)\"'")


def _text_indentation(line: str) -> int:
    """Return the column at which a line's text begins, after any list marker."""
    sign, _, rest = line.lstrip().partition(" ")
    return len(line) - len(rest.lstrip()) if rest and sign in _LIST_MARKERS else _indentation(line)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
