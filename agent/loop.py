"""The loop: think, act, observe, decide."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from agent.guard import Budget, LimitReached, Repetition, Window
from agent.model_client import ModelClient, request_digest
from agent.models import Message, Task, takes
from agent.prompts import GO_ON, WRAP_UP
from agent.protocol import format_results, parse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.guard.repetition import Circle
    from agent.model_client import Record
    from agent.models import Model, ModelReply
    from agent.prompts import Guides
    from agent.protocol import CallResult
    from agent.types import Reply, ToolCall

__all__ = ["Caller", "Loop", "LoopResult", "request_digest"]


class Caller(Protocol):
    """Who makes the tool calls: the policy, or a record of what it gave."""

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Make a call; the function given back finishes it, in tag order."""
        ...


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How the loop ended: the final text, and the limit that ended it, if one did."""

    text: str
    limit: str | None = None


@dataclass(slots=True)
class Loop:
    """One conversation with a model, from the question to the final text.

    `place` names the loop within the run (`0` the main one); every event carries it. `guard`
    notices circles; a model that plans by rules of its own is left alone by it. `guides` are the
    helper texts that the conversation may be given.
    """

    model: Model
    policy: Caller
    budget: Budget
    system: str
    record: Record
    place: str = "0"
    guard: Repetition | None = field(default_factory=Repetition)
    window: Window = field(default_factory=Window)
    guides: Guides | None = None
    _asker: ModelClient = field(init=False)
    _question: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._asker = ModelClient(self.model, self.system, self.budget, self.record)
        if not takes(self.model, Task.HEED):
            self.guard = None

    async def run(self, messages: list[Message]) -> LoopResult:
        """Work until the model answers, or a limit asks it to answer from what is known.

        `messages` ends with the question and grows by what is said. Raises `ModelError`.
        """
        self._question = len(messages) - 1
        return await self._until_answered(messages)

    async def go_on(self, messages: list[Message], said: str) -> LoopResult:
        """Say something after an answer, and work until there is another one."""
        messages.append(Message("user", said))
        return await self._until_answered(messages)

    async def _until_answered(self, messages: list[Message]) -> LoopResult:
        try:
            while True:
                reply = await self._within_time(self._think(messages))
                if not reply.calls and not self._only_thought(reply, messages):
                    return LoopResult(reply.text)
                if reply.calls:
                    messages.append(Message("assistant", reply.text))
                    messages.append(await self._act(reply.calls))
        except LimitReached as reached:
            self.record("limit.reached", self.place, limit=reached.limit, why=reached.why)
            return LoopResult(await self._wrap_up(messages, reached.limit), reached.limit)

    def _only_thought(self, reply: Reply, messages: list[Message]) -> bool:
        """Ask a model to go on that has only thought; a thought never closed hides what it did."""
        if reply.text or not (reply.unclosed or (self.guard and reply.thoughts)):
            return False
        note = self._noted(self.guard.thought_only() if self.guard else None)
        messages.append(Message("assistant", "…"))
        messages.append(Message("user", note or GO_ON))
        return True

    def _noted(self, circle: Circle | None) -> str:
        if circle is None:
            return ""
        self.record("guard.noticed", f"{self.place}/{self.budget.steps}", circle=circle)
        return circle.note

    async def _think(self, messages: Sequence[Message]) -> Reply:
        step = self.budget.begin_step()
        reply = parse((await self._ask(f"{self.place}/{step}", messages)).text)
        for thought in reply.thoughts:
            self.record("thought", f"{self.place}/{step}", text=thought)
        return reply

    async def _act(self, calls: Sequence[ToolCall]) -> Message:
        places = [f"{self.place}/{self.budget.steps}/{n}" for n in range(1, len(calls) + 1)]
        for call, place in zip(calls, places, strict=True):
            self.record("tool.call", place, name=call.name, param=call.param)
        finishes = await asyncio.gather(*map(self.policy.run, calls, places))
        results = [finish() for finish in finishes]
        note = self._noted(self.guard.noticed(calls, results) if self.guard else None)
        guides = self.guides.after(results) if self.guides else ""
        said = "\n\n".join(filter(None, (format_results(results), guides, note)))
        images = [image for result in results for image in result.images][-1:]  # as it is now
        observed = [result.observed(call) for call, result in zip(calls, results, strict=True)]
        return Message("user", said, tuple(images), tuple(observed))

    async def _ask(self, place: str, messages: Sequence[Message]) -> ModelReply:
        fitted = self.window.fit(messages, self._question)
        return await self._asker.ask(place, fitted, messages)

    async def _wrap_up(self, messages: list[Message], limit: str) -> str:
        messages.append(Message("user", WRAP_UP.format(limit=limit)))
        left = self.budget.seconds_left(reserve=False)
        try:
            async with asyncio.timeout(left):
                last = await self._ask(f"{self.place}/wrap-up", messages)
        except TimeoutError:
            return ""
        return without_calls(last.text)

    async def _within_time(self, thinking: Awaitable[Reply]) -> Reply:
        try:
            async with asyncio.timeout(self.budget.seconds_left()):
                return await thinking
        except TimeoutError as error:
            raise LimitReached("timeout") from error


def without_calls(text: str) -> str:
    """Take thoughts and tool tags out of a reply that should have had none."""
    reply = parse(text)
    return reply.text if not reply.calls else reply.text.split("<<TOOL:")[0].strip()
