"""What may leave a run: decided by whose words a text is made of, never by how it looks.

While nothing private was read, everything may. Afterwards each word of a text that goes to a site
has to be the person's, or public and in nothing private, or shown by that very site. A secret that
is encoded, split, spelt letter by letter or translated is nobody's public word. What is left is the
choice among public words: it is counted, and ends.
"""

from __future__ import annotations

import itertools
import re
import sys
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Final
from urllib.parse import unquote_plus

from agent.guard.provenance import (
    SEARCH,
    SHORT,
    Kind,
    Provenance,
    literal,
    site_of,
)
from browser.net.url import host, public_suffix
from browser.text.languages import SMALL_WORDS, small_words_in
from browser.text.words import STOP_WORDS, stem, stem_in, words

CHOSEN: Final = {True: 100, False: 10}
"""Words a run may choose that are not the person's: in queries to search engines, and to sites. A
choice among 36,000 stems, their endings and capitals is worth 20 bits at most."""
UNKNOWN: Final = 6
"""Words a run that are nobody's (names that a model knows), before it reads what others wrote."""
PART: Final = 3
"""Letters that a part of a word has at least, where both are words of their own."""
_BEGINNING = 4
"""Letters that all forms of a word share."""
_ABBREVIATED = "a i vs km cm mm kg mg ml kw mb gb uk eu us un tv pc ai"
_FREE_IN_URLS = frozenset({"http", "https", "www", "q"})
_LAYERS = 3
"""Times that percent-encoding is undone."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SIGNS = 3
"""Characters between two words; more are dots and dashes that say something."""
_PLAIN_SIGNS = frozenset(" \n\t.,;:!?&=/+-_~#%@()[]{}<>|*\\\"'$^`“”‘’«»–—…§€£°")
_WHERE = {
    Kind.FILE: "a file of yours",
    Kind.CORPUS: "your folder",
    Kind.MEMORY: "memory",
    Kind.TURNS: "an earlier turn",
    Kind.PAGE: "a page that you are logged in to",
    Kind.TOOL: "what a tool of yours gave",
}


@cache
def _function_words(language: str) -> frozenset[str]:
    usual = {word for word in STOP_WORDS | SMALL_WORDS if len(word) > 1} | small_words_in(language)
    return frozenset(stem_in(language, word) for word in usual) | {*_ABBREVIATED.split()}


@cache
def common_words() -> frozenset[str]:
    """Give the stems of the words that everybody uses: what queries are worded with.

    They are free while no private text has them: 36,000 stems of the most frequent words of the
    English Wikipedia and of films, as zxcvbn lists them, and of the whole words among the embedding
    model's word pieces, since zxcvbn leaves out what is a name or a password too (“long”,
    “software”).
    """
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415 - half a megabyte

    pieces = resources.files("agent.memory").joinpath("wordpieces.txt").read_text("utf-8").split()
    lists = (FREQUENCY_LISTS["english_wikipedia"], FREQUENCY_LISTS["us_tv_and_film"], pieces)
    listed = {word for each in lists for word in each if word.isalpha() and len(word) > SHORT}
    return frozenset(map(stem, listed)) | STOP_WORDS


@cache
def dictionary(language: str) -> list[str]:
    """Give what is a word in a language, as it is spelt: the common words of a run asked in it.

    Lists made of the subtitles of films and of dictionaries, by pyspellchecker; none of English,
    whose are `common_words`, nor of a language that it has no list for.
    """
    from spellchecker import SpellChecker  # noqa: PLC0415 - a megabyte, for questions in those

    if language == "en" or language not in SpellChecker.languages():
        return []
    listed = SpellChecker(language=language).word_frequency.words()
    return sorted(word for word in listed if word.isalpha() and len(word) > SHORT)


@lru_cache(maxsize=4096)
def in_dictionary(language: str, word: str) -> bool:
    """Whether a word, in lower case, or another form of it stands in the dictionary."""
    listed = dictionary(language)
    begins = word[:_BEGINNING]
    near = listed[bisect_left(listed, begins) : bisect_left(listed, begins + chr(sys.maxunicode))]
    return word in near or stem_in(language, word) in {stem_in(language, each) for each in near}


@dataclass(slots=True)
class Outgoing:
    """Decides for one run what may leave it, and counts what was chosen."""

    read: Provenance = field(default_factory=Provenance)
    chosen: Counter[bool] = field(default_factory=Counter)
    unknown: set[str] = field(default_factory=set)
    keys: dict[str, str] = field(default_factory=dict)

    def refusal(self, text: str, site: str) -> str:
        """Tell why a text may not go to a site (`search`: to search engines); "" where it may."""
        return self._refusal(text, site) if self.read.private_for(site) else ""

    def refusal_of_address(self, url: str) -> str:
        """Tell why an address may not be asked for; one that stood there literally always may."""
        site = site_of(url)
        if not self.read.private_for(site) or literal(url) in self.read.addresses:
            return ""
        place, rest = host(url), url.partition("://")[2] or url
        begins = rest.casefold().find(place) if place else -1
        if begins >= 0:
            # Of an unknown host all is checked that its owner chose: a name can carry words too.
            named = "" if place in self.read.hosts else place.removesuffix(public_suffix(place))
            rest = f"{rest[:begins]} {named} {rest[begins + len(place) :]}"
        return self._refusal(rest, site, _FREE_IN_URLS)

    def refusal_of_keys(self, text: str, site: str) -> str:
        """Tell why keys may not be pressed: with those before them they make up one text.

        A word that is not ended yet has to begin one of the person's; another has to be free, and
        pressed in one call.
        """
        if not self.read.private_for(site):
            return ""
        whole = self.keys.get(site, "") + text
        head, _, last = whole.rpartition(" ")
        begun = self.read.stems(self.read.question) + self.read.question.casefold().split()
        if any(word.startswith(last.casefold()) for word in begun):
            why = self._refusal(head, site) if text.count(" ") else ""
        else:
            why = _LETTERS if len(last) > len(text) else self._refusal(whole, site)
        if not why:
            self.keys[site] = whole
        return why

    def allow(self, text: str) -> None:
        """Take a person's yes: the words of a text are theirs from now on."""
        self.read.add(_decoded(text), Kind.PERSON)

    def _refusal(self, text: str, site: str, free: frozenset[str] = frozenset()) -> str:
        plain = _decoded(text)
        if odd := _odd_signs(plain):
            return f"“{odd}” is no word"
        spelled = [match[0] for match in _WORD.finditer(self.read.parted(plain))]
        here, secret = self.read.shown.get(site, ()), self.read.secret
        for whole in self._joined(spelled):
            if whole in secret and whole not in here and whole not in self.read.own:
                return f"“{whole}”, in pieces, stands in {_WHERE[secret[whole]]}"
        found = [(s, w, stem_in(self.read.language, w)) for s in spelled for w in words(s)]
        names = [word for _, _, word in found]
        chosen, unknown = 0, set[str]()
        for at, (as_spelt, folded, word) in enumerate(found):
            # A word of the person's that comes again is as much a choice as another one.
            chosen += word not in free and (word not in self.read.own or word in names[:at])
            why = self._why_not(word, names[max(0, at - 1) : at + 2], site, free)
            if why == _NOBODYS and not self.read.spells_others(word):
                parts = self._known_parts(as_spelt.lower(), folded)
                chosen += max(parts - 1, 0)
                why = why if not parts else ""
            if why == _NOBODYS and not self.read.untrusted:
                unknown.add(word)
            elif why or not self._as_written(as_spelt):
                return f"“{as_spelt}” {why or 'is spelt as nobody spells it'}"
        if len(self.unknown | unknown) > UNKNOWN:
            return f"“{', '.join(sorted(unknown))}” are more unknown words than a run may send"
        searched = site == SEARCH
        if self.chosen[searched] + chosen > CHOSEN[searched]:
            return f"{CHOSEN[searched]} words that are not the person's were sent already"
        self.chosen[searched] += chosen
        self.unknown |= unknown
        return ""

    def _why_not(self, word: str, around: list[str], site: str, free: frozenset[str]) -> str:
        """Tell why a word may not go to a site; "" where it may."""
        read = self.read
        here = word in read.shown.get(site, ())
        if word in _function_words(read.language) or word in read.own or word in free:
            return ""
        if word in read.secret and not here:
            kind = read.secret[word]
            if kind is Kind.TURNS and not read.untrusted:
                return ""
            return f"stands in {_WHERE[kind]}, and neither in the question nor at {site or 'it'}"
        if read.spells_others(word):
            near = itertools.pairwise(around)
            return "" if any(pair in read.pairs for pair in near if word in pair) else _NOBODYS
        return "" if here or word in read.public else _NOBODYS

    def _known_parts(self, as_spelt: str, folded: str) -> int:
        """Count the known words that a word is made of, 2 at most (`Reiseziel`); 0 for nobody's."""
        if stem(folded) in common_words() or in_dictionary(self.read.language, as_spelt):
            return 1
        cuts = range(PART, len(as_spelt) - PART + 1)
        parts = ((as_spelt[:at], as_spelt[at:]) for at in cuts)
        return 2 if any(all(map(self._is_known, pair)) for pair in parts) else 0

    def _is_known(self, part: str) -> bool:
        read, word = self.read, stem_in(self.read.language, part)
        if word in read.own:
            return True
        if word in read.secret or read.spells_others(word):
            return False
        known = word in read.public or stem(part) in common_words()
        return known or in_dictionary(read.language, part)

    def _joined(self, spelled: list[str]) -> list[str]:
        """Give what two and three words that stand side by side spell together."""
        whole = len(spelled) + 1
        spans = (spelled[at : at + size] for size in (2, 3) for at in range(whole - size))
        return [word for span in spans for word in self.read.stems("".join(span))]

    def _as_written(self, word: str) -> bool:
        """Whether a word's capitals say nothing: aLtErNaTiNg ones would."""
        cased = word.isalpha() and word.lower() != word.upper()
        usual = not cased or word.islower() or word.isupper() or word[1:].islower()
        return usual or any(word in known for known in self.read.spelled)


_LETTERS = "letter by letter only words of the question can be pressed"
_NOBODYS = (
    "is nobody's word: neither of the question, nor of a page that was read, nor a common one"
)


def _decoded(text: str) -> str:
    for _ in range(_LAYERS):
        text = unquote_plus(text)
    return text


def _odd_signs(text: str) -> str:
    """Find what stands between words and is more than punctuation."""
    for gap in _WORD.split(text):
        kept = gap.strip()
        if len(kept) > _SIGNS or not _PLAIN_SIGNS.issuperset(kept):
            return kept
    return ""
