"""The model that needs no API key: it searches, reads, and quotes the answering sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.confidence import MIN_EXTRACTIVE_CONFIDENCE, fit_probability
from agent.evidence.passages import named_cells, split_row
from agent.keyless.conversation import read_conversation
from agent.keyless.question import MARKS, synthesis_task
from agent.keyless.ranking import BULLETS, MAX_ITEMS, kind_score
from agent.keyless.researcher import Research, Researcher, excerpt
from agent.limits import STANDARD_LIMITS
from agent.models.base import ModelReply
from agent.protocol.replies import NOT_FOUND
from agent.types import MAX_CLOSEST, Fit
from browser.text.words import FOLDED, content_words, ends_sentence, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.keyless.ranking import Candidate, Ranking
    from agent.limits import DepthLimits
    from agent.models.base import Task
    from agent.types import Message, Passage

MAX_SCORE_GAP = 2.5
"""A runner-up in the same passage is also quoted if its score is at most this much lower than the
best score (typically about 14). A runner-up in another passage helped in only 2 of 40 answers."""
MIN_DENSITY = 0.4
"""Minimum value of `Ranking.density` in an answer. Of the answers to 574 questions over closed webs
and two folders, 112 of 116 are right at or above the minimum confidence, and 97 of 99 if this
minimum applies too (156 of 166 with only a minimum confidence of .85).
"""
ANSWER_SENTENCES = 2
"""Number of sentences quoted as the answer to a question in the page text."""
OPENING_SENTENCES = 2
"""Number of sentences quoted for a question about a page as a whole."""


class ExtractiveModel:
    """Answers with verbatim sentences from what was read; needs no API key and makes no requests.

    It is stateless: its next step follows from the messages alone. `limits` apply to its research.
    """

    name = "extractive"

    def __init__(self, limits: DepthLimits = STANDARD_LIMITS) -> None:
        self._researcher = Researcher(limits)

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002 - the rules replace the system prompt
        """Return the next tool calls, or the answer."""
        research = Research(read_conversation(messages))
        calls = self._researcher.calls_for(research)
        if calls is None:
            text = final_answer(research)
            fit = _fit(research, text)
            if fit and (
                fit_probability(fit) < MIN_EXTRACTIVE_CONFIDENCE or not _is_dense(research)
            ):
                text = _not_found("", research.rankings)
            return ModelReply(text, model=self.name, fit=fit)
        tags = "\n".join(f"<<TOOL:{call.name}:{call.param}>>" for call in calls)
        return ModelReply(tags, model=self.name)

    def takes(self, task: Task) -> bool:  # noqa: ARG002 - the same for all tasks
        """Return False: planning needs no model, and this model cannot write prose."""
        return False

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def final_answer(research: Research) -> str:
    """Return the answering sentence with its citation, or NOT_FOUND and the missing terms."""
    conversation, ranking = research.conversation, research.ranking
    selection = str(conversation.page.get("selection") or "") if conversation.page else ""
    if research.is_about_page and (ranking.is_insufficient or selection):
        text = _quote_page(ranking.candidates, selection)
        if text:
            return text
    task = synthesis_task(research.question)
    if conversation.wants_report:
        task = "write a report"
    answered = [part for part in research.rankings if not task and not part.is_insufficient]
    if not answered:
        return _not_found(task, research.rankings)
    lines = [_quote_best(part) for part in answered]
    open_parts = [part.question.text for part in research.rankings if part not in answered]
    lines += [
        f"None of the passages that were read contains “{text.strip(MARKS + ' ')}”."
        for text in open_parts
    ]
    return "\n\n".join(dict.fromkeys(lines))


def _fit(research: Research, text: str) -> Fit | None:
    """Measure how well an answer's worst sentence fits; None if nothing was found."""
    answered = [
        part.fit(part.best)
        for part in research.rankings
        if part.best and not part.is_insufficient and _cite(part.best.candidate, part) in text
    ]
    if text.startswith(NOT_FOUND) or not answered:
        return None
    if len(answered) < len(research.rankings):
        return Fit(covered=0.0, margin=0.0)
    values = [fit.has_value for fit in answered if fit.has_value is not None]
    return Fit(
        covered=min(fit.covered for fit in answered),
        margin=min(fit.margin for fit in answered),
        stated=min(fit.stated for fit in answered),
        has_value=all(values) if values else None,
    )


def _is_dense(research: Research) -> bool:
    """Return whether the question's words are close together in the best sentences."""
    best = [(part, part.best) for part in research.rankings if part.best is not None]
    return all(part.density(x.candidate) >= MIN_DENSITY for part, x in best)


