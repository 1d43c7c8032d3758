"""A model that is opened when it is first asked: a fallback that nobody needs costs nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.models.base import Native, Streaming

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.models.base import Heard, Message, Model, ModelReply
    from agent.models.providers import Endpoint


@dataclass(slots=True)
class LaterModel:
    """Stands for the model at an endpoint; `opening` opens it."""

    where: Endpoint
    opening: Callable[[], Awaitable[Model]]
    name: str = field(init=False)
    _model: Model | None = field(default=None, init=False)
    _offered: dict[str, Sequence[dict[str, Any]]] = field(default_factory=dict, init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        self.name = self.where.name

    @property
    def sees(self) -> bool:
        """Tell whether it will be shown pictures."""
        return self.where.sees

    @property
    def native(self) -> bool:
        """Tell whether it is to be offered tools as functions."""
        return self.where.native

    def offer(self, system: str, tools: Sequence[dict[str, Any]]) -> None:
        """Keep in mind what it is to be offered."""
        self._offered[system] = tools

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Answer; raises `UsageError` too where the library that it takes is not installed."""
        return await (await self._opened()).reply(system, messages)

    async def stream(self, system: str, messages: Sequence[Message], heard: Heard) -> ModelReply:
        """Answer, heard while it speaks where it can be."""
        model = await self._opened()
        if isinstance(model, Streaming):
            return await model.stream(system, messages, heard)
        return await model.reply(system, messages)

    async def aclose(self) -> None:
        """Close it, if it was ever opened."""
        if self._model is not None:
            await self._model.aclose()

    async def _opened(self) -> Model:
        async with self._lock:
            if self._model is None:
                self._model = await self.opening()
                for system, tools in self._offered.items():
                    if isinstance(self._model, Native):
                        self._model.offer(system, tools)
            return self._model
