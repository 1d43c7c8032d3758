"""Analyses a question: its names, its content words, and the kind of answer it asks for.

Kinds are recognised in English only. For a question in another language, only its words and names
are used, and are matched by stems in that language.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.evidence.passages import bare_title
from browser.text.languages import question_language, stems_in
from browser.text.sentences import sentences
from browser.text.words import STOP_WORDS, content_words, stem, words

if TYPE_CHECKING:
    from collections.abc import Sequence


class AnswerKind(Enum):
    """The kind of answer that a question asks for; THING if its wording does not show that.

    WAY is for how-to questions, which are answered by a sentence that introduces code or steps.
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
"""English nouns after "which" or "what", by the kind of answer that they ask for."""
_KIND_BY_NOUN = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}
_KIND_BY_QUESTION_WORD = {
    "who": AnswerKind.PERSON,
    "whom": AnswerKind.PERSON,
    "whose": AnswerKind.PERSON,
    "when": AnswerKind.DATE,
    "where": AnswerKind.PLACE,
    "why": AnswerKind.REASON,
}
_QUESTION_WORDS = frozenset({*_KIND_BY_QUESTION_WORD, "what", "which", "how"})
_QUANTITY_WORDS = frozenset("many much far often".split())
_HOW_MUCH = _QUANTITY_WORDS | frozenset("old long fast tall high big large deep wide".split())
_AUXILIARY = frozenset("do does did is are was were can could will would may must should".split())
_NAME_PARTICLES = frozenset(
    "of the de la le du da di del van von der den al el bin and & for".split()
)
_OPENERS, _CLOSERS = ('"', "“", "„", "«", "(", "["), ",;:?!"
MARKS = "\"'“”„«»‘’()[]{},;:?!."
_CONTRACTIONS = frozenset(
    """im ive youre youve weve theyre theyve dont doesnt didnt isnt arent wasnt werent cant couldnt
    wont wouldnt shouldnt havent hasnt hadnt whats wheres whos hows thats theres lets""".split()
)
"""Contractions such as "I'm" and "don't" as `words` reads them, used as stop words; those that are
also other words (`id`, `well`) are left out."""
_FOLLOWUP_OPENINGS = ("and what about ", "what about ", "how about ", "and ")
PRONOUNS = frozenset("it he she they him them".split())
_POSSESSIVES = frozenset("its his their her".split())
_PAGE_NOUNS = frozenset("page article site tab text document selection passage".split())
_SYNTHESIS_VERBS = {
    "compare": "compare", "contrast": "compare", "list": "list", "enumerate": "list",
    "summarise": "summarise", "summarize": "summarise", "outline": "summarise",
    "explain": "explain", "describe": "explain", "discuss": "explain",
}  # fmt: skip
"""English verbs at the beginning of requests that no quotation can answer."""
_COMPARATIVES = frozenset(
    """older oldest younger youngest earlier earliest first later latest larger largest bigger
    taller longer higher more most""".split()
)
_NO_STEMS: frozenset[str] = frozenset()
_MAX_NOUN_WORDS, _MAX_NOUN_DISTANCE = 3, 6
"""Maximum number of words in a noun phrase, and of words in which it is looked for."""
_QUOTED = re.compile(r"""["“„«]([^"“”„«»]{1,80})["”“»]""")


@dataclass(frozen=True, slots=True)
class Question:
    """An analysed question.

    `terms` contains the stems of its words in order, without stop words and repeats; `names` its
    proper names and quotations; `name_terms` the stems that belong to a name or are numbers;
    `focus` the stems of the noun asked for ("what *mountain range* …"). If the question asks for a
    person, `role` contains the stems of what the person is or did ("who *designed* …").
    `inherited` contains the stems from an earlier question that a pronoun refers to: they show
    where to look, but an answer need not contain them. `language` is the question's language
    (ISO 639-1); None for English or if uncertain.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    name_terms: frozenset[str]
    kind: AnswerKind
    focus: frozenset[str]
    role: frozenset[str]
    inherited: frozenset[str] = frozenset()
    language: str | None = None

    def stems_of(self, text: str) -> frozenset[str]:
        """Return the stems of the content words in `text`, also in the question's language.

        For an English question these are `content_words`.
        """
        stems = frozenset(content_words(text))
        if self.language is None:
            return stems
        return stems | (frozenset(stems_in(self.language, text)) & frozenset(self.terms))

    def word_of(self, term: str) -> str:
        """Return the question's word that has this stem."""
        tokens = (token.strip(MARKS) for token in self.text.split())
        return next((t for t in tokens if term in self.stems_of(t)), term)


