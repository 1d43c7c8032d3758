"""How much of a claim must stand around a page's name for it to be put for the claim's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.claims.acquaintance import is_implied, known
from agent.evidence.language.hooks import end_of_name

if TYPE_CHECKING:
    from agent.evidence.language.names import Name
    from agent.evidence.language.statements import Ground, Sentence, Statement


class Bar(NamedTuple):
    """How much of a claim must stand around another name for it to be the one meant.

    `share` of the claim's words, 0 to 1, and `clearly` times as much as around the claim's own.
    """

    share: float
    clearly: float

    def cleared(self, rival: float, own: float) -> bool:
        """Whether a rival's share is enough beside the own name's."""
        return rival >= max(self.share, self.clearly * own)


# Set on 2,600 pairs by authors who had not seen the check: each bar costs at most one faithful
# claim in four hundred. A doer is told apart best by another doer, a place by another place.
_KNOWN = {
    ("doer", "doer"): Bar(0.18, 2.0),
    ("place", "place"): Bar(0.22, 2.5),
    ("doer", ""): Bar(0.3, 1.3),
    ("place", ""): Bar(0.4, 1.3),
    ("", "doer"): Bar(0.3, 1.6),
    ("", ""): Bar(0.5, 2.5),
}
_SAME_TIE = Bar(0.22, 2.5)
"""The bar where both names stand behind one preposition: `from Korva`, `from Virtsu`."""

_ABSENT = {"doer": Bar(0.26, 1.6), "place": Bar(0.35, 1.6), "": Bar(0.26, 2.5)}
"""Bars for a name that stands nowhere on the page, by its own sort."""

_IMPLIED = {"doer": Bar(0.35, 3.5), "place": Bar(0.35, 1.3), "": Bar(0.4, 1.3)}
"""Bars for a name that is what the page is about: it may go without saying."""

_SORTS = {
    "doer": frozenset({"subject", "by"}),
    "place": frozenset("in at to on near into through across".split()),
    "time": frozenset("after before during since until".split()),
}


def bar_for(name: Name, other: Name, statement: Statement, ground: Ground) -> Bar:
    """Give the bar that a name of a statement must clear to be put for a claim's."""
    sort = sort_of(name.role)
    if not known(name, ground):
        return _ABSENT.get(sort, _ABSENT[""])
    if is_implied(name, ground):
        return _IMPLIED.get(sort, _IMPLIED[""])
    if not sort and name.role and name.role == other.role:
        return _SAME_TIE
    pair = (sort, "doer" if _is_told_of(other, statement.sentence) else sort_of(other.role))
    return _KNOWN.get(pair) or _KNOWN.get((sort, "")) or _KNOWN["", ""]


def sort_of(role: str) -> str:
    """Sort a name by its role: a doer, a place, a time; nothing for the roles that all have."""
    return next((sort for sort, roles in _SORTS.items() if role in roles), "")


def _is_told_of(name: Name, sentence: Sentence) -> bool:
    """Whether a relative clause says what a name does: `to Ann Vale, who rewrote it`."""
    end = end_of_name(sentence, name)
    after = [token.form for token in sentence.tokens[end : end + 2]]
    return "who" in after
