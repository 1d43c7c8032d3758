"""What to do next: search, read, follow a hop, or answer. One reply for one state of the notes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.models.extractive.answer import answer, confident
from agent.models.extractive.evidence import gather
from agent.models.extractive.hops import follow_ups
from agent.models.extractive.hits import promising
from agent.models.extractive.question import analyse, keywords
from agent.models.extractive.ranking import Ranker
from browser.text import content_words

if TYPE_CHECKING:
    from agent.models.extractive.observations import Hit, Notebook
    from agent.models.extractive.question import Question

FIRST_READS = 6
NEXT_READS = 4
ROUNDS = 3


def decide(notebook: Notebook) -> str:
    question = analyse(notebook.question)
    queries = notebook.asked("WEB_SEARCH", "query")
    if not queries:
        wanted = [notebook.question, keywords(question)]
        return _calls("WEB_SEARCH", [{"query": q} for q in dict.fromkeys(wanted) if q])
    ranker = Ranker(question, gather(notebook))
    last_tool = notebook.calls[-1][0]
    if last_tool == "WEB_SEARCH":
        hits = _unread(notebook, question)
        if hits:
            return _calls("READ", [{"url": h.url, "query": _reading(notebook)} for h in hits])
    if len(notebook.rounds) < ROUNDS and not confident(ranker):
        asked = {frozenset(content_words(q)) for q in queries}
        new = [f for f in follow_ups(ranker) if frozenset(content_words(f.query)) not in asked][:3]
        if new:
            return _calls("WEB_SEARCH", [{"query": f.query} for f in new])
    return answer(ranker)


def _reading(notebook: Notebook) -> str:
    return " ".join(
        dict.fromkeys(
            " ".join([notebook.question, *notebook.asked("WEB_SEARCH", "query")[2:]]).split()
        )
    )


def _unread(notebook: Notebook, question: Question) -> list[Hit]:
    """The results of the last searches that promise most, those read already left out."""
    done = set(notebook.asked("READ", "url"))
    many = FIRST_READS if not done else NEXT_READS
    return [h for h in promising(notebook.latest_searches(), question) if h.url not in done][:many]


def _calls(tool: str, params: list[dict[str, Any]]) -> str:
    return "\n".join(f"<<TOOL:{tool}:{json.dumps(p, ensure_ascii=False)}>>" for p in params)
