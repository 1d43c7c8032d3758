"""What a run may send: decided by whose words a text is made of, never by how it looks.

While nothing private was read, everything may be sent. Afterwards each word of a text for a site
must be the person's, or public and in no private text, or shown by that site itself. A secret that
is encoded, split, spelt letter by letter or translated consists of words that are not public. What
remains is the choice among public words, which could encode a secret too; it is bounded in number.

Private texts hold everyday words too. One of them says little, but together with others of its
sentence it says what the sentence says. So only a small part of each private sentence may be sent
in a whole run.
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
"""The languages whose common words are known."""
LISTED: Final = 60_000
"""Commonest words of a language that count as public. Of its 500,000 words those of `LONG` bytes
and more do too; too many of the shorter ones are also encodings of other words."""
LONG: Final = 7
EVERYDAY: Final = 1_000
"""Commonest words of a language, which say little even if a private text has them too."""
CHOSEN: Final = {True: 100, False: 10}
"""Most words of a run that are not the person's, to search engines (True) and to sites (False).
The choice of one among the words of nine languages and their capitals is at most 26 bits."""
UNKNOWN: Final = 6
"""Most unknown words of a run (such as names that a model knows), before it reads texts that
others wrote; none afterwards."""
SHARE: Final = 4
"""One of so many words of a private sentence may be sent; the person's words are not counted."""
DIGITS: Final = (6, 12)
"""Most digits of unknown figures, in a text and in a run: less than the codes of a secret."""
_ABBREVIATED = "a i vs km cm mm kg mg ml kw mb gb uk eu us un tv pc ai"
_FREE_IN_URLS = frozenset({"http", "https", "www", "q"})
_LAYERS = 3
"""Times that percent-encoding is decoded."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FIGURED = re.compile(r"([^\W\d_]+)(\d{1,3})|(\d{1,3})([^\W\d_]+)")
"""A word and a figure joined: EU261, 60Hz."""
_FIGURE = 3
"""Most digits of an unknown figure, except for years, which have four."""
_CENTURIES = ("19", "20")
_WHOLE = 5
"""Least letters of a word that is not a fragment of another; a number has one less."""
_WITHOUT_SPACES = ("ja", "zh")
_SIGNS = 3
"""Most characters between two words: more could be a code of dots and dashes."""
_PLAIN_SIGNS = frozenset(
    " \n\t.,;:!?&=/+-_~#%@()[]{}<>|*\\\"'$^`“”‘’«»–—…§€£°→←·•×„、。・「」（）？！："
)
_FEWEST = 2
"""Least words of a query."""
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
    """What a run has sent beside the person's words: counts, words, and joined characters."""

    chosen: Counter[bool] = field(default_factory=Counter)
    unknown: set[str] = field(default_factory=set)
    everyday: set[str] = field(default_factory=set)
    letters: str = ""
    digits: str = ""


