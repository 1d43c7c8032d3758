"""Turns a question into search queries."""

from __future__ import annotations

import re

from browser.text.languages import small_words
from browser.text.words import STOP_WORDS

# Words in questions and requests that a page with the answer need not contain.
_REQUEST_WORDS = frozenset(
    """according answer called define describe did do does exactly explain find give happen happened
    kind known list many me mean much name named please show sort tell there thing type use used
    using whats whos""".split()
)
# The first result page of one engine rarely answers a question with this many keywords or names.
MIN_HARD_WORDS, MIN_HARD_NAMES = 8, 2
# Engines use about ten words; the fewer there are, the more pages contain all of them.
MAX_WORDS = 10

_QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„]{2,80})[\"“”«»„]")
_WORD = re.compile(r"[^\W_]+(?:['’.\-+#][^\W_]+)*[+#]*")
_NAME_PARTICLES = "of|the|de|la|le|van|von|der|den|du|da|di|del|and|for|in"
_NAME = re.compile(
    rf"[^\W\d_a-zß-ÿ][\w'’.\-]*(?:\s+(?:(?:{_NAME_PARTICLES})\s+)*(?:[^\W\d_a-zß-ÿ][\w'’.\-]*|\d{{1,4}}))+"
)


def keywords(question: str, limit: int = MAX_WORDS) -> list[str]:
    """Return up to `limit` meaningful words, in order and as written; all words if none is."""
    all_words = list(dict.fromkeys(_WORD.findall(question)))
    small = small_words(question)
    content = [word for word in all_words if not _is_small_word(word, small)]
    return (content or all_words)[:limit]


def quoted(question: str) -> list[str]:
    """Return the question's phrases in quotation marks."""
    return [" ".join(phrase.split()) for phrase in _QUOTED.findall(question)]


def names(question: str) -> list[str]:
    """Return multi-word names, recognised by their capital letters."""
    found = []
    small = small_words(question)
    for name in _NAME.findall(question):
        parts = name.rstrip(".'’-").split()
        while parts and (_is_small_word(parts[0], small) or parts[0][0].islower()):
            parts = parts[1:]
        while parts and parts[-1][0].islower():
            parts = parts[:-1]
        if len(parts) > 1:
            found.append(" ".join(parts))
    return list(dict.fromkeys(found))


def rewrites(question: str) -> list[str]:
    """Return queries to try in turn: the question, its keywords, its names in quotes."""
    plain = " ".join(question.split())
    words = keywords(plain)
    phrases = quoted(plain) or names(plain)
    queries = [plain, " ".join(words)]
    if phrases:
        in_phrases = {word for phrase in phrases for word in _WORD.findall(phrase)}
        rest = [word for word in words if word not in in_phrases]
        in_quotes = [f'"{phrase}"' for phrase in phrases]
        queries += [" ".join([*in_quotes, *rest]), " ".join(phrases)]
    return list(dict.fromkeys(query for query in queries if query))


def is_hard(question: str) -> bool:
    """Whether several engines should be queried at once: many keywords, or several names."""
    phrases = quoted(question) or names(question)
    return (
        len(keywords(question, limit=MIN_HARD_WORDS)) >= MIN_HARD_WORDS
        or len(phrases) >= MIN_HARD_NAMES
    )


def _is_small_word(word: str, small: frozenset[str]) -> bool:
    plain = word.casefold()
    short = plain.replace("'", "").replace("’", "")
    return plain in small or short in small or short in STOP_WORDS or short in _REQUEST_WORDS
