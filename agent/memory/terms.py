"""The words of memories and of questions as the search index knows them."""

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

# Irregular English forms and the words that they belong to: what a stemmer cannot know. Without
# them the recall over long conversations is .4 points lower.
_FORMS = """
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
BASE = {
    form: base for entry in _FORMS.split(";") for base, *forms in (entry.split(),) for form in forms
}
"""Each irregular form with its base."""

SPEAKER = "by"
"""Begins the term that says who speaks; the rest is hexadecimal, so that no word looks like it."""
KIND = "kd"
"""Begins the term that says of what kind a memory is."""
# `Ann:`, `[12 May] Mary-Ann O'Neil:`: up to three words before a colon, at the start. French sets a
# space before it, Chinese and Japanese have one of their own and set none behind.
_SPEAKER = re.compile(
    r"\s*(?:[\[(][^\])]{1,40}[\])]\s*)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})"
    r"(?:[ \u00a0\u202f]?:\s+|：\s*)(?=\S)"
)


def index_terms(text: str, empty: Collection[str] = ()) -> list[str]:
    """Stems of the words that carry meaning, in ASCII, in order, repeats kept.

    Words of other scripts are spelt in hexadecimal, so that every database cuts them alike; `empty`
    are further words to leave out.
    """
    left_out = STOP_WORDS.union(empty) if empty else STOP_WORDS
    found = (BASE.get(word, word) for word in words(text) if word not in left_out)
    return [_ascii(stem(word)) for word in found]


def content_key(text: str) -> str:
    """Name a text by its words: case, punctuation, stop words and citation marks do not count."""
    return hashlib.sha256(" ".join(index_terms(unmarked(text))).encode()).hexdigest()[:24]


def unmarked(text: str) -> str:
    """Take citation marks such as `[2]` out."""
    head, *rest = text.split("[")
    for part in rest:
        number, bracket, after = part.partition("]")
        marked = bracket and number.isdecimal()
        head = head.rstrip() + after if marked else f"{head}[{part}"
    return head.strip()


def memory_terms(text: str) -> list[str]:
    """Index terms of a memory, before them a speaker term for a name before a colon."""
    match = _SPEAKER.match(text)
    names = [speaker_term(_ascii(stem(word))) for word in words(match[1])] if match else []
    return [*names, *index_terms(text)]


def has_speaker(text: str) -> bool:
    """Tell whether a text begins with a name and a colon."""
    return _SPEAKER.match(text) is not None


def speaker_term(term: str) -> str:
    """Spell the term that marks memories in which someone of this name speaks."""
    return SPEAKER + term.encode().hex()


def kind_term(kind: str) -> str:
    """Spell the term that marks memories of a kind."""
    return KIND + kind.encode().hex()


def _ascii(word: str) -> str:
    return word if word.isascii() else "x" + word.encode().hex()


MAX_TERMS = 24  # a question has fewer; a pasted page must not become a thousand lookups
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_UNITS = frozenset("date day week month year time".split())
_TIMES = frozenset(
    "yesterday today tonight tomorrow ago since last next week weeks weekend weekends month months "
    "year years".split()
).union(_MONTHS, _DAYS)


@dataclass(frozen=True, slots=True)
class Query:
    """A question: `terms` in its order, each once; `pairs` are neighbours among them."""

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    months: frozenset[int] = frozenset()
    asks_when: bool = False


def parse(text: str) -> Query:
    """Read a question."""
    asked = words(text)
    found = index_terms(text, foreign_small_words(text))
    return Query(
        tuple(dict.fromkeys(found))[:MAX_TERMS],
        tuple((a, b) for a, b in pairwise(found) if a != b)[:MAX_TERMS],
        frozenset(_months(text, asked)),
        "when" in asked or any(_asks_when(one, other) for one, other in pairwise(asked)),
    )


def names_time(text: str) -> bool:
    """Tell a text that names a day, a month, a year or a time relative to now."""
    found = words(text)
    return not _TIMES.isdisjoint(found) or any(len(w) == 4 and w.isdecimal() for w in found)


def _months(text: str, asked: Sequence[str]) -> set[int]:
    months = {n for n, name in enumerate(_MONTHS, 1) if name in asked}
    written = text.split()
    may = any(w.strip(",.?!") == "May" and b[-1] not in ".?!" for b, w in pairwise(written))
    return months if may else months - {5}  # "may I", "may have"


def _asks_when(one: str, other: str) -> bool:
    return (one, other) == ("how", "long") or (one in {"what", "which"} and other in _UNITS)