@functools.lru_cache(maxsize=64)
def analyse(text: str, language: str | None = None) -> Question:
    """Analyse a question; cached. `language` is a fallback, used if the question's is uncertain."""
    text = " ".join(text.split())
    language = question_language(text) or language
    if language is not None and language != "en":
        terms = tuple(dict.fromkeys(stems_in(language, text)))
        # Few languages use capital letters only for names, so only numbers are certain.
        figures = frozenset(term for term in terms if term.isdigit())
        return Question(
            text, terms, (), figures, AnswerKind.THING, _NO_STEMS, _NO_STEMS, language=language
        )
    names = tuple(dict.fromkeys([*map(str.strip, _QUOTED.findall(text)), *find_names(text)]))
    name_terms = frozenset(term for name in names for term in name_stems(name))
    name_terms |= {word for word in words(text) if word.isdigit()}
    stop_words = STOP_WORDS | _QUANTITY_WORDS | _CONTRACTIONS
    content = [word for word in words(text) if word not in stop_words or stem(word) in name_terms]
    kind, focus, role = _answer_kind(text)
    return Question(
        text=text,
        terms=tuple(dict.fromkeys(map(stem, content))),
        names=names,
        name_terms=name_terms,
        kind=kind,
        focus=frozenset(map(stem, focus)),
        role=frozenset(map(stem, role)),
    )


def _answer_kind(text: str) -> tuple[AnswerKind, Sequence[str], Sequence[str]]:
    """Return the kind of answer, the noun asked for and a person's role, up to three words each.

    The question word is the one at the start (or after a preposition there), otherwise the last
    one: in other positions, `who`, `which` and `where` mostly begin relative clauses.
    """
    tokens = text.split()
    folded = [token.strip(MARKS).casefold() for token in tokens]
    places = [n for n, word in enumerate(folded) if word in _QUESTION_WORDS]
    if not places:  # keywords, as typed into a search engine: "height of the tower"
        phrase = _noun_phrase(tokens)
        kinds = (_KIND_BY_NOUN.get(noun.removesuffix("s")) for noun in phrase[-1:])
        return next(filter(None, kinds), AnswerKind.THING), (), ()
    at = places[0] if places[0] <= 1 else places[-1]
    question_word, following = folded[at], tokens[at + 1 :]
    if question_word == "how":
        is_amount = bool(following) and following[0].strip(MARKS).casefold() in _HOW_MUCH
        kind = AnswerKind.NUMBER if is_amount else AnswerKind.WAY
        return kind, _noun_phrase(following[1:]), ()
    if question_word in _KIND_BY_QUESTION_WORD and question_word != "whose":
        kind = _KIND_BY_QUESTION_WORD[question_word]
        return kind, (), _noun_phrase(following) if kind is AnswerKind.PERSON else ()
    focus = _noun_phrase(following)
    # The head noun is the last word: "what mountain ranges".
    nouns = [word.removesuffix("s") for word in focus[-1:]] + focus
    known = next((_KIND_BY_NOUN[noun] for noun in nouns if noun in _KIND_BY_NOUN), None)
    return known or _KIND_BY_QUESTION_WORD.get(question_word, AnswerKind.THING), focus, ()


def _noun_phrase(following: Sequence[str]) -> list[str]:
    """Return the noun phrase after a question word, or after "is the"; at most three words."""
    phrase: list[str] = []
    for token in following[:_MAX_NOUN_DISTANCE]:
        word = token.strip(MARKS).casefold()
        ends = word in STOP_WORDS or (token[:1].isupper() and phrase)
        if ends and phrase:
            break
        if not ends:
            phrase.append(word)
        if len(phrase) == _MAX_NOUN_WORDS or (token[-1:] in _CLOSERS and phrase):
            break
    return phrase


def find_names(text: str) -> list[str]:
    """List distinct capitalised names in order: "the Isle of Hesk" gives "Isle of Hesk"."""
    runs: list[list[str]] = [[]]
    for token in text.split():
        bare = token.strip(MARKS).removesuffix("'s").removesuffix("’s")
        is_small = bare.casefold() in STOP_WORDS or _is_contraction(bare)
        can_begin = bare[:1].isupper() and not is_small
        can_continue = bare[:1].isupper() or bare[:1].isdigit() or bare in _NAME_PARTICLES
        if token[:1] in _OPENERS or not can_continue:
            runs.append([])
        if can_begin or runs[-1]:
            runs[-1].append(bare)
        # Punctuation after a word ends a name, but not after an initial: "J. Orme".
        is_initial = len(bare) == 1 and token == f"{bare}."
        if not token.endswith(bare) and not is_initial:
            runs.append([])
    for run in runs:
        while run and run[-1] in _NAME_PARTICLES:
            run.pop()
    return list(dict.fromkeys(" ".join(run) for run in runs if run))


def _is_contraction(token: str) -> bool:
    found = words(token)
    return bool(found) and _CONTRACTIONS.issuperset(found)


def name_stems(name: str) -> frozenset[str]:
    """Return the stems of a name without stop words, unless it consists only of them."""
    return frozenset(content_words(name)) or frozenset(map(stem, words(name)))


def keywords(text: str) -> str:
    """Reduce a question to a search query: its content words, in the original order and form."""
    bare = (token.strip(MARKS) for token in text.split())
    left_out = _QUESTION_WORDS | _QUANTITY_WORDS
    return " ".join(
        w
        for w in bare
        if content_words(w) and w.casefold() not in left_out and not _is_contraction(w)
    )


