"""The base class of models at an API: retries, streaming, native tools, prices.

A subclass names its client library and implements `_call`, which makes one request.
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
from agent.models.base import CALL_BUDGET, ModelReply, SystemPrompt, TextStream, Usage
from agent.models.failures import UNREACHED, Failure, Transient, read_failure
from agent.models.providers import import_in_background, with_price
from agent.protocol.native import with_calls
from agent.protocol.replies import inert
from browser.net.transport import certificates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import OnText
    from agent.models.providers import Endpoint
    from agent.types import Message

ATTEMPTS = 4
"""One attempt and three retries: an overload is over within half a minute, or not soon."""
LONGEST_WAIT = 60.0
"""Seconds; if a provider asks for a longer wait it counts as down, so that a fallback answers."""
BACKOFF = 0.5
"""Most seconds of the first wait; the bound doubles with each further one."""
CONNECT_SECONDS = 10.0
"""Seconds for connecting to a provider; a slower one is down."""
_FREE = (ModelUnauthorized, ModelQuota, UsageError)
"""Errors of calls that are certainly not billed."""
# Raised while reading a reply of the wrong form, since the clients do not validate. Anthropic's
# library raises the last two for a stream that was cut off.
_INVALID_REPLY = (ValueError, TypeError, AttributeError, LookupError, AssertionError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of one request: text, calls (name, raw arguments), usage, the model's full name.

    `cache_writes` are input tokens that the provider wrote to its cache; `refused` says that the
    model declined to answer; `reasoning` are its thoughts.
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
    """A request; `tools` are those offered with this system prompt.

    With a `schema` the reply is an instance of it, where the endpoint supports that.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[dict[str, Any]] = ()
    schema: dict[str, Any] | None = None
    max_tokens: int | None = None


class RemoteModel(ABC):
    """A model at an endpoint, asked with retries."""

    library: ClassVar[Any]
    """The client library, for its exceptions."""
    streams = True

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.name
        self.endpoint = endpoint
        self.sees = endpoint.sees
        self.native = endpoint.native

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Answer, with streaming if `on_text` is given; raises `ModelError` or `UsageError`."""
        tools = system.tools if isinstance(system, SystemPrompt) else ()
        stream = TextStream(on_text) if on_text else None
        return await self._answer(ModelRequest(system, messages, tools), stream)

    async def reply_as(
        self, system: str, messages: Sequence[Message], schema: dict[str, Any], longest: int
    ) -> ModelReply:
        """Answer with an instance of a JSON Schema, where the endpoint supports that."""
        return await self._answer(ModelRequest(system, messages, schema=schema, max_tokens=longest))

    @abstractmethod
    async def aclose(self) -> None:
        """Close the connections."""

    @abstractmethod
    async def _call(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        """Make one request; raises exceptions of the library or of `_INVALID_REPLY`."""

    def _failure(self, error: Exception) -> Failure:
        return read_failure(error)

    async def _answer(self, request: ModelRequest, stream: TextStream | None = None) -> ModelReply:
        """Make attempts until one succeeds; raises the error of the last one."""
        endpoint = self.endpoint
        if endpoint.needs_key and not endpoint.key:  # it lets nobody in: it need not be asked
            raise ModelUnauthorized(
                f"{self.name} needs a key, and {endpoint.key_name} is not set",
                hint=f"Set {endpoint.key_name}, keep it with `research keys set "
                f"{endpoint.key_name}`, or use --model extractive, which needs none.",
            )
        if endpoint.prices is not None:
            import_in_background("genai_prices")
        for attempt in count(1):
            try:
                return await self._try(request, stream)
            except Transient as failed:
                wait = failed.retry_after
                if wait is None:  # random, so that many clients do not retry at the same time
                    wait = random.uniform(0, BACKOFF * 2 ** (attempt - 1))
                if attempt >= ATTEMPTS or wait > LONGEST_WAIT:
                    raise failed.error from failed
            await asyncio.sleep(wait)
        raise AssertionError("counting never ends")

    async def _try(self, request: ModelRequest, stream: TextStream | None) -> ModelReply:
        """Make one attempt within the budget of the call."""
        budget = CALL_BUDGET.get()
        bounds = [request.max_tokens, budget.begin() if budget is not None else None]
        longest = min((bound for bound in bounds if bound is not None), default=None)
        if stream:
            stream.restart()
        try:
            return self._read(await self._complete(replace(request, max_tokens=longest), stream))
        except (Transient, ResearchError) as error:
            # The reserved price stays counted unless the attempt was certainly free.
            free = not error.billed if isinstance(error, Transient) else isinstance(error, _FREE)
            if budget is not None:
                budget.failed(billed=not free)
            raise

    async def _complete(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        """Make one request; raises `Transient` if a retry may succeed, else a `ResearchError`."""
        try:
            return await self._call(request, stream)
        except (self.library.APITimeoutError, httpx2.TimeoutException) as error:
            # Not retried: the wait was long, and the next attempt would be silent too.
            raise ModelUnavailable(
                f"{self.name} was silent for {self.endpoint.patience:g} s",
                hint="Give a slow model more time with --model-timeout SECONDS.",
            ) from error
        except (self.library.APIError, httpx2.HTTPError) as error:
            raise self._failure(error).error(self.endpoint) from error
        except _INVALID_REPLY as error:
            failure = Failure(UNREACHED, f"no reply in its answer: {error}")
            raise failure.error(self.endpoint) from error

    def _read(self, completion: Completion) -> ModelReply:
        """Convert a completion to one text: thoughts, text, then calls as tool tags."""
        if completion.refused and not completion.text:
            raise ModelError(f"{self.name} declined to answer", hint="Ask it in other words.")
        thought = inert(completion.reasoning.strip())
        text = f"<<THINK>>{thought}<</THINK>>\n{completion.text}" if thought else completion.text
        text = with_calls(text, completion.calls)
        if not text.strip():
            raise Transient(ModelUnavailable(f"{self.name} answered with nothing"), billed=True)
        model = completion.model or self.endpoint.model
        usage = with_price(
            completion.usage,
            model,
            self.endpoint.prices,
            asked=self.endpoint.model,
            cache_writes=completion.cache_writes,
        )
        return ModelReply(text, usage, model)


def client_settings(library: Any, endpoint: Endpoint, proxy: str | None) -> dict[str, Any]:
    """Return arguments for a client of OpenAI's or Anthropic's library, which take the same.

    `proxy` is the egress proxy, None for a direct connection. The library's own retries are off,
    and proxies and certificates of the environment are ignored.
    """
    secure = not endpoint.base_url.startswith("http:")
    return {
        # The clients need some key, also for a server that needs none.
        "api_key": endpoint.key or "none",
        "max_retries": 0,
        "timeout": library.Timeout(endpoint.patience, connect=CONNECT_SECONDS),
        "http_client": library.DefaultAsyncHttpxClient(
            proxy=proxy,
            trust_env=False,
            verify=certificates() if secure else False,
            follow_redirects=False,
        ),
    }


def is_whole_reply(stream: Any) -> bool:
    """Whether an endpoint that was asked to stream returned the whole reply at once instead."""
    headers = getattr(getattr(stream, "response", None), "headers", {})
    return "json" in headers.get("content-type", "")
