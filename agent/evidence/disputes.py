"""Finds pages that were read and may disagree with an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.facts import extract_facts
from agent.evidence.markers import cited_sentences
from agent.evidence.origins import site_name
from agent.evidence.values import value_index
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from agent.evidence.store import Evidence, Source
    from agent.types import Passage

PASSAGES_SEARCHED = 20
"""Number of passages, best first, that are checked for disagreement with a sentence."""
PASSAGES_CHECKED = 3
"""Number of passages from each other source, best first, that a sentence is compared with."""
MAX_RIVALS = 4
"""Maximum number of possibly disagreeing passages shown to a judge: about 300 tokens."""
MIN_RIVAL_SHARE = 0.5
"""Minimum share of a sentence's words (without values) in a passage that may disagree with it."""
NON_PAGE_VIA = frozenset({"snippet", "computed", "tool"})
"""Values of `via` for sources that are not pages on a site."""
_ADDRESS_RE = re.compile(
    r"`[^`]*`|\S+://\S+|\S+@\S+|\b(?:\d+\.){3}\d+(?::\d+)?|\b(?:[\w-]+\.)+[a-z]{2,}(?:[:/]\S*)?"
    r"|(?<!\S)/\S+",
    re.IGNORECASE,
)
"""Matches addresses, hosts, paths, and commands in backticks in a question."""
_LOGIN = re.compile(r"\b(?:user(?:name)?|login|password)\b\W{0,3}(?:is\s+)?\S+", re.IGNORECASE)
"""Matches login data in a question; used only if the question contains a URL."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A judge's finding that a page disagrees with an answer.

    `words` come from the answer, `quote` comes from the passage.
    """

    words: str
    passage: str
    quote: str


def rival_passages(answer: str, evidence: Evidence) -> list[Passage]:
    """Find passages that may disagree with an answer, on pages that it does not cite.

    Such a passage lacks a figure, date or name from one of the answer's sentences, but contains at
    least `MIN_RIVAL_SHARE` of the sentence's other words, or of the question's words.
    """
    found: dict[str, tuple[float, Passage]] = {}
    asked = question_words(evidence.question)
    claims = list(cited_sentences(answer, evidence))
    cited = {reference.source for _, references in claims for reference in references}
    others = {s.n: s for s in other_sources(evidence, cited) if s.via not in NON_PAGE_VIA}
    if not others:
        return []
    for text, _ in claims:
        facts = extract_facts(text)
        has_values = bool(facts.figures or facts.dates or facts.names)
        for passage in evidence.search(text, PASSAGES_SEARCHED):
            if passage.source not in others:
                continue
            title = others[passage.source].title
            context = f"{title}\n{passage.heading}\n{passage.text}"
            missing = value_index((context,)).missing(facts)
            words = {*content_words(text)} - {*content_words(" ".join(missing))}
            here = {*content_words(context)}
            share = max(len(wanted & here) / (len(wanted) or 1) for wanted in (words, asked))
            if share >= MIN_RIVAL_SHARE and (missing or not has_values):
                known, _ = found.get(passage.id, (0.0, passage))
                found[passage.id] = max(share, known), passage
    best = sorted(found.values(), key=lambda pair: pair[0], reverse=True)
    return [passage for _, passage in best[:MAX_RIVALS]]


def question_words(question: str) -> frozenset[str]:
    """Return a question's content words; addresses, logins and commands are ignored."""
    asked = _ADDRESS_RE.sub(" ", question)
    if "://" in question:
        asked = _LOGIN.sub(" ", asked)
    return frozenset(content_words(asked))


def other_sources(evidence: Evidence, supported_by: Collection[int]) -> Iterator[Source]:
    """Yield the latest state of every page that was read, except those in `supported_by`.

    Parallel loops may have read the same page text under several numbers; they count as one page.
    """
    latest = {source.url: source.n for source in evidence.sources}
    supporting = [source for source in evidence.sources if source.n in supported_by]
    texts = {(source.url, source.sha256) for source in supporting}
    for source in evidence.sources:
        if (source.url, source.sha256) in texts or latest[source.url] != source.n:
            continue
        if not any(_acted_between(source, later) for later in supporting):
            yield source


def _acted_between(before: Source, after: Source) -> bool:
    """Return whether the run performed an action between two states of live pages on one site."""
    return (
        before.shown_from is not None
        and before.n < after.n
        and before.step != after.step
        and site_name(before.url) == site_name(after.url)
    )
