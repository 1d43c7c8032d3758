"""Models at OpenAI-compatible endpoints, through the official client, and their wire format."""

from __future__ import annotations

import base64
import json
from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import openai
from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from agent.errors import UsageError
from agent.models.base import Usage
from agent.models.failures import NO_RESPONSE_STATUS, NOT_A_REPLY, ErrorInReply
from agent.models.remote import Completion, RemoteModel, client_settings, is_whole_reply
from agent.protocol.loose_json import loose_json
from agent.protocol.native import as_turns
from browser.text.words import SENTENCE_ENDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.adaptation import Abilities, ModelRequest
    from agent.models.base import TextStream
    from agent.models.providers import Endpoint
    from agent.protocol.native import NativeTurn
    from agent.types import Image

Row = dict[str, Any]
_REPLY_END_CHARS = tuple(f'{SENTENCE_ENDS})]}}>"”»')
"""Characters at the end of a complete reply."""


class ChatCompletionsModel(RemoteModel):
    """A model with OpenAI's wire format; unsupported parameters are left out."""

    library: ClassVar = openai

    @abstractmethod
    async def _create(self, form: Row) -> Any:
        """Send a request with these client arguments, plus the model."""

    async def _call(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        form = self._form(request)
        if stream is None or not request.streamed:
            return read_completion(await self._create(form))
        return await self._read_stream(await self._create(form), stream)

    def _form(self, request: ModelRequest) -> Row:
        form: Row = {"messages": _messages(request, self.abilities, sees=self.sees)}
        if request.tools:
            form["tools"] = list(request.tools)
        if request.schema is not None:
            named = {"name": "reply", "schema": request.schema, "strict": True}
            form["response_format"] = {"type": "json_schema", "json_schema": named}
        if request.max_tokens is not None:
            newer = self.abilities.newer_limit
            form["max_completion_tokens" if newer else "max_tokens"] = request.max_tokens
        if request.streamed:
            form["stream"] = True
            if self.abilities.stream_usage:
                form["stream_options"] = {"include_usage": True}
        return form

    async def _read_stream(self, chunks: Any, stream: TextStream) -> Completion:
        if await is_whole_reply(chunks):
            self.abilities.streams = False
            # Not validated, as in the client, because endpoints leave out fields.
            body = json.loads(await chunks.response.aread())
            return read_completion(
                ChatCompletion.construct(**body) if isinstance(body, dict) else body
            )
        reader = CompletionReader()
        # LiteLLM's streams are of a different class and close themselves.
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
        if not self._model:  # the first model that the endpoint lists
            listed = await self._client.models.list()
            if not listed.data:
                raise UsageError(
                    f"{self.endpoint.base_url} lists no models", hint="Choose a model with --model."
                )
            self._model = listed.data[0].id
        return await self._client.chat.completions.create(model=self._model, **form)


def read_completion(completion: Any) -> Completion:
    """Read a reply that was not streamed; raises `ErrorInReply` if it is invalid."""
    if not getattr(completion, "choices", None):
        body = completion.to_dict() if hasattr(completion, "to_dict") else completion
        fields = body if isinstance(body, dict) else {}
        is_error = any(fields.get(key) for key in ("error", "detail", "message"))
        is_foreign = isinstance(completion, str) or (bool(fields) and not is_error)
        not_a_reply = is_foreign and "choices" not in fields
        raise ErrorInReply(body, NOT_A_REPLY if not_a_reply else NO_RESPONSE_STATUS)
    reader = CompletionReader()
    reader.add(completion)
    reader.end_reason = reader.end_reason or "stop"
    return reader.result()


@dataclass(slots=True)
class CompletionReader:
    """Reads a reply in chunks: text and arguments in pieces, usage at the end."""

    end_reason: str = ""
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _refusal: list[str] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)
    _ids: dict[str, int] = field(default_factory=dict)
    _usage: Usage | None = None
    _model: str = ""

    def add(self, chunk: Any) -> str:
        """Read a chunk, or a complete reply; returns its text."""
        self._model = getattr(chunk, "model", None) or self._model
        if usage := getattr(chunk, "usage", None):
            self._usage = _read_usage(usage)
        choices = getattr(chunk, "choices", None)
        if not choices:
            return ""
        choice = choices[0]
        if error := getattr(choice, "error", None):
            raise ErrorInReply({"error": error})
        self.end_reason = getattr(choice, "finish_reason", None) or self.end_reason
        part = getattr(choice, "delta", None) or getattr(choice, "message", None)
        if part is None:
            return ""
        if isinstance(part, dict):  # a complete message instead of a stream's delta
            part = ChatCompletionMessage.construct(**part)
        for call in getattr(part, "tool_calls", None) or []:
            self._add_call(call if not isinstance(call, dict) else _AttributeDict(call))
        if legacy := getattr(part, "function_call", None):
            self._add_call(_AttributeDict({"function": legacy, "index": 0}))
        # Some endpoints return thoughts in a separate field, under one of two names.
        thought = getattr(part, "reasoning_content", None) or getattr(part, "reasoning", None)
        self._reasoning.append(thought if isinstance(thought, str) else "")
        self._refusal.append(getattr(part, "refusal", None) or "")
        text = self._text_of(getattr(part, "content", None))
        self._text.append(text)
        return text

    def _text_of(self, content: Any) -> str:
        """Join the parts of `content` if it is a list; thoughts are kept separate."""
        if not isinstance(content, list):
            return content or ""
        texts = []
        for part in (dict(part) for part in content):
            if isinstance(thought := part.get("thinking"), str | list):
                self._reasoning.append(CompletionReader()._text_of(thought))  # noqa: SLF001
            texts.append(str(part.get("text") or ""))
        return "".join(texts)

    def result(self) -> Completion:
        """Return the complete reply; raises `ValueError` if the stream ended too early."""
        text = "".join(self._text)
        whole = [loose_json(arguments) is not None for _, arguments in self._calls.values()]
        # Some endpoints do not mark the end; in that case, the text or call must look complete.
        looks_whole = all(whole) if whole else text.rstrip()[-1:] in _REPLY_END_CHARS
        if not (self.end_reason or self._usage or ((text or whole) and looks_whole)):
            raise ValueError("the stream was cut off")
        refusal = "".join(self._refusal)
        return Completion(
            text or refusal,
            tuple((name, arguments) for name, arguments in self._calls.values()),
            self._usage or Usage(),
            self._model,
            refused=bool(refusal) and not text,
            reasoning="".join(self._reasoning),
            end_reason=self.end_reason,
        )

    def _add_call(self, call: Any) -> None:
        function = getattr(call, "function", None)
        if function is None:  # a kind of call that our tools do not use
            return
        function = _AttributeDict(function) if isinstance(function, dict) else function
        index, name, named = getattr(call, "index", None), function.name or "", bool(function.name)
        key = getattr(call, "id", None)
        if key and key in self._ids:
            index = self._ids[key]
        elif index is None:
            # Complete replies and some endpoints' streams have no index; there, a name marks a new
            # call.
            index = len(self._calls) if named or not self._calls else max(self._calls)
        elif key and index in self._calls and self._ids:  # another call with the same index
            index = max(self._calls) + 1
        if key:
            self._ids[key] = index
        entry = self._calls.setdefault(index, ["", ""])
        if name != entry[0]:  # sent in pieces, or repeated with each piece of arguments
            entry[0] += name
        arguments = function.arguments or ""
        # some endpoints return an object instead of a JSON string
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        entry[1] = arguments if entry[1] == "{}" and arguments else entry[1] + arguments


