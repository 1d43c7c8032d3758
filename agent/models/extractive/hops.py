"""The next thing to ask a search engine: a name found on the way, with what is still open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.models.extractive.names import name_stems, placed_names
from agent.models.extractive.places import is_adjective, is_country, is_state
from agent.models.extractive.question import GENERIC, PLACE_NOUNS
from browser.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from agent.models.extractive.question import Question
    from agent.models.extractive.ranking import Ranker, Scored

_LEADS = 2
_CALENDAR = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b|\d"
)
_PLACED = re.compile(r"(?:\b(?:in|at|from|near|of|to|by)|,)(?: the)? *$")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A bridge entity and the query that asks for it."""

    bridge: str
    query: str
    score: float


def follow_ups(ranker: Ranker) -> list[FollowUp]:
    """Best first; a bridge comes once."""
    found: dict[frozenset[str], FollowUp] = {}
    for anchor, specific in anchors(ranker):
        for lead in leads(ranker, anchor):
            for name, closeness in bridges(lead, ranker):
                key = name_stems(name)
                score = lead.score * closeness * specific
                if key not in found or found[key].score < score:
                    found[key] = FollowUp(name, _query(name, anchor, ranker.q), score)
    return sorted(found.values(), key=lambda f: -f.score)


def anchors(ranker: Ranker) -> list[tuple[frozenset[str], float]]:
    """The question's names as stems, each with how specific it is (1 = one page speaks of it)."""
    found: dict[frozenset[str], float] = {}
    for name in ranker.q.names:
        if is_adjective(name) or is_country(name):
            continue
        stems = name_stems(name)
        sources = {x.sentence.source for x in ranker.scored if mentions(x, stems)}
        if sources:
            found[stems] = 1 / (1 + (len(sources) - 1) / 5)
    best = max(found.values(), default=0)
    strong = {k: v for k, v in found.items() if v >= best / 2}
    return sorted(strong.items(), key=lambda pair: -pair[1]) or [(frozenset(), 1.0)]


def mentions(x: Scored, stems: frozenset[str]) -> bool:
    return stems <= x.sentence.stems | x.sentence.title_stems


def leads(ranker: Ranker, anchor: frozenset[str]) -> list[Scored]:
    """The best sentences that speak of a name of the question, whole."""
    return [x for x in ranker.scored if mentions(x, anchor)][: _LEADS if anchor else 4]


def bridges(lead: Scored, ranker: Ranker) -> list[tuple[str, float]]:
    """Names of a sentence, or of its page, that the question does not hold, and how near each
    stands to a word of the question (1 = beside it)."""
    known = frozenset(ranker.q.terms)
    text = lead.sentence.text
    spots = _spots(text, ranker)
    by_place = any(w in PLACE_NOUNS for w in words(ranker.q.text))
    asked = frozenset(words(ranker.q.text))
    by_country, by_state = "country" in asked, "state" in asked
    found = []
    for name, start in placed_names(text):
        if name_stems(name) <= known or _CALENDAR.match(name):
            continue
        at = len(text[:start].split())
        distance = min((abs(at - s) for s in spots), default=20)
        placed = 1.3 if by_place and _PLACED.search(text, 0, start) else 1.0
        if is_adjective(name):
            placed = 0.5
        elif (by_country and is_country(name)) or (by_state and is_state(name)):
            placed = 2.0
        found.append((name, placed / (1 + distance / 10)))
    title = lead.sentence.title.split(" (")[0]
    if title and not name_stems(title) <= known:
        found.append((title, 1.0))
    return found


def _spots(text: str, ranker: Ranker) -> list[int]:
    wanted = set(ranker.terms).union(*ranker.forms.values()) - ranker.q.name_terms
    return [
        n
        for n, token in enumerate(text.split())
        for w in words(token)
        if w not in STOP_WORDS and stem(w) in wanted
    ]


def _query(bridge: str, anchor: frozenset[str], question: Question) -> str:
    left = [
        w
        for w in dict.fromkeys(words(question.text))
        if stem(w) not in anchor
        and w not in STOP_WORDS
        and stem(w) not in GENERIC
        and w.removesuffix("s") not in PLACE_NOUNS
    ]
    return " ".join([bridge, *left])