@dataclass(slots=True)
class Outgoing:
    """Decides what one run may send, and counts what it did send.

    The methods return the reason of a refusal, "" if the text may be sent.
    """

    provenance: Provenance = field(default_factory=Provenance)
    sent: _Sent = field(default_factory=_Sent)
    keys: dict[str, str] = field(default_factory=dict)

    def refusal(self, text: str, site: str) -> str:
        """Check a text for a site, or for search engines (`SEARCH`)."""
        return self._refusal(text, site) if self.provenance.private_for(site) else ""

    def refusal_of_address(self, url: str) -> str:
        """Check an address to be opened; one that was read literally may always be opened."""
        site, read = site_of(url), self.provenance
        if not read.private_for(site) or exact_url(url) in read.addresses:
            return ""
        hostname, rest = host(url), url.partition("://")[2] or url
        host_start = rest.casefold().find(hostname) if hostname else -1
        if host_start >= 0:
            # The name of a host can carry words too. Of an unknown host, all that its owner chose
            # is checked; of a known one, nothing.
            labels = (
                "" if hostname in read.hosts else hostname.removesuffix(public_suffix(hostname))
            )
            if labels.partition(".")[0] in LANGUAGES:  # as in de.wikipedia.org
                labels = labels.partition(".")[2]
            rest = f"{rest[:host_start]} {labels} {rest[host_start + len(hostname) :]}"
        return self._refusal(rest, site, _FREE_IN_URLS)

    def refusal_of_keys(self, text: str, site: str) -> str:
        """Check keys to be pressed, which form one text with those pressed before.

        An unfinished word must be the beginning of one of the person's words; any other word must
        be allowed, and pressed in one call.
        """
        if not self.provenance.private_for(site):
            return ""
        question = self.provenance.question
        pressed = self.keys.get(site, "") + text
        head, _, last = pressed.rpartition(" ")
        persons_words = self.provenance.stems(question) + question.casefold().split()
        if any(word.startswith(last.casefold()) for word in persons_words):
            why = self._refusal(head, site) if " " in text else ""
        elif len(last) > len(text):  # the word was begun in an earlier call
            why = _LETTERS
        else:
            why = self._refusal(pressed, site)
        if not why:
            self.keys[site] = pressed
        return why

    def trimmed(self, query: str) -> str:
        """Return the words of a query that may be sent; "" if that is less than half of it.

        Fragments (short words, figures) are kept only if they are the person's or public, so that
        what remains of an encoded private text reveals nothing.
        """
        kept, trial = list[str](), replace(self, sent=deepcopy(self.sent))
        if _PIECES in trial.refusal(query, SEARCH):
            return ""
        for piece in query.replace('"', " ").split():
            if not self._is_harmless(piece):
                continue
            trial.sent = deepcopy(self.sent)  # each trial starts with what was really sent
            if not trial.refusal(" ".join([*kept, piece]), SEARCH):
                kept.append(piece)
        trimmed = " ".join(kept)
        before, after = self._count_content_words(query), self._count_content_words(trimmed)
        if after < max(_FEWEST, before / 2) or self.refusal(trimmed, SEARCH):
            return ""
        return trimmed

    def _count_content_words(self, text: str) -> int:
        function_words = _function_words(self.provenance.language)
        found = words(self.provenance.split_apostrophes(text))
        return sum(word not in function_words for word in found)

    def _is_harmless(self, piece: str) -> bool:
        """Whether all words of a piece are the person's, public, or whole and not private."""
        read = self.provenance
        for folded in words(read.split_apostrophes(piece)):
            word = stem_in(read.language, folded)
            plain = word not in read.private and folded.isalpha() and len(folded) >= _WHOLE
            if not (plain or word in read.own or word in read.public):
                return False
        return True

    def allow(self, text: str) -> None:
        """Count the words of a text as the person's from now on: they agreed to it."""
        self.provenance.add(_decoded(text), Kind.PERSON)

    def _refusal(self, text: str, site: str, free: frozenset[str] = frozenset()) -> str:
        """Check a text word by word, then in total; if it may be sent, it is counted as sent.

        `free` are words that are always allowed.
        """
        plain, read = _decoded(text), self.provenance
        # Dots, dashes or emoji between the words could be a code.
        if signs := _odd_signs(plain):
            return f"“{signs}” is no word"

        # A private word may be split into harmless ones: neighbours are checked joined, too.
        whole = (match[0] for match in _WORD.finditer(read.split_apostrophes(plain)))
        spelled = [part for word in whole for part in self._split_figure(word)]
        if why := self._joined_refusal(spelled, site):
            return why

        # Each word: as it is spelt, folded, and its stem.
        found = [(s, w, stem_in(read.language, w)) for s in spelled for w in words(s)]
        stems, sent = [word for _, _, word in found], deepcopy(self.sent)
        for at, (as_spelt, folded, word) in enumerate(found):
            if word in free:
                continue
            # A repeated word of the person's is a choice too: repetitions could be a code.
            chosen = word not in read.own or word in stems[:at]
            sent.chosen[site == SEARCH] += chosen
            around = itertools.pairwise(stems[max(0, at - 1) : at + 2])
            pairs = {pair for pair in around if word in pair}
            why = self._word_refusal(folded, word, pairs, site, sent)
            if why == _NOBODYS and not read.spells_others(word):
                why = "" if is_listed(as_spelt.lower()) or is_listed(folded) else why
            # A model knows names that are in no list. Once it has read untrusted texts, a page
            # could make it send other words.
            if why == _NOBODYS and not read.untrusted:
                sent.unknown.add(word)
            elif why or not self._usual_capitals(as_spelt, chosen=chosen):
                return f"“{as_spelt}” {why or 'is spelt as nobody spells it'}"
            # Short words may be fragments of a private one: `_total_refusal` checks them joined.
            if chosen and len(folded) < _WHOLE and word not in read.private:
                sent.letters += "".join(filter(str.isalpha, folded))

        why = self._total_refusal(sent, site)
        if not why:
            self.sent = sent
        return why

    def _total_refusal(self, sent: _Sent, site: str) -> str:
        """Check the totals of a run, which `sent` would become."""
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
        for sentence in read.private_sentences if sent.everyday != before.everyday else ():
            if len(sentence & sent.everyday) > max(1, len(sentence - known) // SHARE):
                together = ", ".join(sorted(sentence & sent.everyday))
                return f"“{together}” stand together in what is private"
        return ""

    def _word_refusal(
        self, folded: str, word: str, pairs: set[tuple[str, str]], site: str, sent: _Sent
    ) -> str:
        """Check a word for a site, and count it in `sent`; `pairs` are it with its neighbours."""
        if is_character(word):
            return self._sign_refusal(word, pairs, site)
        read = self.provenance
        here = word in read.shown.get(site, ())
        paired = not read.pairs.isdisjoint(pairs)
        if folded in _function_words(read.language) or word in read.own:
            return ""
        if paired and len(word) <= SHORT:
            return ""
        figure = folded if folded.isdigit() else ""
        if figured := _FIGURED.fullmatch(folded):
            figure = figured[2] or figured[3]
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
        """Check a character of a script without spaces, by its neighbours in private texts."""
        read = self.provenance
        here = word in read.shown.get(site, ())
        if not here and not read.private_signs.isdisjoint(pairs - read.pairs):
            return f"stands in {_WHERE[read.private[word]]}, beside the same sign"
        free = here or read.language in _WITHOUT_SPACES or word in read.own | read.public
        return "" if free else _NOBODYS

    def _split_figure(self, word: str) -> list[str]:
        """Split a figure from a word, unless the two were read as one (`EU261`)."""
        parts, read = _FIGURED.fullmatch(word), self.provenance
        if parts is None or len(parts[1] or parts[4]) <= SHORT:
            return [word]
        stems = read.stems(word)
        if any(stem in known for stem in stems for known in (read.own, read.public, read.private)):
            return [word]
        return [part for part in parts.groups() if part]

    def _joined_refusal(self, spelled: list[str], site: str) -> str:
        """Check two and three neighbouring words joined to one."""
        read = self.provenance
        for size in (2, 3):
            for start in range(len(spelled) + 1 - size):
                span = spelled[start : start + size]
                free = {*read.shown.get(site, ()), *read.stems(" ".join(span))} | read.own
                for word in read.stems("".join(span)):
                    if word in read.private and word not in free:
                        return f"“{word}”, {_PIECES}, stands in {_WHERE[read.private[word]]}"
        return ""

    def _usual_capitals(self, word: str, *, chosen: bool) -> bool:
        """Whether the capitals of a word can hide nothing: aLtErNaTiNg ones can be a code."""
        cased = word.isalpha() and word.lower() != word.upper()
        usual = not cased or word.islower() or word.isupper() or word[1:].islower()
        one_inside = chosen and sum(map(str.isupper, word[1:])) == 1  # as in WordPress
        return usual or one_inside or any(word in known for known in self.provenance.spelled)


def _decoded(text: str) -> str:
    for _ in range(_LAYERS):
        text = unquote_plus(text)
    return text


def _odd_signs(text: str) -> str:
    """Find characters between words that are more than punctuation; "" if there are none."""
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
    """Whether a word in lower case is in the list of any language, and so public."""
    line = b"\n%b\n" % word.encode()
    return any(line in _listed(language).get(len(line) - 2, b"") for language in LANGUAGES)


@cache
def everyday(language: str) -> frozenset[str]:
    """Return the commonest words of English and of the question's language.

    Not as stems, which would be too wide: “quite” is among them, “quit” is not.
    """
    known = {"en", language} & {*LANGUAGES}
    tops = itertools.chain(*(itertools.islice(_by_frequency(each), EVERYDAY) for each in known))
    usual = words(b" ".join(tops).decode())
    return frozenset(word for word in usual if len(word) > 1)


@cache
def _listed(language: str) -> dict[int, bytes]:
    """Return the listed words of a language as one text for each length in bytes, a line each."""
    # This takes far less memory than a set of half a million words.
    by_length = defaultdict(list)
    for rank, word in enumerate(_by_frequency(language)):
        if rank < LISTED or len(word) >= LONG:
            by_length[len(word)].append(word)
    return {length: b"\n%b\n" % b"\n".join(found) for length, found in by_length.items()}


def _by_frequency(language: str) -> Iterator[bytes]:
    """Yield the words of a language, the commonest first.

    For six languages they come from wordninja-enhanced, with names and abbreviations; for the
    others from pyspellchecker, whose lists are made of film subtitles and dictionaries.
    """
    spec = find_spec("wordninja_enhanced")  # not imported: that would load all of English
    folder = Path((spec and spec.origin) or "").with_name("resources")
    if (file := folder / f"{language}_dict.txt.xz").is_file():
        with lzma.open(file) as lines:
            yield from map(bytes.strip, lines)
    else:
        from spellchecker import SpellChecker  # noqa: PLC0415 - for words of no list above

        counted = SpellChecker(language=language).word_frequency.dictionary
        yield from map(str.encode, sorted(counted, key=counted.__getitem__, reverse=True))
