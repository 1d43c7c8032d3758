"""The default model: a rule-based policy that speaks the same protocol as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.base import ModelReply
from agent.models.extractive.observations import read
from agent.models.extractive.policy import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import Message


class ExtractiveModel:
    """Answers from what was read, word for word; needs no key and no network of its own."""

    name = "extractive"

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002
        """Say what to do next, or the answer; all state is in the messages."""
        return ModelReply(text=decide(read(messages)), model=self.name)

    async def aclose(self) -> None:
        """Nothing is held open."""
