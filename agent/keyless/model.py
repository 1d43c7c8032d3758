"""The model that needs no key: it searches by rules, and quotes the sentence that answers."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent.evidence.passages import cells_of, columns_of
from agent.keyless.candidates import BULLETS, MOST_ITEMS, Ranking, candidates_of, has_kind
from agent.keyless.live import LIVE_TOOLS, RELEVANT, brought_text, live_call
from agent.keyless.question import (
    MARKS,
    AnswerKind,
    beyond_quoting,
    conversation_of,
    keywords,
    name_stems,
    names,
    parts_of,
    points_at_page,
    resolved,
    without_urls,
)
from agent.limits import STANDARD
from agent.models.base import ModelReply
from agent.protocol.replies import NOT_FOUND
from agent.types import Fit, ToolCall
from browser.text.sentences import sentences as cut
from browser.text.words import FOLDED, content_words, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.keyless.candidates import Candidate, Scored
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

    @cached_property
    def rankings(self) -> list[Ranking]:
        """The same for each part of a question that asks several things."""
        parts = parts_of(self.question)
        if len(parts) == 1:
            return [self.ranking]
        return [Ranking(part, self.ranking.candidates) for part in parts]

    @property
    def best(self) -> Scored | None:
        """The sentence that answers best, a whole one."""
        return best_of(self.ranking)

    @property
    def thin(self) -> bool:
        """Too little was found for an answer."""
        return is_thin(self.ranking, self.best)

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
        said = of_the_page(ranking.candidates, selection)
        if said:
            return said
    task = beyond_quoting(research.question)
    if conversation.wants_report:
        task = "write a report"
    told = [r for r in research.rankings if not task and not is_thin(r, best_of(r))]
    if not told:
        return refusal(task, research.rankings)
    lines = [quoted(ranking) for ranking in told]
    left = [r.question.text for r in research.rankings if r not in told]
    lines += [f"No passage that was read says “{text.strip(MARKS + ' ')}”." for text in left]
    return "\n\n".join(dict.fromkeys(lines))


def best_of(ranking: Ranking) -> Scored | None:
    """Give the sentence that answers best, a whole one."""
    return next((x for x in ranking.scored if x.candidate.whole), None)


def _fit(research: Research, said: str) -> Fit | None:
    """Tell how well the sentences fit that an answer has, by the worst; None where it gives up."""
    bests = [(r, best_of(r)) for r in research.rankings]
    told = [(r, x) for r, x in bests if x and not is_thin(r, x) and cited(x.candidate, r) in said]
    if said.startswith(NOT_FOUND) or not told:
        return None
    own, margin = (
        min(values) for values in zip(*((x.own, r.margin(x)) for r, x in told), strict=True)
    )
    return Fit(own=round(own, 3), margin=round(margin, 3), open=len(told) < len(bests))


LEAST_COVERED, UNNAMED = 0.35, 0.15
"""Share of the question's weight below which nothing is answered, and what is added to it where the
question names something and no page about that was read. Of sixteen features this one alone told
unanswerable questions better on unseen halves; without it 33 of 60 are refused where 42 are."""
LEAST_SAID = 0.25
"""Share of the question's weight that the sentence itself, what heads it, its page's title or the
sentence before it on the way must say: what only stands nearby is no answer. On two closed webs no
right answer of 340 says less; the most that loses none is .30 on one and .33 on the other."""
NEARLY = 2.5
"""Score by which a runner-up in the same passage may be worse, of about 14, to be said too. One in
another passage helped 2 of 40 answers."""
CLOSEST, SHOWN, LONGEST_QUOTE = 3, 3, 500
"""Passages shown where none answers clearly, sentences and characters of each."""
ANSWER = 2
"""Sentences that are given of what follows a question in a text."""
OPENING = 2
"""Sentences that are given of a page that is asked about as a whole."""


def is_thin(ranking: Ranking, best: Scored | None) -> bool:
    """Too little of the question is said for an answer."""
    if best is None or best.covered < LEAST_COVERED + (0 if ranking.named else UNNAMED):
        return True
    said = best.candidate.said | (best.bridge.said if best.bridge else frozenset())
    if ranking.covers(said) < LEAST_SAID:
        return True
    reason = ranking.question.kind is AnswerKind.REASON
    lacking = reason and not has_kind(best.candidate.text, ranking.question)
    return lacking or not ranking.says_role(best)


def quoted(ranking: Ranking) -> str:
    """Give the answer: the best sentence, and a second one where the first alone may not do.

    That is the one that leads to it, for a second hop; else the runner-up if it is nearly as good.
    """
    best, *others = (x for x in ranking.scored if x.candidate.whole)
    said = [best.candidate]
    if best.bridge is not None:
        said.append(best.bridge)
    elif others and others[0].score >= best.score - NEARLY:
        second = others[0].candidate
        said += [second] if second.passage.id == said[0].passage.id else []
    return "\n\n".join(cited(candidate, ranking) for candidate in said)


def cited(candidate: Candidate, ranking: Ranking) -> str:
    """Give a sentence as it stands, or a row in words, with the passage that it is from.

    What it leads to, ending with a colon, follows: the items of a list, or the lines of code. A
    line that is no sentence follows its heading in the same way.
    """
    if candidate.under:
        return "\n".join([f"{candidate.under}:\n", *_lines(candidate.passage, candidate.text)])
    said = f"{worded(candidate, ranking)} [{candidate.passage.id}]"
    if candidate.then and candidate.text.endswith("?"):
        answer = _around(candidate.then[0], "", ANSWER)
        return f"{said} {' '.join(answer.text.removeprefix(FOLDED).split())} [{answer.id}]"
    below = [line for passage in candidate.then for line in _lines(passage, passage.text)]
    return "\n".join([f"{said}\n", *below]) if below else said


def _lines(passage: Passage, text: str) -> list[str]:
    """Give a passage as a cited item: of a list, or, where it looks like no prose, of code."""
    lines = [x for x in text.removeprefix(FOLDED).split("\n") if x.strip()][:MOST_ITEMS]
    code = passage.kind == "text" and not text.rstrip().endswith(".")
    said = [f"`{x}`" if code else x.lstrip(BULLETS) for x in lines]
    return ["- " + "  \n  ".join(said) + f" [{passage.id}]"]


def worded(candidate: Candidate, ranking: Ranking) -> str:
    """Say a table's row as `Header: value (row)`; a sentence as it stands.

    The row is told by those of its cells that the question names, else by its first. Of several
    columns those are said whose name the question has, if the kind of answer is there, else all.
    """
    passage, question = candidate.passage, ranking.question
    if passage.kind != "table":
        return _plain(candidate.text)
    columns = [(head, cell) for head, cell in columns_of(passage) if cell]
    if len(columns) <= 2:
        cells = [cell for cell in cells_of(passage.text) if cell]
        return f"{cells[0]}: {', '.join(cells[1:])}" if cells[1:] else cells[0]
    terms = set(question.terms)
    keys = [pair for pair in columns if terms & set(content_words(pair[1]))]
    if not keys or len(keys) == len(columns):
        keys = columns[:1]
    others = [pair for pair in columns if pair not in keys]
    asking = set(words(question.text))
    forms = terms.union(*(ranking.forms[term] for term in terms))
    exact = [pair for pair in others if set(words(pair[0])) <= asking]
    named = exact or [pair for pair in others if forms & set(content_words(pair[0]))]
    if not named or not has_kind(" ".join(cell for _, cell in named), question):
        named = others
    values = ", ".join(f"{head}: {cell}" if head else cell for head, cell in named)
    return f"{values} ({', '.join(cell for _, cell in keys)})"


def of_the_page(candidates: Sequence[Candidate], selection: str) -> str:
    """What the page in view says: the sentences that are selected, else those it opens with."""
    selected = frozenset(content_words(selection))
    whole = [c for c in candidates if c.whole and c.passage.kind != "table"]
    marked = [c for c in whole if selected and c.own <= selected]
    return " ".join(f"{c.text} [{c.passage.id}]" for c in (marked or whole)[:OPENING])


def refusal(task: str, rankings: Sequence[Ranking]) -> str:
    """Show the passages that come closest, as that; where none comes near, say only so."""
    near = [x for ranking in rankings for x in _near(ranking)[: max(1, CLOSEST // len(rankings))]]
    pieces = {
        p.id: p for p in (_around(x.candidate.passage, x.candidate.text, SHOWN) for x in near)
    }
    lines = [f"- “{_short(_plain(' '.join(p.text.split())))}” [{p.id}]" for p in pieces.values()]
    said = f"{NOT_FOUND} {f'To {task} takes a language model. ' if task else ''}"
    if not lines:
        return f"{said}No page that was read bears on the question."
    first = rankings[0]
    named = {n for n in first.question.names if not first.question.text.startswith(n)}
    missing = named.intersection(*(first.unmet(x.candidate) for x in near))
    without = f", none says {' or '.join(sorted(missing))}" if missing and not task else ""
    return f"{said}Closest passages found; they may not answer{without}:\n\n" + "\n".join(lines)


def _near(ranking: Ranking) -> list[Scored]:
    """The best sentence of each passage that speaks of the question, best first."""
    found: dict[str, Scored] = {}
    for x in ranking.scored:
        if x.candidate.whole and x.covered >= LEAST_COVERED / 2:
            found.setdefault(x.candidate.passage.id, x)
    return list(found.values())


def _plain(text: str) -> str:
    """Without the marks of Markdown for bold type, of which a cut sentence may hold one alone."""
    return text.replace("**", "").strip()


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE].rsplit(' ', 1)[0]} …"
