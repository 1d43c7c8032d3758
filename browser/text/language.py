"""Which language running text is in: by its script, else by the small words it is full of.

Questions are too short for this: `browser.search.languages` tells theirs.
"""

from __future__ import annotations

import re
from collections import Counter

from browser.text.scripts import SCRIPTS

# The commonest words of each that are rare in the others.
_SMALL_WORDS = {
    "en": "the and of to that is was for with this from have are not which were their",
    "de": "der die und das ist nicht mit den von ein eine auf sich auch dem für wird sind",
    "fr": "les des est dans une pour qui que sur pas avec sont cette par aux plus ses",
    "es": "los las del una por con para que como más pero sus este está ha fue muy",
    "it": "che della di il per una non sono con del dei alla nel anche più gli è",
    "pt": "não uma os dos para com mais ao pela foi são também pelo seu das em à",
    "nl": "het een van dat niet zijn voor met op ook aan werd deze door naar wordt bij",
    "pl": "nie się jest że oraz dla jak tego przez który była są ale na do od po",
    "sv": "och att det som är på för inte har med av till den var om kan sig",
}
_OWNERS = {
    word: [language for language, words in _SMALL_WORDS.items() if word in words.split()]
    for word in " ".join(_SMALL_WORDS.values()).split()
}
_ALL_SCRIPTS = (*SCRIPTS, ("ru", re.compile("[\u0400-\u04ff]")))
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_UKRAINIAN_SHARE = 0.02
_WORD = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 4_000
# Of running text a third is small words; a list of names holds few.
_SHARE = 0.08
_FEWEST_WORDS = 20
_SCRIPT_SHARE = 0.1


def language_of(text: str) -> str | None:
    """Name a text's language (ISO 639-1) where it is plain; None for short or mixed ones."""
    sample = text[:_LOOKED_AT]
    for language, script in _ALL_SCRIPTS if not sample.isascii() else ():
        if len(script.findall(sample)) > _SCRIPT_SHARE * len(sample):
            return _cyrillic(sample) if language == "ru" else language
    words = [word.casefold() for word in _WORD.findall(sample)]
    found = Counter(language for word in words for language in _OWNERS.get(word, ()))
    (first, most), (_, second) = [*found.most_common(2), ("", 0), ("", 0)][:2]
    plain = len(words) >= _FEWEST_WORDS and most >= _SHARE * len(words) and most >= 1.5 * second
    return first if plain else None


def _cyrillic(text: str) -> str:
    """Ukrainian has letters that Russian lacks."""
    return "uk" if len(_UKRAINIAN.findall(text)) > _UKRAINIAN_SHARE * len(text) else "ru"
