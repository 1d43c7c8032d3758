"""Words of memories and of questions as the index knows them: stems in ASCII, and a few marks."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from browser.text.languages import foreign_small_words
from browser.text.words import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Collection

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

# `Ann:`, `[12 May] Mary-Ann O'Neil:`: up to three words before a colon, at the start. French sets a
# space before it, Chinese and Japanese have one of their own and set none behind.
_SPEAKER = re.compile(
    r"\s*(?:[\[(][^\])]{1,40}[\])]\s*)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})"
    r"(?:[ \u00a0\u202f]?:\s+|：\s*)(?=\S)"
)
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
ASKS, NAMES_TIME = 1, 2
"""Bits of a memory's traits: it ends in a question mark; it names a time."""


def index_terms(text: str, left_out: Collection[str] = ()) -> list[str]:
    """Stem the words that carry meaning, in order, repeats kept; `left_out` are further stop words.

    Terms are ASCII: words of other scripts are spelt in hexadecimal, so that every database splits
    them alike.
    """
    stop_words = STOP_WORDS.union(left_out) if left_out else STOP_WORDS
    return [_ascii(stem(BASE.get(w, w))) for w in words(text) if w not in stop_words]


def memory_terms(text: str) -> list[str]:
    """Index terms of a memory, before them a speaker term for each name before a colon."""
    match = _SPEAKER.match(text)
    names = [speaker_term(_ascii(stem(word))) for word in words(match[1])] if match else []
    return [*names, *index_terms(text)]


def has_speaker(text: str) -> bool:
    """Tell whether a text begins with a name and a colon."""
    return _SPEAKER.match(text) is not None


# Marks end in hexadecimal, so that no word looks like one.
def speaker_term(term: str) -> str:
    """Mark memories in which someone of this name speaks."""
    return "by" + term.encode().hex()


def kind_term(kind: str) -> str:
    """Mark memories of a kind."""
    return "kd" + kind.encode().hex()


def _ascii(word: str) -> str:
    return word if word.isascii() else "x" + word.encode().hex()


def traits(text: str) -> int:
    """Tell whether a text asks something, and whether it names a time, as bits."""
    found = words(text)
    dated = not _TIMES.isdisjoint(found) or any(len(w) == 4 and w.isdecimal() for w in found)
    return ASKS * text.rstrip().endswith("?") | NAMES_TIME * dated


def content_key(text: str) -> str:
    """Hash a text by its words: case, punctuation, stop words and citation marks do not count."""
    return hashlib.sha256(" ".join(index_terms(without_citations(text))).encode()).hexdigest()[:24]


def without_citations(text: str) -> str:
    """Remove citation marks such as `[2]`."""
    head, *rest = text.split("[")
    for part in rest:
        number, bracket, after = part.partition("]")
        cited = bracket and number.isdecimal()
        head = head.rstrip() + after if cited else f"{head}[{part}"
    return head.strip()


@dataclass(frozen=True, slots=True)
class Query:
    """A question: `terms` in its order, each once; `pairs` are neighbours among them."""

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    months: frozenset[int] = frozenset()
    asks_when: bool = False


def parse_question(text: str) -> Query:
    """Read the terms of a question, the months that it names, and whether it asks for a time."""
    asked, terms = words(text), index_terms(text, foreign_small_words(text))
    months = {number for number, name in enumerate(_MONTHS, 1) if name in asked}
    # May is a month only where it is written so, in the middle of a sentence: "may I", "may have".
    named_may = any(
        word.strip(",.?!") == "May" and before[-1] not in ".?!"
        for before, word in pairwise(text.split())
    )
    asks_when = "when" in asked or any(
        (one, other) == ("how", "long") or (one in {"what", "which"} and other in _UNITS)
        for one, other in pairwise(asked)
    )
    return Query(
        tuple(dict.fromkeys(terms))[:MAX_TERMS],
        tuple((a, b) for a, b in pairwise(terms) if a != b)[:MAX_TERMS],
        frozenset(months if named_may else months - {5}),
        asks_when,
    )
