"""The next thing to ask a search engine: a name found on the way, with what is still open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.keyless.asking import GENERIC, PLACE_NOUNS
from agent.keyless.names import bare_title, name_stems, placed_names
from agent.keyless.places import is_adjective, is_country, is_state
from browser.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.keyless.question import Question
    from agent.keyless.ranking import Ranking, Scored

LEADS = 2
"""Sentences for each name of the question that are searched for bridges."""
LEADS_UNNAMED = 4
COMMON = 5.0
"""A name that this many further sources speak of is half as good a start."""
REACH = 10.0
"""Words between a bridge and a word of the question at which it counts half."""
PLACED, WANTED, ADJECTIVE = 1.3, 2.0, 0.5

_CALENDAR = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b|\d"
)
_BEFORE_PLACE = re.compile(r"(?:\b(?:in|at|from|near|of|to|by)|,)(?: the)? *$")


def follow_ups(ranking: Ranking) -> list[str]:
    """Queries for the next hop, best first, one for each bridge.

    A bridge is a name that stands beside a name of the question and that the question does not
    hold; its query is the bridge with what is open once the name beside it is dealt with.
    """
    found: dict[frozenset[str], tuple[float, str]] = {}
    for anchor, specific in _anchors(ranking):
        for lead in _leads(ranking, anchor):
            for bridge, nearness in _bridges(lead, ranking):
                key, score = name_stems(bridge), lead.score * nearness * specific
                if key not in found or found[key][0] < score:
                    found[key] = (score, _query(bridge, anchor, ranking.question))
    return [query for _, query in sorted(found.values(), key=lambda pair: -pair[0])]


def _anchors(ranking: Ranking) -> list[tuple[frozenset[str], float]]:
    """The names of the question that were found, each with how specific it is (1 = one source).

    Names half as specific as the best and worse are left out. Without any name: one empty set,
    which every sentence speaks of.
    """
    found: dict[frozenset[str], float] = {}
    for name in map(name_stems, ranking.question.telling_names):
        sources = ranking.evidence.sources_of(name)
        if sources:
            found[name] = 1 / (1 + (sources - 1) / COMMON)
    best = max(found.values(), default=0.0)
    strong = [(name, s) for name, s in found.items() if s >= best / 2]
    return sorted(strong, key=lambda pair: -pair[1]) or [(frozenset(), 1.0)]


def _leads(ranking: Ranking, anchor: frozenset[str]) -> list[Scored]:
    """The best sentences that speak of a name of the question, whole."""
    found = [x for x in ranking.scored if x.sentence.speaks_of(anchor)]
    return found[: LEADS if anchor else LEADS_UNNAMED]


def _bridges(lead: Scored, ranking: Ranking) -> Iterator[tuple[str, float]]:
    """New names of a sentence, and its page's title, each with how near it is to the question."""
    known = frozenset(ranking.question.terms)
    text = lead.sentence.text
    spots = _spots(text, ranking)
    for name, start in placed_names(text):
        if name_stems(name) <= known or _CALENDAR.match(name):
            continue
        at = len(text[:start].split())
        distance = min((abs(at - spot) for spot in spots), default=2 * REACH)
        yield name, _fitness(name, text, start, ranking.question) / (1 + distance / REACH)
    title = bare_title(lead.sentence.title)
    if title and not name_stems(title) <= known:
        yield title, 1.0


def _fitness(name: str, text: str, start: int, question: Question) -> float:
    """Favour places where the way leads over a place ("the state where …")."""
    asked = frozenset(words(question.text))
    if is_adjective(name):
        return ADJECTIVE
    if ("country" in asked and is_country(name)) or ("state" in asked and is_state(name)):
        return WANTED
    placed = asked & PLACE_NOUNS and _BEFORE_PLACE.search(text, 0, start)
    return PLACED if placed else 1.0


def _spots(text: str, ranking: Ranking) -> list[int]:
    """Where in the text, counted in words, stand the question's words other than names."""
    plain = [t for t in ranking.question.terms if t not in ranking.question.name_terms]
    wanted = frozenset(plain).union(*(ranking.forms(t) for t in plain))
    return [
        number
        for number, token in enumerate(text.split())
        if any(w not in STOP_WORDS and stem(w) in wanted for w in words(token))
    ]


def _query(bridge: str, anchor: frozenset[str], question: Question) -> str:
    left = [
        w
        for w in dict.fromkeys(words(question.text))
        if w not in STOP_WORDS
        and stem(w) not in anchor | GENERIC
        and w.removesuffix("s") not in PLACE_NOUNS
    ]
    return " ".join([bridge, *left])
