"""The model that needs no key: it searches by rules, and quotes the sentence that answers."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent.keyless import keyless_answer as answer
from agent.keyless.candidates import Ranking, candidates_of
from agent.keyless.live import LIVE_TOOLS, RELEVANT, brought_text, live_call
from agent.keyless.question import (
    beyond_quoting,
    conversation_of,
    keywords,
    name_stems,
    names,
    points_at_page,
    resolved,
    without_urls,
)
from agent.limits import STANDARD
from agent.models.base import ModelReply
from agent.types import Fit, ToolCall
from browser.text.sentences import sentences as cut
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.keyless.candidates import Scored
    from agent.keyless.question import Conversation, Question
    from agent.limits import Effort
    from agent.models.base import Task
    from agent.types import Message, Observation, Passage

SURE = 0.65
"""Share of the question that an answer covers from which nothing further is looked for."""
LEADS = 4
"""Best sentences whose names are searched for a second hop."""
Call = tuple[str, dict[str, Any]]


class Research:
    """What a conversation has come to; each part is worked out when it is first asked for."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        text, self.urls = without_urls(conversation.question)
        page = conversation.page
        title = page.title if page else ""
        self.question: Question = resolved(text, conversation.earlier, title)

    @cached_property
    def ranking(self) -> Ranking:
        """The sentences read, ranked."""
        return Ranking(self.question, candidates_of(self.conversation.observations))

    @property
    def best(self) -> Scored | None:
        """The sentence that answers best, a whole one."""
        return next((x for x in self.ranking.scored if x.candidate.whole), None)

    @property
    def thin(self) -> bool:
        """Too little was found for an answer."""
        return answer.is_thin(self.ranking, self.best)

    @property
    def sure(self) -> bool:
        """The best sentence says nearly all of the question."""
        return not self.thin and self.best is not None and self.best.covered >= SURE

    @property
    def complete(self) -> bool:
        """The best sentence says every word of the question, itself or by its page's title."""
        return (
            not self.thin and self.best is not None and not self.ranking.unmet(self.best.candidate)
        )

    @property
    def about_the_page(self) -> bool:
        """The question points at the page that the person has before them."""
        return self.conversation.page is not None and points_at_page(self.conversation.question)

    @property
    def pages_read(self) -> int:
        """How many pages were read."""
        return len({o.url for o in self.conversation.results("READ")})


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
        if (
            research.conversation.ended
            or len(research.conversation.steps) >= self._effort.steps - 1
        ):
            return None
        for step in (self._given, self._search, self._read, self._hop, self._turn, self._live):
            if calls := step(research):
                return [ToolCall(name, json.dumps(p, ensure_ascii=False)) for name, p in calls]
            if step == self._given and research.about_the_page:
                return None
        return None

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
                piece = _around(candidate.passage, candidate.text, sentences)
                above = [titles.get(candidate.page, ""), piece.heading]
                found.append(replace(piece, heading=" › ".join(filter(None, above))))
            if len(found) >= limit:
                break
        return found[:limit]

    def _given(self, research: Research) -> list[Call]:
        """Read what the question itself names: an address in it, the page before the person."""
        conversation = research.conversation
        if conversation.steps:
            return []
        found = [("READ", {"url": url, "query": research.question.text}) for url in research.urls]
        page = conversation.page
        if page is not None and not page.passages and page.url:
            found.append(("READ", {"url": page.url, "query": research.question.text}))
        return found

    def _search(self, research: Research) -> list[Call]:
        """Search for the question as it is, and for its telling words.

        Not where a file, an address or the page in view already answers.
        """
        conversation, question = research.conversation, research.question
        if conversation.rounds("WEB_SEARCH") or not question.terms:
            return []
        if conversation.observations and not research.thin:
            return []
        return _searches([question.text, keywords(question.text)])

    def _read(self, research: Research) -> list[Call]:
        """Read the most promising results of the searches just made, several at once."""
        searches = [o for o in research.conversation.latest if o.tool == "WEB_SEARCH"]
        done = set(research.conversation.asked("READ", "url"))
        many = self._effort.next_reads if done - set(research.urls) else self._effort.first_reads
        urls = [url for url in _promising(searches) if url not in done]
        return [("READ", {"url": url, "query": _sought(research)}) for url in urls[:many]]

    def _hop(self, research: Research) -> list[Call]:
        """Where the answer is not sure: search for a name found on the way, with what is open."""
        conversation = research.conversation
        rounds = conversation.rounds("WEB_SEARCH")
        live = any(o.tool in LIVE_TOOLS for o in conversation.latest)
        if not 0 < rounds < self._effort.searches or research.sure or live:
            return []
        asked = {frozenset(content_words(q)) for q in conversation.asked("WEB_SEARCH", "query")}
        wanted = [
            q for q in _follow_ups(research.ranking) if frozenset(content_words(q)) not in asked
        ]
        return _searches(wanted[: self._effort.queries])

    def _turn(self, research: Research) -> list[Call]:
        """Where something is open: the next page of the page that speaks most of the question."""
        if research.complete:
            return []
        conversation = research.conversation
        done = set(conversation.asked("READ", "url"))
        read = conversation.results("READ")
        turned = {o.get("next") for o in read} & done
        onward = [o for o in read if o.get("next") and o.get("next") not in done]
        texts = (" ".join([o.title, *(p.text for p in o.passages)]) for o in onward)
        worth = [
            (o.url in turned, research.ranking.covers(content_words(text)), str(o.get("next")))
            for o, text in zip(onward, texts, strict=True)
        ]
        begun, relevant, following = max(worth, default=(False, 0.0, ""))
        if len(turned) >= self._effort.list_pages or not (begun or relevant >= RELEVANT):
            return []
        return [("READ", {"url": following, "query": _sought(research)})]

    def _live(self, research: Research) -> list[Call]:
        """Where something is open: work a live page, and read what an action brought."""
        latest = research.conversation.latest
        unread = len(latest) == 1 and latest[0].tool in LIVE_TOOLS and not latest[0].passages
        if unread and brought_text(latest[0]):
            return [("READ", {"query": _sought(research)})]
        if research.complete:
            return []
        call = live_call(research.conversation, research.ranking, thin=research.thin)
        return [call] if call else []


