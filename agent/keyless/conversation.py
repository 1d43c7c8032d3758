"""The question, and what the calls made for it brought, as the messages of a loop hold them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Message, Observation

REPORT = "[Report:"
"""How the request begins to write up what was read."""
_NOTES = (REPORT, "[Limit reached:", "[Note:", "[Previous conversation")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The question, and what the calls made for it brought.

    `earlier` are the person's previous questions, oldest first; `given` the files and the page
    that came with the question; `steps` the observations of each step. `ended` says that no
    further tool will run, `wants_report` that what was read is to be written up.
    """

    question: str
    earlier: tuple[str, ...] = ()
    given: tuple[Observation, ...] = field(default=(), repr=False)
    steps: tuple[tuple[Observation, ...], ...] = field(default=(), repr=False)
    ended: bool = False
    wants_report: bool = False

    @property
    def observations(self) -> tuple[Observation, ...]:
        """All of them, in order."""
        return (*self.given, *(o for step in self.steps for o in step))

    @property
    def latest(self) -> tuple[Observation, ...]:
        """Those of the last step."""
        return self.steps[-1] if self.steps else ()

    @property
    def page(self) -> Observation | None:
        """The page that the person has before them."""
        return next((o for o in self.given if o.tool == "PAGE_CONTEXT"), None)

    def asked(self, tool: str, key: str) -> list[str]:
        """The values of a parameter in the calls of a tool so far, in order."""
        calls = (o for step in self.steps for o in step if o.tool == tool)
        return [str(_parameters(o).get(key, "")) for o in calls]

    def rounds(self, *tools: str) -> int:
        """How many steps called one of these tools."""
        return sum(any(o.tool in tools for o in step) for step in self.steps)

    def results(self, tool: str) -> list[Observation]:
        """The results of a tool that are no errors, in order."""
        return [o for o in self.observations if o.tool == tool and not o.failed]


def conversation_of(messages: Sequence[Message]) -> Conversation:
    """Read the messages: the question is the latest message of the person's that is no result.

    Where no message says what the person's own words are, its text is taken for them.
    """
    asked = [
        n
        for n, m in enumerate(messages)
        if m.role == "user" and (m.question or not (m.observations or m.content.startswith(_NOTES)))
    ]
    if not asked:
        return Conversation("", ended=bool(messages))
    question, *earlier = [messages[n].question or messages[n].content for n in reversed(asked)]
    after = messages[asked[-1] + 1 :]
    said = [m for m in after if m.role == "user"]
    ended = bool(said) and not said[-1].observations
    return Conversation(
        question=question,
        earlier=tuple(reversed(earlier)),
        given=messages[asked[-1]].observations,
        steps=tuple(m.observations for m in after if m.observations),
        ended=ended,
        wants_report=ended and said[-1].content.startswith(REPORT),
    )


def _parameters(observation: Observation) -> dict[str, Any]:
    """The parameters of the call that an observation answers."""
    try:
        read = json.loads(observation.call.param)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
