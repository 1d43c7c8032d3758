"""The index terms of memories and questions: stems in ASCII, and marker terms."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from browser.text.languages import foreign_small_words
from browser.text.words import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# Irregular English forms, which stemmers do not handle, by base form. Without them, recall on long
# conversations is .4 points lower.
_IRREGULAR_FORMS = """
arise arose arisen; awake awoke awoken; bear bore borne; beat beaten; become became; begin began
begun; bend bent; bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken;
breed bred; bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen;
come came; creep crept; deal dealt; dig dug; do did done does; draw drew drawn; dream dreamt;
drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight
fought; find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten;
forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went gone goes;
grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know
knew known; lay laid; lead led; learn learnt; leave left; lend lent; lie lain; light lit; lose
lost; make made; mean meant; meet met; pay paid; ride rode ridden; ring rang rung; rise rose risen;
run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken;
shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat;
sleep slept; slide slid; speak spoke spoken; spend spent; spin spun; stand stood; steal stole
stolen; stick stuck; strike struck; swear swore sworn; sweep swept; swim swam swum; swing swung;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
understand understood; wake woke woken; wear wore worn; weep wept; win won; write wrote written;
child children; foot feet; goose geese; life lives; man men; mouse mice; person people; tooth teeth;
wife wives; wolf wolves; woman women; good better best; bad worse worst
"""
BASE_FORMS = {
    form: base
    for entry in _IRREGULAR_FORMS.split(";")
    for base, *forms in (entry.split(),)
    for form in forms
}
"""Maps irregular forms to their base forms."""

# `Ann:`, `[12 May] Mary-Ann O'Neil:`: up to three words before a colon, at the start. French has a
# space before the colon; Chinese and Japanese use a different colon, without a space after it.
_SPEAKER = re.compile(
    r"\s*(?:[\[(][^\])]{1,40}[\])]\s*)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})"
    r"(?:[ \u00a0\u202f]?:\s+|：\s*)(?=\S)"
)
_SENTENCE_END = re.compile(r"([.!?…]+(?!\w)|[。！？؟]|\n)")
_QUESTION_MARKS = frozenset("?？؟")
_QUESTION_SIGN = "?"  # not a term, so that no question contains it
MAX_TERMS = 24  # questions have fewer terms; a pasted page must not cause a thousand lookups
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_UNITS = frozenset("date day week month year time".split())
_TIMES = frozenset(
    "yesterday today tonight tomorrow ago since last next week weeks weekend weekends month months "
    "year years".split()
).union(_MONTHS, _DAYS)
ASKS, NAMES_TIME = 1, 2
"""Bits of a memory's traits: `ASKS` means it ends with a question mark, `NAMES_TIME` that it names
a time."""


def index_terms(text: str, left_out: Collection[str] = ()) -> list[str]:
    """Stem the content words of `text` in order, including repeats; `left_out` adds stop words.

    Terms are ASCII: words of other scripts are encoded in hexadecimal, so that all databases
    tokenize them alike.
    """
    stop_words = STOP_WORDS.union(left_out) if left_out else STOP_WORDS
    return [_ascii(stem(BASE_FORMS.get(w, w))) for w in words(text) if w not in stop_words]


def memory_terms(text: str) -> list[str]:
    """Return a memory's index terms, preceded by speaker terms for the names before a colon."""
    match = _SPEAKER.match(text)
    names = [speaker_term(_ascii(stem(word))) for word in words(match[1])] if match else []
    return [*names, *index_terms(text)]


def question_terms(text: str) -> list[str]:
    """Return the index terms of the questions in `text`, without the name before a colon."""
    match = _SPEAKER.match(text)
    parts = _SENTENCE_END.split(text[match.end() :] if match else text)
    ended = zip(parts[::2], parts[1::2], strict=False)  # the last part may have no end
    questions = (part for part, end in ended if not _QUESTION_MARKS.isdisjoint(end))
    return [term for question in questions for term in index_terms(question)]


def join_terms(terms: Sequence[str], asked: Sequence[str]) -> str:
    """Return the stored form of a memory's index terms and of those in its questions."""
    return " ".join([*terms, _QUESTION_SIGN, *asked] if asked else terms)


def split_terms(stored: str) -> tuple[str, str]:
    """Undo `join_terms`; both parts are separated by spaces, and the second may be empty."""
    terms, _, asked = stored.partition(f" {_QUESTION_SIGN} ")
    return terms, asked


def has_speaker(text: str) -> bool:
    """Return whether `text` starts with a name and a colon."""
    return _SPEAKER.match(text) is not None


# Marker terms end in hexadecimal digits, so that they never equal a word.
def speaker_term(term: str) -> str:
    """Return the marker term for memories whose speaker has this name."""
    return "by" + term.encode().hex()


def kind_term(kind: str) -> str:
    """Return the marker term for memories of a kind."""
    return "kd" + kind.encode().hex()


def _ascii(word: str) -> str:
    return word if word.isascii() else "x" + word.encode().hex()


def traits(text: str) -> int:
    """Return the traits of `text` as a combination of the bits `ASKS` and `NAMES_TIME`."""
    found = words(text)
    names_year = any(len(word) == 4 and word.isdecimal() for word in found)
    names_time = names_year or not _TIMES.isdisjoint(found)
    return ASKS * text.rstrip().endswith("?") | NAMES_TIME * names_time


def content_key(text: str) -> str:
    """Hash the words of `text`, ignoring case, punctuation, stop words and citation markers."""
    return hashlib.sha256(" ".join(index_terms(without_citations(text))).encode()).hexdigest()[:24]


def without_citations(text: str) -> str:
    """Remove citation markers such as `[2]`."""
    head, *rest = text.split("[")
    for part in rest:
        number, bracket, after = part.partition("]")
        cited = bracket and number.isdecimal()
        head = head.rstrip() + after if cited else f"{head}[{part}"
    return head.strip()


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed question: `terms` in order, without repeats; `pairs` are adjacent terms."""

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    months: frozenset[int] = frozenset()
    asks_when: bool = False


def parse_question(text: str) -> Query:
    """Parse a question into its terms, the months it names, and whether it asks for a time."""
    question, terms = words(text), index_terms(text, foreign_small_words(text))
    months = {number for number, name in enumerate(_MONTHS, 1) if name in question}
    # "May" is a month only if capitalised in the middle of a sentence: not in "may I", "may have".
    names_may = any(
        word.strip(",.?!") == "May" and previous[-1] not in ".?!"
        for previous, word in pairwise(text.split())
    )
    if not names_may:
        months.discard(5)
    asks_when = "when" in question or any(
        (first, second) == ("how", "long") or (first in {"what", "which"} and second in _UNITS)
        for first, second in pairwise(question)
    )
    return Query(
        tuple(dict.fromkeys(terms))[:MAX_TERMS],
        tuple((a, b) for a, b in pairwise(terms) if a != b)[:MAX_TERMS],
        frozenset(months),
        asks_when,
    )
