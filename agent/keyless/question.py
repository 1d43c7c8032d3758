"""What a question asks for: its names, its telling words, and the kind of answer that it wants.

Kinds are told for English alone; in other languages a question is its words and names.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.evidence.passages import bare_title
from browser.text.words import STOP_WORDS, content_words, stem, words

if TYPE_CHECKING:
    from collections.abc import Sequence


class AnswerKind(Enum):
    """The kind of answer that a question calls for; THING where its words do not tell.

    WAY is how something is done: what leads to code or to steps says it.
    """

    PERSON = "person"
    DATE = "date"
    NUMBER = "number"
    PLACE = "place"
    REASON = "reason"
    WAY = "way"
    THING = "thing"


_NOUNS = {
    AnswerKind.DATE: "year date month day century decade era",
    AnswerKind.NUMBER: (
        "number amount population percentage percent size height length area distance speed weight"
        " age depth price cost total rate score time"
    ),
    AnswerKind.PERSON: (
        "person man woman people actor actress singer musician author writer poet director producer"
        " composer artist painter player coach president minister king queen emperor leader general"
        " scientist brother sister father mother son daughter wife husband spouse founder inventor"
        " architect engineer"
    ),
    AnswerKind.PLACE: (
        "country city state county town village province region continent place location island"
        " district capital birthplace nation area river street"
    ),
}
"""English nouns after "which" or "what" that say what kind of answer is wanted."""
_KIND_OF = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}
_BY_WORD = {
    "who": AnswerKind.PERSON,
    "whom": AnswerKind.PERSON,
    "whose": AnswerKind.PERSON,
    "when": AnswerKind.DATE,
    "where": AnswerKind.PLACE,
    "why": AnswerKind.REASON,
}
_ASKING = frozenset({*_BY_WORD, "what", "which", "how"})
_COUNTING = frozenset("many much far often".split())
_HOW_MUCH = _COUNTING | frozenset("old long fast tall high big large deep wide".split())
_BEFORE = frozenset("in on at by to from of for with is was".split())
_AUXILIARY = frozenset("do does did is are was were can could will would may must should".split())
_LINKING = frozenset("of the de la le du da di del van von der den al el bin and & for".split())
_OPENERS, _CLOSERS = ('"', "“", "„", "«", "(", "["), ",;:?!"
MARKS = "\"'“”„«»‘’()[]{},;:?!."
_AND_WHAT = ("and what about ", "what about ", "how about ", "and ")
PRONOUNS = frozenset("it he she they him them".split())
_OWNING = frozenset("its his their her".split())
_PAGES = frozenset("page article site tab text document selection passage".split())
_TASKS = {
    "compare": "compare", "contrast": "compare", "list": "list", "enumerate": "list",
    "summarise": "summarise", "summarize": "summarise", "outline": "summarise",
    "explain": "explain", "describe": "explain", "discuss": "explain",
}  # fmt: skip
"""English words at the start of a request that takes more than a quotation."""
_COMPARATIVES = frozenset(
    """older oldest younger youngest earlier earliest first later latest larger largest bigger
    taller longer higher more most""".split()
)
_NOUN_LONGEST, _NOUN_WITHIN = 3, 6
_QUOTED = re.compile(r"""["“„«]([^"“”„«»]{1,80})["”“»]""")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, analysed.

    `terms` are the stems of its words without stop words, each once, in order; `names` the proper
    names and quotations in it; `name_terms` the stems that belong to a name or are numbers;
    `focus` the stems of the noun that is asked for ("what *mountain range* …"); `role` those of
    what a person asked for is or did ("who *designed* …", "who is the *captain* …"); `carried`
    those of an earlier question, for a pronoun: they say where to look, not what to say.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    name_terms: frozenset[str]
    kind: AnswerKind
    focus: frozenset[str]
    role: frozenset[str]
    carried: frozenset[str] = frozenset()

    def word_of(self, term: str) -> str:
        """The word of the question that a stem came from."""
        tokens = (token.strip(MARKS) for token in self.text.split())
        return next((t for t in tokens if term in content_words(t)), term)


