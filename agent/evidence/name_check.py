"""Names of a claim, each held against the statement that the claim is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.alignment import ANTECEDENT, PRONOUNS, Alignment
from agent.evidence.findings import Finding, contradicts
from agent.evidence.slots import corroborated, find_rival, name_roots, plain_words
from agent.evidence.vocabulary import NEGATORS, PREPOSITIONS, root_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.names import Name
    from agent.evidence.statements import Ground, Sentence

TOPIC = 0.25
"""A name in this share of the statements is the page's topic, implied where it is not named."""

LONGEST_ACRONYM = 5

TITLES = root_set(
    """president minister prime professor doctor king queen prince princess lord lady saint chief
    general captain colonel director chairman chancellor governor mayor bishop pope emperor city
    town county state river lake mount island republic university college museum church company"""
)
"""Words that may be added to a name or left out, and that many names share."""

_BEGINNING = 4
_PEOPLE = re.compile(r"(?:an|ish|es|ese|er|ic)$")


class _Mention(NamedTuple):
    """A name that a statement has, or (`own` false) that its pronoun may refer back to."""

    name: Name
    own: bool


@dataclass(frozen=True, slots=True)
class _NameSlot:
    name: Name
    claim: Sentence
    ground: Ground
    absent: bool
    least_absent: float = 0.35
    least_elsewhere: float = 0.5

    def holds(self, value: _Mention, /) -> bool:
        return self.name.may_be(value.name)

    def rivals(self, value: _Mention, /) -> bool:
        """Whether a name can be in the claim's place: not used there, in a like role."""
        rival = value.name
        used = any(rival.may_be(mine) or kin(rival, mine) for mine in self.claim.names)
        if used or not value.own or rival.adjective or not self.ground.is_name(rival):
            return False
        shared = set(rival.roots) & set(self.name.roots)
        if shared - TITLES or (shared and self.absent):
            return True
        roles = {rival.role, self.name.role}
        if self.absent and len(roles) == 1 and not roles & {"", "subject"}:
            return True
        alike = len(roles) == 1 or roles <= _DOERS or roles <= _ORIGINS
        placed = {value.name.role, self.name.role} <= PREPOSITIONS
        alike = alike or (self.absent and ("" in roles or placed))
        return alike and not is_topic(rival.roots, self.ground)


_DOERS = frozenset({"subject", "by"})
_ORIGINS = frozenset({"by", "from", "of"})


def check_names(claim: Sentence, ground: Ground) -> Finding | None:
    """Find the first name of a claim in whose place the page has another one."""
    values = [_mentions(ground, i) for i in range(len(ground.statements))]
    denies = not NEGATORS.isdisjoint(claim.roots)
    for name in claim.names:
        absent = not known(name, ground)
        if denies and not absent:
            continue
        if not ground.is_name(name) or (not absent and is_topic(name.roots, ground)):
            continue
        others = [root for root in plain_words(claim) if root not in name.roots]
        if not others or (not absent and _confirmed(name, claim, ground)):
            continue
        alignment = Alignment(others, ground, name_roots(claim))
        found = find_rival(_NameSlot(name, claim, ground, absent), values, alignment)
        if found:
            reason = f"the page has {found[1].name.text} where the claim has {name.text}"
            return contradicts((ground.statements[found[0]],), reason)
    return None


def _confirmed(name: Name, claim: Sentence, ground: Ground) -> bool:
    """Whether a statement has the name together with another value of the claim."""
    return any(
        any(map(name.may_be, s.sentence.names)) and corroborated(claim, s.sentence)
        for s in ground.statements
    )


def is_topic(roots: Sequence[str], ground: Ground) -> bool:
    """Whether a name is what the page is about, and so implied where it is not named."""
    return any(root in ground.topic or ground.frequency(root) >= TOPIC for root in roots)


def _mentions(ground: Ground, i: int) -> list[_Mention]:
    sentence = ground.statements[i].sentence
    found = [_Mention(name, own=True) for name in sentence.names]
    if not PRONOUNS.isdisjoint(sentence.roots):
        earlier = ground.statements[max(0, i - ANTECEDENT) : i]
        found += [_Mention(name, own=False) for s in earlier for name in s.sentence.names]
    return found


def kin(one: Name, other: Name) -> bool:
    """Whether two names begin alike, as `Amazon` and `Amazonas` do."""
    return all(any(_related(root, own) for own in other.roots) for root in one.roots)


def _related(one: str, other: str) -> bool:
    """Whether two words are one or a name and its people: `Norway` and `Norwegian`."""
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
        or any(_related(root, other) for other in ground.vocabulary(root[:_BEGINNING]))
        for root in name.roots
    )
