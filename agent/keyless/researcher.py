"""Research by rules: what to search for, read, follow and work next, until it is time to answer."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from agent.keyless.conversation import conversation_of
from agent.keyless.live_page import LIVE_TOOLS, RELEVANT, brought_text, live_call
from agent.keyless.question import (
    keywords,
    name_stems,
    names,
    parts_of,
    points_at_page,
    resolved,
    without_urls,
)
from agent.keyless.ranking import Ranking, candidates_of
from agent.limits import STANDARD
from agent.types import ToolCall
from browser.text.sentences import sentences as cut
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.keyless.conversation import Conversation
    from agent.keyless.live_page import Call
    from agent.limits import Effort
    from agent.types import Message, Passage

SURE = 0.65
"""Share of the question that an answer covers from which nothing further is looked for."""
LEADS = 4
"""Best sentences whose names are searched for a second hop."""


class Research:
    """What a conversation has come to; each part is worked out when it is first asked for."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        text, self.urls = without_urls(conversation.question)
        title = conversation.page.title if conversation.page else ""
        self.question = resolved(text, conversation.earlier, title)

    @cached_property
    def ranking(self) -> Ranking:
        """The sentences read, ranked."""
        return Ranking(self.question, candidates_of(self.conversation.observations))

    @cached_property
    def rankings(self) -> list[Ranking]:
        """The same for each part of a question that asks several things."""
        parts = parts_of(self.question)
        if len(parts) == 1:
            return [self.ranking]
        return [Ranking(part, self.ranking.candidates) for part in parts]

    @property
    def is_complete(self) -> bool:
        """The best sentence says every word of the question, itself or by its page's title."""
        best = None if self.ranking.thin else self.ranking.best
        return best is not None and not self.ranking.unmet(best.candidate)

    @property
    def about_the_page(self) -> bool:
        """The question points at the page that the person has before them."""
        return self.conversation.page is not None and points_at_page(self.conversation.question)

    @property
    def sought(self) -> str:
        """The question with the words of later queries, which chooses a long page's passages."""
        later = self.conversation.asked("WEB_SEARCH", "query")[2:]
        return " ".join(dict.fromkeys(" ".join([self.question.text, *later]).split()))


