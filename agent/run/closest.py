"""Selects passages that are relevant to the question, for reports without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.evidence.answer import SourceList
from agent.evidence.passages import nearest_quote
from agent.keyless.researcher import excerpt
from agent.loop.judge import cited_passages
from agent.types import MAX_CLOSEST, ClosePassage
from browser.text.words import content_words

if TYPE_CHECKING:
    from agent.evidence.store import Evidence
    from agent.types import Passage, Report

MAX_CHARS: Final = 500
"""Maximum number of characters per passage. For 132 questions over closed webs, the first three
passages contain 99 answers, or 96 if cut to three sentences each.
"""
MAX_SENTENCES: Final = 12
"""Maximum number of sentences per passage; fewer if they do not fit."""
MIN_SHARE: Final = 0.25
"""Minimum share of the question's words that a passage, its headings and title must contain to be
relevant.
"""


def add_closest(report: Report, text: str, evidence: Evidence) -> None:
    """Add passages relevant to the question: first those that `text` cites, then similar ones."""
    question, sources = report.question, SourceList(report.sources)
    wanted = frozenset(content_words(question))
    nearest = evidence.search(question, 2 * MAX_CLOSEST) if wanted else []
    passages = {p.id: p for p in cited_passages(text, evidence)}
    passages |= {p.id: p for p in nearest if _share(wanted, p, evidence) >= MIN_SHARE}
    for passage in [*passages.values()][:MAX_CLOSEST]:
        source = evidence.source(passage.source)
        if source is None:
            continue
        quote = _shorten(passage, nearest_quote(question, [passage]))
        report.closest.append(
            ClosePassage(
                text=quote,
                url=source.url,
                title=source.title,
                page=passage.page,
                heading=passage.heading,
                source=sources.add(source, quote).n,
            )
        )
    report.sources = list(sources)


def _shorten(passage: Passage, sentence: str) -> str:
    """Return the passage or, if it is too long, the part around a sentence that fits."""
    if len(passage.text) <= MAX_CHARS:
        return passage.text
    for most in range(MAX_SENTENCES, 1, -1):
        text = excerpt(passage, sentence, most).text
        if len(text) <= MAX_CHARS:
            return text
    text = excerpt(passage, sentence, 1).text
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS].rsplit(" ", 1)[0]


def _share(wanted: frozenset[str], passage: Passage, evidence: Evidence) -> float:
    """Return the share of the wanted words in a passage, its headings and its page's title."""
    source = evidence.source(passage.source)
    text = f"{passage.text} {passage.heading} {source.title if source else ''}"
    return len(wanted & frozenset(content_words(text))) / len(wanted)
