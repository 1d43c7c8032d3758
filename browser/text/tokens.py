"""Unicode words of any script, English stop words, and stems."""

from __future__ import annotations

import functools
import re
import unicodedata

import snowballstemmer

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Scripts written without spaces: each character is a word of its own.
UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana, Han: as a part of a regular expression's character class."""
_UNSPACED = re.compile(f"([{UNSPACED}])")
# A word of Chinese, Japanese or Thai has some two characters.
_CHARACTERS_A_WORD = 2
_LATIN_ACCENT = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_STEMMER = snowballstemmer.stemmer("english")

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
    """Split into case-folded words, in order; `O'Brien's` keeps its apostrophe-less parts."""
    folded = _without_accents(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    found = _WORD.findall(_UNSPACED.sub(r" \1 ", folded))
    return [w.removesuffix("'s").replace("'", "") for w in found]


def count_words(text: str) -> int:
    """How long a text is in words, also where its script sets no spaces between them."""
    found = len(text.split())
    if text.isascii():
        return found
    return found + len(_UNSPACED.findall(text)) // _CHARACTERS_A_WORD


def _without_accents(text: str) -> str:
    """Take the accents off Latin letters: `perez` finds Pérez. Other scripts stay as they are."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _LATIN_ACCENT.sub("", unicodedata.normalize("NFD", text)))


@functools.lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Stem one case-folded word (Snowball English); words of other scripts come back unchanged."""
    if not word.isascii() or word.isdigit():
        return word
    return str(_STEMMER.stemWord(word))


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning: stop words left out, in order, repeats kept."""
    return [stem(w) for w in words(text) if w not in STOP_WORDS]
