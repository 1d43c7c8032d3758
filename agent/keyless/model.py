"""The default model: a rule-based policy that speaks the same protocol as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.depth import STANDARD
from agent.keyless.notebook import take_notes
from agent.keyless.policy import decide
from agent.keyless.recall import Recall
from agent.models.base import ModelReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.depth import Effort
    from agent.models.base import Message, Task


class ExtractiveModel:
    """Answers from what was read, word for word; needs no key and no network of its own.

    What it does next follows from the messages alone. It remembers only what a message said
    before the window cut it short. `effort` says how far it reaches out.
    """

    name = "extractive"

    def __init__(self, effort: Effort = STANDARD) -> None:
        self._effort = effort
        self._recall = Recall()

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002 - the rules are its system prompt
        """Say what to do next, or the answer."""
        whole = self._recall.restore(messages)
        return ModelReply(text=decide(take_notes(whole), self._effort), model=self.name)

    def takes(self, task: Task) -> bool:  # noqa: ARG002 - the same for all
        """Nothing but the question: it plans by rules, and writes no prose of its own."""
        return False

    async def aclose(self) -> None:
        """Nothing is held open."""
