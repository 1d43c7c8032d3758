"""Words, sentences, ranking and hygiene of text: what FIND, READ, the corpus and memory share."""

from browser.text.languages import (
    foreign_small_words,
    language_of,
    question_language,
    small_words,
)
from browser.text.sentences import Span, sentences, unwrap
from browser.text.words import (
    BM25,
    STOP_WORDS,
    UNSPACED,
    clean,
    content_words,
    count_words,
    escaped,
    stem,
    synonym_groups,
    words,
)

__all__ = [
    "BM25",
    "STOP_WORDS",
    "UNSPACED",
    "Span",
    "clean",
    "content_words",
    "count_words",
    "escaped",
    "foreign_small_words",
    "language_of",
    "question_language",
    "sentences",
    "small_words",
    "stem",
    "synonym_groups",
    "unwrap",
    "words",
]
