"""What may leave a run: decided by whose words a text is made of, never by how it looks.

While nothing private was read, everything may. Afterwards each word of a text that goes to a site
has to be the person's, or public and in nothing private, or shown by that very site. A secret that
is encoded, split, spelt letter by letter or translated is nobody's public word. What is left is the
choice among public words: it is counted, and ends.

A private text holds everyday words too. Such a one says little alone; with others of its sentence
it says what the sentence says, so of each sentence only a small part may leave in a whole run.
"""

from __future__ import annotations

import itertools
import lzma
import re
from collections import Counter, defaultdict
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus

from agent.guard.provenance import (
    SEARCH,
    SHORT,
    Kind,
    Provenance,
    exact_url,
    is_character,
    site_of,
)
from browser.net.url import host, public_suffix
from browser.text.languages import SMALL_WORDS, small_words_in
from browser.text.words import STOP_WORDS, stem_in, words

if TYPE_CHECKING:
    from collections.abc import Iterator

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "ru", "ar")
"""Those whose common words are known."""
LISTED: Final = 60_000
"""Words of a language that are everybody's: so many, and of its 500,000 those of `LONG` bytes and
more. Of the shorter ones too many are what others become once they are encoded."""
LONG: Final = 7
EVERYDAY: Final = 1_000
"""Words of a language that say little, though a private text has them too."""
CHOSEN: Final = {True: 100, False: 10}
"""Words a run may choose that are not the person's: in queries to search engines, and to sites. A
choice among the words of nine languages and their capitals is worth 26 bits at most."""
UNKNOWN: Final = 6
"""Words a run that are nobody's (names that a model knows), before it reads what others wrote."""
SHARE: Final = 4
"""Of so many words of a private sentence, which are not the person's anyway, one may leave."""
DIGITS: Final = (6, 12)
"""Digits of figures that nobody said: in a text, and in a run. A secret's codes are longer."""
_ABBREVIATED = "a i vs km cm mm kg mg ml kw mb gb uk eu us un tv pc ai"
_FREE_IN_URLS = frozenset({"http", "https", "www", "q"})
_LAYERS = 3
"""Times that percent-encoding is undone."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FIGURED = re.compile(r"([^\W\d_]+)(\d{1,3})|(\d{1,3})([^\W\d_]+)")
"""A word and a figure in one: EU261, 60Hz."""
_FIGURE = 3
"""Digits of a figure that nobody said; a year has four."""
_CENTURIES = ("19", "20")
_WHOLE = 5
"""Letters of a word that is no mere part of one; a number has one less."""
_WITHOUT_SPACES = ("ja", "zh")
_SIGNS = 3
"""Characters between two words; more are dots and dashes that say something."""
_PLAIN_SIGNS = frozenset(
    " \n\t.,;:!?&=/+-_~#%@()[]{}<>|*\\\"'$^`“”‘’«»–—…§€£°→←·•×„、。・「」（）？！："
)
_FEWEST = 2
"""Words that make a query."""
_WHERE = {
    Kind.FILE: "a file of yours",
    Kind.CORPUS: "your folder",
    Kind.MEMORY: "memory",
    Kind.TURNS: "an earlier turn",
    Kind.PAGE: "a page that you are logged in to",
    Kind.TOOL: "what a tool of yours gave",
}
_PIECES = "in pieces"
_LETTERS = "letter by letter only words of the question can be pressed"
_NOBODYS = (
    "is nobody's word: neither of the question, nor of a page that was read, nor a common one"
)


@dataclass(slots=True)
class _Sent:
    """What a run has told beside the person's words."""

    chosen: Counter[bool] = field(default_factory=Counter)
    unknown: set[str] = field(default_factory=set)
    everyday: set[str] = field(default_factory=set)
    letters: str = ""
    digits: str = ""


