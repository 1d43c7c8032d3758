"""Words, sentences, ranking and hygiene of text: what FIND, READ, the corpus and memory share."""

from browser.text.bm25 import BM25
from browser.text.hygiene import clean
from browser.text.language import language_of
from browser.text.scripts import SCRIPTS
from browser.text.sentences import Span, sentences
from browser.text.tokens import STOP_WORDS, content_words, count_words, stem, words

__all__ = [
    "BM25",
    "SCRIPTS",
    "STOP_WORDS",
    "Span",
    "clean",
    "content_words",
    "count_words",
    "language_of",
    "sentences",
    "stem",
    "words",
]
