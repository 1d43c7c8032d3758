"""Models at OpenAI-compatible endpoints, over HTTP; also the wire form.

OpenAI's own client is not used: its import alone takes a second, for two requests of its API and
checks that other endpoints' replies do not pass.
"""

from __future__ import annotations

import base64
import json
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from agent.errors import UsageError
from agent.models.base import Usage
from agent.models.failures import ANOTHER_API, UNREACHED, ErrorInReply
from agent.models.remote import Completion, RemoteModel, http_client, is_whole_reply
from agent.protocol.loose_json import loose_json
from agent.protocol.native import as_turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.adaptation import Abilities, ModelRequest
    from agent.models.base import TextStream
    from agent.models.providers import Endpoint
    from agent.protocol.native import NativeTurn
    from agent.types import Image

_ENDS = tuple('.!?)]}>"”»。')
"""Characters with which a whole reply ends."""


class Row(dict[str, Any]):
    """A JSON object whose fields are attributes too; those that it lacks are None."""

    def __getattr__(self, name: str) -> Any:
        """Return a field."""
        return self.get(name)


class ChatCompletionsModel(RemoteModel):
    """A model with OpenAI's wire form; parameters that its endpoint does not know are left out."""

    @abstractmethod
    async def _create(self, form: dict[str, Any]) -> Any:
        """Send a request with these fields, to which the model is added; return the completion.

        For a request that streams, the result may also be an asynchronous iterator of its chunks.
        """

    async def _call(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        form = self._form(request)
        reply = await self._create(form)
        if stream is None or not isinstance(reply, AsyncIterator):
            if form.get("stream"):
                self.abilities.streams = False
            return read_completion(reply)
        reader = CompletionReader()
        # LiteLLM's streams are of another class, and close themselves.
        async with aclosing(reply) if isinstance(reply, AsyncGenerator) else nullcontext():
            async for chunk in reply:
                stream(reader.add(chunk))
        return reader.result()

    def _form(self, request: ModelRequest) -> dict[str, Any]:
        form: dict[str, Any] = {"messages": _messages(request, self.abilities, sees=self.sees)}
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


class OpenAIModel(ChatCompletionsModel):
    """A model at an endpoint; `proxy` is the egress proxy, None for a direct connection."""

    def __init__(self, endpoint: Endpoint, *, proxy: str | None = None) -> None:
        super().__init__(endpoint)
        self._model = endpoint.model
        headers = {"User-Agent": "urchin-research"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        self._client = http_client(endpoint, proxy, headers)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _create(self, form: dict[str, Any]) -> Any:
        if not self._model:  # the first that the endpoint lists
            listed = await self._send("GET", "models")
            names = [row["id"] for row in json.loads(await listed.aread())["data"]]
            if not names:
                raise UsageError(
                    f"{self.endpoint.base_url} lists no model", hint="Name it: --model."
                )
            self._model = names[0]
        response = await self._send("POST", "chat/completions", {"model": self._model, **form})
        if form.get("stream") and not await is_whole_reply(response):
            return _chunks(response)
        body = await response.aread()
        try:
            return json.loads(body, object_hook=Row)
        except ValueError:
            if "json" in response.headers.get("content-type", ""):
                raise
            return response.text

    async def _send(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        """Make a request; raises `ErrorInReply` for a refusal. The response is not read yet."""
        url = f"{self.endpoint.base_url.rstrip('/')}/{path}"
        request = self._client.build_request(method, url, json=body)
        response = await self._client.send(request, stream=True)
        if not response.is_success:
            await response.aread()
            try:
                said = response.json()
            except ValueError:
                said = response.text
            raise ErrorInReply(said, response.status_code, response.headers)
        return response


async def _chunks(response: httpx2.Response) -> AsyncGenerator[Any]:
    """Read the chunks of a stream; raises `ErrorInReply` for an error among them."""
    # Servers give this type other names; whatever its name, it is UTF-8.
    response.headers["content-type"] = "text/event-stream"
    async with aclosing(response):
        async for event in httpx2.EventSource(response):
            if event.data.startswith("[DONE]"):
                return
            chunk = json.loads(event.data, object_hook=Row)
            if isinstance(chunk, dict) and chunk.get("error"):
                raise ErrorInReply(chunk)
            yield chunk


def read_completion(completion: Any) -> Completion:
    """Read a reply that was not streamed; raises `ErrorInReply` if it is an error, or none."""
    if not getattr(completion, "choices", None):
        # LiteLLM's completions are objects.
        is_object = not isinstance(completion, dict) and hasattr(completion, "to_dict")
        body = completion.to_dict() if is_object else completion
        told = isinstance(body, dict) and any(body.get(k) for k in ("error", "detail", "message"))
        other = isinstance(completion, str) or (isinstance(body, dict) and body and not told)
        choices = isinstance(body, dict) and "choices" in body
        raise ErrorInReply(body, ANOTHER_API if other and not choices else UNREACHED)
    reader = CompletionReader()
    reader.add(completion)
    reader.ended = reader.ended or "stop"
    return reader.result()


@dataclass(slots=True)
class CompletionReader:
    """Reads a reply in chunks: text and arguments in pieces, the usage at the end."""

    ended: str = ""
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _refusal: list[str] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)
    _ids: dict[str, int] = field(default_factory=dict)
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
        choice = choices[0]
        if error := getattr(choice, "error", None):
            raise ErrorInReply({"error": error})
        self.ended = getattr(choice, "finish_reason", None) or self.ended
        part = getattr(choice, "delta", None) or getattr(choice, "message", None)
        if part is None:
            return ""
        for call in getattr(part, "tool_calls", None) or []:
            self._add_call(call)
        if legacy := getattr(part, "function_call", None):
            self._add_call(Row(function=legacy, index=0))
        # Some endpoints return thoughts in a field of their own, under one of two names.
        thought = getattr(part, "reasoning_content", None) or getattr(part, "reasoning", None)
        self._reasoning.append(thought if isinstance(thought, str) else "")
        self._refusal.append(getattr(part, "refusal", None) or "")
        text = self._text_of(getattr(part, "content", None))
        self._text.append(text)
        return text

    def _text_of(self, content: Any) -> str:
        """Join the parts of a content that is a list; thoughts among them are kept apart."""
        if not isinstance(content, list):
            return content or ""
        texts = []
        for part in (dict(part) for part in content):
            if isinstance(thought := part.get("thinking"), str | list):
                self._reasoning.append(CompletionReader()._text_of(thought))  # noqa: SLF001
            texts.append(str(part.get("text") or ""))
        return "".join(texts)

    def result(self) -> Completion:
        """Return the whole reply; raises `ValueError` if the stream ended too early."""
        text = "".join(self._text)
        whole = [loose_json(arguments) is not None for _, arguments in self._calls.values()]
        # Some endpoints name no end: then a text or a call must look like a whole one.
        looks_whole = all(whole) if whole else text.rstrip()[-1:] in _ENDS
        if not (self.ended or self._usage or ((text or whole) and looks_whole)):
            raise ValueError("the stream broke off")
        refusal = "".join(self._refusal)
        return Completion(
            text or refusal,
            tuple((name, arguments) for name, arguments in self._calls.values()),
            self._usage or Usage(),
            self._model,
            refused=bool(refusal) and not text,
            reasoning="".join(self._reasoning),
            ended=self.ended,
        )

    def _add_call(self, call: Any) -> None:
        function = getattr(call, "function", None)
        if function is None:  # a type of call that none of our tools has
            return
        index, name, named = getattr(call, "index", None), function.name or "", bool(function.name)
        key = getattr(call, "id", None)
        if key and key in self._ids:
            index = self._ids[key]
        elif index is None:
            # Whole replies have no index, nor have streams of some endpoints: a name begins a call.
            index = len(self._calls) if named or not self._calls else max(self._calls)
        elif key and index in self._calls and self._ids:  # another call under the same number
            index = max(self._calls) + 1
        if key:
            self._ids[key] = index
        entry = self._calls.setdefault(index, ["", ""])
        if name != entry[0]:  # in pieces, or repeated with each of its own
            entry[0] += name
        arguments = function.arguments or ""
        if not isinstance(arguments, str):  # some endpoints return an object instead of its JSON
            arguments = json.dumps(arguments, ensure_ascii=False)
        entry[1] = arguments if entry[1] == "{}" and arguments else entry[1] + arguments


def _read_usage(usage: Any) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    # DeepSeek has the cached tokens in another field.
    cached = getattr(details, "cached_tokens", 0) or getattr(usage, "prompt_cache_hit_tokens", 0)
    return Usage(usage.prompt_tokens or 0, cached or 0, usage.completion_tokens or 0)


def _messages(request: ModelRequest, takes: Abilities, *, sees: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        [{"role": "system", "content": request.system}] if request.system else []
    )
    for turn in as_turns(request.messages, request.tools):
        rows += _turn_rows(turn, turn.images if sees else ())
    return rows if takes.system else _without_system(rows)


def _without_system(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the system text before the first message of the user; neighbours of one role are joined.

    Templates without a system role also want the roles to alternate.
    """
    joined: list[dict[str, Any]] = []
    for asked in rows:
        row = asked | {"role": "user"} if asked["role"] == "system" else asked
        last = joined[-1] if joined else {}
        texts = isinstance(row["content"], str) and isinstance(last.get("content"), str)
        if texts and row["role"] == last["role"] != "tool" and "tool_calls" not in row:
            joined[-1] = last | {"content": f"{last['content']}\n\n{row['content']}"}
        else:
            joined.append(row)
    return joined


def _turn_rows(turn: NativeTurn, images: Sequence[Image]) -> list[dict[str, Any]]:
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
    rows: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": call, "content": text} for call, text in turn.results
    ]
    return [*rows, _message("user", "[What it looks like]", images)] if images else rows


def _message(role: str, text: str, images: Sequence[Image]) -> dict[str, Any]:
    """Write a message; images come before the text, as data URLs."""
    if not images:
        return {"role": role, "content": text}
    content: list[dict[str, Any]] = []
    for image in images:
        url = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
        content.append({"type": "image_url", "image_url": {"url": url}})
    content.append({"type": "text", "text": text})
    return {"role": role, "content": content}
