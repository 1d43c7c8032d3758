"""What to do with consent dialogs, forms and lists of choices on a live page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from browser.text import content_words

if TYPE_CHECKING:
    from agent.keyless.controls import Control

Call = tuple[str, dict[str, Any]]

_DECLINES = re.compile(
    r"\b(?:reject|decline|refuse|deny|(?:only|nur) (?:\w+ ){0,3}(?:necessary|essential|required|"
    r"notwendige?)|(?:necessary|essential|required)(?: cookies)? only|without (?:accepting|consent)"
    r"|ablehnen|refuser|rechazar|rifiuta|weigeren)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"(?<![\w.,])(\d[\d.,]*)(?:-|\s+)([^\W\d]+)")
_OF_FIGURE = re.compile(r"\b([^\W\d]+) of (\d[\d.,]*)(?![\w.,]|[\s-]+[^\W\d])")
_TRIAL = re.compile(r"\b(?:demo|demonstration|example|test account|try it)\b", re.IGNORECASE)
_NAME_SAID = re.compile(
    r"\b(?:user ?name|name|login|e-?mail)(?: is|:) [\"“]?([\w.@-]*\w)", re.IGNORECASE
)
_WORD_SAID = re.compile(r"\bpassword(?: is|:) [\"“]?([\w.@-]*\w)", re.IGNORECASE)
_PASSWORD = re.compile(r"\bpassword\b", re.IGNORECASE)
_USER = re.compile(r"\b(?:user|name|login|e-?mail)\b", re.IGNORECASE)
_NOTE = re.compile(r"(?: =|, (?:required|focused|invalid|options)\b).*")
_OPTIONS = re.compile(r"options: (.*)")
_TYPED = frozenset({"textbox", "spinbutton"})


def decline(present: list[Control]) -> Call | None:
    """Turn cookies down, where a button says so."""
    button = next((c for c in present if c.role == "button" and _DECLINES.search(c.label)), None)
    return ("CLICK", {"ref": button.ref}) if button else None


def fill(present: list[Control], every: list[Control], question: str, said: str) -> Call | None:
    """Fill the next field that the question has a figure for; the last one submits.

    A form that requires what the question does not tell is left alone. A name and password are
    given only where the page itself states them, as those of a demonstration.
    """
    values = {c.ref: value for c in every if (value := _value(c, question, said))}
    wanting = any("required" in c.label and c.ref not in values for c in every if c.role in _TYPED)
    left = [c for c in present if c.ref in values]
    if wanting or not left:
        return None
    submit = len(left) == 1
    return "TYPE", {"ref": left[0].ref, "text": values[left[0].ref], "submit": submit}


def choose(present: list[Control], question: str) -> Call | None:
    """Select an option that the question names and that is not selected yet."""
    asked = set(content_words(question))
    for control in (c for c in present if c.role == "select"):
        listed = _OPTIONS.search(control.label)
        current = control.label.partition(" = ")[2].partition(", options")[0]
        for option in listed[1].split("; ") if listed else []:
            named = set(content_words(option))
            if named and named <= asked and option != current:
                return "SELECT", {"ref": control.ref, "value": option}
    return None


def _value(control: Control, question: str, said: str) -> str | None:
    if control.role not in _TYPED:
        return None
    name = _NOTE.sub("", control.label)
    if _TRIAL.search(said) and _WORD_SAID.search(said) and _NAME_SAID.search(said):
        stated = (
            _WORD_SAID if _PASSWORD.search(name) else _NAME_SAID if _USER.search(name) else None
        )
        match = stated.search(said) if stated else None
        return match[1] if match else None
    stems = set(content_words(name))
    figures = [(m[1], m[2]) for m in _FIGURE.finditer(question)]
    figures += [(m[2], m[1]) for m in _OF_FIGURE.finditer(question)]
    return next((number for number, unit in figures if stems & set(content_words(unit))), None)
