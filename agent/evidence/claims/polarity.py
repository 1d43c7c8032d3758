"""How two clauses compare: what they share, and whether one affirms what the other denies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.claims.alignment import SYNONYM
from agent.evidence.language.thesaurus import opposites
from agent.evidence.language.vocabulary import CEASING, DENIALS, DENYING_NOUNS, NEGATORS, root_set

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from agent.evidence.language.clauses import Clause

PERMISSION = root_set("allow permit possible able erlaubt gestattet moglich")
"""Words that say no more than `may` or `can`, which stand for them in another clause."""

_DENIED_BY_ITSELF = DENIALS - DENYING_NOUNS

CONTRARY = 1.5
"""What a word at least weighs of which the other clause has the contrary."""


class Likeness(NamedTuple):
    """What two clauses share: its weight, how many words, and the share on which they disagree.

    `neutral` says that one denies what the other does not speak of; `met` are the words of both.
    """

    weight: float
    words: int
    opposed: float
    neutral: bool
    met: frozenset[str]


def compare(
    mine: Clause,
    forms: Mapping[str, Mapping[str, float]],
    other: Clause,
    weights: Mapping[str, float],
) -> Likeness:
    """Hold a clause against another; `forms` and `weights` are those of the first one's roots."""
    pairs = [pair for root, known in forms.items() if (pair := _pair(mine, other, root, known))]
    met = frozenset(root for pair in pairs for root in (pair.mine, pair.theirs))
    shared = sum(pair.weight(weights) for pair in pairs)
    opposed = sum(pair.weight(weights) for pair in pairs if pair.differ)
    flips = sum(pair.flips for pair in pairs)
    settled = {root for pair in pairs for root in pair.settled}
    denied = [root for root in (*mine.denials, *other.denials) if root not in settled]
    aside = bool(flips) and set(other.denials) == {"without"} and not _heads_met(mine, other, met)
    if aside:
        denied.remove("without")
    turned = _turned(mine, other, contrary=bool(flips)) and (flips or _same_degree(mine, met))
    contrary_sense = (len(denied) + flips + bool(turned)) % 2 == 1
    limited = _limited(mine, other) and not NEGATORS.isdisjoint(denied)
    ceased = _ceased(mine, other, met) or _ceased(other, mine, met)
    decided = shared and contrary_sense and not limited and not ceased
    return Likeness(
        shared,
        len(pairs),
        (1.0 if turned else opposed / shared) if decided else 0.0,
        not aside and not _heads_met(mine, other, met),
        met,
    )


class _Pair(NamedTuple):
    """A word of one clause and what stands for it in the other: the same, a synonym, a contrary.

    `flips` says that a contrary turns the sense, `settled` are words of denial that with this
    deny nothing more.
    """

    mine: str
    theirs: str
    strength: float
    differ: bool
    contrary: bool
    flips: bool = False
    settled: frozenset[str] = frozenset()

    def weight(self, weights: Mapping[str, float]) -> float:
        own = weights[self.mine]
        return self.strength * (max(own, CONTRARY) if self.contrary else own)


def _pair(mine: Clause, other: Clause, root: str, known: Mapping[str, float]) -> _Pair | None:
    theirs = max(sorted(known.keys() & other.content.keys()), key=known.__getitem__, default="")
    contrary = min(opposites(root) & other.content.keys() - mine.content.keys(), default="")
    if contrary and known.get(theirs, 0.0) < 1:
        differ = _own(mine, root) == _own(other, contrary)
        settled = frozenset({root, contrary})
        return _Pair(root, theirs or contrary, SYNONYM, differ, True, True, settled)
    if not theirs:
        return None
    strength = known[theirs]
    if theirs != root and (theirs in DENIALS) != (root in DENIALS):
        # What may stand for a word of denial denies as it does: `ends`, `is cancelled`.
        return _Pair(
            root, theirs, strength, False, bool(contrary), settled=frozenset({root, theirs})
        )
    differ = mine.content[root] != other.content[theirs]
    return _Pair(root, theirs, strength, differ, bool(contrary))


def _heads_met(mine: Clause, other: Clause, met: AbstractSet[str]) -> bool:
    """Whether what is denied in one clause is spoken of in the other: not just its surroundings."""
    allowed = met | (PERMISSION if mine.permits or other.permits else frozenset())
    return all(not head.isdisjoint(allowed) for head in (*mine.heads, *other.heads) if head)


def _limited(mine: Clause, other: Clause) -> bool:
    """Whether a clause denies no more than a limit, or a duty of which the other does not speak."""
    freed = (mine.frees and not other.binds) or (other.frees and not mine.binds)
    return mine.limited or other.limited or freed


def _ceased(denying: Clause, other: Clause, met: AbstractSet[str]) -> bool:
    """Whether one clause denies what the other says has come to an end: `dropped`, `no longer`."""
    rest = other.content.keys() - met
    ended = CEASING & rest or any(root.startswith("un") for root in rest)
    return bool(denying.denials) and not other.denials and bool(ended)


def _turned(mine: Clause, other: Clause, *, contrary: bool) -> bool:
    """Whether two comparisons have changed sides: `A is higher than B`, `B is lower than A`.

    With the contrary word (`contrary`) one side that is named in both will do.
    """
    one = not other.beyond.isdisjoint(mine.content.keys() - mine.beyond)
    two = not mine.beyond.isdisjoint(other.content.keys() - other.beyond)
    both_compare = bool(mine.beyond and other.beyond)
    return both_compare and ((one or two) if contrary else (one and two))


def _same_degree(mine: Clause, met: AbstractSet[str]) -> bool:
    """Whether the other clause compares by the same word: `heavier`, not `lighter`."""
    degrees = {root for root in mine.content if root.endswith("er")} - mine.beyond
    return not degrees or bool(degrees & met)


def _own(clause: Clause, root: str) -> bool:
    """Whether a word is denied in its clause by others than itself: `not rejected`."""
    return clause.content[root] != (root in _DENIED_BY_ITSELF)
