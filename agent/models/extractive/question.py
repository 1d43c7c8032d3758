"""What a question asks for: its words and names, the kind of answer, the things to choose from."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import Enum

from agent.models.extractive.names import name_stems, names, numbers, pieces, quoted
from browser.text import STOP_WORDS, stem, words


class Kind(Enum):
    """The kind of answer that a question's opening words call for."""

    PERSON = "person"
    DATE = "date"
    NUMBER = "number"
    PLACE = "place"
    CHOICE = "choice"
    NAME = "name"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, analysed: `terms` are content stems in order, `names` the proper names in it.

    `name_terms` are the stems that belong to a name, a quotation or a number; `options` the two
    things of an "A or B" question; `focus` the stems of the noun that is asked for
    ("what *mountain range* …"), empty where there is none.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    name_terms: frozenset[str]
    kind: Kind
    focus: frozenset[str]
    options: tuple[str, ...] = ()

    @property
    def bigrams(self) -> frozenset[tuple[str, str]]:
        """Pairs of neighbouring content stems."""
        return frozenset(zip(self.terms, self.terms[1:], strict=False))


# Words of asking, and nouns that stand for a step on the way ("the state where …"); a page that
# answers seldom says them, so they count for less.
GENERIC = frozenset(
    stem(w)
    for w in """name named called known term type kind sort way much many long often far happen
    happened mean does did say tell give please find list country state city county town village
    place location located person man woman people individual individuals group thing something
    part year date month day time came come get got make made use used also first located found
    occur occurred take taken where another other film movie song band album series book show
    company""".split()
)
_OPENERS = re.compile(
    r"\b(who|whom|whose|when|where|why|how many|how much|how old|how long|how far|how fast|how tall"
    r"|how high|how big|how large|how deep|how often|how|what|which)\b",
    re.IGNORECASE,
)
_PREPOSITION_BEFORE = re.compile(r"\b(?:in|on|at|by|to|from|of|for|with|is|was|[,;:]) *$")
_PERSON_NOUNS = frozenset(
    """person man woman people actor actress singer rapper musician author writer poet novelist
    director producer screenwriter composer artist painter player coach manager president minister
    king queen emperor leader general scientist philosopher politician brother sister father mother
    son daughter wife husband spouse founder inventor architect character host driver surfer model
    figure individual performer architect guitarist drummer astronaut explorer saint pope""".split()
)
_DATE_NOUNS = frozenset(
    "year date month day century decade era time season period timeframe".split()
)
PLACE_NOUNS = frozenset(
    """country city state county town village province region continent place location island
    district borough capital birthplace nation area river mountain lake neighborhood street
    territory municipality suburb""".split()
)
_NUMBER_NOUNS = frozenset(
    """number amount population percentage percent size height length area distance speed weight
    age rank ranking price cost total rate score""".split()
)


@functools.lru_cache(maxsize=64)
def analyse(text: str) -> Question:
    """Analyse a question written in plain words; other languages get words and names only."""
    text = " ".join(text.split())
    found = _names_of(text)
    inside = frozenset(s for name in found for s in name_stems(name)) | frozenset(numbers(text))
    options = _options(text, found)
    opener, focus = _opening(text)
    return Question(
        text=text,
        terms=tuple(_terms(text, inside)),
        names=tuple(found),
        name_terms=inside,
        kind=Kind.CHOICE if options else _kind(opener, focus),
        focus=frozenset(stem(w) for w in focus),
        options=options,
    )


def keywords(question: Question) -> str:
    """The names alone, or, where there are none, the words that carry meaning."""
    if question.names:
        return " ".join(dict.fromkeys(question.names))
    kept = (w for w in words(question.text) if w not in STOP_WORDS and stem(w) not in GENERIC)
    return " ".join(dict.fromkeys(kept))


def _names_of(text: str) -> list[str]:
    body = text[0].lower() + text[1:] if text.split(" ")[0].casefold() in STOP_WORDS else text
    found = [*quoted(text), *(piece for name in names(body) for piece in pieces(name))]
    return [n for n in dict.fromkeys(found) if name_stems(n)]