class _AttributeDict:
    """A dictionary's entries as attributes; missing ones are None."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Any:
        return self._row.get(name)


def _read_usage(usage: Any) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    # DeepSeek reports the cached tokens in another field.
    cached = getattr(details, "cached_tokens", 0) or getattr(usage, "prompt_cache_hit_tokens", 0)
    return Usage(usage.prompt_tokens or 0, cached or 0, usage.completion_tokens or 0)


def _messages(request: ModelRequest, takes: Abilities, *, sees: bool) -> list[Row]:
    rows: list[Row] = [{"role": "system", "content": request.system}] if request.system else []
    for turn in as_turns(request.messages, request.tools):
        rows += _turn_rows(turn, turn.images if sees else ())
    return rows if takes.system else _without_system(rows)


def _without_system(rows: list[Row]) -> list[Row]:
    """Put the system text before the user's first message; join adjacent messages of equal role.

    Templates without a system role also require alternating roles.
    """
    joined: list[Row] = []
    for asked in rows:
        row = asked | {"role": "user"} if asked["role"] == "system" else asked
        last = joined[-1] if joined else {}
        texts = isinstance(row["content"], str) and isinstance(last.get("content"), str)
        if texts and row["role"] == last["role"] != "tool" and "tool_calls" not in row:
            joined[-1] = last | {"content": f"{last['content']}\n\n{row['content']}"}
        else:
            joined.append(row)
    return joined


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
    # Each result is a message. Such messages cannot contain images, so these follow in another one.
    rows: list[Row] = [
        {"role": "tool", "tool_call_id": call, "content": text} for call, text in turn.results
    ]
    return [*rows, _message("user", "[What it looks like]", images)] if images else rows


def _message(role: str, text: str, images: Sequence[Image]) -> Row:
    """Format a message; images come before the text, as data URLs."""
    if not images:
        return {"role": role, "content": text}
    content: list[Row] = []
    for image in images:
        url = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
        content.append({"type": "image_url", "image_url": {"url": url}})
    content.append({"type": "text", "text": text})
    return {"role": role, "content": content}
