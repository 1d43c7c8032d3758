"""What the page says is not so, or is so, against a claim that says it is, or is not.

Told by the word that is denied and by how much of the claim stands around it; the clauses need not
match as wholes, as they must in `negation`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from agent.evidence.claims.affirmed import affirmed_here
from agent.evidence.claims.findings import Finding, contradicts
from agent.evidence.claims.occurrences import LEAST_DENIED, deniable_words, occurrences
from agent.evidence.claims.surroundings import around
from agent.evidence.language.german import is_german
from agent.evidence.language.heads import denied_in
from agent.evidence.language.hints import is_plain, plainly_apart
from agent.evidence.language.statements import read_claim
from agent.evidence.language.thesaurus import opposites
from agent.evidence.language.vocabulary import DENIALS, ENDING, LIMITS, NEGATORS, ORDERS, TURNS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from agent.evidence.claims.surroundings import Met
    from agent.evidence.language.statements import Ground, Sentence, Statement

LEAST_NOUN = 0.25
"""Share of the claim that must stand around a noun of which the page says there is none: there may
be none of it in one respect only. For other denied words it is `LEAST_DENIED`."""

LEAST_CONTRARY = 0.3
"""The same for a word of which the page has the contrary."""

AFFIRMED_TOO = 0.8
"""Where the page affirms the word in surroundings this share as good, nothing is contradicted."""

SHORTEST = 3
"""Words of meaning of a part of a claim; fewer stand around too many things."""

_SUPPOSING = frozenset({"could", "would", "might", "should", "wish", "whereas"})
"""Forms of a part that says what is not so, or sets apart what both parts speak of."""


def check_deeds(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a word that the claim affirms and the page denies, or the other way round."""
    if is_german(" ".join(token.raw for token in claim.tokens)):
        return None
    if not is_plain(claim):
        return None
    found = next((f for part in _parts(claim) if (f := _against(part, ground))), None)
    if found is None or not plainly_apart(claim, found.sentence):
        return None
    return contradicts((found,), f"the page says the contrary: “{found.quote}”")


def _parts(claim: Sentence) -> Iterator[Sentence]:
    """Cut a claim at the words that set one of its parts against another."""
    if TURNS.isdisjoint(claim.roots):
        yield claim
        return
    if any(token.form in _SUPPOSING for token in claim.tokens):
        return
    turned = itertools.groupby(claim.tokens, key=lambda token: token.root in TURNS)
    for turns, tokens in turned:
        part = read_claim(" ".join(token.raw for token in tokens))
        if not turns and len(part.content) >= SHORTEST:
            yield part


def _against(claim: Sentence, ground: Ground) -> Statement | None:
    """Find the statement that says the contrary of a claim, or of a part of one."""
    mine = denied_in(claim.tokens)
    if not (LIMITS if mine else LIMITS - ORDERS).isdisjoint(claim.roots):
        return None
    if not mine:
        return _denied_there(claim, claim.roots, ground) or _contrary_there(claim, ground)
    own = [denied.root for denied in mine]
    if DENIALS.issuperset(own):
        found = _denied_there(claim, own, ground) or _contrary_there(claim, ground)
        return found or affirmed_here(claim, mine, ground)
    return affirmed_here(claim, mine, ground)


def _denied_there(claim: Sentence, roots: Collection[str], ground: Ground) -> Statement | None:
    """Find the statement that denies one of these words of the claim, in its surroundings."""
    if not ENDING.isdisjoint(claim.roots) or any(t.form == "gone" for t in claim.tokens):
        return None
    for root, forms in deniable_words(claim, ground).items():
        found = _denied(root, forms, claim, ground) if root in roots else None
        if found:
            return found
    return None


def _denied(
    root: str, forms: Mapping[str, float], claim: Sentence, ground: Ground
) -> Statement | None:
    """Find the statement that denies a word, unless another one affirms it as much."""
    places = around(claim, frozenset({root}), ground)
    denied, affirmed = [], [0.0]
    for statement, i, denial in occurrences(forms, ground):
        met = places.met(statement, i)
        least = LEAST_DENIED if denial and denial.verbal else LEAST_NOUN
        denied += [met] if denial and met.share >= least else []
        affirmed += [] if denial else [met.share]
    best = max(denied, key=lambda met: met.share, default=None)
    if best is None or max(affirmed) >= AFFIRMED_TOO * best.share:
        return None
    deniers = {denial.root for denial in denied_in(best.statement.sentence.tokens)}
    return None if _contrary(claim, best.statement, deniers) else best.statement


def _contrary_there(claim: Sentence, ground: Ground) -> Statement | None:
    """Find the statement that has the contrary of a word of the claim, in its surroundings."""
    found: list[Met] = []
    for root, forms in deniable_words(claim, ground).items():
        places = around(claim, frozenset({root}), ground)
        for contrary in opposites(root) - claim.content:
            for place, i in ground.places.get(contrary, ()):
                statement = ground.statements[place]
                if not _sets_apart(statement, forms):
                    found.append(places.met(statement, i))
    best = max(found, key=lambda met: met.share, default=None)
    return best.statement if best is not None and best.share >= LEAST_CONTRARY else None


def _sets_apart(statement: Statement, forms: Mapping[str, float]) -> bool:
    """Whether a statement has the word itself beside its contrary, denies, compares or limits."""
    sentence = statement.sentence
    if statement.passage.kind == "table" or not LIMITS.isdisjoint(sentence.roots):
        return True
    own = not sentence.content.isdisjoint(forms)
    return own or any(d.root in NEGATORS for d in denied_in(sentence.tokens))


def _contrary(claim: Sentence, statement: Statement, but: AbstractSet[str] = frozenset()) -> bool:
    """Whether a statement has the contrary of a word of the claim, which turns its sense."""
    content = statement.sentence.content - but
    return any(opposites(root) & content for root in claim.content - NEGATORS)
