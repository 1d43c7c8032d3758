"""Decides what a run may send after it has read private text, depending on the recipient (sink).

Until private text is read, everything may be sent. Afterwards:

- Search queries are read by the configured search engines. They may contain any words, but keys,
  e-mail addresses, long numbers, and long verbatim passages of private text are withheld.
- A URL is read by its host. The run must have seen the URL, or one from which it can be built with
  words from the question. Each followed link is a choice; choices are counted in bits per site.
- Text that is typed, selected or passed to a site or tool is read by that site or tool. It must
  consist of the user's own words, or of a few words that the site itself showed.

The same rules apply to text that was encoded, split or translated, except for key-like strings.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qsl, unquote, unquote_plus

from agent.evidence.facts import extract_facts, month_number
from agent.evidence.tokens import tokenize
from agent.guard.provenance import PRIVATE_KINDS, SEARCH_SITE, Kind, Provenance, site_of
from browser.net.url import parse
from browser.text.words import letters_and_digits, stem_in, unspaced_characters, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.guard.redact import Redactor
    from browser.net.url import Url

MAX_BITS: Final = 100
"""Maximum bits that a site may learn from choices (followed links, clicked points): less than a
128-bit key, but enough for a dozen pages of a large site."""
MAX_SHOWN_WORDS: Final = 10
"""Maximum number of words per run that the user did not write but the site showed."""
FORBIDDEN_REASON: Final = "it contains a secret from the environment"
"""Why a text is never sent, whatever the user approved."""
POINT_BITS: Final = 20.0
"""Bits of information in a clicked point on the page: one of about a thousand by a thousand."""
_NUMBER_BITS = 10.0
"""Bits of information in a number of up to three digits in a built URL, such as a page number."""
_MIN_DIGITS = 7
"""Minimum number of digits that can identify a person: phone, card or account numbers."""
_MIN_KEY, _MIN_CHARACTERISTIC_KEY, _MIN_SINGLE_CASE_KEY = 8, 12, 20
"""Minimum length of a key in private text, of a key elsewhere, and of a single-case key."""
_MIN_KEY_CLASS_CHANGES = 0.3
"""Minimum share of a key's characters at which the character class (lower case, capitals, digits)
changes. In identifiers such as HikariPool-1, it is below a fifth.
"""
_MIN_QUOTED_WORDS = 12
"""Minimum number of consecutive words that count as a quotation of private text."""
_MAX_DECODED_LAYERS = 3
"""Maximum number of percent-encoding layers that are decoded."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_EMAIL = re.compile(r"[^\s<>()\",;:@]+@(?:[\w-]+\.)*[^\W\d_]{2,}")
_NUMBER = re.compile(r"\d(?:(?:[ .\-/()]{1,2}|,)?\d)+")
_DATES = re.compile(
    r"(?:1\d|20)\d\d\D{1,2}(?:1\d|20)\d\d"  # a range of years
    r"|(?:1\d|20)\d\d\D\d{1,2}\D\d{1,2}|\d{1,2}\D\d{1,2}\D(?:1\d|20)\d\d"
)
_PART_SEPARATOR_RE = re.compile(r"[\s./\\,;:!?()\[\]{}\"'“”<>=]+")
_WORD_GAP_RE = re.compile(r"[\s!-/:-@\[-`{-~“”‘’«»–—…°€£§]{0,3}")
"""Characters allowed between two words; more or different ones could be an encoded message."""
_ORIGIN_NAMES = {
    Kind.FILE: "your file",
    Kind.CORPUS: "your folder",
    Kind.MEMORY: "memory",
    Kind.TURNS: "an earlier turn",
    Kind.PAGE: "a page that you are logged in to",
    Kind.TOOL: "the result of one of your tools",
}


class Sink(StrEnum):
    """The recipient that can read the text that a tool sends."""

    QUERY = "query"
    ADDRESS = "address"
    SITE = "site"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Sent:
    """Text that a call sends, as declared by its tool.

    `continues` means that it is appended to previously typed text. `bits` is the information in a
    choice without text, such as a clicked point. `field` is the name of the argument that contains
    a query, which can be sent without its withheld parts.
    """

    sink: Sink
    text: str
    continues: bool = False
    bits: float = 0.0
    field: str = ""


class Withheld(NamedTuple):
    """A part of a query that is not sent, and the reason."""

    text: str
    why: str


