"""A model that says no secret, whole or in pieces."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.models import Streaming, sees, takes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.guard import Redactor
    from agent.models import Message, Model, ModelReply, Task
    from agent.models.base import Heard


class DiscreetModel:
    """Asks a model, and takes the secrets out of what it says.

    What it is asked holds none: they are taken out of messages and results where these begin.
    """

    def __init__(self, model: Model, redactor: Redactor) -> None:
        self.name = model.name
        self._model = model
        self._redactor = redactor

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Answer the last message."""
        return self._clean(await self._model.reply(system, messages))

    async def stream(self, system: str, messages: Sequence[Message], heard: Heard) -> ModelReply:
        """Answer, heard while it speaks where it can be."""
        if not isinstance(self._model, Streaming):
            return await self.reply(system, messages)
        pieces = self._redactor.pieces(heard)
        reply = await self._model.stream(system, messages, pieces)
        pieces.end()
        return self._clean(reply)

    def takes(self, task: Task) -> bool:
        """Tell what the model takes."""
        return takes(self._model, task)

    @property
    def sees(self) -> bool:
        """Tell whether the model sees."""
        return sees(self._model)

    async def aclose(self) -> None:
        """Let go of the model's connections."""
        await self._model.aclose()

    def _clean(self, reply: ModelReply) -> ModelReply:
        return replace(reply, text=self._redactor.text(reply.text))
