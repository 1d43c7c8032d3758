"""What all models behind an API share: retries, streaming, tools by name, real prices.

A model of a provider adds one method: `_ask`, which makes one call and gives what was said.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from agent.errors import (
    ModelQuota,
    ModelUnauthorized,
    ModelUnavailable,
    ResearchError,
    UsageError,
)
from agent.models.base import CALL_BUDGET, Hearing, ModelReply, Usage
from agent.models.failures import BACKOFF, UNREACHED, Transient, pause
from agent.models.providers import preload_prices, priced
from agent.protocol.native import with_calls
from agent.protocol.replies import inert
from browser.net.transport import certificates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import OnText
    from agent.models.failures import Failure
    from agent.models.providers import Endpoint
    from agent.types import Message

_FREE = (ModelUnauthorized, ModelQuota, UsageError)
"""Refusals that no provider asks money for."""
CONNECT_SECONDS = 10.0
"""A provider that takes longer to pick up is down."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What one call brought: text, calls (name, raw arguments), tokens, and the model's full name.

    `written` are input tokens that the provider put into its cache; `refused` says that the model
    declined to go on.
    """

    text: str
    calls: tuple[tuple[str, str], ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    written: int = 0
    refused: bool = False
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call to be made: the tools are those offered along with this system prompt.

    A reply with a `schema` is to be an instance of it; endpoints that cannot are asked without.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[dict[str, Any]] = ()
    schema: dict[str, Any] | None = None
    max_tokens: int | None = None


class RemoteModel(ABC):
    """A model at an endpoint, asked with retries; `backoff` is the first wait, in seconds."""

    def __init__(self, where: Endpoint, *, backoff: float = BACKOFF) -> None:
        self.name = where.name
        self.where = where
        self.sees = where.sees
        self.native = where.native
        self._backoff = backoff
        self._tools: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {}

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Answer; raises `ModelError` or `UsageError`."""
        return await self._tried(self._request(system, messages), None)

    async def stream(self, system: str, messages: Sequence[Message], heard: OnText) -> ModelReply:
        """Answer, and pass on what is said as it comes."""
        return await self._tried(self._request(system, messages), Hearing(heard))

    async def reply_as(
        self, system: str, messages: Sequence[Message], schema: dict[str, Any], longest: int
    ) -> ModelReply:
        """Answer in the form of a JSON Schema where the endpoint can hold the model to it."""
        asked = ModelRequest(system, messages, schema=schema, max_tokens=longest)
        return await self._tried(asked, None)

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Let the model call these functions natively where it gets this system prompt."""
        self._tools[system] = ([*tools], [*on_page])

    def _request(self, system: str, messages: Sequence[Message]) -> ModelRequest:
        tools, on_page = self._tools.get(system, ([], []))
        if any(observed.snapshot for message in messages for observed in message.observations):
            tools = tools + on_page
        return ModelRequest(system, messages, tools)

    @abstractmethod
    async def aclose(self) -> None:
        """Close the connections."""

    @abstractmethod
    async def _ask(self, asked: ModelRequest, heard: Hearing | None) -> Completion:
        """Make one call; raises `Transient` for what may pass, a `ResearchError` for the rest."""

    def _failed(self, failure: Failure) -> Exception:
        """Give the exception that a failed call is."""
        meaning = failure.meaning(self.where)
        if not failure.may_pass:
            return meaning
        return Transient(meaning, failure.retry_after, billed=failure.status == UNREACHED)

    def _silent(self) -> ModelUnavailable:
        """Give the error of a call that was waited for long enough: another one would be too."""
        return ModelUnavailable(
            f"{self.name} was silent for {self.where.patience:g} s",
            hint="Give a slow model more time with --model-timeout SECONDS.",
        )

    def _keyless(self) -> ModelUnauthorized:
        """Give the error of a provider that lets nobody in without a key: it need not be asked."""
        return ModelUnauthorized(
            f"{self.name} needs a key, and {self.where.key_name} is not set",
            hint=f"Set {self.where.key_name}, keep it with `research keys set "
            f"{self.where.key_name}`, or use --model extractive, which needs none.",
        )

    async def _tried(self, asked: ModelRequest, heard: Hearing | None) -> ModelReply:
        if self.where.needs_key and not self.where.key:
            raise self._keyless()
        preload_prices(self.where.prices)
        for tries in count(1):
            try:
                return await self._once(asked, heard)
            except Transient as error:
                wait = pause(error, tries, self._backoff)
                if wait is None:
                    raise error.meaning from error
            await asyncio.sleep(wait)
        raise AssertionError("counting never ends")

    async def _once(self, asked: ModelRequest, heard: Hearing | None) -> ModelReply:
        """Make one try, within the budget of the call that it belongs to."""
        budget = CALL_BUDGET.get()
        bounds = [asked.max_tokens, budget.begin() if budget is not None else None]
        longest = min((bound for bound in bounds if bound is not None), default=None)
        asked = replace(asked, max_tokens=longest)
        if heard:
            heard.begin()
        try:
            return self._whole(await self._ask(asked, heard))
        except (Transient, ResearchError) as error:
            billed = error.billed if isinstance(error, Transient) else not isinstance(error, _FREE)
            if budget is not None:
                budget.failed(billed=billed)
            raise

    def _whole(self, said: Completion) -> ModelReply:
        thought = inert(said.reasoning.strip())
        spoken = f"<<THINK>>{thought}<</THINK>>\n{said.text}" if thought else said.text
        text = with_calls(spoken, said.calls)
        if not text.strip():
            raise Transient(ModelUnavailable(f"{self.name} answered with nothing"), billed=True)
        model = said.model or self.where.model
        usage = priced(
            said.usage,
            model,
            self.where.prices,
            asked=self.where.model,
            written=said.written,
        )
        return ModelReply(text, usage, model)


def client_settings(library: Any, where: Endpoint, proxy: str | None) -> dict[str, Any]:
    """Give the settings of a client of the official libraries, which are made from one mould.

    `library` is the module, which brings an HTTP client of its own; `proxy` is None for a direct
    connection. Retries are ours; the way out is guarded, and we say whom we trust.
    """
    secure = not where.base_url.startswith("http:")
    return {
        "api_key": where.key or "none",
        "max_retries": 0,
        "timeout": library.Timeout(where.patience, connect=CONNECT_SECONDS),
        "http_client": library.DefaultAsyncHttpxClient(
            proxy=proxy,
            trust_env=False,
            verify=certificates() if secure else False,
            follow_redirects=False,
        ),
    }


def came_at_once(stream: Any) -> bool:
    """Tell whether an endpoint that was asked to stream gave the whole reply instead."""
    return "json" in stream.response.headers.get("content-type", "")