@dataclass(slots=True)
class Outgoing:
    """Decides what a run may send, and keeps track of what it has sent.

    The methods return the reason for a refusal, or "" if the text may be sent. `private_search` is
    a setting for users who do not trust their search engine.
    """

    provenance: Provenance = field(default_factory=Provenance)
    private_search: bool = False
    _bits: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _shown_words: int = 0
    _typed: dict[str, str] = field(default_factory=dict)
    _approved: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _identifiers: dict[str, Kind] = field(default_factory=dict)
    _searched: int = 0

    # Checks of search queries.

    def filter_query(
        self, text: str, redactor: Redactor | None = None
    ) -> tuple[str, list[Withheld]]:
        """Return the part of a query that may be sent, or "", and the withheld parts."""
        kept, withheld = list[str](), list[Withheld]()
        for piece in text.split():
            if redactor is not None and redactor.text(piece) != piece:
                withheld.append(Withheld(piece, FORBIDDEN_REASON))
            elif why := self._why_withheld(_decoded(piece), kept):
                withheld.append(Withheld(piece, why))
            else:
                kept.append(piece)
        rest = " ".join(kept) if withheld else text
        # A number or key may be split by words or spaces.
        is_checked = (
            self.provenance.has_private_text_for(SEARCH_SITE)
            and rest not in self._approved[SEARCH_SITE]
        )
        if is_checked and (kind := self._origin_of_identifier(_decoded(rest))):
            why = f"it spells out a number or key from {_ORIGIN_NAMES[kind]}"
            return "", [*withheld, Withheld(rest, why)]
        if withheld and rest.count('"') % 2:
            rest = rest.replace('"', "")
        return (rest if _WORD.search(rest) else ""), withheld

    def _why_withheld(self, piece: str, kept: list[str]) -> str:
        """Return why a piece of a query is withheld; `kept` contains the pieces before it."""
        read = self.provenance
        if not read.has_private_text_for(SEARCH_SITE) or piece in self._approved[SEARCH_SITE]:
            return ""
        if any(not self._is_public(found[0]) for found in _EMAIL.finditer(piece)):
            return "this e-mail address is not on any public page"
        if any(
            _is_key(part) and not self._is_public(part) for part in _PART_SEPARATOR_RE.split(piece)
        ):
            return "it looks like a key"
        if kind := self._origin_of_identifier(piece):
            return f"it is in {_ORIGIN_NAMES[kind]}"
        if kind := self._origin_of_quotation(" ".join([*kept, piece])):
            return f"it contains {_MIN_QUOTED_WORDS} consecutive words from {_ORIGIN_NAMES[kind]}"
        if self.private_search:
            public = read.public_stems() | read.own_stems(SEARCH_SITE)
            if not public.issuperset(read.stems(piece)):
                return "it is in neither the question nor a public page (--private-search)"
        return ""

    def _is_public(self, text: str) -> bool:
        """Return whether a string is in the question or public text; ignores spaces in numbers."""
        pattern = re.escape(text)
        if not any(map(str.isalpha, text)):
            pattern = r"[ .,\-/()]{0,2}".join(letters_and_digits(text))
        search = re.compile(pattern, re.IGNORECASE).search
        return any(map(search, self.provenance.texts_of(Kind.USER, Kind.WEB)))

    def _origin_of_identifier(self, text: str) -> Kind | None:
        """Return the origin of a private number, key or e-mail address in `text`.

        Punctuation and spaces are ignored. Returns None if the string also occurs in public text.
        """
        plain, read = letters_and_digits(text), self.provenance
        digits = "".join(filter(str.isdigit, plain))
        if len(plain) < _MIN_DIGITS:
            return None
        for kind, _, private in read.texts[self._searched :]:
            if kind in PRIVATE_KINDS and not read.is_shared(kind, SEARCH_SITE):
                self._identifiers.update(dict.fromkeys(_identifiers(private), kind))
        self._searched = len(read.texts)
        for identifier, kind in self._identifiers.items():
            bare = letters_and_digits(identifier)
            said = digits if bare.isdigit() else plain
            if (bare in said or bare[::-1] in said) and not self._is_public(identifier):
                return kind
        return None

    def _origin_of_quotation(self, text: str) -> Kind | None:
        """Return the origin of the private text that the end of a query quotes at length."""
        tail, weight = list[str](), 0.0
        for piece in reversed(_decoded(text).split()):
            found = words(piece)
            tail += reversed(found)
            # A name such as django.utils.timezone counts as one word; so do two Chinese characters.
            weight += max(1.0, len(unspaced_characters(piece)) / 2) if found else 0.0
            if weight >= _MIN_QUOTED_WORDS:
                break
        else:
            return None
        run, read = f" {' '.join(reversed(tail))} ", self.provenance
        if any(run in _join_words(text) for text in read.texts_of(Kind.USER, Kind.WEB)):
            return None
        return next(
            (
                kind
                for kind, _, text in read.texts
                if kind in PRIVATE_KINDS and run in _join_words(text)
            ),
            None,
        )

    # Checks of addresses.

    def refusal_of_address(self, url: str) -> str:
        """Check a URL before it is opened."""
        site, read, parsed = site_of(url), self.provenance, parse(url)
        if not read.has_private_text_for(site) or url in self._approved[site]:
            return ""
        if parsed is None or not parsed.host:
            return "it is not a page URL"
        link = read.link_to(url)
        if link is not None:
            sites = {site, link.site}
            return next(
                filter(None, (self._spend_bits(s, math.log2(link.links_on_page)) for s in sites)),
                "",
            )
        bare = f"{parsed.scheme}://{parsed.netloc}/" == parsed.href
        if bare and (not read.untrusted or read.has_seen_host(parsed.netloc)):
            return ""
        seen = read.addresses_at(parsed.netloc)
        built = [
            bits for like in seen if (bits := self._bits_of_built_url(parsed, like)) is not None
        ]
        if built and parsed.origin in url:
            return self._spend_bits(site, min(built) + math.log2(len(seen)))
        return "this URL does not appear in the question, a page or a search result"

    def _bits_of_built_url(self, url: Url, like: Url) -> float | None:
        """Return the bits of a URL that differs from a seen one only in words from the question.

        Returns None if there are other differences.
        """
        parts, seen = url.path.split("/"), like.path.split("/")
        values, seen_values = (
            dict(parse_qsl(one.query.removeprefix("?"), keep_blank_values=True))
            for one in (url, like)
        )
        if url.fragment or len(parts) != len(seen) or not seen_values.keys() >= values.keys():
            return None
        pairs = [*zip(parts, seen, strict=True), *((values[n], seen_values[n]) for n in values)]
        bits = 0.0
        for part in (one for one, other in pairs if one != other):
            rest, count = self._without_own_values(_decoded(part))
            plain = rest.replace("_", " ").replace("-", " ")
            if plain.isascii() and plain.isdigit() and len(plain) <= 3:
                bits += _NUMBER_BITS
            elif _has_unusual_separators(part) or self._words_not_from_user(
                plain, site_of(url.href)
            ):
                return None
            else:
                bits += self._literal_bits(plain) + count * _NUMBER_BITS
        return bits

    # Checks of typed and chosen text, and of tool arguments.

    def refusal(self, text: str, site: str) -> str:
        """Check text sent to a site, a server or a tool (`SERVER` or `FUNCTION` and its name)."""
        read = self.provenance
        if not read.has_private_text_for(site):
            return ""
        plain = _decoded(text)
        if _has_unusual_separators(plain):
            return "it contains characters that could be an encoded message"
        others = self._words_not_from_user(self._without_own_values(plain)[0], site)
        shown = read.shown_stems(site) if others else set()
        for word in others:
            if not shown.issuperset(read.stems(word)):
                return f"“{word}” is not in the question{self._private_source(word)}"
        if self._shown_words + len(others) > MAX_SHOWN_WORDS:
            return f"{MAX_SHOWN_WORDS} words that are not in the question have already been sent"
        # A site that the user named may receive the question's words.
        bits = 0.0 if others or read.is_named_by_user(site) else self._literal_bits(plain)
        if why := self._spend_bits(site, bits):
            return why
        self._shown_words += len(others)
        return ""

    def refusal_of_keys(self, text: str, site: str) -> str:
        """Check keys to be pressed, together with the keys that were pressed before.

        An unfinished word must be a prefix of one of the user's words.
        """
        if not self.provenance.has_private_text_for(site):
            return ""
        pressed = self._typed.get(site, "") + text
        head, _, last = pressed.rpartition(" ")
        if head and (why := self.refusal(head, site)):
            return why
        own = " ".join(self.provenance.texts_of(Kind.USER)).casefold().split()
        if not any(word.startswith(last.casefold()) for word in own):
            if len(last) > len(text):  # the word started in an earlier call
                return "only words from the question can be typed key by key"
            if why := self.refusal(last, site):
                return why
        self._typed[site] = last
        return ""

    def count_choice(self, site: str, bits: float) -> str:
        """Count a choice that a site can see, once untrusted and private text have been read."""
        return self._spend_bits(site, bits) if self.provenance.has_private_text_for(site) else ""

    def record_approval(self, text: str, site: str) -> None:
        """Record the user's approval to send `text` to one site, tool or engine."""
        self._approved[site].update([text, *text.split()])
        self._approved[site].update(self.provenance.stems(_decoded(text)))
        self._bits[site] = 0

    def _spend_bits(self, site: str, bits: float) -> str:
        if not bits or not site or not self.provenance.untrusted:
            return ""
        if self._bits[site] + bits > MAX_BITS:
            return f"{site} could learn more than {MAX_BITS} bits from the choice of links"
        self._bits[site] += bits
        return ""

    def _words_not_from_user(self, text: str, site: str) -> list[str]:
        """Return the words in `text` that are misspelled, repeated, or not the user's."""
        read, seen, others = self.provenance, set[str](), list[str]()
        own = read.own_stems(site) | self._approved[site]
        exact = {word for users in read.texts_of(Kind.USER) for word in _WORD.findall(users)}
        for spelt in _WORD.findall(text):
            stems = read.stems(spelt)
            usual = spelt.islower() or spelt.isupper() or spelt[1:].islower() or len(spelt) == 1
            usual = usual or not spelt.isalpha() or spelt in exact
            if not usual or not own.issuperset(stems) or seen.issuperset(stems):
                others.append(spelt)
            seen.update(stems)
        return others

    def _without_own_values(self, text: str) -> tuple[str, int]:
        """Blank the user's numbers and dates in another notation; returns the text and their count.

        A form may require `2` for `two`, or `2026-03-12` for `12 March 2026`. Each notation counts
        once, so that a text cannot spell a message by repeating them.
        """
        values, months = set[float](), set[int]()
        spellings = set[str]()
        for users in self.provenance.texts_of(Kind.USER):
            values.update(t.value for t in tokenize(users) if t.kind == "number" and t.value)
            for date in extract_facts(users).dates:
                months |= date.months
                spellings.update(f"{n:02}" for n in (date.month, date.day) if n)
        spellings.update(f"{value:.12g}" for value in (*values, *months))
        rest, used = text, set[str]()
        for token in tokenize(text):
            spelt = text[token.start : token.end]
            is_plain = spelt in {spelt.lower(), spelt.upper(), spelt.title()}
            is_value = token.value in values and spelt.isalpha()
            month = month_number(token.key)
            # Months have names in many languages; a text may name each month once.
            notation = f"month {month}" if month in months else spelt.casefold()
            is_named = is_plain and (is_value or month in months)
            if (is_named or spelt in spellings) and notation not in used:
                used.add(notation)
                rest = rest[: token.start] + " " * len(spelt) + rest[token.end :]
        return rest, len(used)

    def _literal_bits(self, text: str) -> float:
        """Return the bits needed to encode `text` as word sequences from the user's text."""
        own = _join_words(" ".join(self.provenance.texts_of(Kind.USER)))
        vocabulary = max(2, own.count(" "))
        runs, run = 0, " "
        for word in words(text):
            run = f"{run}{word} "
            if run not in own:
                runs, run = runs + 1, f" {word} "
        return 2 * math.log2(vocabulary) * (runs + 1)

    def _private_source(self, word: str) -> str:
        """Return the kind of private text that contains a word, to be named in a refusal."""
        stem = stem_in(self.provenance.language, word.casefold())
        for kind, _, text in self.provenance.texts:
            if kind in PRIVATE_KINDS and stem in self.provenance.stems(text):
                return f", but in {_ORIGIN_NAMES[kind]}"
        return ""


