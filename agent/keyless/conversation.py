"""Reconstructs the question and its observations from a loop's messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Message, Observation

REPORT = "[Report:"
"""Prefix of the loop's request to write a report on what was read."""
_NOTES = (REPORT, "[Limit reached:", "[Note:", "[Previous conversation")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A question and the observations made for it.

    `earlier` lists the user's previous questions, oldest first; `attached` contains the files and
    the page supplied with the question; `searches` lists the searches that the user approved;
    `steps` contains the observations from each step. `ended` means that no further tool will run;
    `wants_report` means that a report on the pages read is requested.
    """

    question: str
    earlier: tuple[str, ...] = ()
    attached: tuple[Observation, ...] = field(default=(), repr=False)
    steps: tuple[tuple[Observation, ...], ...] = field(default=(), repr=False)
    ended: bool = False
    wants_report: bool = False
    searches: tuple[str, ...] = ()

    @property
    def observations(self) -> tuple[Observation, ...]:
        """All observations, in order."""
        return (*self.attached, *(o for step in self.steps for o in step))

    @property
    def latest(self) -> tuple[Observation, ...]:
        """The observations from the last step."""
        return self.steps[-1] if self.steps else ()

    @property
    def page(self) -> Observation | None:
        """The page that the user is viewing, or None."""
        return next((o for o in self.attached if o.tool == "PAGE_CONTEXT"), None)

    def parameter_values(self, tool: str, key: str) -> list[str]:
        """List a parameter's values in all calls of a tool so far, in order."""
        calls = (o for step in self.steps for o in step if o.tool == tool)
        return [str(o.call.fields.get(key, "")) for o in calls]

    def count_steps(self, *tools: str) -> int:
        """Count the steps in which any of these tools was called."""
        return sum(any(o.tool in tools for o in step) for step in self.steps)

    def results(self, tool: str) -> list[Observation]:
        """List a tool's successful results, in order."""
        return [o for o in self.observations if o.tool == tool and not o.failed]


def read_conversation(messages: Sequence[Message]) -> Conversation:
    """Read a loop's messages; the user's last message without tool results is the question.

    If a message has no `question` (the user's own words), its full text is used.
    """
    questions: list[int] = []
    for n, message in enumerate(messages):
        is_result = message.observations or message.content.startswith(_NOTES)
        if message.role == "user" and (message.question or not is_result):
            questions.append(n)
    if not questions:
        return Conversation("", ended=bool(messages))
    *earlier, question = [messages[n].question or messages[n].content for n in questions]
    after = messages[questions[-1] + 1 :]
    replies = [message for message in after if message.role == "user"]
    # A message without observations is the loop's note that a limit was reached.
    ended = bool(replies) and not replies[-1].observations
    return Conversation(
        question=question,
        earlier=tuple(earlier),
        attached=messages[questions[-1]].observations,
        steps=tuple(m.observations for m in after if m.observations),
        ended=ended,
        wants_report=ended and replies[-1].content.startswith(REPORT),
        searches=messages[questions[-1]].searches,
    )
