"""Where the texts in a model's context come from: whose words it knows, and what it may believe.

One `Provenance` a run is told of every text that enters the context of any of its loops: of the
opening by the builder of contexts, of observations by the one caller through which all tool calls
go. From it follow two properties, `private` and `untrusted`, and the sets of words that
`agent.guard.outgoing` decides by. Words are compared as stems, without case and accents.
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
    """Whose words a text is. A page is one of the web that only the person is shown."""

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
"""The site that search results are the words of, and to which queries go."""
SERVER = "mcp:"
"""What the site of an MCP server begins with; the rest is its name."""
SHORT = 2
"""Letters of a word that spells others when it is repeated."""
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
"""Words of a sentence at most: lists and tables have no end of one."""
_THOUSANDS = re.compile(r"(?<=\d)[.,'’\u202f\xa0](?=\d{3}(?!\d))")
"""What parts the digits of a long figure: 15,000 is 15000 too."""


def site_of(url: str) -> str:
    """Name the site of an address: what one owner has; an empty text where it is none.

    Where no domain says so (an IP address, a host without a dot) each port is a site of its own.
    """
    named = host(url)
    domain = registrable_domain(named)
    return domain if domain != named else netloc(url)


def exact_url(url: str) -> str:
    """Return an address as it is asked for, all of it: a fragment and a user's name carry words."""
    parsed = parse(url)
    return parsed.href if parsed else url


def is_character(word: str) -> bool:
    """Whether a word is one sign of a script without spaces, most of whose words have several."""
    return _CHARACTER.fullmatch(word) is not None


@cache
def _spelling_words(language: str) -> frozenset[str]:
    return frozenset(stem_in(language, word) for word in words(_SPELLING))


@dataclass(slots=True)
class Provenance:
    """What one run has read so far, `read`, and its words by whose they are.

    `own` are the person's words, `public` those that everybody can read, `private` the others, with
    their kind; `shown` are the words of each site. `pairs` are neighbours of which one spells
    others, `spelled` the words with capitals. `addresses` and `hosts` stood in a text;
    `personal_links` are those that the person wrote, or a page of theirs links on its own site.

    `shared` are kinds that the person lets go where the run likes; `on_read` is told of each kind
    and site once, when it is first read. `sites` are those where the run is logged in: their pages
    in the browser are the person's, and all of them in an `attached` Chrome are.
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
        """Part the words that an apostrophe joins, where a language does so (`l'histoire`)."""
        return text if self.language == "en" else _APOSTROPHE.sub(" ", text)

    def stems(self, text: str) -> list[str]:
        """Split a text into the words that are compared, by the language of the question."""
        found = words(self.split_apostrophes(text))
        found += [word for word in words(_THOUSANDS.sub("", text)) if word.isdigit()]
        return [stem_in(self.language, word) for word in found]

    def spells_others(self, word: str) -> bool:
        """Whether a word stands for a letter or a number: one by one, such spell any other.

        They are free as they stood somewhere: beside the same word.
        """
        short = len(word) <= SHORT and not is_character(word)
        return short or word in _spelling_words(self.language)

    @property
    def untrusted(self) -> bool:
        """Whether anything was read that somebody else wrote, also a page without a word."""
        return any(kind in UNTRUSTED for kind, _ in self.read)

    def private_for(self, site: str) -> bool:
        """Whether anything was read that is private, and that this site did not show itself."""
        return any(
            kind in PRIVATE
            and not self.is_shared(kind)
            and not (at == site and (kind is Kind.PAGE or site.startswith(SERVER)))
            for kind, at in self.read
        )

    def is_shared(self, kind: Kind) -> bool:
        """Whether the person lets such texts go; earlier turns are a part of memory."""
        return (Kind.MEMORY if kind is Kind.TURNS else kind).value in self.shared

    def is_personal(self, url: str) -> bool:
        """Whether a page in the browser may show what only the person is shown."""
        return self.attached or registrable_domain(host(url)) in self.sites

    def add(self, text: str, kind: Kind, url: str = "", *, quoted: bool = False) -> None:
        """Note a text that the model is shown; `url` is where it stands, `search` for results.

        `quoted` is what memory and earlier turns keep of somebody else's words.
        """
        site = url if url == SEARCH or url.startswith(SERVER) else site_of(url)
        if kind is Kind.PAGE and not url.startswith(("http", "file:")):
            return  # an empty tab is nobody's words
        for whose in (kind, *((Kind.WEB,) if quoted else ())):
            if whose is not Kind.PERSON and (whose, site) not in self.read:
                self.read.add((whose, site))
                self.on_read(whose, site)
        # What the person lets go counts as said by them.
        if kind is Kind.PERSON or self.is_shared(kind):
            self._add_words(text, self.own)
        elif kind in PRIVATE:
            # A sentence is what may not leave in good part, though each of its words may.
            for sentence in _SENTENCE.split(text):
                said = self.stems(sentence)
                self.private.update(dict.fromkeys(said, kind))
                self.private_signs.update(p for p in pairwise(said) if all(map(is_character, p)))
                starts = range(0, len(said), _LONGEST)
                self.private_sentences.update(frozenset(said[n : n + _LONGEST]) for n in starts)
            if kind is Kind.PAGE or url.startswith(SERVER):
                self._add_words(text, self.shown.setdefault(site, set()))
        else:
            self._add_words(text, self.public, self.shown.setdefault(site, set()))
        # An address that is merely written on a person's page is no link of it.
        self.add_addresses(text.split(), kind if kind is Kind.PERSON else Kind.WEB, url)

    def _add_words(self, text: str, *to: set[str]) -> None:
        found = self.stems(text)
        for known in to:
            known.update(found)
        small = {word for word in found if is_character(word) or self.spells_others(word)}
        self.pairs.update(pair for pair in pairwise(found) if not small.isdisjoint(pair))
        self.spelled.update(w for w in text.split() if not w.islower() and not w.isupper())

    def add_addresses(self, found: Iterable[str], kind: Kind, base: str = "") -> None:
        """Note addresses that stand literally in a text, or are the links of a page at `base`.

        Those that the person wrote, or that a page of theirs has to its own site, are their links.
        """
        for piece in found:
            at = max(piece.find("https://"), piece.find("http://"))
            if at < 0 and not (base and piece.startswith("/")):
                continue
            whole = piece[max(at, 0) :].rstrip(".,;:!?)]}>'\"»”")
            address = whole if at >= 0 else join(base, whole)
            self.addresses.add(exact_url(address))
            self.hosts.add(host(address))
            own = kind is Kind.PAGE and site_of(address) == site_of(base)
            if kind is Kind.PERSON or own:
                self.personal_links.add(exact_url(address))

    def public_words(self, text: str) -> str:
        """Return those words of a text that are public, and in nothing private."""
        free = self.public.difference(self.private)
        return " ".join(word for word in words(text) if stem_in(self.language, word) in free)
