"""The queries that a question is turned into."""

from __future__ import annotations

import re

from browser.text.languages import small_words
from browser.text.words import STOP_WORDS

# Words of questions and requests that no page that answers them needs to have.
_ASKING = frozenset(
    """according answer called define describe did do does exactly explain find give happen happened
    kind known list many me mean much name named please show sort tell there thing type use used
    using whats whos""".split()
)
# A question that speaks of so many things is rarely answered by one engine's first page.
HARD_WORDS, HARD_NAMES = 8, 2
# Ten words are as many as engines weigh; the fewer, the more pages have them all.
MOST_WORDS = 10

_QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„]{2,80})[\"“”«»„]")
_WORD = re.compile(r"[^\W_]+(?:['’.\-+#][^\W_]+)*[+#]*")
_JOINING = "of|the|de|la|le|van|von|der|den|du|da|di|del|and|for|in"
_NAME = re.compile(
    rf"[^\W\d_a-zß-ÿ][\w'’.\-]*(?:\s+(?:(?:{_JOINING})\s+)*(?:[^\W\d_a-zß-ÿ][\w'’.\-]*|\d{{1,4}}))+"
)


def keywords(question: str, most: int = MOST_WORDS) -> list[str]:
    """Give the words that carry meaning, in order, as they are written; all words if none do."""
    found = list(dict.fromkeys(_WORD.findall(question)))
    small = small_words(question)
    kept = [word for word in found if not _is_empty(word, small)]
    return (kept or found)[:most]


def quoted(question: str) -> list[str]:
    """Give what the question itself puts in quotation marks."""
    return [" ".join(phrase.split()) for phrase in _QUOTED.findall(question)]


def names(question: str) -> list[str]:
    """Give names of several words, by their capitals; a question's first word is none by itself."""
    found = []
    small = small_words(question)
    for name in _NAME.findall(question):
        parts = name.rstrip(".'’-").split()
        while parts and (_is_empty(parts[0], small) or parts[0][0].islower()):
            parts = parts[1:]
        while parts and parts[-1][0].islower():
            parts = parts[:-1]
        if len(parts) > 1:
            found.append(" ".join(parts))
    return list(dict.fromkeys(found))


def rewrites(question: str) -> list[str]:
    """Give queries to try in turn: as asked, its keywords, its names in quotes with the rest."""
    plain = " ".join(question.split())
    words = keywords(plain)
    phrases = quoted(plain) or names(plain)
    queries = [plain, " ".join(words)]
    if phrases:
        inside = {word for phrase in phrases for word in _WORD.findall(phrase)}
        rest = [word for word in words if word not in inside]
        marked = [f'"{phrase}"' for phrase in phrases]
        queries += [" ".join([*marked, *rest]), " ".join(phrases)]
    return list(dict.fromkeys(query for query in queries if query))


def is_hard(question: str) -> bool:
    """Whether a question is worth asking several engines at once: many things, or many names."""
    phrases = quoted(question) or names(question)
    return len(keywords(question, most=HARD_WORDS)) >= HARD_WORDS or len(phrases) >= HARD_NAMES


def _is_empty(word: str, small: frozenset[str]) -> bool:
    plain = word.casefold()
    short = plain.replace("'", "").replace("’", "")
    return plain in small or short in small or short in STOP_WORDS or short in _ASKING
