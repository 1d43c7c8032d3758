"""Calls a model within the budget, and records each request and reply under its step id."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from agent.errors import ReplayDiverged, ResearchError, error_text
from agent.guard.window import IMAGE_TOKENS, tokens
from agent.journal.messages import message_row
from agent.models.base import CALL_BUDGET, ask_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.guard.budget import Budget
    from agent.models.base import Model, ModelReply
    from agent.types import Message

    Record = Callable[..., object]


@dataclass(slots=True)
class ModelClient:
    """One conversation with a model; each request's new messages are recorded in the journal."""

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
        """Call the model with the messages `fitted`; `whole` contains them before they were cut.

        First reserves the maximum price of the call, which limits the reply; the `final` call may
        use the reserve. Raises `ModelError`, or `LimitReached` if the budget is too small.
        """
        # An estimate, because the provider reports its token count only after the call.
        prompt = tokens(self.system) + sum(
            tokens(message.content) + IMAGE_TOKENS * len(message.images) for message in fitted
        )
        reservation = self.budget.reserve(prompt, final=final)
        token = CALL_BUDGET.set(reservation)
        try:
            reply = await self._recorded_reply(place, fitted, fitted if whole is None else whole)
        except ResearchError:
            reservation.release()
            raise
        finally:  # not released if cancelled, because such a call may be billed
            CALL_BUDGET.reset(token)
        reservation.release()
        self.budget.add(reply.usage)
        self.budget.calibrate(prompt, tokens(reply.text), reply.usage)
        return reply

    async def try_ask(
        self,
        place: str,
        messages: Sequence[Message],
        failure: str,
        *,
        seconds: float | None,
        final: bool = False,
    ) -> ModelReply | None:
        """Call the model; if that fails, record a note that starts with `failure` and return None.

        `seconds` is the timeout, None for no limit.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self.ask(place, messages, final=final)
        except ReplayDiverged:  # the replay failed, not the request
            raise
        except (ResearchError, TimeoutError) as error:
            self.record("note", place, text=f"{failure}: {error_text(error)}")
            return None

    async def _recorded_reply(
        self, place: str, fitted: Sequence[Message], whole: Sequence[Message]
    ) -> ModelReply:
        self.record(
            "model.request",
            place,
            sha256=request_digest(self.system, fitted),
            # Only new messages are recorded; otherwise a long conversation would be recorded many
            # times.
            system=self.system if self._sent == 0 else None,
            messages=[message_row(message) for message in whole[self._sent :]],
        )
        self._sent = len(whole)

        def record_delta(piece: str | None) -> None:  # None: the reply restarts
            self.record("model.delta", place, text=piece or "", anew=piece is None)

        started = time.monotonic()
        try:
            reply = await ask_model(self.model, self.system, fitted, record_delta)
        except ResearchError as error:
            info = {"type": type(error).__name__, "message": error_text(error), "hint": error.hint}
            self.record("model.failed", place, **info)
            raise
        self.record(
            "model.reply",
            place,
            text=reply.text,
            model=reply.model or self.model.name,
            ms=int((time.monotonic() - started) * 1000),
            **asdict(reply.usage),
            **({"fit": reply.fit.model_dump()} if reply.fit else {}),
            **({"cut": True} if reply.is_truncated else {}),
        )
        return reply


def request_digest(system: str, messages: Sequence[Message]) -> str:
    """Return the SHA-256 (hex) of a request, which identifies it in a replay."""
    digest = hashlib.sha256(system.encode())
    for message in messages:
        digest.update(f"\0{message.role}\0{message.content}".encode("utf-8", "replace"))
        for image in message.images:
            digest.update(f"\0{image.sha256}".encode())
    return digest.hexdigest()