class Researcher:
    """Does a question's research without a language model: searches, reads, follows a second hop.

    It holds no state: what it says follows from the conversation alone, that is from
    `Message.question` and `Message.observations`, never from their text. `effort` says how far it
    reaches out. Used so, by a model that writes the answer itself:

        researcher = Researcher(effort)
        calls = researcher.next_calls(messages)      # list[ToolCall]: make them, and ask again
        if calls is None:                            # ready: nothing further is worth a call
            passages = researcher.best_passages(messages, limit=6, sentences=3)
    """

    def __init__(self, effort: Effort = STANDARD) -> None:
        self._effort = effort

    def next_calls(self, messages: Sequence[Message]) -> list[ToolCall] | None:
        """The tool calls of the next step, at least one; None when it is time to answer.

        Calls of one list are independent and may run at once. The last step that the effort allows
        is left for the answer, and after a message that holds no observations (a limit is reached)
        nothing is called.
        """
        return self.calls_for(Research(conversation_of(messages)))

    def calls_for(self, research: Research) -> list[ToolCall] | None:
        """The same for a conversation that was read already."""
        conversation = research.conversation
        if conversation.ended or len(conversation.steps) >= self._effort.steps - 1:
            return None
        calls = self._given(research)
        if not calls and not research.about_the_page:
            steps = (self._search, self._read, self._hop, self._turn, self._live)
            calls = next((calls for step in steps if (calls := step(research))), [])
        found = [ToolCall(name, json.dumps(param, ensure_ascii=False)) for name, param in calls]
        return found or None

    def best_passages(
        self, messages: Sequence[Message], limit: int = 6, sentences: int = 3
    ) -> list[Passage]:
        """The passages read that bear best on the question, best first; empty where none does.

        Each is a slice of a passage that was shown, at most `sentences` sentences around the best
        one, and has that passage's `id`, to be cited by; `heading` begins with the page's title.
        For a second hop the sentence that leads to the best one comes right after it.
        """
        conversation = conversation_of(messages)
        titles = {o.url: o.title for o in conversation.observations if o.title}
        found: list[Passage] = []
        for scored in Research(conversation).ranking.scored:
            for candidate in filter(None, (scored.candidate, scored.bridge)):
                if any(p.id == candidate.passage.id and candidate.text in p.text for p in found):
                    continue
                piece = excerpt(candidate.passage, candidate.text, sentences)
                above = [titles.get(candidate.page, ""), piece.heading]
                found.append(replace(piece, heading=" › ".join(filter(None, above))))
            if len(found) >= limit:
                break
        return found[:limit]

    def _given(self, research: Research) -> list[Call]:
        """Read what the question itself names: an address in it, the page before the person."""
        conversation, page = research.conversation, research.conversation.page
        if conversation.steps:
            return []
        unread = [page.url] if page is not None and not page.passages and page.url else []
        return [
            ("READ", {"url": url, "query": research.question.text})
            for url in (*research.urls, *unread)
        ]

    def _search(self, research: Research) -> list[Call]:
        """Search for the question as it is, and for its telling words.

        Not where a file, an address or the page in view already answers.
        """
        conversation, question = research.conversation, research.question
        answered = bool(conversation.observations) and not research.ranking.thin
        if conversation.rounds("WEB_SEARCH") or not question.terms or answered:
            return []
        return _searches([question.text, keywords(question.text)])

    def _read(self, research: Research) -> list[Call]:
        """Read the most promising results just found: those that stand high, and in several."""
        done = set(research.conversation.asked("READ", "url"))
        many = self._effort.next_reads if done - set(research.urls) else self._effort.first_reads
        score: dict[str, float] = {}
        for search in research.conversation.latest:
            for rank, hit in enumerate(search.results):
                score[hit.url] = score.get(hit.url, 0.0) + 1 / (rank + 2)
        urls = [url for url in sorted(score, key=lambda url: -score[url]) if url not in done]
        return [("READ", {"url": url, "query": research.sought}) for url in urls[:many]]

    def _hop(self, research: Research) -> list[Call]:
        """Where the answer is not sure: search for a name found on the way, with what is open."""
        conversation, ranking = research.conversation, research.ranking
        rounds = conversation.rounds("WEB_SEARCH")
        sure = not ranking.thin and ranking.best is not None and ranking.best.covered >= SURE
        live = any(o.tool in LIVE_TOOLS for o in conversation.latest)
        if not 0 < rounds < self._effort.searches or sure or live:
            return []
        asked = {frozenset(content_words(q)) for q in conversation.asked("WEB_SEARCH", "query")}
        wanted = [q for q in _follow_ups(ranking) if frozenset(content_words(q)) not in asked]
        return _searches(wanted[: self._effort.queries])

    def _turn(self, research: Research) -> list[Call]:
        """Where something is open: the next page of the page that speaks most of the question."""
        if research.is_complete:
            return []
        conversation = research.conversation
        done = set(conversation.asked("READ", "url"))
        read = conversation.results("READ")
        turned = {o.get("next") for o in read} & done
        worth = [(False, 0.0, "")]
        for o in read:
            if o.get("next") and o.get("next") not in done:
                text = " ".join([o.title, *(p.text for p in o.passages)])
                relevant = research.ranking.covers(content_words(text))
                worth.append((o.url in turned, relevant, str(o.get("next"))))
        begun, relevant, following = max(worth)
        if len(turned) >= self._effort.list_pages or not (begun or relevant >= RELEVANT):
            return []
        return [("READ", {"url": following, "query": research.sought})]

    def _live(self, research: Research) -> list[Call]:
        """Where something is open: work a live page, and read what an action brought."""
        latest = research.conversation.latest
        unread = len(latest) == 1 and latest[0].tool in LIVE_TOOLS and not latest[0].passages
        if unread and brought_text(latest[0]):
            return [("READ", {"query": research.sought})]
        call = None if research.is_complete else live_call(research.conversation, research.ranking)
        return [call] if call else []


def _follow_ups(ranking: Ranking) -> Iterator[str]:
    """Queries for a second hop: a name that the best sentences bring, with what they leave open."""
    known = frozenset(ranking.question.terms)
    for x in ranking.scored[:LEADS]:
        left = [word for word in ranking.unmet(x.candidate) if content_words(word)]
        for name in names(x.candidate.text):
            if not name_stems(name) <= known and not name[0].isdigit():
                yield " ".join([name, *left])


def _searches(queries: Sequence[str]) -> list[Call]:
    return [("WEB_SEARCH", {"query": query}) for query in dict.fromkeys(queries) if query]


def excerpt(passage: Passage, text: str, most: int) -> Passage:
    """Cut a passage down to a block of `most` sentences that holds a text."""
    spans = cut(passage.text)
    at = next((n for n, span in enumerate(spans) if passage.text.startswith(text, span.start)), 0)
    first = max(0, min(at - (most - 1) // 2, len(spans) - most))
    block = spans[first : first + most]
    if passage.kind == "table" or not block:
        return passage
    start, end = block[0].start, block[-1].end
    return replace(
        passage, text=passage.text[start:end], start=passage.start + start, end=passage.start + end
    )
