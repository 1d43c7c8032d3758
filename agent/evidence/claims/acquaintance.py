"""What a page knows of a name: whether it stands there, and whether the page is about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.evidence.language.names import TITLES
from agent.evidence.language.thesaurus import synonyms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.names import Name
    from agent.evidence.language.statements import Ground

TOPIC = 0.25
"""A name in this share of the statements is the page's topic, implied where it is not named."""

LONGEST_ACRONYM = 5

_BEGINNING = 4
_PEOPLE = re.compile(r"(?:an|ish|es|ese|er|ic)$")


def known(name: Name, ground: Ground) -> bool:
    """Whether each word of a name, or one of its family (`Norway`, `Norwegian`), is on the page.

    Titles may be added to a name; of an acronym, code cannot tell what it stands for.
    """
    if name.text.isupper() and len(name.text) <= LONGEST_ACRONYM:
        return True
    return all(
        root in ground
        or root in TITLES
        or any(other in ground for other in synonyms(root))
        or any(_related(root, other) for other in ground.vocabulary(root[:_BEGINNING]))
        for root in name.roots
    )


def is_topic(roots: Sequence[str], ground: Ground) -> bool:
    """Whether a name is what the page is about, and so implied where it is not named."""
    return any(root in ground.topic or ground.frequency(root) >= TOPIC for root in roots)


def is_implied(name: Name, ground: Ground) -> bool:
    """Whether a name is the page's topic: often named, or what the page begins with."""
    if not is_topic(name.roots, ground):
        return False
    often = any(ground.frequency(root) >= TOPIC for root in name.roots)
    first = [other for other in ground.statements[0].sentence.names if name.may_be(other)]
    return often or not first or any(other.role == "subject" for other in first)


def kin(one: Name, other: Name) -> bool:
    """Whether two names begin alike, as `Amazon` and `Amazonas` do."""
    return all(any(_related(root, own) for own in other.roots) for root in one.roots)


def _related(one: str, other: str) -> bool:
    """Whether two words are one or a name and its people: `Norway` and `Norwegian`."""
    if other in synonyms(one):
        return True
    shorter, longer = sorted((one, other), key=len)
    if longer.startswith(shorter):
        return True
    return longer[:_BEGINNING] == shorter[:_BEGINNING] and _PEOPLE.search(longer) is not None
