"""Several models, one after the other: the next one is opened and answers when one cannot."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.errors import ModelError, ModelUnavailable, ResearchError, UsageError
from agent.models.base import Hearing, Native, sees, stream_reply, takes, uses_native_tools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.models.base import Model, ModelReply, OnText, Task
    from agent.models.providers import Endpoint
    from agent.types import Message

REST_SECONDS = 30.0
"""How long a provider that was down after all retries is left alone; then one call probes it."""


@dataclass(slots=True)
class Breaker:
    """Whether a provider may be asked: not while it rests, never where it refused for good."""

    clock: Callable[[], float] = time.monotonic
    _rests_until: float = 0.0

    @property
    def closed(self) -> bool:
        """Whether a call may be made."""
        return self.clock() >= self._rests_until

    def failed(self, error: ResearchError) -> None:
        """Take up a failure: an outage may pass, a refused key or an empty account will not."""
        passing = isinstance(error, ModelUnavailable)
        self._rests_until = self.clock() + REST_SECONDS if passing else float("inf")


class Router:
    """Asks the first model that can be asked; each has done its own retries by then.

    `note` is told of each model that was passed over.
    """

    def __init__(
        self,
        models: Sequence[Model],
        note: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = models[0].name
        self._models = [(model, Breaker(clock)) for model in models]
        self._note = note

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Answer by the first model that does; raises the last error where none can."""
        return await self._first(lambda model: model.reply(system, messages))

    async def stream(self, system: str, messages: Sequence[Message], heard: OnText) -> ModelReply:
        """Answer, and pass on what is said; the next model begins anew where one broke off."""
        hearing = Hearing(heard)

        def ask(model: Model) -> Awaitable[ModelReply]:
            hearing.begin()
            return stream_reply(model, system, messages, hearing)

        return await self._first(ask)

    async def _first(self, ask: Callable[[Model], Awaitable[ModelReply]]) -> ModelReply:
        failure: ResearchError = ModelUnavailable("every model rests after an outage")
        for model, breaker in self._models:
            if not breaker.closed:
                continue
            try:
                return await ask(model)
            except (ModelError, UsageError) as error:
                breaker.failed(error)
                self._note(f"{model.name} failed: {error}")
                failure = error
        raise failure

    def takes(self, task: Task) -> bool:
        """Tell what the model takes that would be asked now."""
        usable = self._usable()
        return usable is not None and takes(usable, task)

    @property
    def sees(self) -> bool:
        """Tell whether the model sees that would be asked now; each shows itself what it can."""
        usable = self._usable()
        return usable is not None and sees(usable)

    def _usable(self) -> Model | None:
        return next((model for model, breaker in self._models if breaker.closed), None)

    @property
    def native(self) -> bool:
        """Tell whether all call natively: the system prompt speaks of one way to call tools."""
        return all(uses_native_tools(model) for model, _ in self._models)

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Offer tools to those that can be offered any."""
        for model, _ in self._models:
            if isinstance(model, Native):
                model.offer(system, tools, on_page)

    async def aclose(self) -> None:
        """Close all."""
        for model, _ in self._models:
            await model.aclose()


@dataclass(slots=True)
class LazyModel:
    """Stands for the model at an endpoint; `opening` opens it."""

    where: Endpoint
    opening: Callable[[], Awaitable[Model]]
    name: str = field(init=False)
    _model: Model | None = field(default=None, init=False)
    _offered: list[tuple[Any, ...]] = field(default_factory=list, init=False)
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

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Keep in mind what it is to be offered."""
        self._offered.append((system, tools, on_page))

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Answer; raises `UsageError` too where the library that it takes is not installed."""
        return await (await self._opened()).reply(system, messages)

    async def stream(self, system: str, messages: Sequence[Message], heard: OnText) -> ModelReply:
        """Answer, heard while it speaks where it can be."""
        return await stream_reply(await self._opened(), system, messages, heard)

    async def aclose(self) -> None:
        """Close it, if it was ever opened."""
        if self._model is not None:
            await self._model.aclose()

    async def _opened(self) -> Model:
        async with self._lock:
            if self._model is None:
                self._model = await self.opening()
                for offered in self._offered:
                    if isinstance(self._model, Native):
                        self._model.offer(*offered)
            return self._model
