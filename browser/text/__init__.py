"""Words, sentences, ranking and hygiene of text: what FIND, READ, the corpus and memory share."""

from browser.text.sentences import Span, sentences
from browser.text.words import (
    BM25,
    SCRIPTS,
    STOP_WORDS,
    UNSPACED,
    clean,
    content_words,
    count_words,
    escaped,
    language_of,
    stem,
    synonym_groups,
    words,
)

__all__ = [
    "BM25",
    "SCRIPTS",
    "STOP_WORDS",
    "UNSPACED",
    "Span",
    "clean",
    "content_words",
    "count_words",
    "escaped",
    "language_of",
    "sentences",
    "stem",
    "synonym_groups",
    "words",
]
