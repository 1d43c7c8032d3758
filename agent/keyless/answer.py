"""The final reply: up to three sentences, word for word and cited, or a refusal that says why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.keyless.ranking import LONGEST
from browser.text import content_words, sentences

if TYPE_CHECKING:
    from agent.keyless.doubt import Doubt
    from agent.keyless.evidence import Sentence
    from agent.keyless.findings import Findings
    from agent.keyless.ranking import Scored

_MARKER = re.compile(r" \[S\d+¶\d+\]")
OPENING = 2
"""Sentences that are given of a page that is asked about as a whole."""
_ROW = re.compile(r"\|")


def quote(group: list[Scored]) -> str:
    """Give the sentences of an answer: the page that answers best leads, rows of tables end.

    A row that answers better than any sentence leads.
    """
    worth: dict[str, float] = {}
    for x in group:
        worth[x.sentence.source] = max(x.kind * x.score, worth.get(x.sentence.source, 0.0))
    best = max(group, key=lambda x: x.kind * x.score).sentence

    def place(sentence: Sentence) -> tuple[bool, bool, float]:
        leads = sentence.is_row and sentence is best
        return not leads, sentence.is_row, -worth[sentence.source]

    return cite(sorted((x.sentence for x in group), key=place))


def cite(given: list[Sentence]) -> str:
    """Give sentences as they stand, each followed by its passage.

    One that does not end as a sentence does, or would run into the next, gets a paragraph of its
    own, so that no reader takes two for one.
    """
    said = ""
    for sentence in given:
        said += _between(said, sentence.text) if said else ""
        said += f"{sentence.text} [{sentence.passage}]"
    return said


def _between(said: str, text: str) -> str:
    before = _MARKER.sub("", said.rpartition("\n\n")[2])
    apart = len(sentences(f"{before} {text}")) == len(sentences(before)) + 1
    return " " if apart and not _ROW.match(text) and not _ROW.match(before) else "\n\n"


def from_the_page(found: Findings) -> str:
    """What the page in view says: the sentences that are selected, else those it opens with."""
    selected = frozenset(content_words(found.notes.selection))
    whole = [x for x in found.ranking.evidence.sentences if x.is_whole and x.length <= LONGEST]
    marked = [x for x in whole if selected and x.own <= selected]
    return cite((marked or whole)[:OPENING])


def refuse(doubt: Doubt | None, pages: int) -> str:
    """Say that the evidence is too thin, and what it lacks."""
    if doubt is None or not pages:
        return "NOT_FOUND No page could be read that bears on the question."
    read = f"NOT_FOUND Of {pages} page{'s' if pages != 1 else ''} read"
    if doubt.unseen:
        return f"{read} none speaks of {', '.join(doubt.unseen)}."
    if doubt.unmet:
        return f"{read} none answers the part of the question about {', '.join(doubt.unmet)}."
    return f"{read} none says enough about what is asked."
