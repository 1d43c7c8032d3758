"""Does research in code: decides what to search for and read until it is time to answer."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from agent.keyless.conversation import read_conversation
from agent.keyless.live_page import (
    LIVE_TOOLS,
    MIN_PAGE_COVERAGE,
    has_added_text,
    next_live_page_call,
)
from agent.keyless.question import (
    analyse,
    find_names,
    keywords,
    name_stems,
    refers_to_open_page,
    resolve_question,
    split_question,
    split_urls,
)
from agent.keyless.ranking import Ranking, extract_candidates
from agent.limits import STANDARD_LIMITS
from agent.types import ToolCall
from browser.text.languages import language_of
from browser.text.sentences import sentences as split_sentences
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.keyless.conversation import Conversation
    from agent.keyless.live_page import Call
    from agent.limits import DepthLimits
    from agent.types import Message, Observation, Passage

COMPLETE_SHARE = 0.65
"""If an answer covers at least this share of the question, there is no follow-up search."""
MAX_LEADS = 4
"""Number of top-ranked sentences whose names are used in follow-up searches."""


class Research:
    """The state of the research in a conversation; its rankings are computed when first used."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        text, self.urls = split_urls(conversation.question)
        title = conversation.page.title if conversation.page else ""
        question = resolve_question(text, conversation.earlier, title)
        if question.language is None and not question.inherited:
            read = " ".join(p.text for o in conversation.observations for p in o.passages)
            question = analyse(question.text, language_of(read))
        self.question = question

    @cached_property
    def ranking(self) -> Ranking:
        """The candidates from everything that was read, ranked."""
        observations = self.conversation.observations
        candidates = extract_candidates(observations, self.question)
        return Ranking(self.question, candidates, fuse_results(observations))

    @cached_property
    def rankings(self) -> list[Ranking]:
        """The rankings for the question's parts, one per part."""
        parts = split_question(self.question)
        if len(parts) == 1:
            return [self.ranking]
        found = fuse_results(self.conversation.observations)
        return [Ranking(part, self.ranking.candidates, found) for part in parts]

    @property
    def is_complete(self) -> bool:
        """Whether the best candidate and its page title contain all the question's words."""
        best = None if self.ranking.is_insufficient else self.ranking.best
        return best is not None and not self.ranking.missing_words(best.candidate)

    @property
    def is_about_page(self) -> bool:
        """Whether the question is about the page that the user is viewing."""
        return self.conversation.page is not None and refers_to_open_page(
            self.conversation.question
        )

    @property
    def reading_query(self) -> str:
        """The query that selects passages from a long page: the question plus later queries."""
        # The first two queries are the question itself, unless the user approved others.
        first = 0 if self.conversation.searches else 2
        later = self.conversation.parameter_values("WEB_SEARCH", "query")[first:]
        return " ".join(dict.fromkeys(" ".join([self.question.text, *later]).split()))


