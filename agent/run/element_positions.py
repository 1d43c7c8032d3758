"""The positions of elements in a snapshot, and how well two positions match.

A rerun finds an element by role and name. If several elements share both, it compares their rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from browser.page.lines import REF_PATTERN
from browser.text.words import words
from browser.types import REF

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MIN_OWN_PARTS: Final = 0.5
"""A row is recognised if it has more than this share (0 to 1) of the cells or words that were
unique to it. If there are two words, both must match, so that a person with the same first name
counts as a different row.
"""
_REF_RE = re.compile(rf"\b{REF}\b")
_ROLE_PREFIX_RE = re.compile(r"\s*\w+: ")


@dataclass(frozen=True, slots=True)
class ElementPosition:
    """The position of an element: its line without refs, the line above it, and the heading.

    `name` is the element as shown in its line. `index` is the number of elements with the same name
    before it, `same_name_count` the number of all other elements with that name. `unique_parts` are
    the cells or words that appear in its line (or, with `parts_above`, in the line above it) and in
    no other row or line of an element with that name.
    """

    line: str
    above: str
    heading: str
    name: str
    index: int
    unique_parts: frozenset[str] = frozenset()
    parts_above: bool = False
    same_name_count: int = 0


def positions_in(snapshot: str) -> Iterator[tuple[str, ElementPosition]]:
    """Yield the refs in a snapshot, each with its position."""
    heading, above, seen = "", "", dict[str, int]()
    for line in snapshot.splitlines():
        text = line.lstrip("+-~ ")
        if text.startswith("#"):
            heading = without_marks(text)
        for match in REF_PATTERN.finditer(line):
            shown = line[match.end() :].partition("]")[0]
            role, _, text_shown = shown.partition(":")
            name = f"{role.strip() or 'link'} {text_shown.partition(', ')[0].strip()}".strip()
            seen[name] = seen.get(name, -1) + 1
            yield match[1], ElementPosition(without_marks(line), above, heading, name, seen[name])
        above = without_marks(line) or above


def keep_own_parts(ref: str, positions: Mapping[str, ElementPosition]) -> ElementPosition:
    """Return a position with the parts of its line that are unique among rows and namesakes."""
    position = positions[ref]
    others = [one for key, one in positions.items() if key != ref and one.name == position.name]
    rows = [one for one in positions.values() if _is_row(position) and _is_row(one)]
    compared = [*others, *(row for row in rows if row.line != position.line)]
    own = _line_parts(position) - frozenset[str]().union(*map(_line_parts, compared))
    above = not own and bool(others)
    if above:
        own = _words_above(position) - frozenset[str]().union(*map(_words_above, others))
    if not (others or rows):
        own = frozenset()  # the name alone identifies the element
    return replace(position, unique_parts=own, parts_above=above, same_name_count=len(others))


def _is_row(position: ElementPosition) -> bool:
    return position.line.startswith("|")


def _line_parts(position: ElementPosition) -> frozenset[str]:
    """Return the cells of a row, or the words of any other line, without the element's name."""
    if not _is_row(position):
        return frozenset(words(_REF_RE.sub("", position.line))) - frozenset(words(position.name))
    name = position.name.partition(" ")[2]
    cells = (
        " ".join(words(_ROLE_PREFIX_RE.sub("", cell)))
        for cell in position.line.split("|")
        if name not in cell
    )
    return frozenset(filter(None, cells))


def _words_above(position: ElementPosition) -> frozenset[str]:
    """Return the words of the line above an element, and of its heading."""
    return frozenset(words(f"{position.above} {position.heading}"))


def without_marks(line: str) -> str:
    """Return a line of a snapshot without refs, markers and indentation."""
    return " ".join(REF_PATTERN.sub("", line).strip(" +-~#").replace("]", "").split())


def share_of_own_parts(then: ElementPosition, now: ElementPosition | None) -> float:
    """Return the share (0 to 1) of a position's own parts that occur at its new position."""
    if now is None:
        return 0.0
    there = _words_above(now) if then.parts_above else frozenset(words(now.line))
    return sum(there.issuperset(part.split()) for part in then.unique_parts) / len(
        then.unique_parts
    )


def rate_match(then: ElementPosition, now: ElementPosition | None) -> tuple[float, ...]:
    """Rate how well two positions match: by line, heading, and index among same-named elements."""
    if now is None:
        return (0.0,)
    pairs = ((then.line, now.line), (then.above, now.above), (then.heading, now.heading))
    alike = (SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs)
    return (*(round(ratio, 2) for ratio in alike), -abs(then.index - now.index))
