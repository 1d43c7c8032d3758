"""How well each memory answers: words of its window and session, who spoke, when.

A memory is scored with its neighbours, because an answer often lies beside the words that were
asked for. All weights are relative to the best score by words alone; they were tuned on long
conversations, leaving one out at a time, and are flat around these values.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from agent.memory.retrieval.query import Query

# How much of a neighbour's words counts as one's own, by its distance in the session.
# A memory gives to those around it, most to the one that follows: answers follow questions.
WINDOW = ((0, 1.0), (1, 0.5), (-1, 0.3), (2, 0.2), (-2, 0.2))
SESSION = 0.06  # and of every other memory of the session
SATURATION = 1.0  # k1 of BM25; its length norm b is 0: a window evens lengths out
PAIR = 0.4  # two words of the question that stand together
SPEAKER_BONUS = 0.35
MONTH_BONUS = 0.6
NEXT_MONTH = 0.4  # of it: what happened is often told a month later
YEAR = 0.3  # of it
TIME_BONUS = 0.1  # a question for the time, a text that names one
REPLY_BONUS = 0.08  # what follows a question may answer it
LENGTH_BONUS = 0.15  # for texts of this many words; "Great!" answers nothing
FULL_LENGTH = 20
SESSION_CAP = 6  # a session that goes on for ever is no topic

ASKS = 1
NAMES_TIME = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory as the ranking sees it.

    `traits` are the bits `ASKS` and `NAMES_TIME`; `terms` its index terms with a space between.
    """

    id: int
    session: int
    at: float
    traits: int
    terms: str
    kind: str = ""


def rank(
    query: Query,
    candidates: Iterable[Candidate],
    idf: Mapping[str, float],
    names: Sequence[str] = (),
    mass: float | None = None,
    also: Collection[int] = (),
) -> list[tuple[float, Candidate]]:
    """Score candidates, best first; `idf` holds the terms that stand for content.

    `names` are the speaker terms of those whom the question names; `mass` is what all words of
    the question weigh, those that no memory has included; `also` are scored without any word.

    A score of 1 is about what a memory gets that has every word of the question.
    """
    rows = {candidate.id: candidate for candidate in candidates}
    weights = _weights(query, idf)
    words = _by_words(rows, _matches(rows, weights), weights)
    best = max(words.values(), default=0.0) or 1.0
    words |= {id_: 0.0 for id_ in also if id_ in rows and id_ not in words}
    scale = best / (mass or sum(idf.values()) or best)
    scored = []
    for id_, by_words in words.items():
        row = rows[id_]
        bonus = _bonus(query, row, rows.get(id_ - 1), names)
        scored.append(((by_words / best + bonus) * scale, row))
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].id))


def _weights(query: Query, idf: Mapping[str, float]) -> dict[str, float]:
    weights = dict(idf)
    for one, other in query.pairs:
        if one in idf and other in idf:
            weights[f"{one} {other}"] = PAIR * (idf[one] + idf[other]) / 2
    return weights


def _matches(rows: Mapping[int, Candidate], weights: Mapping[str, float]) -> dict[int, list[str]]:
    """Find what each memory has of the question: terms, and pairs of them that stand together."""
    wanted = [(term, f" {term} ") for term in weights]
    found = {}
    for id_, row in rows.items():
        text = f" {row.terms} "
        hits = [term for term, spaced in wanted if spaced in text]
        if hits:
            found[id_] = hits
    return found


def _by_words(
    rows: Mapping[int, Candidate], found: Mapping[int, list[str]], weights: Mapping[str, float]
) -> dict[int, float]:
    """Spread what is found over windows and sessions, and add it up with saturation."""
    spread: dict[int, dict[str, float]] = {}
    pools: dict[int, Counter[str]] = defaultdict(Counter)
    for id_, terms in found.items():
        session = rows[id_].session
        pools[session].update(terms)
        for distance, share in WINDOW:
            near = rows.get(id_ + distance)
            if near is not None and near.session == session:
                amounts = spread.setdefault(near.id, {})
                for term in terms:
                    amounts[term] = amounts.get(term, 0.0) + share
    shares = {session: _pooled(pool) for session, pool in pools.items()}
    return {
        id_: _sum(amounts, shares[rows[id_].session], weights) for id_, amounts in spread.items()
    }


def _pooled(pool: Counter[str]) -> list[tuple[str, float]]:
    return [(term, SESSION * min(count, SESSION_CAP)) for term, count in pool.items()]


def _sum(
    amounts: Mapping[str, float], pool: list[tuple[str, float]], weights: Mapping[str, float]
) -> float:
    """Add up `weight × amount × (k1 + 1) / (amount + k1)` over the terms of a session."""
    total = 0.0
    for term, pooled in pool:
        amount = amounts.get(term, 0.0) + pooled
        total += weights[term] * amount / (amount + SATURATION)
    return total * (SATURATION + 1)


def _bonus(query: Query, row: Candidate, before: Candidate | None, names: Sequence[str]) -> float:
    """Add what the words do not say: speaker, time, what stands before, length."""
    bonus = LENGTH_BONUS * min(1.0, row.terms.count(" ") / FULL_LENGTH)
    if any(name in row.terms for name in names):
        bonus += SPEAKER_BONUS
    if query.asks_when and row.traits & NAMES_TIME:
        bonus += TIME_BONUS
    if before and before.traits & ASKS and before.session == row.session:
        bonus += REPLY_BONUS
    return bonus + (_date_bonus(query, row.at) if query.months or query.years else 0.0)


def _date_bonus(query: Query, at: float) -> float:
    moment = datetime.fromtimestamp(at, UTC)
    bonus = MONTH_BONUS * (moment.month in query.months)
    bonus += MONTH_BONUS * NEXT_MONTH * bool(query.months & _beside(moment.month))
    return bonus + MONTH_BONUS * YEAR * (moment.year in query.years)


def _beside(month: int) -> set[int]:
    return {month - 1 or 12, month % 12 + 1}
