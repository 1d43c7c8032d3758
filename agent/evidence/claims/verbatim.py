"""A claim that stands on the page word for word, typography, inflection and ellipsis aside."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from agent.evidence.claims.findings import Finding, contradicts, supports, undecided
from agent.evidence.language.normalise import tokenise, words_of
from agent.evidence.language.vocabulary import CONDITIONS, EMBEDDING, HEDGES, NEGATORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.statements import Ground, Run

LONGEST_GAP = 150
"""Words that an ellipsis may leave out: a long sentence or a short paragraph, not half a page."""

SHORTEST_PART = 2
"""A part of an elliptic quotation has at least two words; one word stands anywhere."""

GUARD = 6
"""Words before a clause quoted after `that` or `if` that are looked at: `nobody believes that`."""

NEAR_GUARD = 2
"""Words directly before any quoted words that are looked at: `not`, `may`, `none of`."""

_ELLIPSIS = re.compile(r"\s*[\[(]?(?:…|\.\.\.+|\. \. \.)[\])]?\s*")


def check_verbatim(claim: str, ground: Ground) -> Finding | None:
    """Look for the claim, or its parts around an ellipsis, among the words of the page."""
    parts = [part for part in _ELLIPSIS.split(claim) if words_of(tokenise(part))]
    if len(parts) > 1:
        return _check_parts([_roots(part) for part in parts], ground)
    return _check_whole(_roots(claim), ground)


def _roots(text: str) -> list[str]:
    return [token.root for token in words_of(tokenise(text))]


def _check_whole(roots: Sequence[str], ground: Ground) -> Finding | None:
    qualified: Finding | None = None
    for run in ground.occurrences(roots):
        statements = ground.covering(run)
        qualifier = _qualifier(ground.before(run))
        if qualifier is None:
            return supports(statements, "stands on the page word for word")
        qualified = undecided(statements, f"the page qualifies these words with “{qualifier}”")
    return qualified


def _qualifier(before: Sequence[str]) -> str | None:
    """Find what turns a clause cut from its sentence into something else than a statement."""
    reach = GUARD if before and before[-1] in EMBEDDING else NEAR_GUARD
    return next((w for w in before[-reach:] if w in NEGATORS | HEDGES | CONDITIONS), None)


def _check_parts(parts: Sequence[Sequence[str]], ground: Ground) -> Finding | None:
    if any(len(part) < SHORTEST_PART for part in parts):
        return None
    for first in ground.occurrences(parts[0]):
        runs = _chain(first, parts[1:], ground)
        if runs is None:
            continue
        statements = ground.covering(runs[0]._replace(end=runs[-1].end))
        if any(_hides_negation(ground.between(a, b)) for a, b in itertools.pairwise(runs)):
            return contradicts(statements, "the ellipsis leaves out a negation")
        return supports(statements, "its parts stand on the page in this order")
    return None


def _chain(first: Run, rest: Sequence[Sequence[str]], ground: Ground) -> list[Run] | None:
    runs = [first]
    for part in rest:
        following = next((r for r in ground.occurrences(part) if r.start >= runs[-1].end), None)
        if following is None or len(ground.between(runs[-1], following)) > LONGEST_GAP:
            return None
        runs.append(following)
    return runs


def _hides_negation(gap: Sequence[str]) -> bool:
    """Whether a gap of a word or two holds a negation; in longer ones it has its own clause."""
    return len(gap) <= 3 and any(word in NEGATORS for word in gap)
