"""Models at OpenAI-compatible endpoints, through the official client; also the wire form."""

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
from agent.models.remote import Completion, RemoteModel, client_settings, is_whole_reply
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
"""Words in the error of an endpoint that does not support JSON Schemas."""
_LIMITS = ("max_tokens", "max_completion_tokens")
"""Names of the bound on a reply; few servers know the second, newer one."""
_UNSUPPORTED = frozenset({400, 404, 415, 422, 501})
"""Statuses of endpoints that do not know a parameter."""


class ChatCompletionsModel(RemoteModel):
    """A model with OpenAI's wire form; parameters that its endpoint does not know are left out."""

    library: ClassVar = openai

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._streams = True
        self._takes_schemas = True
        # OpenAI itself wants the newer name; `_adapt` changes it where that is wrong.
        newer = "api.openai.com" in endpoint.base_url
        self._limit = _LIMITS[1] if newer else _LIMITS[0]

    @abstractmethod
    async def _create(self, form: Row) -> Any:
        """Send a request with these arguments of the client; the model is added here."""

    async def _call(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        # There are three things that an endpoint may not know (`_adapt`), so at most four attempts.
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
        """Remember what the endpoint does not know; False if it refused for another reason."""
        message = read_failure(error).message
        if error.status_code not in _UNSUPPORTED:
            return False
        if "response_format" in form and any(word in message.lower() for word in _SCHEMA_WORDS):
            self._takes_schemas = False
        elif self._limit in form and self._limit in message:
            self._limit = _LIMITS[1 - _LIMITS.index(self._limit)]
        elif "stream" in form and "stream" in message.lower():
            self._streams = False
        else:
            return False
        return True

    async def _read_stream(self, chunks: Any, stream: TextStream) -> Completion:
        if is_whole_reply(chunks):
            self._streams = False
            # Without validation, as the client does it: endpoints leave fields out.
            body = json.loads(await chunks.response.aread())
            return read_completion(ChatCompletion.construct(**body))
        reader = CompletionReader()
        # LiteLLM's streams are of another class, and close themselves.
        async with chunks if isinstance(chunks, AsyncStream) else nullcontext():
            async for chunk in chunks:
                stream(reader.add(chunk))
        return reader.result()


class OpenAIModel(ChatCompletionsModel):
    """A model at an endpoint; `proxy` is the egress proxy, None for a direct connection."""

    def __init__(self, endpoint: Endpoint, *, proxy: str | None = None) -> None:
        super().__init__(endpoint)
        self._model = endpoint.model
        settings = client_settings(openai, endpoint, proxy)
        self._client = AsyncOpenAI(base_url=endpoint.base_url, **settings)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _create(self, form: Row) -> Any:
        if not self._model:  # the first that the endpoint lists
            listed = await self._client.models.list()
            if not listed.data:
                raise UsageError(
                    f"{self.endpoint.base_url} lists no model", hint="Name it: --model."
                )
            self._model = listed.data[0].id
        return await self._client.chat.completions.create(model=self._model, **form)


def read_completion(completion: Any) -> Completion:
    """Read a reply that was not streamed; raises `ValueError` if it has no choice."""
    if not getattr(completion, "choices", None):
        raise ValueError("there is no choice in it")
    reader = CompletionReader(ended=True)
    reader.add(completion)
    return reader.result()


@dataclass(slots=True)
class CompletionReader:
    """Reads a reply in chunks: text and arguments in pieces, the usage at the end."""

    ended: bool = False
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)
    _usage: Usage | None = None
    _model: str = ""

    def add(self, chunk: Any) -> str:
        """Read a chunk, or a whole completion; returns its text."""
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
        # Some endpoints return thoughts in a field of their own, under one of two names.
        thought = getattr(part, "reasoning_content", None) or getattr(part, "reasoning", None)
        self._reasoning.append(thought if isinstance(thought, str) else "")
        text: str = part.content or getattr(part, "refusal", None) or ""
        self._text.append(text)
        return text

    def result(self) -> Completion:
        """Return the whole reply; raises `ValueError` if the stream ended too early."""
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
        if function is None:  # a type of call that none of our tools has
            return
        # Whole replies have no index, nor have streams of some endpoints: then it is a new call.
        index = getattr(call, "index", None)
        entry = self._calls.setdefault(len(self._calls) if index is None else index, ["", ""])
        # Some models write the namespace as well: `functions.READ`.
        entry[0] = entry[0] or (function.name or "").removeprefix("functions.")
        arguments = function.arguments or ""
        if not isinstance(arguments, str):  # some endpoints return an object instead of its JSON
            arguments = json.dumps(arguments, ensure_ascii=False)
        entry[1] += arguments


def _read_usage(usage: Any) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    # DeepSeek has the cached tokens in another field.
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
    # Each result is a message. Such messages cannot hold images, so these follow in another one.
    rows: list[Row] = [
        {"role": "tool", "tool_call_id": call, "content": text} for call, text in turn.results
    ]
    return [*rows, _message("user", "[What it looks like]", images)] if images else rows


def _message(role: str, text: str, images: Sequence[Image]) -> Row:
    """Write a message; images come before the text, as data URLs."""
    if not images:
        return {"role": role, "content": text}
    content: list[Row] = []
    for image in images:
        url = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
        content.append({"type": "image_url", "image_url": {"url": url}})
    content.append({"type": "text", "text": text})
    return {"role": role, "content": content}