def split_urls(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a question into its text without URLs, and the URLs."""
    kept: list[str] = []
    found: list[str] = []
    for token in text.split():
        bare = token.strip(MARKS + "<>")
        if bare.startswith(("http://", "https://", "www.")):
            found.append(bare if bare.startswith("http") else f"https://{bare}")
        else:
            kept.append(token)
    return " ".join(kept), tuple(dict.fromkeys(found))


def resolve_question(text: str, earlier: Sequence[str], title: str) -> Question:
    """Analyse a follow-up question, replacing its pronoun with what it refers to.

    A pronoun refers to the page in view (`title`). Without one, it refers to the last of the
    `earlier` questions that can be understood on its own: to the name in that question or, if it
    contains none, to its content words. "And Marrow Point Light?" asks the earlier question about
    another name.
    """
    question = analyse(text)
    previous = next(
        (q for q in map(analyse, reversed(earlier)) if q.names or not _is_followup(q.text)), None
    )
    opening = next((o for o in _FOLLOWUP_OPENINGS if text.casefold().startswith(o)), "")
    if opening and previous and previous.names and question.names:
        other = text[len(opening) :].strip(MARKS + " ")
        return analyse(previous.text.replace(previous.names[0], other))

    name = bare_title(title) or (previous.names[0] if previous and previous.names else "")
    subject = name or (keywords(previous.text) if previous else "")
    if not subject or question.names:
        return question
    tokens = text.split()
    for n, token in enumerate(tokens):
        word = token.strip(MARKS)
        if word.casefold() in PRONOUNS | _POSSESSIVES:
            suffix = "'s" if word.casefold() in _POSSESSIVES else ""
            tokens[n] = token.replace(word, f"{subject}{suffix}")
            full = analyse(" ".join(tokens))
            inherited = frozenset() if name else frozenset(full.terms) - set(question.terms)
            return replace(full, inherited=inherited)
    return question


def _is_followup(text: str) -> bool:
    """Return whether a question depends on an earlier one: has a pronoun, or begins with "and"."""
    tokens = {token.strip(MARKS).casefold() for token in text.split()}
    return text.casefold().startswith(_FOLLOWUP_OPENINGS) or bool(
        tokens & (PRONOUNS | _POSSESSIVES)
    )


def refers_to_open_page(text: str) -> bool:
    """Return whether a question is about the page in view: "this page", "here", "the selection"."""
    tokens = words(text)
    names_page = any(a in ("this", "the") and b in _PAGE_NOUNS for a, b in pairwise(tokens))
    return names_page or bool({"this", "here", "selected", "selection"} & set(tokens))


def synthesis_task(question: Question) -> str:
    """Return a task that quotations cannot fulfil, such as "compare"; empty if there is none."""
    tokens = words(question.text)
    if not tokens:
        return ""
    if tokens[0] in _SYNTHESIS_VERBS:
        return _SYNTHESIS_VERBS[tokens[0]]
    offers_choice = "or" in tokens[1:] and len(question.names) > 1 and _COMPARATIVES & set(tokens)
    asks_both = tokens[0] in _AUXILIARY and {"both", "same"} & set(tokens)
    asks_difference = {"difference", "differences", "compare", "compared"} & set(tokens)
    return "compare" if offers_choice or asks_both or asks_difference else ""


def split_question(question: Question) -> tuple[Question, ...]:
    """Split a question that asks several things into parts; any other question is a single part.

    Each part inherits the question's names and the words before it, as hints on where to look.
    """
    pieces = [
        piece
        for start, end in sentences(question.text)
        for piece in _split_conjoined(question.text[start:end])
    ]
    questions = [p for p in pieces if "?" in p or _QUESTION_WORDS & set(words(p)[:4])]
    if len(questions) < 2:
        return (question,)
    parts, before = [], question.name_terms
    for piece in pieces:
        part = analyse(piece)
        inherited = before - set(part.terms)
        if piece in questions:
            terms = (*part.terms, *(t for t in question.terms if t in inherited))
            parts.append(replace(part, terms=terms, names=question.names, inherited=inherited))
        before |= set(part.terms)
    return tuple(parts)


def _split_conjoined(text: str) -> list[str]:
    """Split a question where a second one begins: `, and how …`, `, and do they …`."""
    tokens, cuts = text.split(), [0]
    for n in range(2, len(tokens) - 2):
        following = tokens[n + 1].casefold()
        after_comma = tokens[n - 1].endswith(",") and following in _AUXILIARY
        asks = following in _QUESTION_WORDS - {"whose"}  # "and whose" usually continues a clause
        if tokens[n].casefold() == "and" and (asks or after_comma):
            cuts.append(n)
    return [" ".join(tokens[a:b]).removeprefix("and ") for a, b in pairwise([*cuts, len(tokens)])]
