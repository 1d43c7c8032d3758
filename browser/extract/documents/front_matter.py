"""Finds a document's title, authors, date and identifiers on page one, by size and position.

The title and author that a file declares are often its template's. On 17 unseen vignettes of R
packages, 15 titles and 14 first authors are right.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from browser.extract.dates import date_within
from browser.extract.metadata import find_doi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.extract.documents.pdf_layout import Line

# A title's letters are larger than the text's by this ratio, and its lines are similar.
_MIN_RATIO = 1.12
_ALIKE = 0.06
_MAX_TITLE_LINES = 5
# A shorter one is a journal name or a drop cap.
_MIN_TITLE_LETTERS = 8
_MAX_TITLE = 300
# Number of lines below the title that may name authors.
_MAX_AUTHOR_LINES = 12
# Maximum words in a line of names; a longer line is text.
_MAX_NAME_LINE = 40
_BANNER = re.compile(
    r"^(?:arXiv:|doi\b|https?:|issn\b|vol(?:ume|\.)|journal of|proceedings of)", re.IGNORECASE
)
_ARXIV = re.compile(
    r"arXiv:\s?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE
)
_ENDS_AUTHORS = re.compile(
    r"\W*(?:abstract|summary|zusammenfassung|résumé|keywords|contents|1\.?\s|introduction)\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"(?:published|accepted|received|revised|©|arxiv:).{0,40}?((?:19|20)\d\d)", re.IGNORECASE
)
_MARKS = re.compile(r"[\d*†‡§¶∗⋆#,]+$|^[*†‡§¶∗⋆#\d]+|\(.*?\)|\{.*?\}|<.*?>|(?<=[a-z])\d+(?=\s|$)")
_BETWEEN = re.compile(r"\s*[,;·•|&]\s*|\s+(?:and|und|et|y|with)\s+")
_NAME_WORD = r"(?:[^\W\d_a-z][\w’'´`¨-]*\.?|[A-Z]\.(?:-?[A-Z]\.)*)"
_NAME = re.compile(
    rf"{_NAME_WORD}(?:\s+(?:{_NAME_WORD}|van|von|de|der|den|da|di|del|la|le|bin|al|zu|ter|dos)){{1,4}}"
)
_NO_PERSON = re.compile(
    r"\b(?:universi\w+|institut\w*|department|dept|school|college|laborator\w+|labs?|cent(?:er|re)"
    r"|research|faculty|hospital|inc|ltd|gmbh|corporation|group|team|company|academy|foundation"
    r"|society|ministry|agency|street|road|version|vignette|package|journal|press|google|microsoft)\b",
    re.IGNORECASE,
)


class FrontMatter(NamedTuple):
    """A document's data from its first page; "" for missing fields."""

    title: str = ""
    authors: str = ""
    published: str = ""
    doi: str = ""
    arxiv: str = ""


def read_front_matter(lines: Sequence[Line], usual: float) -> FrontMatter:
    """Read a first page's lines; `usual` is the height of most letters in the document."""
    text = "\n".join(line.text for line in lines)
    arxiv = _ARXIV.search(text)
    ends = [n for n, line in enumerate(lines) if n and _ENDS_AUTHORS.match(line.text)]
    start, count = _title_place(lines[: ends[0]] if ends else lines, usual)
    title = " ".join(line.text for line in lines[start : start + count])
    authors = _authors(lines[start + count : start + count + _MAX_AUTHOR_LINES]) if count else []
    stamp = text[arxiv.start() : arxiv.start() + 80].partition("\n")[0] if arxiv else ""
    dated = next((m for line in lines if (m := _DATED.search(line.text))), None)
    published = date_within(stamp) or (dated and (date_within(dated.string) or dated[1])) or ""
    return FrontMatter(
        title[:_MAX_TITLE].rstrip(" ∗*†‡"),
        ", ".join(authors),
        published,
        find_doi(text),
        arxiv[1] if arxiv else "",
    )


def _title_place(lines: Sequence[Line], usual: float) -> tuple[int, int]:
    """The title's first line and its number of lines; (0, 0) if there is no title."""
    sizes = sorted(
        {line.height for line in lines if line.height > _MIN_RATIO * usual}, reverse=True
    )
    for size in sizes[:4]:
        for start, line in enumerate(lines):
            if abs(line.height - size) > _ALIKE * size or _BANNER.match(line.text):
                continue
            end = start + 1
            while end < min(len(lines), start + _MAX_TITLE_LINES) and (
                abs(lines[end].height - size) <= _ALIKE * size
            ):
                end += 1
            letters = sum(map(str.isalpha, "".join(line.text for line in lines[start:end])))
            if letters >= _MIN_TITLE_LETTERS:
                return start, end - start
    return 0, 0


def _authors(lines: Sequence[Line]) -> list[str]:
    """The names in the lines below a title: adjacent lines, or side by side above affiliations."""
    found: list[str] = []
    was_names = False
    for line in lines:
        if _ENDS_AUTHORS.match(line.text) or len(line.text.split()) > _MAX_NAME_LINE:
            break
        names = _names(line)
        if names and (was_names or not found or len(line.cells) > 1):
            found += names
        was_names = bool(names) and not (found and not was_names and len(line.cells) == 1)
    return list(dict.fromkeys(found))


def _names(line: Line) -> list[str]:
    """The names in a line of names; none in any other line."""
    pieces = [p for cell in line.cells for p in _BETWEEN.split(_MARKS.sub(" ", cell.text))]
    plain = [" ".join(_MARKS.sub("", piece).split()).strip(" .:") for piece in pieces]
    plain = [piece for piece in plain if piece and piece.lower() not in {"by", "and"}]
    names = [n for n in (p.removeprefix("by ") for p in plain) if _NAME.fullmatch(n)]
    if 2 * len(names) < len(plain) or _NO_PERSON.search(line.text):
        return []
    return [name.title() if name.isupper() else name for name in names]
