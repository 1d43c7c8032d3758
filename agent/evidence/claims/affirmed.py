"""What a claim denies, against a statement of the page that says it without denying it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from agent.evidence.claims.occurrences import LEAST_DENIED, deniable_words, occurrences
from agent.evidence.claims.surroundings import around
from agent.evidence.language.heads import clause_around, denied_in
from agent.evidence.language.thesaurus import opposites
from agent.evidence.language.vocabulary import CONTRASTS, ENDING, LIMITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.claims.surroundings import Met
    from agent.evidence.language.heads import Denied
    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Ground, Sentence, Statement

LEAST_AFFIRMED = 0.3
"""Share of the claim that must stand around the word: much goes without saying."""

_FREEING = frozenset(
    {("not", "have"), ("not", "need"), ("need", "not"), ("not", "required"), ("not", "necessary")}
)


def affirmed_here(claim: Sentence, mine: Sequence[Denied], ground: Ground) -> Statement | None:
    """Find the statement that affirms what the claim denies, in its surroundings."""
    if len(mine) > 1 or not mine[0].heads or _outdoes(claim) or _frees(claim):
        return None
    head = _head(claim, mine[0])
    forms = deniable_words(claim, ground).get(head)
    if not forms:
        return None
    places = around(claim, frozenset({head, mine[0].root}), ground)
    affirmed: list[Met] = []
    for statement, i, denial in occurrences(forms, ground):
        met = places.met(statement, i)
        if denial and met.share >= LEAST_DENIED:
            return None
        clause = clause_around(statement.sentence.tokens, i)
        if _speaks_of_it(statement, head, claim, ground) and _is_plain(clause, head, claim):
            affirmed.append(met)
    best = max(affirmed, key=lambda met: met.share, default=None)
    return best.statement if best is not None and best.share >= LEAST_AFFIRMED else None


def _speaks_of_it(statement: Statement, head: str, claim: Sentence, ground: Ground) -> bool:
    """Whether a statement is about the claim's names, and says one thing of what is denied."""
    content = statement.sentence.content
    named = _names(claim, ground) <= content | ground.topic
    both = "but" in statement.sentence.roots and opposites(head) & content
    return named and not (both or CONTRASTS & content or _denies_some(statement, claim))


def _denies_some(statement: Statement, claim: Sentence) -> bool:
    """Whether a statement denies a word of the claim: `protected in Romania but not in Ukraine`."""
    tokens = statement.sentence.tokens
    return any(tokens[i].root in claim.content for d in denied_in(tokens) for i in d.heads)


def _head(claim: Sentence, denied: Denied) -> str:
    """Give the root of what is denied: of `did not work as a coach`, the coach."""
    first, *others = denied.heads
    joined = [token.form for token in claim.tokens[first + 1 : first + 2]]
    return claim.tokens[others[0] if others and joined in (["as"], ["to"]) else first].root


def _names(claim: Sentence, ground: Ground) -> set[str]:
    return {root for name in claim.names if ground.is_name(name) for root in name.roots}


def _frees(claim: Sentence) -> bool:
    """Whether a claim denies a duty, or how many of some: `need not`, `nine of the ten are not`."""
    forms = [token.form for token in claim.tokens]
    duty = any(pair in _FREEING for pair in itertools.pairwise(forms))
    return duty or any(figure.unit is None for figure in claim.figures)


def _is_plain(clause: Sequence[Token], head: str, claim: Sentence) -> bool:
    """Whether a clause denies nothing, ends nothing and has not the contrary of a word."""
    own = {token.root for token in clause} - claim.content
    gone = own & (ENDING | LIMITS | CONTRASTS) or any(r.startswith(("un", "non")) for r in own)
    return not gone and not denied_in(clause) and opposites(head).isdisjoint(own)


def _outdoes(claim: Sentence) -> bool:
    """Whether a claim denies that anything is more so: `No kettle has been quieter`."""
    last = claim.words[-1].form
    return last in {"more", "less", "worse"} or (last.endswith("er") and len(last) > len("other"))
