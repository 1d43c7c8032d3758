"""Answers that say something only beside their question: `Ada Holm.`, `In 1903.`, and the like.

That a name stands on the page carries no answer: it must stand there as what was asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.language.normalise import tokenise, words_of
from agent.evidence.language.vocabulary import ARTICLES, PREPOSITIONS, PRONOUNS, root_set

if TYPE_CHECKING:
    from agent.evidence.language.normalise import Token

LONGEST = 8
"""Words; a longer row of names is a list, and says what it lists."""
FEW = 3
"""Words up to which what begins with no pronoun hardly has a verb."""
LONGEST_ASKED = 40
"""Words of a question that is put before an answer; a longer one tells a story first."""
_JOINING = ARTICLES | PREPOSITIONS | root_set("and or")
_TAKEN_UP = PRONOUNS | root_set("both neither yes no all none")


def in_full(sentence: str, question: str) -> str:
    """Put the question before a sentence that has no verb; another is given as it is."""
    return f"{question} {sentence}" if _asks(question) and _has_no_verb(sentence) else sentence


def for_a_reader(sentence: str, question: str) -> str:
    """Put the question also before a sentence that takes it up with a pronoun."""
    words = words_of(tokenise(sentence))
    if _asks(question) and words and words[0].root in _TAKEN_UP:
        return f"{question} {sentence}"
    return in_full(sentence, question)


def _asks(question: str) -> bool:
    return question.rstrip().endswith("?") and len(question.split()) <= LONGEST_ASKED


def _has_no_verb(sentence: str) -> bool:
    words = words_of(tokenise(sentence))
    row = sentence.lstrip().startswith("|")  # of a table: it says whose its cells are
    if row or not words or len(words) > LONGEST or words[0].root in _TAKEN_UP:
        return False
    if len(words) <= FEW and not words[-1].form.endswith("ed"):
        return True
    counted = [None, *words]
    return all(_names(word, before) for word, before in zip(words, counted, strict=False))


def _names(word: Token, before: Token | None) -> bool:
    """Whether a word is a name, a number, what a number counts, or joins these."""
    counts = before is not None and before.kind == "number"
    return counts or word.kind != "word" or word.raw[0].isupper() or word.root in _JOINING