@functools.lru_cache(maxsize=64)
def analyse(text: str) -> Question:
    """Analyse a question."""
    text = " ".join(text.split())
    found = tuple(dict.fromkeys([*map(str.strip, _QUOTED.findall(text)), *names(text)]))
    inside = frozenset(s for name in found for s in name_stems(name))
    inside |= {w for w in words(text) if w.isdigit()}
    telling = [w for w in words(text) if w not in STOP_WORDS | _COUNTING or stem(w) in inside]
    kind, focus, role = _asked_for(text)
    return Question(
        text=text,
        terms=tuple(dict.fromkeys(map(stem, telling))),
        names=found,
        name_terms=inside,
        kind=kind,
        focus=frozenset(map(stem, focus)),
        role=frozenset(map(stem, role)),
    )


def _asked_for(text: str) -> tuple[AnswerKind, Sequence[str], Sequence[str]]:
    """Give the kind of answer, the noun asked for, and a person's role; three words at most each.

    The asking word is the first one at the start or behind a preposition, else the last: further
    in, `who`, `which` and `where` mostly open relative clauses.
    """
    tokens = text.split()
    folded = [token.strip(MARKS).casefold() for token in tokens]
    places = [n for n, word in enumerate(folded) if word in _ASKING]
    if not places:
        return AnswerKind.THING, (), ()
    leading = [n for n in places if n <= 1 or folded[n - 1] in _BEFORE or tokens[n - 1][-1] == ","]
    strong = [n for n in places if folded[n] in ("what", "how")]
    at = leading[0] if leading and leading[0] <= 1 else (strong or leading or places)[-1]
    asking, following = folded[at], tokens[at + 1 :]
    if asking == "how":
        much = bool(following) and following[0].strip(MARKS).casefold() in _HOW_MUCH
        return (AnswerKind.NUMBER if much else AnswerKind.WAY), _noun(following[1:]), ()
    if asking in _BY_WORD and asking != "whose":
        kind = _BY_WORD[asking]
        return kind, (), _noun(following) if kind is AnswerKind.PERSON else ()
    focus = _noun(following)
    nouns = [word.removesuffix("s") for word in focus[-1:]] + focus
    known = next((_KIND_OF[noun] for noun in nouns if noun in _KIND_OF), None)
    return known or _BY_WORD.get(asking, AnswerKind.THING), focus, ()


def _noun(following: Sequence[str]) -> list[str]:
    """The noun phrase right after the asking word, or after its "is the": at most three words."""
    phrase: list[str] = []
    for token in following[:_NOUN_WITHIN]:
        word = token.strip(MARKS).casefold()
        ends = word in STOP_WORDS or (token[:1].isupper() and phrase)
        if ends and phrase:
            break
        if not ends:
            phrase.append(word)
        if len(phrase) == _NOUN_LONGEST or (token[-1:] in _CLOSERS and phrase):
            break
    return phrase


def names(text: str) -> list[str]:
    """Capitalised names in order, each once: "the Isle of Hesk" gives "Isle of Hesk"."""
    runs: list[list[str]] = [[]]
    for token in text.split():
        bare = token.strip(MARKS).removesuffix("'s").removesuffix("’s")
        begins = bare[:1].isupper() and bare.casefold() not in STOP_WORDS
        goes_on = bare[:1].isupper() or bare[:1].isdigit() or bare in _LINKING
        if token[:1] in _OPENERS or not goes_on:
            runs.append([])
        if begins or runs[-1]:
            runs[-1].append(bare)
        initial = len(bare) == 1 and token == f"{bare}."
        if not token.endswith(bare) and not initial:
            runs.append([])
    for run in runs:
        while run and run[-1] in _LINKING:
            run.pop()
    return list(dict.fromkeys(" ".join(run) for run in runs if run))


def name_stems(name: str) -> frozenset[str]:
    """The stems that tell a name; stop words are left out unless nothing else is there."""
    return frozenset(content_words(name)) or frozenset(map(stem, words(name)))


def keywords(text: str) -> str:
    """The words that carry meaning, in order and as they are written: what a person types."""
    bare = (token.strip(MARKS) for token in text.split())
    idle = _ASKING | _COUNTING
    return " ".join(w for w in bare if content_words(w) and w.casefold() not in idle)


