"""Models behind an OpenAI-compatible endpoint, through the official client, and its wire form."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from agent.errors import UsageError
from agent.models.base import Usage
from agent.models.failures import BACKOFF, GARBAGE, UNREACHED, Failure, seconds_to_wait
from agent.models.remote import Completion, RemoteModel, came_at_once, client_settings
from agent.protocol.native import as_turns, first_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import Hearing
    from agent.models.providers import Endpoint
    from agent.models.remote import ModelRequest
    from agent.protocol.native import NativeCall, NativeTurn
    from agent.types import Image

_FORM = ("response_format", "schema", "grammar", "sampler")
_LIMITS = ("max_tokens", "max_completion_tokens")
"""How the bound on a reply is called: the second is the newer name, which few servers know."""
_UNSUPPORTED = frozenset({400, 404, 415, 422, 501})
"""How endpoints answer that do not know a parameter."""


class OpenAIModel(RemoteModel):
    """A model at an endpoint; `proxy` is the guarded way out, None for a direct connection."""

    def __init__(
        self, where: Endpoint, *, proxy: str | None = None, backoff: float = BACKOFF
    ) -> None:
        super().__init__(where, backoff=backoff)
        self._model = where.model
        self._streams = True
        self._takes_schemas = True
        self._limit = _LIMITS["api.openai.com" in where.base_url]
        settings = client_settings(openai, where, proxy)
        self._client = AsyncOpenAI(base_url=where.base_url, **settings)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, asked: ModelRequest, heard: Hearing | None) -> Completion:
        form = request(asked, sees=self.sees)
        if asked.schema is not None and self._takes_schemas:
            form["response_format"] = _response_format(asked.schema)
        if asked.max_tokens is not None:
            form[self._limit] = asked.max_tokens
        try:
            self._model = self._model or await self._first_model()
            return await self._answer({"model": self._model, **form}, heard)
        except openai.APITimeoutError as error:
            raise self._silent() from error
        except openai.APIStatusError as error:
            raise self._failed(failure(error)) from error
        except openai.APIError as error:  # no connection, or an error in the middle of a stream
            raise self._failed(Failure.in_stream(error.code or "", said(error))) from error
        except httpx2.HTTPError as error:  # half a stream
            raise self._failed(Failure(UNREACHED, str(error))) from error
        except GARBAGE as error:
            raise self._failed(Failure(UNREACHED, f"no reply in its answer: {error}")) from error

    async def _answer(self, form: dict[str, Any], heard: Hearing | None) -> Completion:
        if heard is not None and self._streams:
            try:
                return await self._streamed(form, heard)
            except openai.APIStatusError as error:
                if error.status_code not in _UNSUPPORTED or "stream" not in said(error).lower():
                    raise
                self._streams = False
        return whole(await self._create(form))

    async def _create(self, form: dict[str, Any]) -> Any:
        """Ask; without, or by another name, what the endpoint says it does not know."""
        try:
            return await self._client.chat.completions.create(**form)
        except openai.APIStatusError as error:
            told = said(error)
            if error.status_code not in _UNSUPPORTED:
                raise
            if "response_format" in form and any(word in told.lower() for word in _FORM):
                self._takes_schemas = False
                form = {key: value for key, value in form.items() if key != "response_format"}
            elif self._limit in form and self._limit in told:
                limit = form[self._limit]
                form = {key: value for key, value in form.items() if key != self._limit}
                self._limit = _LIMITS[1 - _LIMITS.index(self._limit)]
                form[self._limit] = limit
            else:
                raise
        return await self._client.chat.completions.create(**form)

    async def _streamed(self, form: dict[str, Any], heard: Hearing) -> Completion:
        stream = await self._create({**form, **STREAMED})
        if came_at_once(stream):
            self._streams = False
            # Built as the client builds it: unchecked, since endpoints leave fields out.
            return whole(ChatCompletion.construct(**json.loads(await stream.response.aread())))
        gathered = OpenAIStream()
        async with stream:
            async for chunk in stream:
                heard(gathered.add(chunk))
        return gathered.said()

    async def _first_model(self) -> str:
        listed = await self._client.models.list()
        if not listed.data:
            raise UsageError(f"{self.where.base_url} lists no model", hint="Name it: --model.")
        return listed.data[0].id


def _response_format(schema: Row) -> Row:
    named = {"name": "reply", "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": named}


def failure(error: openai.APIStatusError) -> Failure:
    """Read what an endpoint says of a call that it refused."""
    code = str(error.code or error.type or "")
    return Failure(error.status_code, said(error), code, seconds_to_wait(error.response.headers))


def said(error: openai.APIError) -> str:
    """Give the endpoint's own words, else the client's."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or error or type(error).__name__)


Row = dict[str, Any]
STREAMED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
"""What a call adds that is to be answered in pieces."""