def _terms(text: str, inside: frozenset[str]) -> list[str]:
    kept = []
    for word in words(text):
        if word in STOP_WORDS and stem(word) not in inside:
            continue
        kept.append(stem(word))
    return kept


def _opening(text: str) -> tuple[str, tuple[str, ...]]:
    """Find the asking word and the noun phrase after a what or which (at most three words)."""
    match = _asking_word(text)
    if match is None:
        return "", ()
    opener = match[1].casefold()
    if opener not in {"what", "which", "whose"} and not opener.startswith("how m"):
        return opener, ()
    following = re.split(r"[,?;:]", text[match.end() :])[0].split()
    phrase: list[str] = []
    for word in following:
        folded = word.casefold()
        if folded in {"of"} and phrase and phrase[-1] in {"kind", "type", "sort", "part", "amount"}:
            phrase.clear()
        elif folded in STOP_WORDS or folded in {"many", "much"}:
            if phrase:
                break
            if folded in {"is", "are", "was", "were", "did", "does", "do", "has", "have", "can"}:
                return opener, _asked_attribute(following)
        else:
            phrase.append(folded)
        if len(phrase) == 3:
            break
    return opener, tuple(phrase)


def _asking_word(text: str) -> re.Match[str] | None:
    """Find the word that asks: at the start, else a what or how, else the last of the others.

    Further in, `who`, `which`, `when` and `where` mostly open relative clauses.
    """
    found = list(_OPENERS.finditer(text))
    if not found or text[: found[0].start()].count(" ") <= 1:
        return found[0] if found else None
    sure = [m for m in found if m[1].casefold().startswith(("what", "how "))]
    after_preposition = [m for m in found if _PREPOSITION_BEFORE.search(text, 0, m.start())]
    return (sure or after_preposition or found)[-1]


def _asked_attribute(following: list[str]) -> tuple[str, ...]:
    """In "what is the population of X" the noun after the article is what is asked for."""
    attribute: list[str] = []
    for word in following[1:5]:
        folded = word.casefold()
        if folded in STOP_WORDS:
            if attribute:
                break
            continue
        if word[:1].isupper():
            break
        attribute.append(folded)
    return tuple(attribute[:2])


_BY_OPENER = {
    "who": Kind.PERSON,
    "whom": Kind.PERSON,
    "whose": Kind.PERSON,
    "when": Kind.DATE,
    "where": Kind.PLACE,
}


def _kind(opener: str, focus: tuple[str, ...]) -> Kind:
    if opener.startswith("how "):
        return Kind.NUMBER
    if opener in _BY_OPENER:
        return _BY_OPENER[opener]
    singular = {w.removesuffix("s") for w in focus} | set(focus)
    for nouns, kind in (
        (_DATE_NOUNS, Kind.DATE),
        (_NUMBER_NOUNS, Kind.NUMBER),
        (_PERSON_NOUNS, Kind.PERSON),
        (PLACE_NOUNS, Kind.PLACE),
    ):
        if singular & nouns:
            return kind
    return Kind.THING


def _options(text: str, found: list[str]) -> tuple[str, ...]:
    """Find the two things of "…, A or B?", both of which must be names."""
    match = re.search(r"\bor\b", text)
    if match is None:
        return ()
    before = [n for n in found if text.find(n) >= 0 and text.find(n) + len(n) <= match.start()]
    after = [n for n in found if text.rfind(n) >= match.end()]
    if not before or not after:
        return ()
    near = max(before, key=lambda n: (text.find(n) + len(n), len(n)))
    next_ = min(after, key=lambda n: (text.rfind(n), -len(n)))
    gap_before = text[text.find(near) + len(near) : match.start()]
    gap_after = text[match.end() : text.rfind(next_)]
    if len(gap_before.split()) > 2 or len(gap_after.split()) > 3:
        return ()
    return (near, next_)
