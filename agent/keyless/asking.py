"""The way of asking: which word asks, and what kind of answer it calls for."""

from __future__ import annotations

import re
from enum import Enum

from browser.text import STOP_WORDS, stem


class Kind(Enum):
    """The kind of answer that a question calls for; THING where its words do not tell."""

    PERSON = "person"
    DATE = "date"
    NUMBER = "number"
    PLACE = "place"
    THING = "thing"


# Words of asking, and nouns that stand for a step on the way ("the state where …"); a page that
# answers seldom says them, so they count for less.
GENERIC = frozenset(
    stem(w)
    for w in """name named called known term type kind sort way much many long often far happen
    happened mean does did say tell give gave given please find list country state city county town
    village place location located person man woman people individual individuals group
    thing something part year date month day time came come get got make made use used also
    first found occur occurred take taken see seen go went become order one like new need
    able considered refer referred include including besides various different certain where
    another other film movie song band album series book show company older younger earlier later
    larger longer bigger taller higher better compare contrast describe explain summarise summarize
    outline discuss""".split()
)

_ASKING = re.compile(
    r"\b(who|whom|whose|when|where|why|how many|how much|how old|how long|how far|how fast|how tall"
    r"|how high|how big|how large|how deep|how often|how|what|which)\b",
    re.IGNORECASE,
)
_PREPOSITION_BEFORE = re.compile(r"\b(?:in|on|at|by|to|from|of|for|with|is|was|[,;:]) *$")
_AUXILIARIES = frozenset("is are was were did does do has have had can could will would".split())
_COUNTING = frozenset({"many", "much"})
_PARTITIVES = frozenset({"kind", "type", "sort", "part", "amount"})

PLACE_NOUNS = frozenset(
    """country city state county town village province region continent place location island
    district borough capital birthplace nation area river mountain lake neighborhood street
    territory municipality suburb""".split()
)
_PERSON_NOUNS = frozenset(
    """person man woman people actor actress singer rapper musician author writer poet novelist
    director producer screenwriter composer artist painter player coach manager president minister
    king queen emperor leader general scientist philosopher politician brother sister father mother
    son daughter wife husband spouse founder inventor architect character host driver surfer model
    figure individual performer guitarist drummer astronaut explorer saint pope""".split()
)
_DATE_NOUNS = frozenset("year date month day century decade era season period timeframe".split())
_NUMBER_NOUNS = frozenset(
    """number amount population percentage percent size height length area distance speed weight
    age rank ranking price cost total rate score""".split()
)
_BY_NOUN = (
    (_DATE_NOUNS, Kind.DATE),
    (_NUMBER_NOUNS, Kind.NUMBER),
    (_PERSON_NOUNS, Kind.PERSON),
    (PLACE_NOUNS, Kind.PLACE),
)
_BY_WORD = {
    "who": Kind.PERSON,
    "whom": Kind.PERSON,
    "whose": Kind.PERSON,
    "when": Kind.DATE,
    "where": Kind.PLACE,
}


def asked_for(text: str) -> tuple[Kind, tuple[str, ...]]:
    """Give the kind of answer, and the noun that is asked for, at most three words."""
    match = asking_word(text)
    if match is None:
        return Kind.THING, ()
    asking = match[1].casefold()
    focus: tuple[str, ...] = ()
    if asking in {"what", "which", "whose"} or asking.startswith("how m"):
        focus = _focus(re.split(r"[,?;:]", text[match.end() :])[0].split())
    return _kind(asking, focus), focus


def asking_word(text: str) -> re.Match[str] | None:
    """Find the word that asks: at the start, else a what or how, else the last of the others.

    Further in, `who`, `which`, `when` and `where` mostly open relative clauses.
    """
    found = list(_ASKING.finditer(text))
    if not found or text[: found[0].start()].count(" ") <= 1:
        return found[0] if found else None
    sure = [m for m in found if m[1].casefold().startswith(("what", "how "))]
    after_preposition = [m for m in found if _PREPOSITION_BEFORE.search(text, 0, m.start())]
    return (sure or after_preposition or found)[-1]


def _focus(following: list[str]) -> tuple[str, ...]:
    """The noun phrase right after the asking word, or after "is the …" where a verb follows it."""
    phrase: list[str] = []
    for number, word in enumerate(following):
        folded = word.casefold()
        if folded == "of" and phrase and phrase[-1] in _PARTITIVES:
            phrase.clear()
        elif folded in STOP_WORDS or folded in _COUNTING:
            if phrase:
                break
            if folded in _AUXILIARIES:
                return _attribute(following[number + 1 :])
        else:
            phrase.append(folded)
        if len(phrase) == 3:
            break
    return tuple(phrase)


def _attribute(following: list[str]) -> tuple[str, ...]:
    """In "the population of X", "X's population": the noun that is asked for."""
    phrase: list[str] = []
    for word in following[:7]:
        folded = word.casefold()
        if word.endswith(("'s", "’s")):
            phrase.clear()
        elif folded in STOP_WORDS or word[:1].isupper():
            if phrase:
                break
        else:
            phrase.append(folded)
    return tuple(phrase[:2])


def _kind(asking: str, focus: tuple[str, ...]) -> Kind:
    if asking.startswith("how "):
        return Kind.NUMBER
    if focus == ("time",):
        return Kind.DATE
    if asking in _BY_WORD:
        return _BY_WORD[asking]
    nouns = {w.removesuffix("s") for w in focus} | set(focus)
    return next((kind for known, kind in _BY_NOUN if nouns & known), Kind.THING)
