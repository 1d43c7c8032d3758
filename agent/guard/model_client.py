"""Asking a model, with every request and reply on record under its place."""

from __future__ import annotations

import hashlib
import time
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from agent.errors import ResearchError
from agent.guard.window import IMAGE_TOKENS, tokens
from agent.journal.messages import message_row
from agent.models.base import CALL_BUDGET, stream_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.guard.budget import Budget, Reservation
    from agent.models.base import Model, ModelReply
    from agent.types import Message

    Record = Callable[..., object]


@dataclass(slots=True)
class ModelClient:
    """One conversation with a model: what is new in each request is recorded, and what it cost."""

    model: Model
    system: str
    budget: Budget
    record: Record
    _sent: int = field(default=0, init=False)

    async def ask(
        self,
        place: str,
        fitted: Sequence[Message],
        whole: Sequence[Message] | None = None,
        *,
        final: bool = False,
    ) -> ModelReply:
        """Ask; `whole` is the conversation of which `fitted` is what fits.

        The highest price of the call is reserved before it, and the bound on the reply that this
        leaves is sent along; the `final` call may take what is kept for it. Raises `ModelError`,
        and `LimitReached` where the call cannot be paid for.
        """
        prompt = tokens(self.system) + sum(
            tokens(message.content) + IMAGE_TOKENS * len(message.images) for message in fitted
        )
        call = _Reserving(self.budget, prompt, final=final)
        call.begin()
        token = CALL_BUDGET.set(call)
        try:
            reply = await self._asked(place, fitted, whole)
        except ResearchError:
            call.end()
            raise
        finally:  # a call that is broken off stays counted: it may be billed
            CALL_BUDGET.reset(token)
        call.end()
        self.budget.add(reply.usage)
        return reply

    async def _asked(
        self, place: str, fitted: Sequence[Message], whole: Sequence[Message] | None
    ) -> ModelReply:
        self._record_request(place, fitted, fitted if whole is None else whole)
        started = time.monotonic()
        try:
            reply = await self._heard(place, fitted)
        except ResearchError as error:
            info = {"type": type(error).__name__, "message": str(error), "hint": error.hint}
            self.record("model.failed", place, **info)
            raise
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
            **({"fit": reply.fit.model_dump()} if reply.fit else {}),
        )
        return reply

    async def _heard(self, place: str, fitted: Sequence[Message]) -> ModelReply:
        """Let it be heard while it speaks, where it can be; None says that it begins anew."""

        def hear(piece: str | None) -> None:
            self.record("model.delta", place, text=piece or "", anew=piece is None)

        return await stream_reply(self.model, self.system, fitted, hear)

    def _record_request(
        self, place: str, fitted: Sequence[Message], whole: Sequence[Message]
    ) -> None:
        new = [message_row(message) for message in whole[self._sent :]]
        self.record(
            "model.request",
            place,
            sha256=request_digest(self.system, fitted),
            system=self.system if self._sent == 0 else None,
            messages=new,
        )
        self._sent = len(whole)


@dataclass(slots=True)
class _Reserving:
    """The `CallBudget` of one call, whose prompt has so many tokens."""

    budget: Budget
    prompt: int
    _: KW_ONLY
    final: bool
    _held: Reservation | None = field(default=None, init=False)

    def begin(self) -> int | None:
        if self._held is None:
            self._held = self.budget.reserve(self.prompt, final=self.final)
        return self._held.longest

    def failed(self, *, billed: bool) -> None:
        if not billed:
            self.end()
        self._held = None

    def end(self) -> None:
        if self._held is not None:
            self._held.release()
        self._held = None


def request_digest(system: str, messages: Sequence[Message]) -> str:
    """SHA-256 (hex) of what a model is asked; a replay knows a request again by it."""
    digest = hashlib.sha256(system.encode())
    for message in messages:
        digest.update(f"\0{message.role}\0{message.content}".encode("utf-8", "replace"))
        for image in message.images:
            digest.update(f"\0{image.sha256}".encode())
    return digest.hexdigest()