def _decoded(text: str) -> str:
    """Decode percent-encoding, HTML entities and Unicode compatibility characters."""
    for _ in range(_MAX_DECODED_LAYERS):
        text = unquote_plus(text) if "%" in text else unquote(text)
    return unicodedata.normalize("NFKC", html.unescape(text))


def _has_unusual_separators(text: str) -> bool:
    return not all(_WORD_GAP_RE.fullmatch(gap) for gap in _WORD.split(text))


@lru_cache(maxsize=64)
def _join_words(text: str) -> str:
    """Return the words of `text` separated by single spaces, for finding word sequences."""
    return f" {' '.join(words(text))} "


def _identifiers(text: str) -> Iterator[str]:
    """Yield the keys, e-mail addresses and long numbers in `text`."""
    yield from _EMAIL.findall(text)
    for number in _NUMBER.findall(text):
        digits = letters_and_digits(number)
        is_identifier = len(digits) >= _MIN_DIGITS and len(set(digits)) > 2
        if is_identifier and not _DATES.fullmatch(number):
            yield number
    yield from (part for part in _PART_SEPARATOR_RE.split(text) if _is_key(part, _MIN_KEY))


def _is_key(text: str, min_length: int = _MIN_CHARACTERISTIC_KEY) -> bool:
    """Return whether a string mixes character classes as keys, tokens and encoded data do.

    What matters is the number of changes between classes. A change from a capital to a lower-case
    letter is not counted, so camel-case names have few.
    """
    plain = "".join(filter(str.isalnum, text))
    if not plain.isascii() or len(plain) < min_length:
        return False
    classes = [("d" if c.isdigit() else "u" if c.isupper() else "l") for c in plain]
    pairs = [a + b for a, b in pairwise(classes) if a != b and a + b != "ul"]
    if len(set(classes)) == 3 and len(pairs) > _MIN_KEY_CLASS_CHANGES * len(plain):
        return True
    longest = max(re.findall(r"[^\W_]+", text), key=len, default="")
    if len(longest) < _MIN_SINGLE_CASE_KEY or longest.isalpha():
        return False
    return longest.isupper() or longest.isdigit() or sum("d" in pair for pair in pairs) >= 2
