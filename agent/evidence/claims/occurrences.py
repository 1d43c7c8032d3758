"""Where the page has a word of a claim, and what denies it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.language.clauses import is_content
from agent.evidence.language.dates import names_a_time
from agent.evidence.language.heads import denied_in
from agent.evidence.language.vocabulary import HEDGES, LIGHT, LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.evidence.language.heads import Denied
    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Ground, Sentence, Statement

LEAST_DENIED = 0.13
"""Share of the claim that must stand around a word that the page denies and the claim does not."""

REACH = 12
"""Tokens after a word of denial among which a limit of it stands."""


def deniable_words(claim: Sentence, ground: Ground) -> dict[str, Mapping[str, float]]:
    """Give the words of a claim that can be denied, with their forms on the page."""
    names = {root for name in claim.names for root in name.roots}
    return {
        token.root: forms_on_page(token.root, ground)
        for token in claim.words
        if is_content(token) and token.value is None and token.root not in LIGHT | names | HEDGES
    }


def occurrences(
    forms: Mapping[str, float], ground: Ground
) -> Iterator[tuple[Statement, int, Denied | None]]:
    """Find where a word's forms stand on the page, and what denies them there."""
    for form in forms:
        for place, i in ground.places.get(form, ()):
            statement = ground.statements[place]
            if statement.passage.kind == "table":
                continue
            tokens = statement.sentence.tokens
            found = denied_in(tokens)
            void = {place for denied in found for place in denied.heads}
            denials = [denied for denied in found if i in denied.heads and denied.place not in void]
            if not any(_limited(tokens, denied) for denied in denials):
                yield statement, i, denials[0] if len(denials) == 1 else None


def _limited(tokens: Sequence[Token], denied: Denied) -> bool:
    """Whether no more than a limit is denied: `not until May`, `nobody but her`."""
    before = tokens[max(0, denied.place - 2) : denied.place]
    after = tokens[denied.place : denied.place + REACH]
    limits = any(token.root in LIMITS for token in (*before, *after) if token.form != "longer")
    limits = limits or any(map(names_a_time, after))
    supposed = any(token.form in {"if", "unless", "whether"} for token in tokens[: denied.place])
    return limits or supposed or any(token.form == "but" for token in after)
