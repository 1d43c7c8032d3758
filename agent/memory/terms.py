"""The words of memories and of questions as the search index knows them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from browser.text import STOP_WORDS, stem, words

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

_LEAST = 2  # function words of a language that show that a question is in it; one may be chance
# Case-folded and without accents, as `browser.text.words` gives them.
_LANGUAGES = {
    "German": frozenset(
        """
        der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren
        hat haben hatte wird werden wurde wurden kann was wer wen wem wessen wie wo woher wohin wann
        warum womit wozu wofur welche welcher welches welchen welchem viel viele in im an am auf aus
        bei beim mit nach von vom zu zum zur fur uber unter um sich er sie es ihr ihre ihren sein
        seine seinen nicht auch noch als so dass lange
        """.split()
    ),
    "French": frozenset(
        """
        le la les l un une des du de d au aux et ou mais est sont etait a ont avait sera qui que qu
        quoi quel quelle quels quelles quand comment combien pourquoi lequel laquelle dans en sur
        sous par pour avec sans chez il elle ils elles on se s son sa ses leur leurs ce cet cette
        ces ne pas plus y t c depuis
        """.split()
    ),
    "Spanish": frozenset(
        """
        el la los las un una unos unas y o pero es son era fue eran fueron ha han habia que quien
        quienes cual cuales cuando como cuanto cuanta cuantos cuantas donde porque por para con sin
        en de del a al se su sus lo le les no mas este esta ese esa
        """.split()
    ),
    "Italian": frozenset(
        """
        il lo la i gli le un uno una e o ma che chi cosa quale quali quando come quanto quanta
        quanti quante dove perche per con senza in di del della dei delle da dal dalla a al alla nel
        nella su sul si suo sua suoi sue non piu sono era ha hanno aveva
        """.split()
    ),
    "Portuguese": frozenset(
        """
        o a os as um uma uns umas e ou mas que quem qual quais quando como quanto quanta quantos
        quantas onde porque por para com sem em no na nos nas de do da dos das ao se seu sua seus
        suas nao mais foi eram tem tinha
        """.split()
    ),
    "Dutch": frozenset(
        """
        de het een en of maar is zijn was waren heeft hebben had wordt werd wie wat welke welk
        wanneer waar waarom hoe hoeveel in op aan bij met naar van voor uit over onder om zich hij
        zij ze haar niet ook nog dat die dit deze
        """.split()
    ),
}


def function_words(words: Sequence[str]) -> frozenset[str]:
    """Find the words of a question that mean nothing in its language; none for English."""
    asked = frozenset(words)
    found = [asked & language for language in _LANGUAGES.values()]
    best = max(found, key=len)
    return best if len(best) >= _LEAST and len(best) > len(asked & STOP_WORDS) else frozenset()


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
    found = index_terms(text, function_words(asked))
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
