"""The model that needs no key: it searches by rules, and quotes the sentence that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.depth import STANDARD
from agent.keyless import keyless_answer as answer
from agent.keyless.conversation import conversation_of
from agent.keyless.question import beyond_quoting
from agent.keyless.researcher import Research, Researcher
from agent.models.base import ModelReply
from agent.types import Fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.depth import Effort
    from agent.models.base import Task
    from agent.types import Message


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