def _promising(searches: Sequence[Observation]) -> list[str]:
    """The addresses of a few searches' results: those that stand high, and in several, first."""
    score: dict[str, float] = {}
    for search in searches:
        for rank, hit in enumerate(search.results):
            score[hit.url] = score.get(hit.url, 0.0) + 1 / (rank + 2)
    return sorted(score, key=lambda url: -score[url])


def _follow_ups(ranking: Ranking) -> Iterator[str]:
    """Queries for a second hop: a name that the best sentences bring, with what they leave open."""
    known = frozenset(ranking.question.terms)
    for x in ranking.scored[:LEADS]:
        c = x.candidate
        left = [w for w in ranking.unmet(c) if content_words(w)]
        for name in names(c.text):
            if name and not name_stems(name) <= known and not name[0].isdigit():
                yield " ".join([name, *left])


def _searches(queries: Sequence[str]) -> list[Call]:
    return [("WEB_SEARCH", {"query": query}) for query in dict.fromkeys(queries) if query]


def _sought(research: Research) -> str:
    """The question with the words of later queries, for the choice of a long page's passages."""
    later = research.conversation.asked("WEB_SEARCH", "query")[2:]
    return " ".join(dict.fromkeys(" ".join([research.question.text, *later]).split()))


def _around(passage: Passage, text: str, most: int) -> Passage:
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


class ExtractiveModel:
    """Answers from what was read, word for word; needs no key and no network of its own.

    What it does next follows from the messages alone. `effort` says how far it reaches out.
    """

    name = "extractive"

    def __init__(self, effort: Effort = STANDARD) -> None:
        self._researcher = Researcher(effort)

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002 - the rules are its system prompt
        """Say what to do next, or the answer."""
        research = Research(conversation_of(messages))
        calls = self._researcher.calls_for(research)
        if calls is None:
            said = final_answer(research)
            return ModelReply(said, model=self.name, fit=_fit(research, said))
        tags = "\n".join(f"<<TOOL:{call.name}:{call.param}>>" for call in calls)
        return ModelReply(tags, model=self.name)

    def takes(self, task: Task) -> bool:  # noqa: ARG002 - the same for all
        """Nothing but the question: it plans by rules, and writes no prose of its own."""
        return False

    async def aclose(self) -> None:
        """Nothing is held open."""


def final_answer(research: Research) -> str:
    """The sentence that answers, with its citation; else NOT_FOUND and what is lacking."""
    conversation, ranking = research.conversation, research.ranking
    selection = str(conversation.page.get("selection") or "") if conversation.page else ""
    if research.about_the_page and (research.thin or selection):
        said = answer.of_the_page(ranking.candidates, selection)
        if said:
            return said
    task = beyond_quoting(research.question)
    if conversation.wants_report:
        task = "write a report"
    if task:
        return answer.beyond(task, ranking)
    if research.thin:
        return answer.refusal(ranking, research.pages_read)
    return answer.quoted(ranking)


def _fit(research: Research, said: str) -> Fit | None:
    """Tell how well the sentence fits that an answer begins with; None where it gives up."""
    best = research.best
    if best is None or not said.startswith(answer.worded(best.candidate, research.ranking)):
        return None
    return Fit(own=round(best.own, 3), margin=round(research.ranking.margin(best), 3))