@dataclass(slots=True)
class Outgoing:
    """Decides for one run what may leave it, and counts what was chosen."""

    provenance: Provenance = field(default_factory=Provenance)
    sent: _Sent = field(default_factory=_Sent)
    keys: dict[str, str] = field(default_factory=dict)

    def refusal(self, text: str, site: str) -> str:
        """Say why a text may not go to a site (`search`: to search engines); "" where it may."""
        return self._refusal(text, site) if self.provenance.private_for(site) else ""

    def refusal_of_address(self, url: str) -> str:
        """Say why an address may not be asked for; one that stood there literally always may."""
        site, read = site_of(url), self.provenance
        if not read.private_for(site) or exact_url(url) in read.addresses:
            return ""
        place, rest = host(url), url.partition("://")[2] or url
        begins = rest.casefold().find(place) if place else -1
        if begins >= 0:
            # Of an unknown host all is checked that its owner chose: a name can carry words too.
            named = "" if place in read.hosts else place.removesuffix(public_suffix(place))
            if named.partition(".")[0] in LANGUAGES:  # each has a host of its own there
                named = named.partition(".")[2]
            rest = f"{rest[:begins]} {named} {rest[begins + len(place) :]}"
        return self._refusal(rest, site, _FREE_IN_URLS)

    def refusal_of_keys(self, text: str, site: str) -> str:
        """Say why keys may not be pressed: with those before them they make up one text.

        A word that is not ended yet has to begin one of the person's; another has to be free, and
        pressed in one call.
        """
        if not self.provenance.private_for(site):
            return ""
        question = self.provenance.question
        pressed = self.keys.get(site, "") + text
        head, _, last = pressed.rpartition(" ")
        begun = self.provenance.stems(question) + question.casefold().split()
        if any(word.startswith(last.casefold()) for word in begun):
            why = self._refusal(head, site) if text.count(" ") else ""
        else:
            why = _LETTERS if len(last) > len(text) else self._refusal(pressed, site)
        if not why:
            self.keys[site] = pressed
        return why

    def trimmed(self, query: str) -> str:
        """Return those words of a query that may leave together; "" where less than half is left.

        No private word, no short one and no figure is among them but those that the person or
        what is public says: what is left of a private text, or of a spelling of it, tells nothing.
        """
        kept, trial = list[str](), replace(self, sent=deepcopy(self.sent))
        if _PIECES in trial.refusal(query, SEARCH):
            return ""
        for piece in filter(self._is_harmless, query.replace('"', " ").split()):
            trial.sent = deepcopy(self.sent)
            if not trial.refusal(" ".join([*kept, piece]), SEARCH):
                kept.append(piece)
        small, left = _function_words(self.provenance.language), " ".join(kept)
        asked, told = (
            sum(word not in small for word in words(self.provenance.split_apostrophes(text)))
            for text in (query, left)
        )
        return "" if told < max(_FEWEST, asked / 2) or self.refusal(left, SEARCH) else left

    def _is_harmless(self, piece: str) -> bool:
        """Whether a piece of a query is the person's, or public, or made of words, none private."""
        read = self.provenance
        for folded in words(read.split_apostrophes(piece)):
            word = stem_in(read.language, folded)
            plain = word not in read.private and folded.isalpha() and len(folded) >= _WHOLE
            if not (plain or word in read.own or word in read.public):
                return False
        return True

    def allow(self, text: str) -> None:
        """Take a person's yes: the words of a text are theirs from now on."""
        self.provenance.add(_decoded(text), Kind.PERSON)

    def _refusal(self, text: str, site: str, free: frozenset[str] = frozenset()) -> str:
        plain, read = _decoded(text), self.provenance
        # Dots, dashes or emoji between the words could be a code.
        if odd := _odd_signs(plain):
            return f"“{odd}” is no word"
        # A word that was cut into harmless ones stands there again when they are joined.
        whole = (match[0] for match in _WORD.finditer(read.split_apostrophes(plain)))
        spelled = [part for word in whole for part in self._split_figure(word)]
        if why := self._joined_refusal(spelled, site):
            return why
        found = [(s, w, stem_in(read.language, w)) for s in spelled for w in words(s)]
        stems, sent = [word for _, _, word in found], deepcopy(self.sent)
        for at, (as_spelt, folded, word) in enumerate(found):
            if word in free:
                continue
            # A word of the person's that comes again is as much a choice as another one.
            choice = word not in read.own or word in stems[:at]
            sent.chosen[site == SEARCH] += choice
            around = itertools.pairwise(stems[max(0, at - 1) : at + 2])
            pairs = {pair for pair in around if word in pair}
            why = self._word_refusal(folded, word, pairs, site, sent)
            if why == _NOBODYS and not read.spells_others(word):
                why = "" if is_listed(as_spelt.lower()) or is_listed(folded) else why
            # A model knows names that no list has; a page could make it say others.
            if why == _NOBODYS and not read.untrusted:
                sent.unknown.add(word)
            elif why or not self._usual_capitals(as_spelt, chosen=choice):
                return f"“{as_spelt}” {why or 'is spelt as nobody spells it'}"
            # Short words may be pieces of a private one: what they add up to is looked at below.
            if choice and len(folded) < _WHOLE and word not in read.private:
                sent.letters += "".join(filter(str.isalpha, folded))
        why = self._total_refusal(sent, site)
        if not why:
            self.sent = sent
        return why

    def _total_refusal(self, sent: _Sent, site: str) -> str:
        """Say what would be more than a run may tell."""
        read, before, searched = self.provenance, self.sent, site == SEARCH
        digits = sent.digits[len(before.digits) :]
        if len(sent.unknown) > UNKNOWN:
            new = ", ".join(sorted(sent.unknown - before.unknown))
            return f"“{new}” are more unknown words than a run may send"
        if sent.chosen[searched] > CHOSEN[searched]:
            return f"{CHOSEN[searched]} words that are not the person's were sent already"
        if len(digits) > DIGITS[0] or (digits and len(sent.digits) > DIGITS[1]):
            return f"“{digits}” are more digits that nobody said than may be sent"
        for word, kind in read.private.items() if sent != before else ():
            pieces = sent.digits if word.isdigit() else sent.letters
            if len(word) >= _WHOLE - word.isdigit() and word in pieces:
                return f"“{word}”, {_PIECES}, stands in {_WHERE[kind]}"
        known = read.own.union(*map(read.stems, _function_words(read.language)))
        for said in read.private_sentences if sent.everyday != before.everyday else ():
            if len(said & sent.everyday) > max(1, len(said - known) // SHARE):
                together = ", ".join(sorted(said & sent.everyday))
                return f"“{together}” stand together in what is private"
        return ""

    def _word_refusal(
        self, folded: str, word: str, pairs: set[tuple[str, str]], site: str, sent: _Sent
    ) -> str:
        """Say why a word may not go to a site; "" where it may, which `sent` counts."""
        if is_character(word):
            return self._sign_refusal(word, pairs, site)
        read = self.provenance
        here = word in read.shown.get(site, ())
        paired = not read.pairs.isdisjoint(pairs)
        if folded in _function_words(read.language) or word in read.own:
            return ""
        if paired and len(word) <= SHORT:
            return ""
        figured = _FIGURED.fullmatch(folded)
        figure = folded if folded.isdigit() else (figured[2] or figured[3]) if figured else ""
        usual = folded in everyday(read.language) or (figure == word and len(word) <= SHORT)
        if word in read.private and not here:
            kind = read.private[word]
            if kind is Kind.TURNS and not read.untrusted:
                return ""
            if not usual:
                place = site or "it"
                return f"stands in {_WHERE[kind]}, and neither in the question nor at {place}"
            sent.everyday.add(word)
        shown = here or word in read.public
        if figure and not paired and not (shown and len(word) > _FIGURE):
            sent.digits += figure
            return "" if len(figure) <= _FIGURE or figure[:2] in _CENTURIES else _NOBODYS
        if read.spells_others(word):
            small = len(word) == SHORT and any(folded in everyday(each) for each in LANGUAGES)
            return "" if paired or small else _NOBODYS
        return "" if shown or usual else _NOBODYS

    def _sign_refusal(self, word: str, pairs: set[tuple[str, str]], site: str) -> str:
        """Say why a sign of a script without spaces may not go: with which it was private."""
        read = self.provenance
        here = word in read.shown.get(site, ())
        if not here and not read.private_signs.isdisjoint(pairs - read.pairs):
            return f"stands in {_WHERE[read.private[word]]}, beside the same sign"
        free = here or read.language in _WITHOUT_SPACES or word in read.own | read.public
        return "" if free else _NOBODYS

    def _split_figure(self, word: str) -> list[str]:
        """Part a figure from a word, where the two were not read as one: `EU261` stays."""
        parts, read = _FIGURED.fullmatch(word), self.provenance
        if parts is None or len(parts[1] or parts[4]) <= SHORT:
            return [word]
        stems = read.stems(word)
        if any(stem in known for stem in stems for known in (read.own, read.public, read.private)):
            return [word]
        return [part for part in parts.groups() if part]

    def _joined_refusal(self, spelled: list[str], site: str) -> str:
        """Say what two and three words that stand side by side spell together."""
        read, ends = self.provenance, len(spelled) + 1
        for size in (2, 3):
            for span in (spelled[at : at + size] for at in range(ends - size)):
                free = {*read.shown.get(site, ()), *read.stems(" ".join(span))} | read.own
                for word in read.stems("".join(span)):
                    if word in read.private and word not in free:
                        return f"“{word}”, {_PIECES}, stands in {_WHERE[read.private[word]]}"
        return ""

    def _usual_capitals(self, word: str, *, chosen: bool) -> bool:
        """Whether a word's capitals say nothing: aLtErNaTiNg ones would, WordPress's do not."""
        cased = word.isalpha() and word.lower() != word.upper()
        usual = not cased or word.islower() or word.isupper() or word[1:].islower()
        one = chosen and sum(map(str.isupper, word[1:])) == 1
        return usual or one or any(word in known for known in self.provenance.spelled)


def _decoded(text: str) -> str:
    for _ in range(_LAYERS):
        text = unquote_plus(text)
    return text


def _odd_signs(text: str) -> str:
    """Find what stands between words and is more than punctuation."""
    for gap in _WORD.split(text):
        signs = "".join(gap.split())
        if len(signs) > _SIGNS or not _PLAIN_SIGNS.issuperset(signs):
            return signs
    return ""


@cache
def _function_words(language: str) -> frozenset[str]:
    usual = words(" ".join(word for word in STOP_WORDS | SMALL_WORDS if len(word) > 1))
    return frozenset(usual) | small_words_in(language) | {*_ABBREVIATED.split()}


@lru_cache(maxsize=4096)
def is_listed(word: str) -> bool:
    """Whether a word, in lower case, is everybody's in any language that there is a list of."""
    line = b"\n%b\n" % word.encode()
    return any(line in _listed(language).get(len(line) - 2, b"") for language in LANGUAGES)


@cache
def everyday(language: str) -> frozenset[str]:
    """Return the commonest words of English and of the language of a question, not as stems.

    A stem would be too much: “quite” is one of them, “quit” is none.
    """
    known = {"en", language} & {*LANGUAGES}
    tops = itertools.chain(*(itertools.islice(_by_frequency(each), EVERYDAY) for each in known))
    usual = words(b" ".join(tops).decode())
    return frozenset(word for word in usual if len(word) > 1)


@cache
def _listed(language: str) -> dict[int, bytes]:
    """Return the words of a language, a line each, by how many bytes they have."""
    # One text for each length takes far less memory than a set of half a million words.
    of_length = defaultdict(list)
    for at, word in enumerate(_by_frequency(language)):
        if at < LISTED or len(word) >= LONG:
            of_length[len(word)].append(word)
    return {length: b"\n%b\n" % b"\n".join(found) for length, found in of_length.items()}


def _by_frequency(language: str) -> Iterator[bytes]:
    """Yield the words of a language, the commonest first.

    Those of six languages are wordninja-enhanced's, names and abbreviations among them; those of
    the others, made of the subtitles of films and of dictionaries, are pyspellchecker's.
    """
    found = find_spec("wordninja_enhanced")  # to import it would be to read all of English
    folder = Path((found and found.origin) or "").with_name("resources")
    if (file := folder / f"{language}_dict.txt.xz").is_file():
        with lzma.open(file) as lines:
            yield from map(bytes.strip, lines)
    else:
        from spellchecker import SpellChecker  # noqa: PLC0415 - for words of no list above

        counted = SpellChecker(language=language).word_frequency.dictionary
        yield from map(str.encode, sorted(counted, key=counted.__getitem__, reverse=True))
