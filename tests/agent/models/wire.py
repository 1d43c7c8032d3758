"""Loopback endpoints that speak OpenAI's and Anthropic's wire formats, as a test requires.

A queued answer is given whole or as a stream, as requested; the last one is repeated.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.models.anthropic import AnthropicModel


PIECE = 5
"""Characters per chunk: words arrive in pieces, as they do from models."""


@dataclass
class Answer:
    """What is sent: a status and a body, or with `events` a stream, cut off if `breaks`."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    events: list[str] | None = None
    breaks: bool = False
    hangs: bool = False


@dataclass
class Provider(ABC):
    """What the two have in common; `streams` says whether streaming is supported."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    streams: bool = True
    over: threading.Event = field(default_factory=threading.Event)

    def sends(self, body: Any, status: int = 200, **headers: str) -> None:
        self.answers.append(Answer(status, body, headers))

    def sends_events(self, events: list[str], *, breaks: bool = False) -> None:
        self.answers.append(Answer(events=events, breaks=breaks))

    def hangs(self) -> None:
        self.answers.append(Answer(hangs=True))

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def in_form(self, answer: Answer, asked: dict[str, Any]) -> Answer:
        """Send an answer whole, or as a stream if requested."""
        if (
            asked.get("stream")
            and self.streams
            and answer.body is not None
            and answer.status == 200
        ):
            return (
                Answer(events=self.stream_of(answer.body, asked))
                if isinstance(answer.body, dict)
                else answer
            )
        return answer

    @abstractmethod
    def stream_of(self, body: dict[str, Any], asked: dict[str, Any]) -> list[str]:
        """Convert a whole answer to stream events."""


class OpenAIProvider(Provider):
    def says(self, text: str, calls: list[tuple[str, str]] | None = None, **usage: Any) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": f"call{n}",
                    "type": "function",
                    "function": {"name": name, "arguments": given},
                }
                for n, (name, given) in enumerate(calls)
            ]
        counts = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, **usage}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.sends({"choices": [choice], "usage": counts, **_COMPLETION})

    def fails(self, status: int, message: str = "no", code: str = "", **headers: str) -> None:
        self.sends({"error": {"message": message, "code": code}}, status, **headers)

    def stream_of(self, body: dict[str, Any], asked: dict[str, Any]) -> list[str]:
        if "choices" not in body:
            return [_data(body)]
        if not body["choices"]:
            return ["data: [DONE]\n\n"]
        message = body["choices"][0]["message"]
        deltas = [{"content": piece} for piece in pieces(message["content"] or "")]
        for index, call in enumerate(message.get("tool_calls", ())):
            named = {"name": call["function"]["name"], "arguments": ""}
            deltas.append({"tool_calls": [{**call, "index": index, "function": named}]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                for piece in pieces(call["function"]["arguments"])
            ]
        chunks = [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
        chunks.append(_chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}]))
        if asked.get("stream_options", {}).get("include_usage"):
            chunks.append(_chunk([], usage=body["usage"]))
        return [*map(_data, chunks), "data: [DONE]\n\n"]


class AnthropicProvider(Provider):
    def says(self, text: str, calls: list[tuple[str, Any]] | None = None, **more: Any) -> None:
        blocks: list[Any] = [{"type": "text", "text": text}] if text else []
        for n, (name, given) in enumerate(calls or []):
            blocks.append({"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": given})
        usage = {
            "input_tokens": 20,
            "cache_read_input_tokens": 60,
            "cache_creation_input_tokens": 20,
            "output_tokens": 10,
            **more.pop("usage", {}),
        }
        self.sends({"content": blocks, "usage": usage, **_MESSAGE, **more})

    def fails(self, status: int, message: str = "no", code: str = "", **headers: str) -> None:
        error = {"type": code or "api_error", "message": message}
        self.sends({"type": "error", "error": error}, status, **headers)

    def stream_of(self, body: dict[str, Any], asked: dict[str, Any]) -> list[str]:
        if "content" not in body:
            return [_event("message_start", message=body)]
        begun = {**body, "content": [], "stop_reason": None}
        begun["usage"] = {**body["usage"], "output_tokens": 1}
        events = [_event("message_start", message=begun), _event("ping")]
        for index, block in enumerate(body["content"]):
            events += _block(index, block)
        delta = {"stop_reason": body["stop_reason"], "stop_sequence": None}
        used = {"output_tokens": body["usage"]["output_tokens"]}
        return [*events, _event("message_delta", delta=delta, usage=used), _event("message_stop")]


_COMPLETION = {"id": "c1", "object": "chat.completion", "created": 1, "model": "small"}
_MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-haiku-4-5",
    "stop_reason": "end_turn",
    "stop_sequence": None,
}


def pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


@contextmanager
def running(kind: type[Provider], path: str) -> Iterator[Any]:
    """Serve one of the two; `path` is where its API starts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    provider = kind(f"http://127.0.0.1:{server.server_port}{path}")
    server.RequestHandlerClass = _handler(provider)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        provider.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _block(index: int, block: dict[str, Any]) -> list[str]:
    if block["type"] == "text":
        empty, kind, key, whole = {"type": "text", "text": ""}, "text_delta", "text", block["text"]
    else:
        empty, kind, key = {**block, "input": {}}, "input_json_delta", "partial_json"
        whole = json.dumps(block["input"]) if block["input"] else ""
    return [
        _event("content_block_start", index=index, content_block=empty),
        *(
            _event("content_block_delta", index=index, delta={"type": kind, key: piece})
            for piece in pieces(whole)
        ),
        _event("content_block_stop", index=index),
    ]


def _event(kind: str, **data: Any) -> str:
    return f"event: {kind}\n{_data({'type': kind, **data})}"


def _data(value: Any) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _chunk(choices: list[Any], **more: Any) -> dict[str, Any]:
    return {**_COMPLETION, "object": "chat.completion.chunk", "choices": choices, **more}


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            models = [{"id": "first", "object": "model", "created": 1, "owned_by": "x"}]
            self._send(Answer(body={"object": "list", "data": models}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers["Authorization"] or self.headers["X-Api-Key"]
            provider.requests.append({**body, "authorization": key, "path": self.path})
            answer = provider.in_form(provider.next(), body)
            if answer.hangs:
                provider.over.wait()
            elif answer.events is not None:
                self._stream(answer)
            else:
                self._send(answer)

        def _stream(self, answer: Answer) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            raw = "".join(answer.events or []).encode()
            # A stream that breaks off has promised more than it gives.
            self.send_header("Content-Length", str(len(raw) + (100 if answer.breaks else 0)))
            self.end_headers()
            self.wfile.write(raw)

        def _send(self, answer: Answer) -> None:
            text = isinstance(answer.body, str)
            raw = answer.body.encode() if text else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            kind = "text/html" if text else "application/json"
            for name, value in {**answer.headers, "Content-Type": kind}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    return Handler


def anthropic_model() -> type[AnthropicModel]:
    """Import the class for Claude where it is used: its client takes more than a second."""
    from agent.models.anthropic import AnthropicModel

    return AnthropicModel
