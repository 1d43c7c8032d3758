"""What are everybody's words: the frequent ones of nine languages."""

from __future__ import annotations

import itertools
import lzma
from collections import defaultdict
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "ru", "ar")
LISTED: Final = 60_000
"""Words of a language that are everybody's: so many, and of its 500,000 those of `LONG` bytes and
more. Of the shorter ones too many are what others become once they are encoded."""
LONG: Final = 7
EVERYDAY: Final = 1_000
"""Words of a language that say little, though a private text has them too."""


@lru_cache(maxsize=4096)
def is_listed(word: str) -> bool:
    """Whether a word, in lower case, is everybody's in any language that there is a list of."""
    written = word.encode()
    line = b"\n%b\n" % written
    return any(line in _listed(each).get(len(written), b"") for each in LANGUAGES)


@cache
def everyday(language: str) -> frozenset[str]:
    """Give the commonest words of English and of the language of a question, not as stems.

    A stem would be too much: “quite” is one of them, “quit” is none.
    """
    tops = (itertools.islice(_frequent(each), EVERYDAY) for each in {"en", language} & {*LANGUAGES})
    usual = words(b" ".join(itertools.chain.from_iterable(tops)).decode())
    return frozenset(word for word in usual if len(word) > 1)


@cache
def _listed(language: str) -> dict[int, bytes]:
    """Give the words of a language, a line each, by how many bytes they have."""
    of_length = defaultdict(list)
    for at, word in enumerate(_frequent(language)):
        if at < LISTED or len(word) >= LONG:
            of_length[len(word)].append(word)
    return {length: b"\n%b\n" % b"\n".join(found) for length, found in of_length.items()}


def _frequent(language: str) -> Iterator[bytes]:
    """Give the words of a language, the commonest first.

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
