"""Words in any script: splitting, stemming and BM25 ranking; also text cleaning."""

from __future__ import annotations

import functools
import json
import math
import re
import threading
import unicodedata
from collections import Counter, defaultdict
from importlib import resources
from string import punctuation, whitespace
from typing import TYPE_CHECKING, Any

import Stemmer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


CHARS_PER_TOKEN = 4
"""Characters in a token of English text or JSON: an estimate, without the model's tokenizer."""
FOLDED = "(folded) "
"""The prefix of a block inside a closed <details>."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# In scripts without spaces, each character is treated as a word.
UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana and Han, as part of a regular expression's character class.

`re` takes 5 ms to compile it, so its patterns are compiled when a text may need them.
"""
_OTHER_SCRIPT = re.compile("[^\x00-\u036f\u2000-\u22ff]")
"""A character that is not Latin, punctuation or a symbol."""
# A word in Chinese, Japanese or Thai has about two characters.
_CHARACTERS_PER_WORD = 2
_LATIN_ACCENT = re.compile("(?<=[a-z])[\u0300-\u036f]+")
# Stemmers have internal state, and folders are searched by several threads.
_STEMMER_LOCK = threading.Lock()
_SNOWBALL = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian",
    "id": "indonesian", "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""Languages (ISO 639-1), with the names of their Snowball stemmers."""

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before
    being below between both but by can could did do does doing down during each few for from
    further had has have having he her here hers herself him himself his how i if in into is it
    its itself just me more most my myself no nor not now of off on once only or other our ours
    ourselves out over own s same she should so some such t than that the their theirs them
    themselves then there these they this those through to too under until up us very was we were
    what when where which while who whom whose why will with would you your yours yourself
    yourselves""".split()
)


def words(text: str) -> list[str]:
    """Split into case-folded words, in order; `O'Brien's` becomes `obrien`, `s`."""
    folded = text.casefold()
    if not text.isascii():  # `perez` finds Pérez; accents of other scripts are kept
        folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
        bare = _LATIN_ACCENT.sub("", unicodedata.normalize("NFD", folded))
        folded = unicodedata.normalize("NFC", bare)
        if may_be_unspaced(folded):
            folded = _unspaced_character().sub(r" \g<0> ", folded)
    found = _WORD.findall(folded)
    if "'" not in folded:
        return found
    return [w.removesuffix("'s").replace("'", "") for w in found]


def may_be_unspaced(text: str) -> bool:
    """Whether a text may contain characters of scripts without spaces (`UNSPACED`)."""
    return not text.isascii() and _OTHER_SCRIPT.search(text) is not None


@functools.cache
def _unspaced_character() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


def unspaced_characters(text: str) -> list[str]:
    """Return the characters of scripts without spaces, in order."""
    return _unspaced_character().findall(text) if may_be_unspaced(text) else []


_WORD_CHARACTERS = re.compile(r"\w+")


@functools.cache
def _word_or_character() -> re.Pattern[str]:
    return re.compile(rf"[^\W{UNSPACED}]+|[{UNSPACED}]")


# Two passages rarely share four consecutive words by chance; article-extraction-benchmark also uses
# four.
_RUN_LENGTH = 4


def word_list(text: str) -> list[str]:
    """Return the words in `text`, unchanged; in scripts without spaces, the characters."""
    pattern = _word_or_character() if may_be_unspaced(text) else _WORD_CHARACTERS
    return pattern.findall(text)


def word_runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    """All sequences of four consecutive words, for comparing two renderings of a page."""
    return list(zip(*(words[n:] for n in range(_RUN_LENGTH)), strict=False))


def same_words(text: str, words: Sequence[str]) -> bool:
    """Whether `text` consists of exactly these words (`word_list`); False if `words` is empty."""
    return bool(words) and words[0] in text and word_list(text) == words


SENTENCE_ENDS = ".!?…。！？।॥۔؟።။។"
"""Characters that end a sentence; Hindi, Urdu, Arabic and others have their own."""


def ends_sentence(text: str) -> bool:
    """Whether the last character, apart from closing quotes and brackets, ends a sentence."""
    return text.rstrip().rstrip("\"'”’“»«)]」』").endswith(tuple(SENTENCE_ENDS))


def count_words(text: str) -> int:
    """Return the length of `text` in words, estimated for scripts without spaces."""
    return len(text.split()) + len(unspaced_characters(text)) // _CHARACTERS_PER_WORD


@functools.cache
def _stemmer(language: str) -> Any:
    return Stemmer.Stemmer(_SNOWBALL[language])


@functools.lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Stem a case-folded word (Snowball English); words in other scripts are returned unchanged."""
    if not word.isascii() or word.isdigit():
        return word
    with _STEMMER_LOCK:
        return str(_stemmer("en").stemWord(word))


