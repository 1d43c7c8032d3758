"""The loop: think, act, observe, decide."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from agent.guard import Budget, LimitReached, fit
from agent.messages import WRAP_UP
from agent.models import Message, ModelReply
from agent.protocol import format_results, parse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.models import Model
    from agent.protocol import CallResult
    from agent.tools.context import Record
    from agent.types import Reply, ToolCall


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

    `place` names the loop within the run (`0` the main one); every event carries it.
    """

    model: Model
    policy: Caller
    budget: Budget
    system: str
    record: Record
    place: str = "0"
    _sent: int = field(default=0, init=False)
    _question: int = field(default=0, init=False)

    async def run(self, messages: list[Message]) -> LoopResult:
        """Work until the model answers, or a limit asks it to answer from what is known.

        `messages` ends with the question and grows by what is said. Raises `ModelError`.
        """
        self._question = len(messages) - 1
        try:
            while True:
                reply = await self._within_time(self._think(messages))
                if not reply.calls:
                    return LoopResult(reply.text)
                messages.append(Message("assistant", reply.text))
                messages.append(Message("user", await self._act(reply.calls)))
        except LimitReached as reached:
            return LoopResult(await self._wrap_up(messages, reached.limit), reached.limit)

    async def _think(self, messages: Sequence[Message]) -> Reply:
        step = self.budget.begin_step()
        reply = parse((await self._ask(f"{self.place}/{step}", messages)).text)
        for thought in reply.thoughts:
            self.record("thought", f"{self.place}/{step}", text=thought)
        return reply

    async def _act(self, calls: Sequence[ToolCall]) -> str:
        places = [f"{self.place}/{self.budget.steps}/{n}" for n in range(1, len(calls) + 1)]
        for call, place in zip(calls, places, strict=True):
            self.record("tool.call", place, name=call.name, param=call.param)
        finishes = await asyncio.gather(*map(self.policy.run, calls, places))
        return format_results([finish() for finish in finishes])

    async def _ask(self, place: str, messages: Sequence[Message]) -> ModelReply:
        fitted = fit(messages, self._question)
        self._record_request(place, fitted, messages)
        started = time.monotonic()
        reply = await self.model.reply(self.system, fitted)
        self.budget.add(reply.usage)
        self.record(
            "model.reply",
            place,
            text=reply.text,
            model=reply.model or self.model.name,
            ms=int((time.monotonic() - started) * 1000),
            input_tokens=reply.usage.input_tokens,
            cached_tokens=reply.usage.cached_tokens,
            output_tokens=reply.usage.output_tokens,
            usd=reply.usage.usd,
        )
        return reply

    async def _wrap_up(self, messages: list[Message], limit: str) -> str:
        messages.append(Message("user", WRAP_UP.format(limit=limit)))
        left = self.budget.seconds_left(reserve=False)
        try:
            async with asyncio.timeout(left):
                last = await self._ask(f"{self.place}/wrap-up", messages)
        except TimeoutError:
            return ""
        return _without_calls(last.text)

    async def _within_time(self, thinking: Awaitable[Reply]) -> Reply:
        try:
            async with asyncio.timeout(self.budget.seconds_left()):
                return await thinking
        except TimeoutError as error:
            raise LimitReached("timeout") from error

    def _record_request(
        self, place: str, fitted: Sequence[Message], messages: Sequence[Message]
    ) -> None:
        digest = request_digest(self.system, fitted)
        new = [{"role": m.role, "content": m.content} for m in messages[self._sent :]]
        system = self.system if self._sent == 0 else None
        self._sent = len(messages)
        self.record("model.request", place, sha256=digest, system=system, messages=new)


def request_digest(system: str, messages: Sequence[Message]) -> str:
    """SHA-256 (hex) of what a model is asked; a replay knows a request again by it."""
    digest = hashlib.sha256(system.encode())
    for message in messages:
        digest.update(f"\0{message.role}\0{message.content}".encode("utf-8", "replace"))
    return digest.hexdigest()


def _without_calls(text: str) -> str:
    """Take the tool tags out of a reply that should have had none."""
    reply = parse(text)
    return reply.text if not reply.calls else reply.text.split("<<TOOL:")[0].strip()
