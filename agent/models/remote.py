"""What all models behind an API share: retries, streaming, tools by name, real prices.

A model of a provider names its client library and adds `_call`, which makes one call.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import httpx2

from agent.errors import (
    ModelError,
    ModelQuota,
    ModelUnauthorized,
    ModelUnavailable,
    ResearchError,
    UsageError,
)
from agent.models.base import CALL_BUDGET, ModelReply, TextStream, Usage
from agent.models.failures import UNREACHED, Failure, Transient, read_failure
from agent.models.providers import preload_prices, with_price
from agent.protocol.native import with_calls
from agent.protocol.replies import inert
from browser.net.transport import certificates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import OnText
    from agent.models.providers import Endpoint
    from agent.types import Message

ATTEMPTS = 4
"""Three retries: an overload passes within half a minute or not soon."""
LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for more is treated as down, so that a fallback can answer."""
BACKOFF = 0.5
"""Seconds of the first wait, at most; each further one may be twice as long."""
CONNECT_SECONDS = 10.0
"""A provider that takes longer to pick up is down."""
_FREE = (ModelUnauthorized, ModelQuota, UsageError)
"""Refusals that no provider asks money for."""
# What reading an answer raises that has not the form it should have: the clients check none. The
# last two are Anthropic's library's, of a stream that was cut off.
_GARBAGE = (ValueError, TypeError, AttributeError, LookupError, AssertionError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Completion:
    """What one call brought: text, calls (name, raw arguments), tokens, and the model's full name.

    `cache_writes` are input tokens that the provider put into its cache; `refused` says that the
    model declined to go on.
    """

    text: str
    calls: tuple[tuple[str, str], ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    cache_writes: int = 0
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

    library: ClassVar[Any]
    """The client library, for its exceptions."""
    streams = True

    def __init__(self, where: Endpoint, *, backoff: float = BACKOFF) -> None:
        self.name = where.name
        self.where = where
        self.sees = where.sees
        self.native = where.native
        self._backoff = backoff
        self._tools: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {}

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Answer, streaming where `on_text` is given; raises `ModelError` or `UsageError`."""
        tools, on_page = self._tools.get(system, ([], []))
        if any(observed.snapshot for message in messages for observed in message.observations):
            tools = tools + on_page
        stream = TextStream(on_text) if on_text else None
        return await self._answer(ModelRequest(system, messages, tools), stream)

    async def reply_as(
        self, system: str, messages: Sequence[Message], schema: dict[str, Any], longest: int
    ) -> ModelReply:
        """Answer in the form of a JSON Schema where the endpoint can hold the model to it."""
        return await self._answer(ModelRequest(system, messages, schema=schema, max_tokens=longest))

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Let the model call these functions natively where it gets this system prompt."""
        self._tools[system] = ([*tools], [*on_page])

    @abstractmethod
    async def aclose(self) -> None:
        """Close the connections."""

    @abstractmethod
    async def _call(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        """Make one call; raises the library's exceptions, and anything of `_GARBAGE`."""

    def _failure(self, error: Exception) -> Failure:
        return read_failure(error)

    async def _answer(self, request: ModelRequest, stream: TextStream | None = None) -> ModelReply:
        """Make tries until one brings a reply; raises what the last one meant."""
        where = self.where
        if where.needs_key and not where.key:  # it lets nobody in: it need not be asked
            raise ModelUnauthorized(
                f"{self.name} needs a key, and {where.key_name} is not set",
                hint=f"Set {where.key_name}, keep it with `research keys set "
                f"{where.key_name}`, or use --model extractive, which needs none.",
            )
        preload_prices(where.prices)
        for tries in count(1):
            try:
                return await self._try(request, stream)
            except Transient as failed:
                wait = failed.retry_after
                if wait is None:  # by chance, so that many clients do not come back at once
                    wait = random.uniform(0, self._backoff * 2 ** (tries - 1))
                if tries >= ATTEMPTS or wait > LONGEST_WAIT:
                    raise failed.error from failed
            await asyncio.sleep(wait)
        raise AssertionError("counting never ends")

    async def _try(self, request: ModelRequest, stream: TextStream | None) -> ModelReply:
        """Make one try, within the budget of the call that it belongs to."""
        budget = CALL_BUDGET.get()
        bounds = [request.max_tokens, budget.begin() if budget is not None else None]
        longest = min((bound for bound in bounds if bound is not None), default=None)
        if stream:
            stream.restart()
        try:
            return self._read(await self._complete(replace(request, max_tokens=longest), stream))
        except (Transient, ResearchError) as error:
            # What was set aside for the try stays counted unless it surely cost nothing.
            free = not error.billed if isinstance(error, Transient) else isinstance(error, _FREE)
            if budget is not None:
                budget.failed(billed=not free)
            raise

    async def _complete(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        """Make one call; raises `Transient` for what may pass, a `ResearchError` for the rest."""
        try:
            return await self._call(request, stream)
        except (self.library.APITimeoutError, httpx2.TimeoutException) as error:
            # It was waited for long enough: another try would be silent too.
            raise ModelUnavailable(
                f"{self.name} was silent for {self.where.patience:g} s",
                hint="Give a slow model more time with --model-timeout SECONDS.",
            ) from error
        except (self.library.APIError, httpx2.HTTPError) as error:
            raise self._failure(error).error(self.where) from error
        except _GARBAGE as error:
            failure = Failure(UNREACHED, f"no reply in its answer: {error}")
            raise failure.error(self.where) from error

    def _read(self, completion: Completion) -> ModelReply:
        """Write a completion as one text: thoughts, then what was said, then calls as tags."""
        if completion.refused and not completion.text:
            raise ModelError(f"{self.name} declined to answer", hint="Ask it in other words.")
        thought = inert(completion.reasoning.strip())
        text = f"<<THINK>>{thought}<</THINK>>\n{completion.text}" if thought else completion.text
        text = with_calls(text, completion.calls)
        if not text.strip():
            raise Transient(ModelUnavailable(f"{self.name} answered with nothing"), billed=True)
        model = completion.model or self.where.model
        usage = with_price(
            completion.usage,
            model,
            self.where.prices,
            asked=self.where.model,
            cache_writes=completion.cache_writes,
        )
        return ModelReply(text, usage, model)


def client_settings(library: Any, where: Endpoint, proxy: str | None) -> dict[str, Any]:
    """The settings of a client of the official libraries, which are made from one mould.

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
    """Whether an endpoint that was asked to stream gave the whole reply instead."""
    headers = getattr(getattr(stream, "response", None), "headers", {})
    return "json" in headers.get("content-type", "")