@functools.lru_cache(maxsize=65_536)
def stem_in(language: str, word: str) -> str:
    """Stem a word in a language (ISO 639-1), then in English, because all languages borrow from it.

    If there is no stemmer for the language, the word is only stemmed in English.
    """
    if language != "en" and language in _SNOWBALL and not word.isdigit():
        with _STEMMER_LOCK:
            word = str(_stemmer(language).stemWord(word))
    return stem(word)


@functools.cache
def _character_pair() -> re.Pattern[str]:
    return re.compile(rf"(?=([{UNSPACED}\uac00-\ud7af]{{2}}))")


def character_pairs(text: str) -> list[str]:
    """Pairs of adjacent characters in Korean and scripts without spaces, in order.

    They are used instead of words, because word boundaries are hard to find in these languages.
    """
    return _character_pair().findall(text) if may_be_unspaced(text) else []


def content_words(text: str) -> list[str]:
    """Stems of all words except stop words, in order, with repetitions."""
    return [stem(w) for w in words(text) if w not in STOP_WORDS]


# C0 except tab and newline, DEL and C1; zero-width and invisible operators; bidi controls;
# interlinear marks; halves of surrogate pairs; Unicode tags; variation selectors supplement;
# BOM and soft hyphen.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_LOADING = frozenset(
    ("loading", "please wait", "wird geladen", "laden", "chargement", "cargando", "one moment")
)
_ESCAPE_SEQUENCE = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])"
)


NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Matches the characters that XML does not allow."""


def one_line(text: str) -> str:
    """Put text on one line; remove control, invisible and undecodable characters."""
    return " ".join(clean(text).split())


def clean(text: str) -> str:
    r"""Remove control, bidi, zero-width and tag characters; all line breaks become `\n`.

    Zero-width joiners are kept: emoji and several scripts need them.
    """
    if text.isascii() and text.isprintable():
        return text
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return _INVISIBLE.sub("", _ESCAPE_SEQUENCE.sub("", unified))


def letters_and_digits(text: str) -> str:
    """Return the letters and digits in `text`, case-folded."""
    return "".join(filter(str.isalnum, text.casefold()))


def says_loading(text: str) -> bool:
    """Whether `text` is just a loading message."""
    return text.strip(f"…{punctuation}{whitespace}").lower() in _LOADING


def shorten(text: str, length: int, *, whole_words: bool = False) -> str:
    """Put text on one line and truncate it to `length` characters; `…` marks the cut."""
    line = " ".join(text.split())
    if whole_words and len(line) > length:
        line = line[: length - 1].rpartition(" ")[0] or line
        return line[: length - 1] + "…"
    return truncate(line, length)


def truncate(text: str, length: int) -> str:
    """Truncate text to `length` characters, keeping its lines; `…` marks the cut."""
    return text if len(text) <= length else text[: length - 1] + "…"


def escaped(text: str) -> str:
    r"""Escape characters that `clean` would remove (`\u202e`), so that JSON keeps its value."""
    return _INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], text)


@functools.cache
def synonym_groups() -> tuple[tuple[str, ...], ...]:
    """Return the synonym groups in `synonyms.txt`, which has one per line, and comments (`#`)."""
    text = resources.files("browser.text").joinpath("synonyms.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(tuple(line.split()) for line in lines)


# Robertson & Zaragoza (2009) recommend k1 1.2-2.0 and b 0.5-0.8; passages vary less in length than
# documents, so the lowest b is used.
K1 = 1.2
B = 0.5


class BM25:
    """A BM25 index of documents, which are given as lists of tokens."""

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        self._lengths: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, tokens in enumerate(documents):
            self._lengths.append(len(tokens))
            for token, count in Counter(tokens).items():
                self._postings[token].append((number, count))
        mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0
        self._norms = [K1 * (1 - B + B * length / (mean or 1.0)) for length in self._lengths]

    def __len__(self) -> int:
        return len(self._lengths)

    def idf(self, token: str) -> float:
        """Inverse document frequency of a token, never negative."""
        found = len(self._postings.get(token, ()))
        return math.log(1 + (len(self) - found + 0.5) / (found + 0.5))

    def scores(self, query: Iterable[str]) -> list[float]:
        """The score of each document, in order; 0 if nothing matches."""
        result = [0.0] * len(self)
        for token in set(query):
            weight = self.idf(token) * (K1 + 1)
            for number, count in self._postings.get(token, ()):
                result[number] += weight * count / (count + self._norms[number])
        return result

    def best(self, query: Iterable[str], limit: int) -> list[tuple[int, float]]:
        """Return the `limit` best documents as (number, score), best first, ties by number."""
        ranked = sorted(enumerate(self.scores(query)), key=lambda pair: (-pair[1], pair[0]))
        return [pair for pair in ranked[:limit] if pair[1] > 0]