class Researcher:
    """Researches a question without a language model: searches, reads, follows up on names.

    It is stateless: its calls follow from `Message.question` and `Message.observations` alone,
    never from the text of messages. `limits` apply to the research. A model that writes the
    answer itself uses it like this:

        researcher = Researcher(limits)
        calls = researcher.next_calls(messages)      # list[ToolCall]: run them, then ask again
        if calls is None:                            # done: no further call would help
            passages = researcher.best_passages(messages, limit=6, sentences=3)
    """

    def __init__(self, limits: DepthLimits = STANDARD_LIMITS) -> None:
        self._limits = limits

    def next_calls(self, messages: Sequence[Message]) -> list[ToolCall] | None:
        """Return the tool calls of the next step, at least one; None when it is time to answer.

        The calls in one step are independent and may run in parallel. The last step that the limits
        allow is reserved for the answer. After a message without observations, which means that a
        limit was reached, there are no more calls.
        """
        return self.calls_for(Research(read_conversation(messages)))

    def calls_for(self, research: Research) -> list[ToolCall] | None:
        """Return the next step's tool calls for a conversation that has already been parsed."""
        conversation = research.conversation
        if conversation.ended or len(conversation.steps) >= self._limits.steps - 1:
            return None
        steps = [self._read_referenced_pages]
        if not research.is_about_page:
            steps += (
                self._first_searches,
                self._read_results,
                self._second_hop,
                self._next_list_page,
                self._use_live_page,
            )
        calls: list[Call] = []
        for step in steps:
            calls = calls or step(research)
        found = [ToolCall(name, json.dumps(param, ensure_ascii=False)) for name, param in calls]
        return found or None

    def best_passages(
        self, messages: Sequence[Message], limit: int, sentences: int
    ) -> list[Passage]:
        """Return the passages that best answer the question, best first; empty if there are none.

        Each is cut to at most `sentences` sentences around its best one, and keeps the `id` of the
        passage it was cut from, for citations; `heading` begins with the page's title. A bridge
        sentence directly follows the one that depends on it.
        """
        conversation = read_conversation(messages)
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

    def _read_referenced_pages(self, research: Research) -> list[Call]:
        """Read what the question refers to: its URLs, and the page that the user is viewing."""
        conversation, page = research.conversation, research.conversation.page
        if conversation.steps:
            return []
        unread = [page.url] if page is not None and not page.passages and page.url else []
        return [
            ("READ", {"url": url, "query": research.question.text})
            for url in (*research.urls, *unread)
        ]

    def _first_searches(self, research: Research) -> list[Call]:
        """Run the searches that the user approved, otherwise search for the question.

        No search runs if a file, a URL in the question or the page in view already answers it.
        """
        conversation, question = research.conversation, research.question
        is_answered = bool(conversation.observations) and not research.ranking.is_insufficient
        if conversation.count_steps("WEB_SEARCH") or is_answered:
            return []
        if not (question.terms or conversation.searches):
            return []
        return _search_calls(conversation.searches or first_searches(question.text))

    def _read_results(self, research: Research) -> list[Call]:
        """Read the best new results, by rank and by the number of searches that found them."""
        done = set(research.conversation.parameter_values("READ", "url"))
        limit = self._limits.next_reads if done - set(research.urls) else self._limits.first_reads
        score = fuse_results(research.conversation.latest)
        urls = [url for url in sorted(score, key=lambda url: -score[url]) if url not in done]
        return [("READ", {"url": url, "query": research.reading_query}) for url in urls[:limit]]

    def _second_hop(self, research: Research) -> list[Call]:
        """If the answer is uncertain, search for a name found so far, plus the missing words."""
        conversation, ranking = research.conversation, research.ranking
        searches = conversation.count_steps("WEB_SEARCH")
        best = None if ranking.is_insufficient else ranking.best
        is_sure = best is not None and best.covered >= COMPLETE_SHARE
        is_live = any(o.tool in LIVE_TOOLS for o in conversation.latest)
        if not 0 < searches < self._limits.searches or is_sure or is_live:
            return []
        queries = conversation.parameter_values("WEB_SEARCH", "query")
        done = {frozenset(content_words(query)) for query in queries}
        new = [q for q in _follow_up_queries(ranking) if frozenset(content_words(q)) not in done]
        return _search_calls(new[: self._limits.queries])

    def _next_list_page(self, research: Research) -> list[Call]:
        """If the answer is incomplete, read the next page of the most relevant paged list."""
        if research.is_complete:
            return []
        conversation = research.conversation
        done = set(conversation.parameter_values("READ", "url"))
        read = conversation.results("READ")
        followed = {o.get("next") for o in read} & done
        # (belongs to a list that is being followed, coverage, URL of the next page)
        choices = [(False, 0.0, "")]
        for o in read:
            if o.get("next") and o.get("next") not in done:
                text = " ".join([o.title, *(p.text for p in o.passages)])
                coverage = research.ranking.coverage(content_words(text))
                choices.append((o.url in followed, coverage, str(o.get("next"))))
        is_begun, coverage, url = max(choices)
        if len(followed) >= self._limits.list_pages or not (
            is_begun or coverage >= MIN_PAGE_COVERAGE
        ):
            return []
        return [("READ", {"url": url, "query": research.reading_query})]

    def _use_live_page(self, research: Research) -> list[Call]:
        """If the answer is incomplete, read what the last action revealed or act on a live page."""
        latest = research.conversation.latest
        is_unread = len(latest) == 1 and latest[0].tool in LIVE_TOOLS and not latest[0].passages
        if is_unread and has_added_text(latest[0]):
            return [("READ", {"query": research.reading_query})]
        call = (
            None
            if research.is_complete
            else next_live_page_call(research.conversation, research.ranking)
        )
        return [call] if call else []


def first_searches(question: str) -> list[str]:
    """Return the first searches for a question."""
    return list(dict.fromkeys(filter(None, [question, keywords(question)])))


def fuse_results(searches: Iterable[Observation]) -> dict[str, float]:
    """Score search results by reciprocal rank fusion: URL -> score."""
    score: dict[str, float] = {}
    for search in searches:
        for rank, hit in enumerate(search.results):
            score[hit.url] = score.get(hit.url, 0.0) + 1 / (rank + 2)
    return score


def _follow_up_queries(ranking: Ranking) -> Iterator[str]:
    """Yield follow-up queries: a name in the best sentences, plus the missing words."""
    known = frozenset(ranking.question.terms)
    for x in ranking.scored[:MAX_LEADS]:
        missing = [word for word in ranking.missing_words(x.candidate) if content_words(word)]
        for name in find_names(x.candidate.text):
            if not name_stems(name) <= known and not name[0].isdigit():
                yield " ".join([name, *missing])


def _search_calls(queries: Sequence[str]) -> list[Call]:
    return [("WEB_SEARCH", {"query": query}) for query in dict.fromkeys(queries) if query]


def excerpt(passage: Passage, text: str, limit: int) -> Passage:
    """Cut a passage to `limit` sentences around the one starting with `text`; rows are not cut."""
    spans = split_sentences(passage.text)
    at = next((n for n, span in enumerate(spans) if passage.text.startswith(text, span.start)), 0)
    first = max(0, min(at - (limit - 1) // 2, len(spans) - limit))
    block = spans[first : first + limit]
    if passage.kind == "table" or not block:
        return passage
    start, end = block[0].start, block[-1].end
    return replace(
        passage, text=passage.text[start:end], start=passage.start + start, end=passage.start + end
    )
