"""Provenance: where the texts in the context of a run's model come from.

Every text that enters the context of any loop is added to the run's one `Provenance`: the first
messages by `ContextBuilder`, observations by `ProvenanceCalls`, through which all tool calls go.
It tells whether private or untrusted texts were read, and has the sets of words by which
`agent.guard.outgoing` decides. Words are compared as stems, without case and accents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from browser.net.url import host, join, netloc, parse, registrable_domain
from browser.text.languages import question_language
from browser.text.words import UNSPACED, stem_in, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Kind(StrEnum):
    """Whose words a text is. A `PAGE` is a web page that is shown to the person alone."""

    PERSON = "person"
    WEB = "web"
    PAGE = "page"
    FILE = "file"
    CORPUS = "corpus"
    MEMORY = "memory"
    TURNS = "turns"
    TOOL = "tool"


PRIVATE = frozenset(set(Kind) - {Kind.PERSON, Kind.WEB})
UNTRUSTED = frozenset({Kind.WEB, Kind.PAGE, Kind.FILE, Kind.CORPUS, Kind.TOOL})
SEARCH = "search"
"""The "site" of search engines: of their results, and of the queries that they get."""
SERVER = "mcp:"
"""Prefix of the "site" of an MCP server, before its name."""
SHORT = 2
"""Most letters of a word with which others can be spelt out."""
_SPELLING = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
thousand alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november
oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu
صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة عشرون مائة ألف
null eins zwei zwo drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert
cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce veinte cien mil
zéro un deux trois quatre cinq six sept huit neuf dix onze douze vingt cent mille
uno due tre quattro cinque sei sette otto nove dieci undici dodici venti cento
nul een twee drie vier vijf zes zeven acht negen tien elf twaalf twintig honderd
um dois três quatro cinco seis sete oito nove dez onze doze vinte cem mil
ноль один два три четыре пять шесть семь восемь девять десять двадцать сто тысяча
"""
"""The numerals of the languages whose common words are known, and the alphabet of radio."""
_CHARACTER = re.compile(f"[{UNSPACED}]")
_APOSTROPHE = re.compile("['’]")
_SENTENCE = re.compile(r"[.!?]\s|[。！？]|\n\s*\n")
_LONGEST = 16
"""Most words of a sentence: lists and tables have no ends of sentences."""
_THOUSANDS = re.compile(r"(?<=\d)[.,'’\u202f\xa0](?=\d{3}(?!\d))")
"""What parts the digits of a long figure: 15,000 is 15000 too."""


def site_of(url: str) -> str:
    """Return the site of an address, which has one owner: its domain; "" for no address.

    Without a registrable domain (an IP address, a host without a dot) each port is its own site.
    """
    hostname = host(url)
    domain = registrable_domain(hostname)
    return domain if domain != hostname else netloc(url)


def exact_url(url: str) -> str:
    """Return a normalised address with its user name and fragment, which can carry words too."""
    parsed = parse(url)
    return parsed.href if parsed else url


def is_character(word: str) -> bool:
    """Whether a word is a single character of a script without spaces, such as Chinese."""
    return _CHARACTER.fullmatch(word) is not None


@cache
def _spelling_words(language: str) -> frozenset[str]:
    return frozenset(stem_in(language, word) for word in words(_SPELLING))


