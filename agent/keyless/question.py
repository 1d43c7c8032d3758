"""What a question asks for: its words and names, and the kind of answer."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.keyless.asking import GENERIC, Kind, asked_for
from agent.keyless.names import name_stems, names, numbers, pieces, quoted
from agent.keyless.places import is_adjective, is_country
from browser.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Question:
    """A question, analysed: `terms` are its content stems, each once, in order.

    `names` are the proper names and quotations in it, a joined one also in its parts;
    `name_terms` the stems that belong to a name or are numbers; `focus` the stems of the noun
    that is asked for ("what *mountain range* …"), empty where there is none.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    name_terms: frozenset[str]
    kind: Kind
    focus: frozenset[str]
    bigrams: frozenset[tuple[str, str]]

    @property
    def telling_names(self) -> list[str]:
        """The names that say which one is meant: no countries, no `British`."""
        return [n for n in self.names if not is_adjective(n) and not is_country(n)]

    def word_of(self, term: str) -> str:
        """The word of the question that a stem came from."""
        return next((w for w in words(self.text) if stem(w) == term), term)


@functools.lru_cache(maxsize=64)
def analyse(text: str) -> Question:
    """Analyse a question; in languages other than English only words and names are told."""
    text = " ".join(text.split())
    found = tuple(_names_of(text))
    inside = frozenset(s for name in found for s in name_stems(name)) | frozenset(numbers(text))
    order = [stem(w) for w in words(text) if w not in STOP_WORDS or stem(w) in inside]
    kind, focus = asked_for(text)
    return Question(
        text=text,
        terms=tuple(dict.fromkeys(order)),
        names=found,
        name_terms=inside,
        kind=kind,
        focus=frozenset(stem(w) for w in focus),
        bigrams=frozenset(itertools.pairwise(order)),
    )


def keywords(question: Question) -> str:
    """The names alone, or, where there are none, the words that carry meaning."""
    return " ".join(dict.fromkeys(question.names or _telling_words(question)))


def variants(question: Question) -> str:
    """The words that carry meaning, each in its plain forms, for engines that do not stem."""
    return " ".join(dict.fromkeys(v for w in _telling_words(question) for v in _forms(w)))


def _names_of(text: str) -> list[str]:
    opening = text.partition(" ")[0].casefold()
    asking = opening in STOP_WORDS or stem(opening) in GENERIC
    body = text[:1].lower() + text[1:] if asking else text
    found = [*quoted(text), *(piece for name in names(body) for piece in pieces(name))]
    return [n for n in dict.fromkeys(found) if name_stems(n)]


def _telling_words(question: Question) -> Iterator[str]:
    return (w for w in words(question.text) if w not in STOP_WORDS and stem(w) not in GENERIC)


def _forms(word: str) -> list[str]:
    """A word without its ending, and with the commonest English ones; numbers as they are."""
    if len(word) < 4 or not word.isascii() or word.isdigit():
        return [word]
    ending = next((e for e in ("ings", "ing", "ed", "es", "s") if word.endswith(e)), "")
    base = word.removesuffix(ending)
    base = base if len(base) >= 3 else word
    return [word, base, *(base + e for e in ("s", "ed", "ing", "e"))]
