"""What a question asks about something: the captain *of* a ship, an island's airport.

A page on the ship that never speaks of a captain, and a captain of another ship, answer nothing,
however many words they share with the question.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.keyless.asking import GENERIC
from agent.keyless.names import name_stems
from browser.text import STOP_WORDS, stem

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = r"[A-ZÀ-Þ][\w’'.&-]*(?: (?:(?:of|the|and|de) )*[A-ZÀ-Þ0-9][\w’'.&-]*)*"
_OF = re.compile(rf"\b([a-zà-ÿ][\w-]+) of (?:the |an? )?({_NAME})")
_BESIDE = re.compile(
    rf"\bthe (?:[a-zà-ÿ][\w-]+ )?([a-zà-ÿ][\w-]+) (?:in|at|on|for|to|from) (?:the )?({_NAME})"
)
_OWNER = re.compile(r"\b(?:the ([a-zà-ÿ][\w-]+)|([A-ZÀ-Þ][\w-]+))['’]s ([a-zà-ÿ][\w-]+)\b")


@dataclass(frozen=True, slots=True)
class Owned:
    """A telling word of the question, and the stems of what it is said of."""

    thing: str
    owner: frozenset[str]


@functools.lru_cache(maxsize=64)
def owned(question: str) -> tuple[Owned, ...]:
    """Find the things that an English question asks about something it names."""
    return tuple(
        Owned(stem(thing), name_stems(owner))
        for thing, owner in _pairs(question)
        if thing not in STOP_WORDS and stem(thing) not in GENERIC
    )


def _pairs(question: str) -> Iterator[tuple[str, str]]:
    for pattern in (_OF, _BESIDE):
        yield from ((m[1], m[2]) for m in pattern.finditer(question))
    yield from ((m[3], m[1] or m[2]) for m in _OWNER.finditer(question))
