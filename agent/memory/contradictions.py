"""Facts that cannot both hold: they say the same of the same, but for their numbers.

The one that more pages say is preferred, and of two that as many say, the newer one. Both are kept:
what is preferred today may turn out to be the error.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

from agent.memory.insights import Insight, insight
from agent.memory.terms import index_terms
from agent.memory.values import details

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.6
BETTER_SOURCED = 0.75  # that more pages say one thing than the other counts for something
LEAST_WORDS = 3  # besides the numbers; "It took 3 hours" may be about anything
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_POINTS_BACK = re.compile(
    r"(?:its?|he|his|she|her|they|their|this|that|these|those|there|both|the (?:latter|former))\b",
    re.IGNORECASE,
)


def contradictions(facts: Sequence[Any]) -> list[Insight]:
    """Find pairs of facts (rows) that disagree; each becomes an insight that says which to prefer.

    Facts that point back to what stood before them have no subject of their own, and are left out.
    """
    alike: dict[frozenset[str], list[Any]] = defaultdict(list)
    for fact in facts:
        words = frozenset(index_terms(_NUMBER.sub(" ", fact.text)))
        if len(words) >= LEAST_WORDS and not _POINTS_BACK.match(fact.text):
            alike[words].append(fact)
    return [
        _contradiction(*sorted((one, other), key=_weight, reverse=True))
        for group in alike.values()
        for one, other in combinations(group, 2)
        if _disagree(one, other)
    ]


def _disagree(one: Any, other: Any) -> bool:
    """Tell whether the numbers differ; one page in one run may speak of two things."""
    numbers, others = (sorted(_NUMBER.findall(fact.text)) for fact in (one, other))
    apart = (one.url, one.run) != (other.url, other.run)
    return apart and len(numbers) == len(others) > 0 and numbers != others


def _weight(fact: Any) -> tuple[int, float, int]:
    return _pages(fact), fact.written, fact.id


def _pages(fact: Any) -> int:
    """Count the pages that say it."""
    sources = details(fact).get("sources", [])
    return len({source["url"] for source in sources}) or 1


def _contradiction(better: Any, worse: Any) -> Insight:
    more = _pages(better) > _pages(worse)
    why = f"on {_pages(better)} pages, against {_pages(worse)}" if more else "the newer one"
    text = (
        f"Sources disagree. Preferred ({why}): {better.text} ({better.url}) "
        f"Against it: {worse.text} ({worse.url})"
    )
    key = f"{min(better.id, worse.id)}-{max(better.id, worse.id)}"
    confidence = BETTER_SOURCED if more else CONFIDENCE
    return insight("contradiction", key, text, confidence, [better, worse])
