"""Names of a claim, each held against the statement that the claim is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.evidence.claims.alignment import ANTECEDENT, PRONOUNS
from agent.evidence.claims.findings import Finding, contradicts
from agent.evidence.claims.surroundings import around, clearest
from agent.evidence.language.names import TITLES
from agent.evidence.language.thesaurus import synonyms
from agent.evidence.language.vocabulary import NEGATORS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.names import Name
    from agent.evidence.language.statements import Ground, Sentence, Statement

TOPIC = 0.25
"""A name in this share of the statements is the page's topic, implied where it is not named."""

LONGEST_ACRONYM = 5
SHORTEST = 2
"""Letters of a name; one alone is a unit's or an initial."""

_BEGINNING = 4
_PEOPLE = re.compile(r"(?:an|ish|es|ese|er|ic)$")


LEAST = 0.21
"""Share of the claim that must stand around another name for it to be the one meant."""

_SORTS = {
    "doer": frozenset({"subject", "by"}),
    "place": frozenset("in at to on near into through across".split()),
    "time": frozenset("after before during since until".split()),
}


def check_names(claim: Sentence, ground: Ground) -> Finding | None:
    """Find the first name of a claim in whose place the page has another one."""
    denies = not NEGATORS.isdisjoint(claim.roots)
    for name in claim.names:
        absent = not known(name, ground)
        if (denies and not absent) or not _in_question(name, ground, absent=absent):
            continue
        found = _rival(name, claim, ground)
        if found:
            statement, rival = found
            reason = f"the page has {rival.text} where the claim has {name.text}"
            return contradicts((statement,), reason)
    return None


def _in_question(name: Name, ground: Ground, *, absent: bool) -> bool:
    """Whether a capitalised word of a claim is a name that one of the page's may be put for."""
    if name.adjective or not ground.is_name(name) or _is_common(name, ground):
        return False
    acronym = name.text.isupper() and len(name.text) <= LONGEST_ACRONYM
    unheard = acronym and name.roots[0] not in ground
    if len(name.text) < SHORTEST or unheard or _in_table(name, ground):
        return False
    return absent or not _is_implied(name, ground) or _sort(name.role) == "place"


def _is_implied(name: Name, ground: Ground) -> bool:
    """Whether a name is the page's topic: often named, or what the page begins with."""
    if not is_topic(name.roots, ground):
        return False
    often = any(ground.frequency(root) >= TOPIC for root in name.roots)
    first = [other for other in ground.statements[0].sentence.names if name.may_be(other)]
    return often or not first or any(other.role == "subject" for other in first)


def _in_table(name: Name, ground: Ground) -> bool:
    rows = (s for s in ground.statements if s.passage.kind == "table")
    return any(set(name.roots) <= set(row.sentence.roots) for row in rows)


def _is_common(name: Name, ground: Ground) -> bool:
    """Whether a word that opens a claim is one that the page has with a small letter."""
    if not name.first_in_sentence or len(name.roots) > 1:
        return False
    places = ground.places.get(name.roots[0], ())
    return any(ground.statements[s].sentence.tokens[i].raw.islower() for s, i in places)


def _rival(name: Name, claim: Sentence, ground: Ground) -> tuple[Statement, Name] | None:
    """Find the name that the claim's words stand around, if clearly more than around its own."""
    places = around(claim, frozenset(name.roots), ground)
    own = (places.met(s, i, name.roots) for s, i in _mentions(name, ground))
    rivals = [
        met
        for statement in ground.statements
        if statement.passage.kind != "table"
        for other in statement.sentence.names
        if _may_stand_for(other, name, claim, ground)
        and (met := places.met(statement, other.place, other.roots)).share >= LEAST
    ]
    best = clearest(own, rivals, LEAST)
    if best is None:
        return None
    names = best.statement.sentence.names
    if any(map(name.may_be, names)) and not NEGATORS.isdisjoint(best.statement.sentence.roots):
        return None
    return best.statement, next(other for other in names if other.place == best.place)


def _mentions(name: Name, ground: Ground) -> Iterator[tuple[Statement, int]]:
    """Find where a name stands, and the pronouns that may refer back to it."""
    last = -ANTECEDENT - 1
    for statement in ground.statements:
        here = [o.place for o in statement.sentence.names if name.may_be(o) or kin(name, o)]
        yield from ((statement, place) for place in here)
        if here:
            last = statement.place
        elif statement.place - last <= ANTECEDENT:
            yield from ((statement, i) for i in _pronouns(statement.sentence))


def _pronouns(sentence: Sentence) -> Iterator[int]:
    """Find the pronouns that can refer back to another sentence: no name opens theirs."""
    subject = min((n.place for n in sentence.names if n.role == "subject"), default=None)
    for i, token in enumerate(sentence.tokens):
        if subject is not None and i > subject:
            return
        if token.form in PRONOUNS:
            yield i


def _may_stand_for(other: Name, name: Name, claim: Sentence, ground: Ground) -> bool:
    """Whether a name of the page can be in the place of a claim's: used nowhere in it, alike."""
    if other.adjective or not ground.is_name(other) or len(other.text) < SHORTEST:
        return False
    if any(mine.may_be(other) or kin(other, mine) for mine in claim.names):
        return False
    if known(name, ground) and other.possessive != name.possessive:
        return False
    if name.of_a_people and not other.of_a_people:
        return False
    return len({_sort(other.role), _sort(name.role)} - {""}) < 2


def _sort(role: str) -> str:
    """Sort a name by its role: a doer, a place, a time; nothing for the roles that all have."""
    return next((sort for sort, roles in _SORTS.items() if role in roles), "")


def is_topic(roots: Sequence[str], ground: Ground) -> bool:
    """Whether a name is what the page is about, and so implied where it is not named."""
    return any(root in ground.topic or ground.frequency(root) >= TOPIC for root in roots)


def kin(one: Name, other: Name) -> bool:
    """Whether two names begin alike, as `Amazon` and `Amazonas` do."""
    return all(any(_related(root, own) for own in other.roots) for root in one.roots)


def _related(one: str, other: str) -> bool:
    """Whether two words are one or a name and its people: `Norway` and `Norwegian`."""
    if other in synonyms(one):
        return True
    shorter, longer = sorted((one, other), key=len)
    if longer.startswith(shorter):
        return True
    return longer[:_BEGINNING] == shorter[:_BEGINNING] and _PEOPLE.search(longer) is not None


def known(name: Name, ground: Ground) -> bool:
    """Whether each word of a name, or one of its family (`Norway`, `Norwegian`), is on the page.

    Titles may be added to a name; of an acronym, code cannot tell what it stands for.
    """
    if name.text.isupper() and len(name.text) <= LONGEST_ACRONYM:
        return True
    return all(
        root in ground
        or root in TITLES
        or any(other in ground for other in synonyms(root))
        or any(_related(root, other) for other in ground.vocabulary(root[:_BEGINNING]))
        for root in name.roots
    )
