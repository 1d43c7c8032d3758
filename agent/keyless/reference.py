"""What a question refers to without naming it: the page in view, what was spoken of before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.keyless.names import bare_title
from agent.keyless.question import Question, analyse

if TYPE_CHECKING:
    from agent.keyless.notebook import Notebook

_PRONOUN = re.compile(
    r"\b(?:(its|his|their)|it|he|she|they|him|them|her|this one|that one)\b", re.IGNORECASE
)
_AND_WHAT = re.compile(
    r"^(?:and|what about|how about|and what about)\b[ ,]*(.+?)\??$", re.IGNORECASE
)
_PAGE = re.compile(
    r"\b(?:this|the|current|open) (?:page|article|site|tab|text|document|selection|passage)\b"
    r"|\bselected\b|\bhere\b|\bthis\b",
    re.IGNORECASE,
)


def asked(notes: Notebook) -> Question:
    """Analyse the question, with its pronouns replaced by what they stand for.

    A pronoun in a question without names stands for the page in view, else for the first name of
    the latest earlier question that had one. "And X?" asks the earlier question of X.
    """
    question = analyse(notes.question)
    before = next((q for q in map(analyse, reversed(notes.earlier)) if q.telling_names), None)
    again = _AND_WHAT.match(question.text)
    if again and before and question.telling_names:
        return analyse(before.text.replace(before.telling_names[0], again[1]))
    if question.telling_names:
        return question
    subject = bare_title(notes.page[0]) if notes.page else before.telling_names[0] if before else ""
    return analyse(_instead_of_pronoun(question.text, subject)) if subject else question


def about_the_page(notes: Notebook) -> bool:
    """Whether the question points at the page in view."""
    return notes.page is not None and _PAGE.search(notes.question) is not None


def _instead_of_pronoun(text: str, subject: str) -> str:
    def named(match: re.Match[str]) -> str:
        return f"{subject}'s" if match[1] else subject

    return _PRONOUN.sub(named, text, count=1)
