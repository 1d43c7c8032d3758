"""Common English synonyms and opposites, for telling which statement a claim talks about.

A synonym here only helps to align a claim with a statement; nothing is called supported on the
strength of one. Opposites carry more: they turn an aligned statement into its contrary. The words
stand in `words/`, those that mean the same in `browser/text/synonyms.txt`; they are read when the
first claim is checked.
"""

from __future__ import annotations

import functools
import itertools
import re
from importlib import resources
from typing import TYPE_CHECKING

from agent.evidence.language.spelling import root
from browser.text import synonym_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST_BASE = 4
"""Letters of a word that `un` turns round; `unit` and `under` are no such words."""

_PREFIXES = ("in", "im", "ir", "il", "non")
_ABLE = "abl"
"""The end that the stemmer takes from the longer of `suitable` and `unsuitable`."""

_QUALITY = re.compile(r"(?:abl|ibl|ient|ect|ular)$")
"""Ends of roots that these prefixes turn round: `impassable`, `incorrect`; not `improve`."""

_NONE: frozenset[str] = frozenset()


def synonyms(word: str) -> frozenset[str]:
    """Roots that can stand for this root, itself included; one step, not transitive."""
    return _synonyms().get(word) or frozenset((word,))


@functools.lru_cache(maxsize=16_384)
def opposites(word: str) -> frozenset[str]:
    """Roots that say the contrary of this root."""
    plain: set[str] = set()
    for prefix in ("un", *_PREFIXES):
        bare = word.removeprefix(prefix)
        if bare != word and len(bare) >= _SHORTEST_BASE:
            plain |= {bare, f"{bare}{_ABLE}"} if prefix == "un" else {f"{bare}{_ABLE}"}
        if len(word) >= _SHORTEST_BASE and (prefix == "un" or _QUALITY.search(word)):
            plain |= {f"{prefix}{word}", f"{prefix}{word.removesuffix(_ABLE)}"}
        if bare != word and _QUALITY.search(word):
            plain.add(bare)
    return _opposites().get(word, _NONE) | plain


@functools.cache
def phrases() -> dict[str, str]:
    """Set phrases, each with a word that says the same: `out of date` → `outdated`."""
    pairs = (line.partition(": ") for line in _lines("phrases"))
    return {phrase: word for phrase, _, word in pairs}


@functools.cache
def exclusive() -> tuple[frozenset[str], ...]:
    """Groups of roots of which one at most is true of a thing in one respect: the weekdays."""
    return tuple(frozenset(group) for group in _groups("exclusive"))


@functools.cache
def roles() -> frozenset[str]:
    """Roots of offices and parts that one bearer has at a time: `mayor`, `landlord`."""
    return frozenset(word for group in _groups("roles") for word in group)


@functools.cache
def denying() -> frozenset[str]:
    """Roots that may say in their own way that something is not so: `refuse`, `only`, `lost`."""
    return frozenset(word for group in _groups("denying") for word in group)


@functools.cache
def _peoples() -> frozenset[str]:
    return frozenset(word for group in _groups("peoples") for word in group)


def is_people(word: str) -> bool:
    """Whether a root is that of a country or its people, and so of a language: `French`."""
    return word in _peoples()


@functools.cache
def _synonyms() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    plain = ([root(word) for word in group] for group in synonym_groups())
    for group in (*plain, *_groups("peoples")):
        for word in group:
            table.setdefault(word, set()).update(group)
    return _frozen(table)


@functools.cache
def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for one, other in _facing():
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    for group in _groups("exclusive"):
        for word in group:
            table.setdefault(word, set()).update(set(group) - {word})
    return _frozen(table)


def _facing() -> Iterator[tuple[str, str]]:
    """Read the opposites: each word before the stroke with each word after it, as roots."""
    for line in _lines("opposites"):
        left, _, right = line.partition(" / ")
        for one, other in itertools.product(left.split(), right.split()):
            if root(one) != root(other):
                yield root(one), root(other)


def _groups(name: str) -> list[list[str]]:
    """Read a word list: one group a line, as roots."""
    return [[root(word) for word in line.split()] for line in _lines(name)]


def _lines(name: str) -> list[str]:
    """Read the lines of a word list but its notes, which begin with #."""
    file = resources.files("agent.evidence.language").joinpath("words", f"{name}.txt")
    text = file.read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _frozen(table: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {word: frozenset(group) for word, group in table.items()}
