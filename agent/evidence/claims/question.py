"""Claims in question-and-answer form: `What part of the work was early: the prologue`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.claims.alignment import Alignment
from agent.evidence.claims.answer_type import CAUSES, Expected, expected_type, fits, head_noun
from agent.evidence.claims.findings import Finding, contradicts, supports, undecided
from agent.evidence.claims.nearness import counts_other, nearest_other
from agent.evidence.language.normalise import Token, tokenise, words_of
from agent.evidence.language.vocabulary import ARTICLES, FUNCTION

if TYPE_CHECKING:
    from agent.evidence.language.statements import Ground, Statement

AS_GOOD = 0.8
"""A statement with the answer must fit the question nearly as well as the best one of the page."""

FITTING_FORM = 1.4
"""What a statement gains that has the form asked for: a cause for `why`, a forest for `what kind
of forest`."""

FITS = 0.2
"""Below this share of the question's words, no statement is about it."""

LONGEST_ANSWER = 30
"""Words; a longer right side is prose after a colon, not an answer."""

_QUESTION = re.compile(
    r"""^(?:Q(?:uestion)?[:.]\s*)?(?P<question>.+?)
    (?:\?\s*(?:A(?:nswer)?\s*)?:?\s+|\s*:\s+(?=[^:]*$)|\s*:\s+)(?P<answer>\S.*)$""",
    re.VERBOSE | re.DOTALL,
)
_ASKING = re.compile(
    r"\b(?:what|who|whom|whose|which|when|where|why|how)\b|^(?:name|list|give|identify|state)\b",
    re.IGNORECASE,
)
ASKING = frozenset("what who whom whose which when where why how much mani".split())
"""Words that only ask: they name nothing of the matter."""
_NAMING = frozenset("name anoth call known term".split())
_ASKS_NAME = re.compile(r"\bnames? (?:of|for)\b|\banother (?:name|term)\b|\b(?:called|known as)$")
_IMPERATIVES = frozenset("name list give identifi state".split())


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the answer that a claim gives to it."""

    words: list[Token]
    answer: list[Token]
    expected: Expected


def parse_question(claim: str) -> Question | None:
    """Read a claim in question-and-answer form; None where it has another form."""
    match = _QUESTION.match(claim.strip())
    if match is None or not _ASKING.search(match["question"]):
        return None
    words, answer = words_of(tokenise(match["question"])), words_of(tokenise(match["answer"]))
    if not answer or len(answer) > LONGEST_ANSWER:
        return None
    return Question(words, answer, expected_type(words))


def check_question(question: Question, ground: Ground) -> Finding:
    """Look whether the statement that the question is about gives this answer."""
    alignment = Alignment(_asked(question), ground, _names(question))
    answer = _bare(question.answer)
    holding = [s for s in ground.statements if _holds(answer, s)]
    about = ground.statements[alignment.best()]
    if not holding:
        return _absent(alignment, about)
    if alignment.score[about.place] * alignment.share_known < FITS:
        return undecided(holding[:1], "the page has these words, but not about this question")
    if not fits(question.answer, question.expected):
        return contradicts((about,), f"the question asks for a {question.expected}")
    found = max(holding, key=lambda s: _worth(s, question, alignment))
    if _worth(found, question, alignment) < AS_GOOD * alignment.fit[about.place]:
        return contradicts((about,), "where the page speaks of this, it gives another answer")
    asked = _asked(question)
    nearer = nearest_other(asked, question.answer, question.expected, found, ground)
    if nearer:
        return contradicts((found,), f"“{nearer}” stands nearer to what is asked")
    other = counts_other(question.words, question.answer, found)
    if other:
        return contradicts((found,), f"here this is a number of {other}")
    if set(answer) <= set(asked):
        return undecided((found,), "the answer only repeats the question")
    return supports((found,), "the page gives this answer where it speaks of the question")


def _asked(question: Question) -> list[str]:
    """Roots of the question, in order, that say what it is about."""
    forms = " ".join(token.form for token in question.words)
    roots = [token.root for token in question.words]
    roots = roots[1:] if roots[0] in _IMPERATIVES else roots
    idle = FUNCTION | ASKING | (_NAMING if _ASKS_NAME.search(forms) else frozenset())
    return [root for root in roots if root not in idle]


def _names(question: Question) -> frozenset[str]:
    return frozenset(token.root for token in question.words[1:] if token.raw[0].isupper())


def _worth(statement: Statement, question: Question, alignment: Alignment) -> float:
    """Rate a statement that has the answer: its fit, more where it answers such a question."""
    fit = alignment.fit[statement.place]
    roots = statement.sentence.roots
    if question.expected == "reason" and not CAUSES.isdisjoint(roots):
        fit *= FITTING_FORM
    head = head_noun(question.words)
    if head and any(token.root == head for token in question.answer):
        fit *= FITTING_FORM
    return fit


def _absent(alignment: Alignment, about: Statement) -> Finding:
    if alignment.score[about.place] * alignment.share_known < FITS:
        return undecided((), "the page does not speak of this")
    return undecided((about,), "the page speaks of this, but not with this answer")


def _bare(answer: list[Token]) -> list[str]:
    """Roots of the answer without a leading article."""
    roots = [token.root for token in answer]
    while len(roots) > 1 and roots[0] in ARTICLES:
        roots = roots[1:]
    return roots


def _holds(answer: list[str], statement: Statement) -> bool:
    """Whether a statement has the answer's words one after the other."""
    roots = statement.sentence.roots
    first, size = answer[0], len(answer)
    return any(
        root == first and list(roots[i : i + size]) == answer for i, root in enumerate(roots)
    )
