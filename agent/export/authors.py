"""Who wrote a page, as bibliographies want it: family name and given name, or a body's name.

Pages declare authors in one line, in many forms. Where it cannot be told that a name is a person's,
it stays whole: a body taken for a person ("Council, Orlenn Isles") is worse than the reverse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MOST_WORDS: Final = 5  # names of persons have no more; what is longer is a body or a sentence
_BETWEEN = re.compile(r"\s*(?:;|&|,?\s+\b(?:and|und|et|y|e)\b)\s+|\s*;\s*")
_COMMAS = re.compile(r"\s*,\s*")
_BY: Final = re.compile(r"^(?:by|von|par|por|di)\s+", re.IGNORECASE)
_BODY: Final = re.compile(
    r"""\d|\b(?:agency|archives?|associat\w+|authority|blog|board|bureau|centre|center|city|college
    |commission|committee|community|company|consortium|contributors?|corp\w*|council|department
    |desk|dev\w*|docs|documentation|editor\w*|federation|foundation|gazette|government|group|gmbh
    |herald|inc|initiative|institut\w*|journal|laborator\w+|library|limited|llc|ltd|magazine
    |ministry|museum|network|news\w*|office|online|organi[sz]ation|party|post|press|project
    |redaktion|research|r[eé]daction|school|service|society|staff|studio|support|team|times
    |trust|union|universit\w+|verein|wiki\w*|working|world)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PARTICLES: Final = frozenset(
    "af al da dal de del della den der des di dos du e el la le ten ter van von zu zum zur".split()
)
_SUFFIX: Final = re.compile(r"^(?:jr|sr|ii|iii|iv|md|phd|ph\.d|m\.d)\.?$", re.IGNORECASE)
_TITLES: Final = re.compile(r"^(?:dr|prof|mr|mrs|ms|sir|dame)\.?$", re.IGNORECASE)
_INITIALS: Final = re.compile(r"^(?:[^\W\d_]\.?[ -]?){1,3}$")
_CAPITAL: Final = re.compile(r"^[^\W\d_a-zß-öø-ÿ]", re.UNICODE)
_NO_SPACES: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Author:
    """A person by `family` and `given`, or a body (or a name of unknown form) by `family` alone."""

    family: str
    given: str = ""


def authors(line: str) -> tuple[Author, ...]:
    """Read the authors that a page names in one line."""
    names = [_BY.sub("", name).strip() for name in _BETWEEN.split(" ".join(line.split()))]
    return tuple(author for name in names if name for author in _several(name))


def _several(name: str) -> list[Author]:
    """Read names with commas between them, or one with its family name first."""
    parts = [part for part in _COMMAS.split(name) if part]
    if len(parts) < 2 or _BODY.search(name):
        return [_author(name)]
    suffixes = [part for part in parts if _SUFFIX.match(part)]
    parts = [part for part in parts if part not in suffixes]
    if len(parts) % 2 == 0 and all(_INITIALS.match(part) for part in parts[1::2]):
        return [Author(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    if len(parts) == 2 and (" " not in parts[0] or _only_particles(parts[0])):
        return [Author(parts[0], " ".join(parts[1:] + suffixes))]
    return [_author(part) for part in parts]


def _author(name: str) -> Author:
    words = [word for word in name.split() if not _TITLES.match(word)]
    if not 2 <= len(words) <= _MOST_WORDS or _BODY.search(name) or _NO_SPACES.search(name):
        return Author(name)
    if not all(_CAPITAL.match(word) or word.lower() in _PARTICLES for word in words):
        return Author(name)
    suffix = [words.pop()] if len(words) > 2 and _SUFFIX.match(words[-1]) else []
    first = len(words) - 1
    while first > 1 and words[first - 1].lower() in _PARTICLES:
        first -= 1
    return Author(" ".join(words[first:]), " ".join([*words[:first], *suffix]))


def _only_particles(words: str) -> bool:
    """Whether all but the last word go with a family name, as in `van der Berg`."""
    return all(word.lower() in _PARTICLES for word in words.split()[:-1])