def without_urls(text: str) -> tuple[str, tuple[str, ...]]:
    """Take the addresses out of a question; gives the rest of it, and the addresses."""
    kept: list[str] = []
    found: list[str] = []
    for token in text.split():
        bare = token.strip(MARKS + "<>")
        if bare.startswith(("http://", "https://", "www.")):
            found.append(bare if bare.startswith("http") else f"https://{bare}")
        else:
            kept.append(token)
    return " ".join(kept), tuple(dict.fromkeys(found))


def resolved(text: str, earlier: Sequence[str], title: str) -> Question:
    """Analyse a question, with what its pronoun means in the pronoun's place.

    That is the page in view, else what the last question that stands by itself asked of: a name
    in it, or its telling words. "And Marrow Point Light?" asks that question of another name.
    """
    question = analyse(text)
    before = next(
        (q for q in map(analyse, reversed(earlier)) if q.names or not _leans(q.text)), None
    )
    opening = next((o for o in _AND_WHAT if text.casefold().startswith(o)), "")
    if opening and before and before.names and question.names:
        other = text[len(opening) :].strip(MARKS + " ")
        return analyse(before.text.replace(before.names[0], other))
    named = bare_title(title) or (before.names[0] if before and before.names else "")
    subject = named or (keywords(before.text) if before else "")
    tokens = text.split()
    for n, token in enumerate(tokens if subject and not question.names else ()):
        word = token.strip(MARKS)
        if word.casefold() in PRONOUNS | _OWNING:
            owner = "'s" if word.casefold() in _OWNING else ""
            tokens[n] = token.replace(word, f"{subject}{owner}")
            full = analyse(" ".join(tokens))
            carried = frozenset() if named else frozenset(full.terms) - set(question.terms)
            return replace(full, carried=carried)
    return question


def _leans(text: str) -> bool:
    """A question rests on the one before: it says a pronoun, or begins as its continuation."""
    said = {token.strip(MARKS).casefold() for token in text.split()}
    return text.casefold().startswith(_AND_WHAT) or bool(said & (PRONOUNS | _OWNING))


def points_at_page(text: str) -> bool:
    """The question is about the page in view: "this page", "here", "the selection"."""
    said = words(text)
    pointing = any(a in ("this", "the") and b in _PAGES for a, b in pairwise(said))
    return pointing or bool({"this", "here", "selected", "selection"} & set(said))


def beyond_quoting(question: Question) -> str:
    """What a question asks that no single sentence says ("compare"); empty where one may say it."""
    said = words(question.text)
    if not said or said[0] in _TASKS:
        return _TASKS[said[0]] if said else ""
    sides = "or" in said[1:] and len(question.names) > 1 and _COMPARATIVES & set(said)
    both = said[0] in _AUXILIARY and {"both", "same"} & set(said)
    differ = {"difference", "differences", "compare", "compared"} & set(said)
    return "compare" if sides or both or differ else ""


def parts_of(question: Question) -> tuple[Question, ...]:
    """Take a question apart that asks several things; one that asks one is its only part.

    Each part looks where the question's names and the words before it are.
    """
    pieces = [p for piece in re.split(r"(?<=[?.!])\s+", question.text) for p in _joined(piece)]
    asking = [p for p in pieces if "?" in p or _ASKING & set(words(p)[:4])]
    if len(asking) < 2:
        return (question,)
    parts, before = [], question.name_terms
    for piece in pieces:
        part = analyse(piece)
        carried = before - set(part.terms)
        if piece in asking:
            terms = (*part.terms, *(t for t in question.terms if t in carried))
            parts.append(replace(part, terms=terms, names=question.names, carried=carried))
        before |= set(part.terms)
    return tuple(parts)


def _joined(text: str) -> list[str]:
    """Cut where a second question is joined on: `, and how …`, `, and do they …`."""
    tokens, cuts = text.split(), [0]
    for n in range(2, len(tokens) - 2):
        following = tokens[n + 1].casefold()
        comma = tokens[n - 1].endswith(",") and following in _AUXILIARY
        if tokens[n].casefold() == "and" and (following in _ASKING or comma):
            cuts.append(n)
    return [" ".join(tokens[a:b]).removeprefix("and ") for a, b in pairwise([*cuts, len(tokens)])]
