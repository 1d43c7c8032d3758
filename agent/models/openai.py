"""Models behind an OpenAI-compatible endpoint, through the official client, and its wire form."""

from __future__ import annotations

import base64
import json
from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import openai
from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletion

from agent.errors import UsageError
from agent.models.base import Usage
from agent.models.failures import read_failure
from agent.models.remote import BACKOFF, Completion, RemoteModel, came_at_once, client_settings
from agent.protocol.native import as_turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import TextStream
    from agent.models.providers import Endpoint
    from agent.models.remote import ModelRequest
    from agent.protocol.native import NativeTurn
    from agent.types import Image

Row = dict[str, Any]
_SCHEMA_WORDS = ("response_format", "schema", "grammar", "sampler")
"""What endpoints speak of that refuse a JSON Schema."""
_LIMITS = ("max_tokens", "max_completion_tokens")
"""How the bound on a reply is called: the second is the newer name, which few servers know."""
_UNSUPPORTED = frozenset({400, 404, 415, 422, 501})
"""How endpoints answer that do not know a parameter."""


class ChatCompletionsModel(RemoteModel):
    """A model that speaks OpenAI's wire form; what its endpoint does not know is left out."""

    library: ClassVar = openai

    def __init__(self, where: Endpoint, *, backoff: float = BACKOFF) -> None:
        super().__init__(where, backoff=backoff)
        self._streams = True
        self._takes_schemas = True
        self._limit = _LIMITS["api.openai.com" in where.base_url]

    @abstractmethod
    async def _create(self, form: Row) -> Any:
        """Send a call, by the client's own arguments but for the model."""

    async def _call(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        # Each time without, or by another name, what the endpoint says it does not know.
        for last in (False, False, False, True):
            form = self._form(request)
            try:
                if stream is None or not self._streams:
                    return read_completion(await self._create(form))
                form |= {"stream": True, "stream_options": {"include_usage": True}}
                return await self._read_stream(await self._create(form), stream)
            except openai.APIStatusError as error:
                if last or not self._adapt(form, error):
                    raise
        raise AssertionError("the last one returns or raises")

    def _form(self, request: ModelRequest) -> Row:
        form: Row = {"messages": _messages(request, sees=self.sees)}
        if request.tools:
            form["tools"] = list(request.tools)
        if request.schema is not None and self._takes_schemas:
            named = {"name": "reply", "schema": request.schema, "strict": True}
            form["response_format"] = {"type": "json_schema", "json_schema": named}
        if request.max_tokens is not None:
            form[self._limit] = request.max_tokens
        return form

    def _adapt(self, form: Row, error: openai.APIStatusError) -> bool:
        """Learn what the endpoint does not know; False where it refused for another reason."""
        said = read_failure(error).message
        if error.status_code not in _UNSUPPORTED:
            return False
        if "response_format" in form and any(word in said.lower() for word in _SCHEMA_WORDS):
            self._takes_schemas = False
        elif self._limit in form and self._limit in said:
            self._limit = _LIMITS[1 - _LIMITS.index(self._limit)]
        elif "stream" in form and "stream" in said.lower():
            self._streams = False
        else:
            return False
        return True

    async def _read_stream(self, chunks: Any, stream: TextStream) -> Completion:
        if came_at_once(chunks):
            self._streams = False
            # Built as the client builds it: unchecked, since endpoints leave fields out.
            body = json.loads(await chunks.response.aread())
            return read_completion(ChatCompletion.construct(**body))
        reader = CompletionReader()
        # What LiteLLM gives closes itself at its end.
        async with chunks if isinstance(chunks, AsyncStream) else nullcontext():
            async for chunk in chunks:
                stream(reader.add(chunk))
        return reader.result()


class OpenAIModel(ChatCompletionsModel):
    """A model at an endpoint; `proxy` is the guarded way out, None for a direct connection."""

    def __init__(
        self, where: Endpoint, *, proxy: str | None = None, backoff: float = BACKOFF
    ) -> None:
        super().__init__(where, backoff=backoff)
        self._model = where.model
        settings = client_settings(openai, where, proxy)
        self._client = AsyncOpenAI(base_url=where.base_url, **settings)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _create(self, form: Row) -> Any:
        if not self._model:  # the endpoint's first one
            listed = await self._client.models.list()
            if not listed.data:
                raise UsageError(f"{self.where.base_url} lists no model", hint="Name it: --model.")
            self._model = listed.data[0].id
        return await self._client.chat.completions.create(model=self._model, **form)


def read_completion(completion: Any) -> Completion:
    """Read a reply that came whole; raises `ValueError` where it holds no choice."""
    if not getattr(completion, "choices", None):
        raise ValueError("there is no choice in it")
    reader = CompletionReader(ended=True)
    reader.add(completion)
    return reader.result()


@dataclass(slots=True)
class CompletionReader:
    """A reply that comes in chunks: text and arguments piece by piece, the usage at the end."""

    ended: bool = False
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)
    _usage: Usage | None = None
    _model: str = ""

    def add(self, chunk: Any) -> str:
        """Read a chunk, or a whole completion; returns the text that is new in it."""
        self._model = getattr(chunk, "model", None) or self._model
        if usage := getattr(chunk, "usage", None):
            self._usage = _read_usage(usage)
        choices = getattr(chunk, "choices", None)
        if not choices:
            return ""
        self.ended = self.ended or bool(choices[0].finish_reason)
        part = getattr(choices[0], "delta", None) or choices[0].message
        for call in part.tool_calls or []:
            self._add_call(call)
        # Some endpoints tell thoughts apart from what is said, under one of two names.
        thought = getattr(part, "reasoning_content", None) or getattr(part, "reasoning", None)
        self._reasoning.append(thought if isinstance(thought, str) else "")
        text: str = part.content or getattr(part, "refusal", None) or ""
        self._text.append(text)
        return text

    def result(self) -> Completion:
        """The whole; raises `ValueError` where the stream broke off before its end."""
        if not self.ended and self._usage is None:
            raise ValueError("the stream broke off")
        return Completion(
            "".join(self._text),
            tuple((name, arguments) for name, arguments in self._calls.values()),
            self._usage or Usage(),
            self._model,
            reasoning="".join(self._reasoning),
        )

    def _add_call(self, call: Any) -> None:
        function = getattr(call, "function", None)
        if function is None:  # of another type, which is of no tool of ours
            return
        # In a whole reply, and from some endpoints, there is no index: a call of its own.
        index = getattr(call, "index", None)
        known = self._calls.setdefault(len(self._calls) if index is None else index, ["", ""])
        # Some models name a function by its place: `functions.READ`.
        known[0] = known[0] or (function.name or "").removeprefix("functions.")
        given = function.arguments or ""
        # Some endpoints give the arguments as an object instead of its JSON.
        known[1] += given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _read_usage(usage: Any) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    # DeepSeek tells the cached ones in a field of its own.
    cached = getattr(details, "cached_tokens", 0) or getattr(usage, "prompt_cache_hit_tokens", 0)
    return Usage(usage.prompt_tokens or 0, cached or 0, usage.completion_tokens or 0)


def _messages(request: ModelRequest, *, sees: bool) -> list[Row]:
    rows: list[Row] = [{"role": "system", "content": request.system}] if request.system else []
    for turn in as_turns(request.messages, request.tools):
        rows += _turn_rows(turn, turn.images if sees else ())
    return rows


def _turn_rows(turn: NativeTurn, images: Sequence[Image]) -> list[Row]:
    if turn.calls:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in turn.calls
        ]
        return [{"role": "assistant", "content": turn.text or None, "tool_calls": calls}]
    if not turn.results:
        return [_message(turn.role, turn.text, images)]
    # Each result is a message of its own; they hold no pictures, which therefore follow them.
    rows: list[Row] = [
        {"role": "tool", "tool_call_id": call, "content": text} for call, text in turn.results
    ]
    return [*rows, _message("user", "[What it looks like]", images)] if images else rows


def _message(role: str, text: str, images: Sequence[Image]) -> Row:
    """Write a message; pictures stand before the words about them, as data URLs."""
    if not images:
        return {"role": role, "content": text}
    urls = (f"data:{i.media_type};base64,{base64.b64encode(i.data).decode()}" for i in images)
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return {"role": role, "content": [*shown, {"type": "text", "text": text}]}
