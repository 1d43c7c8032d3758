"""What the other sources that were read say of a sentence: the same, or another figure or name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.claims.free import check_values
from agent.evidence.claims.slots import plain_words
from agent.evidence.language.clauses import subject_of
from agent.evidence.language.normalise import tokenise, words_of
from agent.evidence.language.statements import Ground, content_of, read_claim
from agent.evidence.verify import verify_claim
from agent.types import VerdictState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from agent.evidence.language.statements import Sentence, Statement
    from agent.evidence.store import Evidence, Source
    from agent.types import Passage

LOOKED_AT = 3
"""Passages of each other source that are held against a sentence: its best ones."""

SAME_MATTER = 0.6
"""Share of a sentence's words that another page's statement, title and headings must have to be
on the same matter; half of them is met by a page about a thing of the same kind."""


_SITE = re.compile(r"\s+[-–—|·:]\s+|\s*:\s+")
"""What sets the name of the site, or a subtitle, apart in a title."""


class Witness(NamedTuple):
    """A source that was read and speaks of a sentence: whether it agrees, and in what words."""

    source: Source
    agrees: bool
    quote: str
    reason: str


def witnesses(sentence: str, evidence: Evidence, carried_by: Collection[int]) -> Iterator[Witness]:
    """Ask every other page that was read what it says of a sentence which `carried_by` carry.

    Search results are not asked: they are cut from their context. Neither are earlier states of a
    page.
    """
    latest = {source.url: source.n for source in evidence.sources}
    titles = [source.title for n in carried_by if (source := evidence.source(n))]
    for source in evidence.sources:
        if source.n in carried_by or latest[source.url] != source.n:
            continue
        passages = evidence.search(sentence, LOOKED_AT, source.n)
        found = _asked(sentence, source, passages, titles) if passages else None
        if found:
            yield found


def _asked(
    sentence: str, source: Source, passages: Sequence[Passage], titles: Sequence[str]
) -> Witness | None:
    verdict = verify_claim(sentence, passages)
    if verdict.state is VerdictState.SUPPORTED:
        return Witness(source, agrees=True, quote=verdict.quote, reason=verdict.reason)
    claim, ground = read_claim(sentence), Ground(passages)
    against = check_values(claim, ground)
    if against is None:
        return None
    statement = against.statements[0]
    there = statement.sentence.content | _roots(f"{source.title} {statement.passage.heading}")
    if _another(statement, claim):
        return None
    told = _same_subject(claim, titles, there) and _same_matter(claim, there, ground)
    if not (told and _same_time(claim, statement)):
        return None
    return Witness(source, agrees=False, quote=against.verdict().quote, reason=against.reason)


def _same_subject(claim: Sentence, titles: Sequence[str], there: Collection[str]) -> bool:
    """Whether another page's statement is about what a sentence is about.

    That is the name which the sentence begins with; where it begins with another word (`It`, `The
    population`), what the page that carries it is about, by its title.
    """
    subject = subject_of(claim.tokens)
    named = any(token.raw[:1].isupper() for token in subject[1:])
    if named:
        return all(token.root in there for token in subject if token.raw[:1].isupper())
    return any(_covers(there, _roots(_SITE.split(title)[0])) for title in titles)


def _another(statement: Statement, claim: Sentence) -> bool:
    """Whether a statement begins with a name that the sentence has not."""
    named = [t.root for t in subject_of(statement.sentence.tokens) if t.raw[:1].isupper()]
    return len(named) > 1 and not set(named) <= set(claim.roots)


def _covers(there: Collection[str], topic: frozenset[str]) -> bool:
    return bool(topic) and sum(root in there for root in topic) >= SAME_MATTER * len(topic)


def _same_matter(claim: Sentence, there: Collection[str], ground: Ground) -> bool:
    """Whether another page's statement has most of a sentence's words."""
    subject = {token.root for token in subject_of(claim.tokens)}
    wanted = set(plain_words(claim)) - subject
    met = sum(
        any(form in there for form in {root, *forms_on_page(root, ground)}) for root in wanted
    )
    return bool(wanted) and met >= SAME_MATTER * len(wanted)


def _roots(text: str) -> frozenset[str]:
    return frozenset(content_of(words_of(tokenise(text))))


def _same_time(claim: Sentence, statement: Statement) -> bool:
    """Whether no date of one is missing in the other: a town grows from census to census."""
    mine, theirs = claim.dates, statement.sentence.dates
    if bool(mine) != bool(theirs):
        return False
    counts = any(f.unit is None or f.unit.dimension != "rank" for f in claim.figures)
    return not counts or all(any(d.agrees(o) for o in theirs) for d in mine)
