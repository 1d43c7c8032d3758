"""The base class of models behind an API: retries, adaptation, streaming, native tools, prices.

A subclass names its client library and implements `_call`, which makes one request.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import httpx2

from agent.errors import (
    KeyMissing,
    ModelError,
    ModelFiltered,
    ModelQuota,
    ModelTruncated,
    ModelUnauthorized,
    ModelUnavailable,
    ResearchError,
    UsageError,
)
from agent.models.adaptation import ModelRequest, adapt, recall, remember
from agent.models.base import CALL_BUDGET, ModelReply, SystemPrompt, TextStream, Usage
from agent.models.failures import (
    NO_RESPONSE_STATUS,
    NOT_A_REPLY,
    ErrorInReply,
    Failure,
    TransientFailure,
    read_failure,
)
from agent.models.providers import with_price, without_folder
from agent.protocol.native import with_calls
from agent.protocol.replies import inert, unwrap_reply
from browser.imports import import_in_background
from browser.net.transport import certificates
from browser.retries import MODEL, repeat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import OnText
    from agent.models.providers import Endpoint
    from agent.types import Message

CONNECT_SECONDS = 10.0
"""Seconds allowed for connecting to a provider; slower providers count as down."""
PICTURE_LEFT_OUT = "[An image was left out here: this model does not accept images.]"
_UNBILLED_ERRORS = (ModelUnauthorized, ModelQuota, UsageError)
"""Errors from calls that are certainly not billed."""
# Raised while reading a malformed reply, since the clients do not validate replies. Anthropic's
# library raises the last two if a stream was cut off.
_INVALID_REPLY = (ValueError, TypeError, AttributeError, LookupError, AssertionError, RuntimeError)
_FILTER_REASONS = frozenset(
    {"content_filter", "safety", "recitation", "prohibited_content", "refusal"}
)
_CUT_REASONS = frozenset({"length", "max_tokens"})
"""Providers' reasons for ending a reply at its length limit, in lower case."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One request's result: text, calls (name, raw arguments), usage, and the model's full name.

    `cache_writes` counts input tokens that the provider wrote to its cache; `end_reason` is the
    provider's reason for ending the reply; `refused` means that the model declined; `reasoning`
    contains its thoughts.
    """

    text: str
    calls: tuple[tuple[str, str], ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    cache_writes: int = 0
    refused: bool = False
    reasoning: str = ""
    end_reason: str = ""


class RemoteModel(ABC):
    """A model at an endpoint, called with retries."""

    library: ClassVar[Any]
    """The client library, for its exceptions."""
    streams = True

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.name
        self.endpoint = endpoint
        self.native = endpoint.native
        self.abilities = recall(endpoint)
        self.calls_left: int | None = None
        """Number of requests that may still be made (None: no limit)."""

    @property
    def sees(self) -> bool:
        """Whether it accepts images."""
        return self.endpoint.sees and self.abilities.images

    @property
    def context(self) -> int | None:
        """The context window in tokens, if the endpoint has reported it."""
        return self.abilities.context

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Reply, with streaming if `on_text` is given; raises `ModelError` or `UsageError`."""
        tools = system.tools if isinstance(system, SystemPrompt) else ()
        stream = TextStream(on_text) if on_text else None
        request = ModelRequest(system, messages, tools, streamed=stream is not None)
        return await self._answer(request, stream)

    async def reply_as(
        self, system: str, messages: Sequence[Message], schema: dict[str, Any], max_tokens: int
    ) -> ModelReply:
        """Reply with JSON that conforms to a schema, if the endpoint supports that."""
        request = ModelRequest(system, messages, schema=schema, max_tokens=max_tokens)
        return await self._answer(request)

    @abstractmethod
    async def aclose(self) -> None:
        """Close the connections."""

    @abstractmethod
    async def _call(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        """Make one request; raises exceptions from the library or in `_INVALID_REPLY`."""

    def _failure(self, error: Exception) -> Failure:
        return read_failure(error)

    async def _answer(self, request: ModelRequest, stream: TextStream | None = None) -> ModelReply:
        """Make attempts until one succeeds; raises the last attempt's error if none does."""
        endpoint = self.endpoint
        if endpoint.needs_key and not endpoint.key:  # the endpoint would reject the request
            raise KeyMissing(
                f"{self.name} needs a key, and {endpoint.key_name} is not set",
                hint=f"Store it with `research keys set {endpoint.key_name}`, set it in the "
                "environment, or use --model extractive, which needs none.",
            )
        if endpoint.prices is not None:
            import_in_background("genai_prices")
        return await repeat(MODEL, lambda: self._try(request, stream))

    async def _try(self, request: ModelRequest, stream: TextStream | None) -> ModelReply:
        """Make one attempt within the call's budget."""
        budget = CALL_BUDGET.get()
        bounds = [request.max_tokens, budget.begin() if budget is not None else None]
        limit = min((bound for bound in bounds if bound is not None), default=None)
        if stream:
            stream.restart()
        try:
            return self._read(await self._complete(replace(request, max_tokens=limit), stream))
        except (TransientFailure, ResearchError) as error:
            # The reserved price remains charged unless the attempt was certainly free.
            free = (
                not error.billed
                if isinstance(error, TransientFailure)
                else isinstance(error, _UNBILLED_ERRORS)
            )
            if budget is not None:
                budget.failed(billed=not free)
            raise

    async def _complete(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        """Make one request, adapted to what the endpoint accepts.

        Raises `TransientFailure` if a retry may succeed, otherwise a `ResearchError`.
        """
        tried: set[str] = set()
        while True:
            if self.calls_left is not None:
                if self.calls_left <= 0:
                    raise ModelError("the maximum number of requests has been made")
                self.calls_left -= 1
            try:
                return await self._call(self._adapted(request), stream)
            except (self.library.APITimeoutError, httpx2.TimeoutException) as error:
                # Not retried: the wait was long, and another attempt would also time out.
                raise ModelUnavailable(
                    f"{self.name} sent nothing for {self.endpoint.patience:g} s",
                    hint="Give a slow model more time with --model-timeout SECONDS.",
                ) from error
            except (self.library.APIError, httpx2.HTTPError, ErrorInReply) as error:
                failure, cause = self._failure(error), error
            except _INVALID_REPLY as error:
                failure, cause = (
                    Failure(NO_RESPONSE_STATUS, f"the response contains no reply: {error}"),
                    error,
                )
            if not adapt(self.abilities, failure, self._adapted(request), tried):
                final = failure.error(self.endpoint)
                if tokens := getattr(final, "tokens", None):
                    self.abilities.context = tokens
                    remember(self.endpoint, self.abilities)
                raise final from cause
            remember(self.endpoint, self.abilities)

    def _adapted(self, request: ModelRequest) -> ModelRequest:
        """Remove the parts of a request that the endpoint does not accept; tools become text."""
        takes = self.abilities
        if request.tools and not takes.tools:
            system = getattr(request.system, "in_text", "") or request.system
            request = replace(request, system=system, tools=())
        if not takes.images:
            bare = [
                replace(m, images=(), content=f"{m.content}\n{PICTURE_LEFT_OUT}") if m.images else m
                for m in request.messages
            ]
            request = replace(request, messages=bare)
        return replace(
            request,
            streamed=request.streamed and takes.streams,
            schema=request.schema if takes.schemas else None,
        )

    def _read(self, completion: Completion) -> ModelReply:
        """Convert a completion to one string: thoughts, text, then calls as tool tags."""
        ended = completion.end_reason.lower()
        empty = not completion.text.strip() and not completion.calls
        if empty and ended in _FILTER_REASONS - {"refusal"}:
            raise ModelFiltered(f"a content filter of {self.name} stopped the reply ({ended})")
        if completion.refused:
            raise ModelError(
                f"{self.name} declined to answer: {completion.text}".rstrip(": "),
                hint="Rephrase the question.",
            )
        if empty and ended in _CUT_REASONS:
            raise ModelTruncated(f"{self.name}'s reply reached its length limit before an answer")
        text, thought = unwrap_reply(completion.text), inert(completion.reasoning.strip())
        if empty and thought and ended in ("stop", "end_turn", "tool_calls"):
            # Some servers mark the entire reply as reasoning; its end shows that it was complete.
            text, thought = completion.reasoning, ""
        text = f"<<THINK>>{thought}<</THINK>>\n{text}" if thought else text
        text = with_calls(text, completion.calls)
        if not text.strip():
            raise TransientFailure(
                ModelUnavailable(f"{self.name} returned an empty reply"), billed=True
            )
        model = completion.model or self.endpoint.model
        usage = with_price(
            completion.usage,
            model,
            self.endpoint.prices,
            asked=self.endpoint.model,
            cache_writes=completion.cache_writes,
        )
        return ModelReply(text, usage, without_folder(model), is_truncated=ended in _CUT_REASONS)


def client_settings(library: Any, endpoint: Endpoint, proxy: str | None) -> dict[str, Any]:
    """Return client arguments, which are the same for OpenAI's and Anthropic's libraries.

    `proxy` is the egress proxy, None for a direct connection. The library's retries are off, and
    proxies and certificates from the environment are ignored.
    """
    secure = not endpoint.base_url.startswith("http:")
    return {
        # The clients require a key, even for a server that does not need one.
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


async def is_whole_reply(stream: Any) -> bool:
    """Return whether an endpoint that should stream returned a complete reply instead.

    Raises `ErrorInReply` for a web page.
    """
    response = getattr(stream, "response", None)
    content_type = getattr(response, "headers", {}).get("content-type", "")
    if "html" in content_type:
        page = await response.aread()  # type: ignore[union-attr]  # it has headers, so it is a response
        raise ErrorInReply(page.decode("utf-8", "replace"), NOT_A_REPLY)
    return "json" in content_type
