"""Several models, one after the other: the next one is opened and answers when one cannot."""

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
"""How long a provider that was down after all retries is left alone; then one call probes it."""


class Router:
    """Asks the first model that can be asked; each has done its own retries by then.

    `note` is told of each model that was passed over.
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
        """Answer by the first model that does; raises the last error where none can."""
        stream = TextStream(on_text) if on_text else None
        failure: ResearchError = ModelUnavailable("every model rests after an outage")
        for n, model in enumerate(self._models):
            if self._rests(n):
                continue
            if stream:  # it begins anew where one broke off
                stream.restart()
            try:
                return await ask_model(model, system, messages, stream)
            except (ModelError, UsageError) as error:
                # An outage may pass; a refused key or an empty account will not.
                passing = isinstance(error, ModelUnavailable)
                self._rests_until[n] = self._clock() + REST_SECONDS if passing else float("inf")
                self._note(f"{model.name} failed: {error}")
                failure = error
        raise failure

    def _rests(self, n: int) -> bool:
        return self._clock() < self._rests_until[n]

    def _usable(self) -> Model | None:
        return next((model for n, model in enumerate(self._models) if not self._rests(n)), None)

    def takes(self, task: Task) -> bool:
        """Whether the model that would be asked now takes a task."""
        usable = self._usable()
        return usable is not None and takes(usable, task)

    @property
    def sees(self) -> bool:
        """Whether the model that would be asked now sees; each shows itself what it can."""
        usable = self._usable()
        return usable is not None and sees(usable)

    @property
    def native(self) -> bool:
        """Whether all call natively: the system prompt speaks of one way to call tools."""
        return all(uses_native_tools(model) for model in self._models)

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Offer tools to those that can be offered any."""
        for model in self._models:
            if isinstance(model, Native):
                model.offer(system, tools, on_page)

    async def aclose(self) -> None:
        """Close all."""
        for model in self._models:
            await model.aclose()


@dataclass(slots=True)
class LazyModel:
    """Stands for the model at an endpoint, which `open` opens when it is first asked."""

    streams: ClassVar = True
    where: Endpoint
    open: Callable[[], Awaitable[Model]]
    name: str = field(init=False)
    _model: Model | None = field(default=None, init=False)
    _offered: list[tuple[Any, ...]] = field(default_factory=list, init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        self.name = self.where.name

    @property
    def sees(self) -> bool:
        """Whether it will be shown pictures."""
        return self.where.sees

    @property
    def native(self) -> bool:
        """Whether it is to be offered tools as functions."""
        return self.where.native

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Keep what it is to be offered until it is open."""
        self._offered.append((system, tools, on_page))

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Answer; raises `UsageError` too where the library that it takes is not installed."""
        return await ask_model(await self._opened(), system, messages, on_text)

    async def aclose(self) -> None:
        """Close it, if it was ever opened."""
        if self._model is not None:
            await self._model.aclose()

    async def _opened(self) -> Model:
        async with self._lock:
            if self._model is None:
                self._model = await self.open()
                for offered in self._offered:
                    if isinstance(self._model, Native):
                        self._model.offer(*offered)
            return self._model