@dataclass(slots=True)
class Provenance:
    """What one run has read so far (`read`: kinds and sites), and the words of it.

    `own` are the person's words, `public` those that everybody can read, `private` all others with
    their kind; `shown` are the words by site. `pairs` are neighbouring words of which one can spell
    others, `spelled` the words with unusual capitals. `addresses` and `hosts` are those in texts;
    `personal_links` are addresses that the person wrote, or that a page of theirs links on its own
    site.

    `shared` are the kinds that the person allows to be sent anywhere (`--share`); `on_read` is
    called with each kind and site when it is first read. `sites` are those where the run is logged
    in: their pages in the browser are private, as are all pages in an `attached` Chrome.
    """

    question: str = ""
    language: str = field(init=False)
    shared: frozenset[str] = frozenset()
    attached: bool = False
    sites: set[str] = field(default_factory=set)
    on_read: Callable[[Kind, str], object] = lambda _kind, _site: None
    read: set[tuple[Kind, str]] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    public: set[str] = field(default_factory=set)
    private: dict[str, Kind] = field(default_factory=dict)
    private_signs: set[tuple[str, str]] = field(default_factory=set)
    private_sentences: set[frozenset[str]] = field(default_factory=set)
    shown: dict[str, set[str]] = field(default_factory=dict)
    spelled: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    addresses: set[str] = field(default_factory=set)
    personal_links: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.language = question_language(self.question) or "en"
        self.add(self.question, Kind.PERSON)

    def split_apostrophes(self, text: str) -> str:
        """Separate words joined by an apostrophe (`l'histoire`), except in English."""
        return text if self.language == "en" else _APOSTROPHE.sub(" ", text)

    def stems(self, text: str) -> list[str]:
        """Split a text into stems, by the language of the question.

        Figures are added without thousands separators as well.
        """
        found = words(self.split_apostrophes(text))
        found += [word for word in words(_THOUSANDS.sub("", text)) if word.isdigit()]
        return [stem_in(self.language, word) for word in found]

    def spells_others(self, word: str) -> bool:
        """Whether a word stands for a letter or a digit, so that a row of them can spell any word.

        Such words may be sent only beside a neighbour with which they were read (`pairs`).
        """
        short = len(word) <= SHORT and not is_character(word)
        return short or word in _spelling_words(self.language)

    @property
    def untrusted(self) -> bool:
        """Whether anything was read that somebody else wrote, even a page without text."""
        return any(kind in UNTRUSTED for kind, _ in self.read)

    def private_for(self, site: str) -> bool:
        """Whether anything private was read, other than what this site showed itself."""
        return any(
            kind in PRIVATE
            and not self.is_shared(kind)
            and not (at == site and (kind is Kind.PAGE or site.startswith(SERVER)))
            for kind, at in self.read
        )

    def is_shared(self, kind: Kind) -> bool:
        """Whether the person allows such texts to be sent; earlier turns count as memory."""
        return (Kind.MEMORY if kind is Kind.TURNS else kind).value in self.shared

    def is_personal(self, url: str) -> bool:
        """Whether a page in the browser may have content for the person alone."""
        return self.attached or registrable_domain(host(url)) in self.sites

    def add(self, text: str, kind: Kind, url: str = "", *, quoted: bool = False) -> None:
        """Add a text of the model's context; `url` is its address, `SEARCH`, or a server's site.

        `quoted` says that a text of memory or of an earlier turn holds somebody else's words.
        """
        site = url if url == SEARCH or url.startswith(SERVER) else site_of(url)
        if kind is Kind.PAGE and not url.startswith(("http", "file:")):
            return  # an empty tab has no words
        for origin in (kind, Kind.WEB) if quoted else (kind,):
            if origin is not Kind.PERSON and (origin, site) not in self.read:
                self.read.add((origin, site))
                self.on_read(origin, site)
        # What the person allows to be sent counts as their own words.
        if kind is Kind.PERSON or self.is_shared(kind):
            self._add_words(text, self.own)
        elif kind in PRIVATE:
            # Whole sentences are kept too: `Outgoing` lets single everyday words of one leave, but
            # not many of them.
            for sentence in _SENTENCE.split(text):
                stems = self.stems(sentence)
                self.private.update(dict.fromkeys(stems, kind))
                self.private_signs.update(p for p in pairwise(stems) if all(map(is_character, p)))
                starts = range(0, len(stems), _LONGEST)
                self.private_sentences.update(frozenset(stems[n : n + _LONGEST]) for n in starts)
            if kind is Kind.PAGE or url.startswith(SERVER):
                self._add_words(text, self.shown.setdefault(site, set()))
        else:
            self._add_words(text, self.public, self.shown.setdefault(site, set()))
        # An address in the text of a person's page is not a link of that page.
        self.add_addresses(text.split(), kind if kind is Kind.PERSON else Kind.WEB, url)

    def _add_words(self, text: str, *word_sets: set[str]) -> None:
        stems = self.stems(text)
        for word_set in word_sets:
            word_set.update(stems)
        spelling = {word for word in stems if is_character(word) or self.spells_others(word)}
        self.pairs.update(pair for pair in pairwise(stems) if not spelling.isdisjoint(pair))
        self.spelled.update(w for w in text.split() if not w.islower() and not w.isupper())

    def add_addresses(self, texts: Iterable[str], kind: Kind, base: str = "") -> None:
        """Add the addresses in these texts, or the links of a page at `base`.

        Those that the person wrote, and links of a person's page to its own site, are personal.
        """
        for text in texts:
            at = max(text.find("https://"), text.find("http://"))
            if at < 0 and not (base and text.startswith("/")):
                continue
            stripped = text[max(at, 0) :].rstrip(".,;:!?)]}>'\"»”")
            address = stripped if at >= 0 else join(base, stripped)
            self.addresses.add(exact_url(address))
            self.hosts.add(host(address))
            on_own_site = kind is Kind.PAGE and site_of(address) == site_of(base)
            if kind is Kind.PERSON or on_own_site:
                self.personal_links.add(exact_url(address))

    def public_words(self, text: str) -> str:
        """Return the words of a text that are public and in no private text."""
        public = self.public.difference(self.private)
        return " ".join(word for word in words(text) if stem_in(self.language, word) in public)
