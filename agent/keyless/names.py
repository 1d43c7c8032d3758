"""Proper names, quotations and numbers in running text, told by how they are written."""

from __future__ import annotations

import functools
import re

from browser.text import STOP_WORDS, stem, words

_TITLES = r"(?:Mr|Mrs|Ms|Dr|St|Mt|Jr|Sr|Ft|Gen|Lt|Col|Sgt|Rev|Prof)\."
_CAPITALISED = rf"(?:{_TITLES}|[A-ZÀ-ÖØ-ÞĀ-ž][\w’'&.-]*[\w’']|[A-ZÀ-ÖØ-Þ]\.?|\d+(?:st|nd|rd|th))"
_LINKING = (
    r"(?:of|the|de|la|le|du|da|di|del|van|von|der|den|and|for|in|on|to|at|a|an|&|al|el|bin|ibn)"
)
_NAME = re.compile(rf"{_CAPITALISED}(?:[ -](?:{_LINKING} ){{0,2}}(?:{_CAPITALISED}|\d+))*")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,80})[\"”»]")
_SPLITTING = re.compile(r" (?:and|in|on|at|to|for|a|an) ")
_POSSESSIVE = re.compile(r"['’]s?$")
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def quoted(text: str) -> list[str]:
    """Quoted pieces, without their quotation marks and the punctuation at their edges."""
    return [m[1].strip(" ,.;") for m in _QUOTED.finditer(text)]


def names(text: str) -> list[str]:
    """Capitalised names in order, each once, a stop word at the start left out."""
    return list(dict.fromkeys(name for name, _ in placed_names(text)))


@functools.lru_cache(maxsize=4096)
def placed_names(text: str) -> tuple[tuple[str, int], ...]:
    """Capitalised names with the offset at which each begins."""
    found: list[tuple[str, int]] = []
    for match in _NAME.finditer(text):
        name = _without_leading_stop_word(match[0])
        if name:
            found.append((_POSSESSIVE.sub("", name), match.end() - len(name)))
    return tuple(found)


def pieces(name: str) -> list[str]:
    """A name and, where a preposition may have joined two names into one, its parts."""
    parts = _SPLITTING.split(name)
    return [name, *parts] if len(parts) > 1 else [name]


def numbers(text: str) -> list[str]:
    """Numbers with their thousands separators taken out."""
    return [m[0].replace(",", "") for m in _NUMBER.finditer(text)]


@functools.lru_cache(maxsize=16_384)
def name_stems(name: str) -> frozenset[str]:
    """The stems that tell a name: stop words are left out unless nothing else is there."""
    all_words = words(name)
    telling = [stem(w) for w in all_words if w not in STOP_WORDS]
    return frozenset(telling or [stem(w) for w in all_words])


def bare_title(title: str) -> str:
    """A page's title without what tells it from its namesakes: `Nina (film)`, `Nina | Site`."""
    return re.split(r" \(| [|–—-] ", title)[0]


def _without_leading_stop_word(name: str) -> str:
    parts = name.split(" ")
    while parts and (parts[0].islower() or parts[0].casefold().strip(".'’") in STOP_WORDS):
        parts = parts[1:]
    return " ".join(parts)
