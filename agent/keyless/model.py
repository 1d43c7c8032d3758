"""The model that needs no key: it searches by rules, and quotes the sentence that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.passages import named_cells, split_row
from agent.keyless.conversation import conversation_of
from agent.keyless.question import MARKS, beyond_quoting
from agent.keyless.ranking import BULLETS, LEAST_COVERED, MOST_ITEMS, has_kind
from agent.keyless.researcher import Research, Researcher, excerpt
from agent.limits import STANDARD
from agent.models.base import ModelReply
from agent.protocol.replies import NOT_FOUND
from agent.types import Fit
from browser.text.words import FOLDED, content_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.keyless.ranking import Candidate, Ranking, Scored
    from agent.limits import Effort
    from agent.models.base import Task
    from agent.types import Message, Passage

NEARLY = 2.5
"""Score by which a runner-up in the same passage may be worse, of about 14, to be said too. One in
another passage helped 2 of 40 answers."""
CLOSEST, SHOWN, LONGEST_QUOTE = 3, 3, 500
"""Passages shown where none answers clearly, sentences and characters of each."""
ANSWER = 2
"""Sentences that are given of what follows a question in a text."""
OPENING = 2
"""Sentences that are given of a page that is asked about as a whole."""


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
            text = final_answer(research)
            return ModelReply(text, model=self.name, fit=_fit(research, text))
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
    if research.about_the_page and (ranking.thin or selection):
        text = _of_the_page(ranking.candidates, selection)
        if text:
            return text
    task = beyond_quoting(research.question)
    if conversation.wants_report:
        task = "write a report"
    told = [part for part in research.rankings if not task and not part.thin]
    if not told:
        return _refusal(task, research.rankings)
    lines = [_quoted(part) for part in told]
    left = [part.question.text for part in research.rankings if part not in told]
    lines += [f"No passage that was read says “{text.strip(MARKS + ' ')}”." for text in left]
    return "\n\n".join(dict.fromkeys(lines))


def _fit(research: Research, text: str) -> Fit | None:
    """Tell how well the sentences fit that an answer has, by the worst; None where it gives up."""
    told = [
        (part.best.own, part.margin(part.best))
        for part in research.rankings
        if part.best and not part.thin and _cited(part.best.candidate, part) in text
    ]
    if text.startswith(NOT_FOUND) or not told:
        return None
    own, margin = map(min, zip(*told, strict=True))
    return Fit(own=round(own, 3), margin=round(margin, 3), open=len(told) < len(research.rankings))


def _quoted(ranking: Ranking) -> str:
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
    return "\n\n".join(_cited(candidate, ranking) for candidate in said)


def _cited(candidate: Candidate, ranking: Ranking) -> str:
    """Give a sentence as it stands, or a row in words, with the passage that it is from.

    What it leads to, ending with a colon, follows: the items of a list, or the lines of code. A
    line that is no sentence follows its heading in the same way.
    """
    if candidate.under:
        return f"{candidate.under}:\n\n{_item(candidate.passage, candidate.text)}"
    said = f"{_worded(candidate, ranking)} [{candidate.passage.id}]"
    if candidate.then and candidate.text.endswith("?"):
        answer = excerpt(candidate.then[0], "", ANSWER)
        return f"{said} {' '.join(answer.text.removeprefix(FOLDED).split())} [{answer.id}]"
    below = [_item(passage, passage.text) for passage in candidate.then]
    return "\n".join([f"{said}\n", *below]) if below else said


def _item(passage: Passage, text: str) -> str:
    """Give a passage as a cited item: of a list, or, where it looks like no prose, of code."""
    lines = [x for x in text.removeprefix(FOLDED).split("\n") if x.strip()][:MOST_ITEMS]
    code = passage.kind == "text" and not text.rstrip().endswith(".")
    said = [f"`{x}`" if code else x.lstrip(BULLETS) for x in lines]
    return "- " + "  \n  ".join(said) + f" [{passage.id}]"


def _worded(candidate: Candidate, ranking: Ranking) -> str:
    """Say a table's row as `Header: value (row)`; a sentence as it stands.

    The row is told by those of its cells that the question names, else by its first. Of several
    columns those are said whose name the question has, if the kind of answer is there, else all.
    """
    passage, question = candidate.passage, ranking.question
    if passage.kind != "table":
        return _plain(candidate.text)
    columns = [(head, cell) for head, cell in named_cells(passage) if cell]
    if len(columns) <= 2:
        cells = [cell for cell in split_row(passage.text) if cell]
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


def _of_the_page(candidates: Sequence[Candidate], selection: str) -> str:
    """What the page in view says: the sentences that are selected, else those it opens with."""
    selected = frozenset(content_words(selection))
    whole = [c for c in candidates if c.whole and c.passage.kind != "table"]
    marked = [c for c in whole if selected and c.own <= selected]
    return " ".join(f"{c.text} [{c.passage.id}]" for c in (marked or whole)[:OPENING])


def _refusal(task: str, rankings: Sequence[Ranking]) -> str:
    """Show the passages that come closest, as that; where none comes near, say only so."""
    near: list[Scored] = []
    for ranking in rankings:
        best: dict[str, Scored] = {}  # the best sentence of each passage that speaks of it
        for x in ranking.scored:
            if x.candidate.whole and x.covered >= LEAST_COVERED / 2:
                best.setdefault(x.candidate.passage.id, x)
        near += [*best.values()][: max(1, CLOSEST // len(rankings))]
    lines: dict[str, str] = {}
    for x in near:
        piece = excerpt(x.candidate.passage, x.candidate.text, SHOWN)
        text = _plain(" ".join(piece.text.split()))
        if len(text) > LONGEST_QUOTE:
            text = f"{text[:LONGEST_QUOTE].rsplit(' ', 1)[0]} …"
        lines[piece.id] = f"- “{text}” [{piece.id}]"
    said = f"{NOT_FOUND} {f'To {task} takes a language model. ' if task else ''}"
    if not lines:
        return f"{said}No page that was read bears on the question."
    first = rankings[0]
    named = {n for n in first.question.names if not first.question.text.startswith(n)}
    missing = named.intersection(*(first.unmet(x.candidate) for x in near))
    without = f", none says {' or '.join(sorted(missing))}" if missing and not task else ""
    closest = "\n".join(lines.values())
    return f"{said}Closest passages found; they may not answer{without}:\n\n{closest}"


def _plain(text: str) -> str:
    """Without the marks of Markdown for bold type, of which a cut sentence may hold one alone."""
    return text.replace("**", "").strip()
