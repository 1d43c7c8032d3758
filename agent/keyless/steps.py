"""The steps that may be taken before an answer, each with when it is worth taking.

A step gives tool calls, or none where its time has not come or is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.keyless.controls import brought_text
from agent.keyless.hits import promising
from agent.keyless.hops import follow_ups
from agent.keyless.live import RELEVANT, is_live, live_call, relevance
from agent.keyless.question import keywords, variants
from browser.text import content_words

if TYPE_CHECKING:
    from agent.keyless.findings import Findings
    from agent.keyless.notebook import Notebook

ENOUGH = 2
"""Searches after which nothing further is looked for where nothing is open."""

Call = tuple[str, dict[str, Any]]
Step = Callable[["Findings"], list[Call]]


def read_the_page(found: Findings) -> list[Call]:
    """Read the page that the person has before them, before anything else."""
    notes = found.notes
    if notes.page is None or notes.replies:
        return []
    where = {} if notes.page_is_open else {"url": notes.page[1]}
    return [("READ", {**where, "query": _sought(found)})]


def search(found: Findings) -> list[Call]:
    """Ask the question as it is, and its names or keywords alone.

    Not where a file that was given, or the page in view, already answers.
    """
    notes = found.notes
    if notes.rounds("WEB_SEARCH") or not found.question.terms:
        return []
    if notes.observations and not found.thin:
        return []
    return _searches([found.question.text, keywords(found.question)])


def read_results(found: Findings) -> list[Call]:
    """Read the most promising results of the searches just made, several at once."""
    notes = found.notes
    if not notes.latest or notes.latest[0].tool != "WEB_SEARCH":
        return []
    done = set(notes.asked("READ", "url"))
    many = found.effort.next_reads if done else found.effort.first_reads
    searches = [o for o in notes.latest if not o.failed]
    hits = [h for h in promising(searches, found.question) if h.url not in done]
    return [("READ", {"url": h.url, "query": _sought(found)}) for h in hits[:many]]


def search_on(found: Findings) -> list[Call]:
    """Ask for the next hop, or in other words."""
    rounds = found.notes.rounds("WEB_SEARCH")
    if not 0 < rounds < found.effort.searches or found.sure or is_live(found.notes):
        return []
    if rounds >= ENOUGH and found.open.none:
        return []
    wanted = follow_ups(found.ranking)
    if rounds == 1 and (found.thin or not found.question.names):
        wanted.insert(0, variants(found.question))
    asked = {frozenset(content_words(q)) for q in found.notes.asked("WEB_SEARCH", "query")}
    wanted = [q for q in wanted if frozenset(content_words(q)) not in asked]
    return _searches(wanted[: found.effort.queries])


def turn_over(found: Findings) -> list[Call]:
    """Where something is open: the next page of the page that speaks most of the question."""
    if found.open.none:
        return []
    done = set(found.notes.asked("READ", "url"))
    read = found.notes.results("READ")
    turned = {str(o.data["next"]) for o in read if o.data.get("next") in done}
    onward = [o for o in read if o.data.get("next") and o.data["next"] not in done]
    worth = [(o.url in turned, relevance(o, found.ranking), str(o.data["next"])) for o in onward]
    begun, how_relevant, following = max(worth, default=(False, 0.0, ""))
    if len(turned) >= found.effort.list_pages or not (begun or how_relevant >= RELEVANT):
        return []
    return [("READ", {"url": following, "query": _sought(found)})]


def see_what_came(found: Findings) -> list[Call]:
    """After an action that showed something: read the open page, for passages to cite."""
    latest = found.notes.latest
    if len(latest) != 1 or not is_live(found.notes) or latest[0].passages():
        return []
    return [("READ", {"query": _sought(found)})] if brought_text(latest[0]) else []


def work_live(found: Findings) -> list[Call]:
    """Where something is open: a hand on a live page."""
    call = live_call(found.notes, found.ranking, found.open, sure=found.sure)
    return [call] if call else []


def _sought(found: Findings) -> str:
    """The question with the words of later queries, for the choice of a long page's passages."""
    later = found.notes.asked("WEB_SEARCH", "query")[2:]
    later = [q for q in later if q != variants(found.question)]
    return " ".join(dict.fromkeys(" ".join([found.question.text, *later]).split()))


def _searches(queries: list[str]) -> list[Call]:
    return [("WEB_SEARCH", {"query": q}) for q in dict.fromkeys(queries) if q]


def pages_read(notes: Notebook) -> int:
    """How many pages were read."""
    return len({o.url for o in notes.results("READ")})