def _quote_best(ranking: Ranking) -> str:
    """Quote the best sentence, and a second one if the best one may not be enough.

    The second sentence is the one from another page on which the best sentence depends, or else a
    runner-up in the same passage that is nearly as good.
    """
    best, *others = (x for x in ranking.scored if x.candidate.is_quotable)
    quoted = [best.candidate]
    if best.bridge is not None:
        quoted.append(best.bridge)
    elif others and others[0].score >= best.score - MAX_SCORE_GAP:
        second = others[0].candidate
        if second.passage.id == best.candidate.passage.id:
            quoted.append(second)
    return "\n\n".join(_cite(candidate, ranking) for candidate in quoted)


def _cite(candidate: Candidate, ranking: Ranking) -> str:
    """Format a sentence, or a table row as text, with its passage id.

    Any list items or lines of code that it introduces follow it. If it is not a sentence by itself,
    its heading precedes it.
    """
    if candidate.shown_heading:
        return f"{candidate.shown_heading}:\n\n{_item(candidate.passage, candidate.text)}"
    quote = f"{_format_quote(candidate, ranking)} [{candidate.passage.id}]"
    if candidate.following and candidate.text.endswith("?"):
        answer = excerpt(candidate.following[0], "", ANSWER_SENTENCES)
        return f"{quote} {' '.join(answer.text.removeprefix(FOLDED).split())} [{answer.id}]"
    items = [_item(passage, passage.text) for passage in candidate.following]
    return "\n".join([f"{quote}\n", *items]) if items else quote


def _item(passage: Passage, text: str) -> str:
    """Format a passage as a cited list item; if it does not look like prose, format it as code."""
    lines = [line for line in text.removeprefix(FOLDED).split("\n") if line.strip()][:MAX_ITEMS]
    is_code = passage.kind == "text" and not ends_sentence(text)
    formatted = [f"`{line}`" if is_code else line.lstrip(BULLETS) for line in lines]
    return "- " + "  \n  ".join(formatted) + f" [{passage.id}]"


def _format_quote(candidate: Candidate, ranking: Ranking) -> str:
    """Format a table row as `Header: value (row)`; return a sentence unchanged.

    The row is named after the cells that the question mentions, otherwise after its first cell.
    Only columns whose names the question mentions are included, provided that they have the
    requested kind of answer; otherwise, all columns are.
    """
    passage, question = candidate.passage, ranking.question
    if passage.kind != "table":
        return _without_bold(candidate.text)
    columns = [(head, cell) for head, cell in named_cells(passage) if cell]
    if len(columns) <= 2:
        cells = [cell for cell in split_row(passage.text) if cell]
        return f"{cells[0]}: {', '.join(cells[1:])}" if cells[1:] else cells[0]
    terms = set(question.terms)
    keys = [pair for pair in columns if terms & set(content_words(pair[1]))]
    if not keys or len(keys) == len(columns):
        keys = columns[:1]
    others = [pair for pair in columns if pair not in keys]
    question_words = set(words(question.text))
    forms = terms.union(*(ranking.forms[term] for term in terms))
    exact = [pair for pair in others if set(words(pair[0])) <= question_words]
    wanted = exact or [pair for pair in others if forms & set(content_words(pair[0]))]
    if not wanted or not kind_score(" ".join(cell for _, cell in wanted), question):
        wanted = others
    values = ", ".join(f"{head}: {cell}" if head else cell for head, cell in wanted)
    return f"{values} ({', '.join(cell for _, cell in keys)})"


def _quote_page(candidates: Sequence[Candidate], selection: str) -> str:
    """Quote the page in view: its selected sentences if any, otherwise its first ones."""
    selected = frozenset(content_words(selection))
    quotable = [c for c in candidates if c.is_quotable and c.passage.kind != "table"]
    in_selection = [c for c in quotable if selected and c.stems <= selected]
    chosen = (in_selection or quotable)[:OPENING_SENTENCES]
    return " ".join(f"{c.text} [{c.passage.id}]" for c in chosen)


def _not_found(task: str, rankings: Sequence[Ranking]) -> str:
    """Report that nothing answers the question, and cite the closest passages, if any.

    `task` is the part of the question that needs a language model, such as "compare".
    """
    limit = max(1, MAX_CLOSEST // len(rankings))
    closest = [candidate for ranking in rankings for candidate in ranking.closest(limit)]
    message = f"{NOT_FOUND} {f'Only a language model can {task}. ' if task else ''}"
    if not closest:
        read = "None of the pages that were read is relevant to the question."
        return message + (read if any(r.candidates for r in rankings) else "No page was read.")

    # Names in the question that do not occur in any of these passages.
    first = rankings[0]
    names = {n for n in first.question.names if not first.question.text.startswith(n)}
    missing = names.intersection(*map(first.missing_words, closest))
    without = f"; none mentions {' or '.join(sorted(missing))}" if missing and not task else ""
    ids = "".join(dict.fromkeys(f"[{c.passage.id}]" for c in closest))
    return f"{message}The closest passages may not answer the question{without}. {ids}"


def _without_bold(text: str) -> str:
    """Remove Markdown's bold markers, since a cut sentence may have only one of a pair."""
    return text.replace("**", "").strip()
