"""What the page says is not so, or is so, against a claim that says it is, or is not.

Told by the word that is denied and by how much of the claim stands around it; the clauses need not
match as wholes, as they must in `negation`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.alignment import forms_on_page
from agent.evidence.clauses import is_content
from agent.evidence.findings import Finding, contradicts
from agent.evidence.german import is_german
from agent.evidence.heads import clause_around, denied_in
from agent.evidence.negation import CONTRASTS, LIGHT, TURNS
from agent.evidence.statements import read_claim
from agent.evidence.surroundings import around
from agent.evidence.thesaurus import opposites
from agent.evidence.vocabulary import CEASING, DENIALS, HEDGES, NEGATORS, root_set

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from agent.evidence.heads import Denied
    from agent.evidence.normalise import Token
    from agent.evidence.statements import Ground, Sentence, Statement

LEAST_DENIED = 0.13
"""Share of the claim that must stand around a word that the page denies and the claim does not."""

LEAST_NOUN = 0.25
"""The same for a noun: there may be none of a thing in one respect only."""

LEAST_CONTRARY = 0.3
"""The same for a word of which the page has the contrary."""

LEAST_AFFIRMED = 0.3
"""The same for a word that the claim denies and the page does not: much goes without saying."""

AFFIRMED_TOO = 0.8
"""Where the page affirms the word in surroundings this share as good, nothing is contradicted."""

SHORTEST = 3
"""Words of meaning of a part of a claim; fewer stand around too many things."""

REACH = 7
"""Tokens after a word of denial among which a limit of it stands."""

LIMITS = root_set(
    """only just merely solely exclusively except until before than instead rather if unless
    whether longer yet otherwise hardly barely apart non"""
)
"""Words by which a claim, or what the page denies, is no plain statement."""


ENDING = CEASING - root_set("gone")
"""Words by which something is there no more; `go` itself says little."""

ORDERS = root_set("before until than longer")
"""Of these, words that limit a denial only."""

_FREEING = frozenset(
    {("not", "have"), ("not", "need"), ("need", "not"), ("not", "required"), ("not", "necessary")}
)
_SUPPOSING = frozenset({"could", "would", "might", "should", "wish", "whereas"})
"""Forms of a part that says what is not so, or sets apart what both parts speak of."""


def check_deeds(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a word that the claim affirms and the page denies, or the other way round."""
    if is_german(" ".join(token.raw for token in claim.tokens)):
        return None
    found = next((f for part in _parts(claim) if (f := _against(part, ground))), None)
    if found is None:
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
    mine = denied_in(claim.tokens)
    if not (LIMITS if mine else LIMITS - ORDERS).isdisjoint(claim.roots):
        return None
    if not mine:
        return _denied_there(claim, claim.roots, ground) or _contrary_there(claim, ground)
    own = [denied.root for denied in mine]
    if DENIALS.issuperset(own):
        found = _denied_there(claim, own, ground) or _contrary_there(claim, ground)
        return found or _affirmed_here(claim, mine, ground)
    return _affirmed_here(claim, mine, ground)


class _Met(NamedTuple):
    share: float
    statement: Statement


def _denied_there(claim: Sentence, roots: Collection[str], ground: Ground) -> Statement | None:
    """Find the statement that denies one of these words of the claim, in its surroundings."""
    if not ENDING.isdisjoint(claim.roots) or any(t.form == "gone" for t in claim.tokens):
        return None
    for root, forms in _words(claim, ground).items():
        if root not in roots:
            continue
        places = around(claim, frozenset({root}), ground)
        denied, affirmed = [], [0.0]
        for statement, i, denial in _occurrences(forms, ground):
            share = places.at(statement.place, i)
            least = LEAST_DENIED if denial and denial.verbal else LEAST_NOUN
            denied += [_Met(share, statement)] if denial and share >= least else []
            affirmed += [] if denial else [share]
        best = max(denied, key=lambda met: met.share, default=None)
        if best is None:
            continue
        deniers = {denied.root for denied in denied_in(best.statement.sentence.tokens)}
        turned = _contrary(claim, best.statement, deniers)
        if max(affirmed) < AFFIRMED_TOO * best.share and not turned:
            return best.statement
    return None


def _affirmed_here(claim: Sentence, mine: Sequence[Denied], ground: Ground) -> Statement | None:
    """Find the statement that affirms what the claim denies, in its surroundings."""
    if len(mine) > 1 or not mine[0].heads or _outdoes(claim) or _frees(claim):
        return None
    head = _head(claim, mine[0])
    forms = _words(claim, ground).get(head)
    if not forms:
        return None
    places = around(claim, frozenset({head, mine[0].root}), ground)
    affirmed: list[_Met] = []
    for statement, i, denial in _occurrences(forms, ground):
        share = places.at(statement.place, i)
        if denial and share >= LEAST_DENIED:
            return None
        clause = clause_around(statement.sentence.tokens, i)
        if _speaks_of_it(statement, head, claim, ground) and _is_plain(clause, head, claim):
            affirmed.append(_Met(share, statement))
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


def _contrary_there(claim: Sentence, ground: Ground) -> Statement | None:
    """Find the statement that has the contrary of a word of the claim, in its surroundings."""
    found: list[_Met] = []
    for root, forms in _words(claim, ground).items():
        places = around(claim, frozenset({root}), ground)
        for contrary in opposites(root):
            for place, i in ground.places.get(contrary, ()):
                statement = ground.statements[place]
                if not _sets_apart(statement, forms):
                    found.append(_Met(places.at(place, i), statement))
    best = max(found, key=lambda met: met.share, default=None)
    return best.statement if best is not None and best.share >= LEAST_CONTRARY else None


def _sets_apart(statement: Statement, forms: Mapping[str, float]) -> bool:
    """Whether a statement has the word itself beside its contrary, denies, compares or limits."""
    sentence = statement.sentence
    if statement.passage.kind == "table" or not LIMITS.isdisjoint(sentence.roots):
        return True
    own = not sentence.content.isdisjoint(forms)
    return own or any(d.root in NEGATORS for d in denied_in(sentence.tokens))


def _words(claim: Sentence, ground: Ground) -> dict[str, Mapping[str, float]]:
    """Give the words of a claim that can be denied, with their forms on the page."""
    names = {root for name in claim.names for root in name.roots}
    return {
        token.root: forms_on_page(token.root, ground)
        for token in claim.words
        if is_content(token) and token.value is None and token.root not in LIGHT | names | HEDGES
    }


def _occurrences(
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
    supposed = any(token.form in {"if", "unless", "whether"} for token in tokens[: denied.place])
    return limits or supposed or any(token.form == "but" for token in after)


def _outdoes(claim: Sentence) -> bool:
    """Whether a claim denies that anything is more so: `No kettle has been quieter`."""
    last = claim.words[-1].form
    return last in {"more", "less", "worse"} or (last.endswith("er") and len(last) > len("other"))


def _contrary(claim: Sentence, statement: Statement, but: AbstractSet[str] = frozenset()) -> bool:
    """Whether a statement has the contrary of a word of the claim, which turns its sense."""
    content = statement.sentence.content - but
    return any(opposites(root) & content for root in claim.content - NEGATORS)