def request(asked: ModelRequest, *, sees: bool) -> dict[str, Any]:
    """Write a call but for the model's name; with pictures for a model that `sees`."""
    form: dict[str, Any] = {"messages": _messages(asked, sees=sees)}
    if asked.tools:
        form["tools"] = list(asked.tools)
    return form


def whole(completion: Any) -> Completion:
    """Read a completion; raises `ValueError` where it holds no choice."""
    choices = getattr(completion, "choices", None)
    if not choices:
        raise ValueError("there is no choice in it")
    message = choices[0].message
    # Calls of another type than function are of no tool of ours.
    calls = [call.function for call in message.tool_calls or [] if call.type == "function"]
    return Completion(
        message.content or getattr(message, "refusal", None) or "",
        tuple((_name(call.name), _arguments(call.arguments)) for call in calls),
        _counted(getattr(completion, "usage", None)),
        completion.model or "",
        reasoning=_reasoning(message),
    )


@dataclass(slots=True)
class OpenAIStream:
    """A reply that comes in chunks: text and arguments piece by piece, the usage at the end."""

    _text: list[str] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)
    _usage: Usage | None = None
    _thoughts: list[str] = field(default_factory=list)
    _model: str = ""
    _ended: bool = False

    def add(self, chunk: Any) -> str:
        """Take up a chunk; gives the text that is new in it."""
        self._model = getattr(chunk, "model", None) or self._model
        if usage := getattr(chunk, "usage", None):
            self._usage = _counted(usage)
        choices = getattr(chunk, "choices", None)
        if not choices:
            return ""
        self._ended = self._ended or bool(choices[0].finish_reason)
        delta = choices[0].delta
        for call in delta.tool_calls or []:
            self._add_call(call)
        self._thoughts.append(_reasoning(delta))
        text: str = delta.content or getattr(delta, "refusal", None) or ""
        self._text.append(text)
        return text

    def said(self) -> Completion:
        """Give the whole; raises `ValueError` where the stream broke off before its end."""
        if not self._ended and self._usage is None:
            raise ValueError("the stream broke off")
        calls = tuple((name, arguments) for name, arguments in self._calls.values())
        thoughts = "".join(self._thoughts)
        usage = self._usage or Usage()
        return Completion("".join(self._text), calls, usage, self._model, reasoning=thoughts)

    def _add_call(self, call: Any) -> None:
        # Some endpoints leave the index out: then each piece is a call of its own.
        index = len(self._calls) if call.index is None else call.index
        known = self._calls.setdefault(index, ["", ""])
        if call.function is not None:
            known[0] = known[0] or _name(call.function.name)
            known[1] += _arguments(call.function.arguments) if call.function.arguments else ""


def _name(given: str | None) -> str:
    """Some models name a function by its place: `functions.READ`."""
    return (given or "").removeprefix("functions.")


def _arguments(given: Any) -> str:
    """Some endpoints give the arguments as an object instead of its JSON."""
    return given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)


def _reasoning(message: Any) -> str:
    """Read what a model thought, where the endpoint tells it apart from what it says."""
    told = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    return told if isinstance(told, str) else ""


def _messages(asked: ModelRequest, *, sees: bool) -> list[Row]:
    system: list[Row] = [{"role": "system", "content": asked.system}] if asked.system else []
    if not asked.tools:
        said = [_row(m.role, m.content, m.images if sees else ()) for m in asked.messages]
        return [*system, *said]
    turns = as_turns(asked.messages, first_fields(asked.tools))
    return [*system, *(row for turn in turns for row in _native(turn, sees=sees))]


def _native(turn: NativeTurn, *, sees: bool) -> list[Row]:
    """Write a turn; each result is a message of its own, and pictures can only follow them."""
    if turn.calls:
        called = [_call(call) for call in turn.calls]
        return [{"role": "assistant", "content": turn.text or None, "tool_calls": called}]
    images = turn.images if sees else ()
    if not turn.results:
        return [_row(turn.role, turn.text, images)]
    given: list[Row] = [
        {"role": "tool", "tool_call_id": call, "content": text} for call, text in turn.results
    ]
    return [*given, _row("user", "[What it looks like]", images)] if images else given


def _call(call: NativeCall) -> Row:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _row(role: str, text: str, images: Sequence[Image]) -> Row:
    """Write a message; pictures stand before the words about them, as data URLs."""
    if not images:
        return {"role": role, "content": text}
    shown = [{"type": "image_url", "image_url": {"url": _url(image)}} for image in images]
    return {"role": role, "content": [*shown, {"type": "text", "text": text}]}


def _url(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"


def _counted(usage: Any) -> Usage:
    """Read the tokens; none where none are told."""
    if usage is None:
        return Usage()
    details = getattr(usage, "prompt_tokens_details", None)
    # DeepSeek tells the cached ones in a field of its own.
    cached = getattr(details, "cached_tokens", 0) or getattr(usage, "prompt_cache_hit_tokens", 0)
    return Usage(usage.prompt_tokens or 0, cached or 0, usage.completion_tokens or 0)
