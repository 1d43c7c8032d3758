"""Fallbacks: several models, of which the next one answers when one fails."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from agent.errors import ModelError, ModelUnavailable, ResearchError, UsageError
from agent.models.base import Native, TextStream, ask_model, sees, takes, uses_native_tools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.models.base import Model, ModelReply, OnText, Task
    from agent.models.providers import Endpoint
    from agent.types import Message

REST_SECONDS = 30.0
"""Seconds for which a provider that was down after all retries is skipped."""


class Router:
    """Asks the first model that is available; each one does its own retries.

    `note` is called with a text for each model that failed.
    """

    streams = True

    def __init__(
        self,
        models: Sequence[Model],
        note: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = models[0].name
        self._models = models
        self._note = note
        self._clock = clock
        self._rests_until = [0.0] * len(models)

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Return the first reply that succeeds; raises the last error if there is none."""
        stream = TextStream(on_text) if on_text else None
        failure: ResearchError = ModelUnavailable("every model rests after an outage")
        for n, model in enumerate(self._models):
            if self._rests(n):
                continue
            if stream:  # discards what a failed model streamed
                stream.restart()
            try:
                return await ask_model(model, system, messages, stream)
            except (ModelError, UsageError) as error:
                # An outage may be over soon; a refused key or an empty account stays so.
                temporary = isinstance(error, ModelUnavailable)
                self._rests_until[n] = self._clock() + REST_SECONDS if temporary else float("inf")
                self._note(f"{model.name} failed: {error}")
                failure = error
        raise failure

    def _rests(self, n: int) -> bool:
        return self._clock() < self._rests_until[n]

    def _next_model(self) -> Model | None:
        for n, model in enumerate(self._models):
            if not self._rests(n):
                return model
        return None

    def takes(self, task: Task) -> bool:
        """Whether the model that would be asked now takes a task."""
        model = self._next_model()
        return model is not None and takes(model, task)

    @property
    def sees(self) -> bool:
        """Whether the model that would be asked now accepts images; others leave them out."""
        model = self._next_model()
        return model is not None and sees(model)

    @property
    def native(self) -> bool:
        """Whether all models have native function calling: they share one system prompt."""
        return all(uses_native_tools(model) for model in self._models)

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Offer the tools to all models with native function calling."""
        for model in self._models:
            if isinstance(model, Native):
                model.offer(system, tools, on_page)

    async def aclose(self) -> None:
        """Close all models."""
        for model in self._models:
            await model.aclose()


@dataclass(slots=True)
class LazyModel:
    """The model at an endpoint, which is opened with `open` on the first request."""

    streams: ClassVar = True
    endpoint: Endpoint
    open: Callable[[], Awaitable[Model]]
    name: str = field(init=False)
    _model: Model | None = field(default=None, init=False)
    _offered: list[tuple[Any, ...]] = field(default_factory=list, init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        self.name = self.endpoint.name

    @property
    def sees(self) -> bool:
        """Whether the model accepts images."""
        return self.endpoint.sees

    @property
    def native(self) -> bool:
        """Whether the model has native function calling."""
        return self.endpoint.native

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Remember the tools until the model is open."""
        self._offered.append((system, tools, on_page))

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Answer; also raises `UsageError` if the client library is not installed."""
        return await ask_model(await self._get(), system, messages, on_text)

    async def aclose(self) -> None:
        """Close the model, if it was opened."""
        if self._model is not None:
            await self._model.aclose()

    async def _get(self) -> Model:
        async with self._lock:
            if self._model is None:
                self._model = await self.open()
                for offered in self._offered:
                    if isinstance(self._model, Native):
                        self._model.offer(*offered)
            return self._model
