"""What to do next: search, read, follow a hop, or answer. One reply for one state of the notes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.models.extractive.answer import quote, refuse
from agent.models.extractive.chains import Chains
from agent.models.extractive.doubt import doubt
from agent.models.extractive.evidence import gather
from agent.models.extractive.hits import promising
from agent.models.extractive.hops import follow_ups
from agent.models.extractive.live import RELEVANT, is_live, live_call, relevance
from agent.models.extractive.question import analyse, keywords, variants
from agent.models.extractive.ranking import Ranking
from agent.models.extractive.spelling import respelt
from browser.text import content_words

if TYPE_CHECKING:
    from agent.models.extractive.doubt import Doubt
    from agent.models.extractive.notebook import Notebook
    from agent.models.extractive.question import Question
    from agent.models.extractive.ranking import Scored

FIRST_READS = 6
NEXT_READS = 4
"""Pages read after the first search, and after each further one."""
QUERIES = 3
"""Follow-up queries at once."""
SURE = 1.0
"""Score of a sentence that holds nearly all words of the question, and a candidate."""
NEXT_PAGES = 5
"""Pages of a list that are turned over."""
ROUNDS = 3
"""Searches, one after the other: a question over three hops needs three."""


def decide(notes: Notebook) -> str:
    """Give the reply: tool tags, or the final answer."""
    question = analyse(notes.question)
    searched = notes.rounds("WEB_SEARCH")
    if not searched:
        return _search([notes.question, keywords(question)])
    if notes.latest and notes.latest[0].tool == "WEB_SEARCH":
        reads = _reads(notes, question)
        if reads:
            return reads
    evidence = gather(notes)
    ranking = Ranking(respelt(question, evidence), evidence)
    chains = Chains(ranking)
    chosen = chains.selection()
    doubts = doubt(ranking, chosen)
    if searched < ROUNDS and not _sure(ranking, chosen) and not is_live(notes):
        queries = _new_queries(notes, ranking)
        if queries:
            return _search(queries)
    further = _further(notes, ranking, doubts)
    if further:
        return further
    if not chosen or doubts.too_much:
        return refuse(doubts if chosen else None, len(notes.results("READ")))
    return quote(chosen)


def _sure(ranking: Ranking, chosen: list[Scored]) -> bool:
    """Whether one sentence alone meets so much of the question that no further hop is needed."""
    return bool(chosen) and ranking.scored[0].score > SURE


def _further(notes: Notebook, ranking: Ranking, doubts: Doubt) -> str:
    """Where something is still open: a page's next page, else a hand on a live page."""
    if doubts.none or notes.ended:
        return ""
    following = _next_page(notes, ranking)
    if following:
        return _calls("READ", [{"url": following, "query": _sought(notes)}])
    call = live_call(notes, ranking, doubts)
    return _calls(call[0], [call[1]]) if call else ""


def _next_page(notes: Notebook, ranking: Ranking) -> str:
    """The next page of the page that speaks most of the question, a few times over."""
    done = set(notes.asked("READ", "url"))
    pages = [o for o in notes.results("READ") if o.data.get("next") not in {None, *done}]
    best = max(pages, key=lambda o: relevance(o, ranking), default=None)
    followed = sum(o.data.get("next") in done for o in notes.results("READ"))
    if best is None or followed >= NEXT_PAGES or relevance(best, ranking) < RELEVANT:
        return ""
    return str(best.data["next"])


def _new_queries(notes: Notebook, ranking: Ranking) -> list[str]:
    asked = {frozenset(content_words(q)) for q in notes.asked("WEB_SEARCH", "query")}
    wanted = follow_ups(ranking)
    if notes.rounds("WEB_SEARCH") == 1 and not ranking.question.names:
        wanted.insert(0, variants(ranking.question))
    return [q for q in wanted if frozenset(content_words(q)) not in asked][:QUERIES]


def _reads(notes: Notebook, question: Question) -> str:
    done = set(notes.asked("READ", "url"))
    many = NEXT_READS if done else FIRST_READS
    searches = [o for o in notes.latest if not o.failed]
    hits = [h for h in promising(searches, question) if h.url not in done][:many]
    return _calls("READ", [{"url": h.url, "query": _sought(notes)} for h in hits])


def _sought(notes: Notebook) -> str:
    """The question with the words of later queries, for the choice of a long page's passages."""
    later = notes.asked("WEB_SEARCH", "query")[2:]
    return " ".join(dict.fromkeys(" ".join([notes.question, *later]).split()))


def _search(queries: list[str]) -> str:
    return _calls("WEB_SEARCH", [{"query": q} for q in dict.fromkeys(queries) if q])


def _calls(tool: str, params: list[dict[str, Any]]) -> str:
    return "\n".join(f"<<TOOL:{tool}:{json.dumps(p, ensure_ascii=False)}>>" for p in params)
