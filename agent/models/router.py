"""Fallbacks: several models; if one fails, the next one answers."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from agent.errors import (
    ModelContext,
    ModelError,
    ModelFiltered,
    ModelTruncated,
    ModelUnavailable,
    ResearchError,
    UsageError,
)
from agent.models.base import TextStream, ask_model, sees, takes, uses_native_tools
from agent.models.providers import Endpoint

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.models.base import Model, ModelReply, OnText, Task
    from agent.types import Message

COOLDOWN_SECONDS = 30.0
"""Seconds for which a provider that is down after all retries is skipped."""


class Router:
    """Asks the first available model; each model handles its own retries.

    A model may be given as its endpoint, which `open_endpoint` opens on the first request. `note`
    is called with a message for each model that failed.
    """

    streams = True

    def __init__(
        self,
        models: Sequence[Model | Endpoint],
        open_endpoint: Callable[[Endpoint], Awaitable[Model]],
        note: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = models[0].name
        self._models = list(models)
        self._open_endpoint = open_endpoint
        self._opening = asyncio.Lock()
        self._note = note
        self._clock = clock
        self._cooldown_until = [0.0] * len(models)

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Return the first reply that succeeds; raises the last error if there is none."""
        stream = TextStream(on_text) if on_text else None
        failure: ResearchError = ModelUnavailable("every model is in cooldown after an outage")
        for n, model in enumerate(self._models):
            if self._in_cooldown(n):
                continue
            if stream:  # discard what a failed model streamed
                stream.restart()
            try:
                return await ask_model(await self._open_model(n), system, messages, stream)
            except ModelContext:  # the conversation will be cut and sent again
                raise
            except (ModelError, UsageError) as error:
                # An outage may end soon, but a rejected key or an empty account stays that way. A
                # filtered or cut reply does not affect the next request.
                if isinstance(error, ModelUnavailable):
                    self._cooldown_until[n] = self._clock() + COOLDOWN_SECONDS
                elif not isinstance(error, ModelFiltered | ModelTruncated):
                    self._cooldown_until[n] = float("inf")
                self._note(f"{model.name} failed: {error}")
                failure = error
        raise failure

    async def _open_model(self, n: int) -> Model:
        """Return an opened model; raises `UsageError` if its client library is not installed."""
        model = self._models[n]
        if not isinstance(model, Endpoint):
            return model
        async with self._opening:  # subtasks ask concurrently, but the model is opened once
            now = self._models[n]
            if isinstance(now, Endpoint):
                now = self._models[n] = await self._open_endpoint(now)
            return now

    def _in_cooldown(self, n: int) -> bool:
        return self._clock() < self._cooldown_until[n]

    def _next_model(self) -> Model | Endpoint | None:
        for n, model in enumerate(self._models):
            if not self._in_cooldown(n):
                return model
        return None

    def takes(self, task: Task) -> bool:
        """Return whether the model that is currently used can perform a task."""
        model = self._next_model()
        return model is not None and takes(model, task)

    @property
    def sees(self) -> bool:
        """Whether the model that is currently used accepts images; other models leave them out."""
        model = self._next_model()
        return model is not None and sees(model)

    @property
    def native(self) -> bool:
        """Whether all models, which share one system prompt, have native function calling."""
        return all(map(uses_native_tools, self._models))

    async def aclose(self) -> None:
        """Close all opened models."""
        for model in self._models:
            if not isinstance(model, Endpoint):
                await model.aclose()
