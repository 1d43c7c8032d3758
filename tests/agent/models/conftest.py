"""A real endpoint on loopback that speaks the OpenAI protocol as a test wants it to."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Answer = tuple[int, Any, dict[str, str]]


@dataclass
class FakeProvider:
    """Answers with the queued answers, the last one again and again."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)

    def says(self, text: str, **usage: Any) -> None:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answers.append((200, _completion([choice], usage), {}))

    def fails(self, status: int, message: str = "no", code: str = "", **headers: str) -> None:
        self.answers.append((status, {"error": {"message": message, "code": code}}, headers))

    def sends(self, body: Any) -> None:
        self.answers.append((200, body, {}))

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    running = FakeProvider(f"http://127.0.0.1:{server.server_port}/v1")
    server.RequestHandlerClass = _handler(running)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    server.shutdown()
    server.server_close()
    thread.join()


def _completion(choices: list[Any], usage: dict[str, Any]) -> dict[str, Any]:
    counts = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, **usage}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": choices,
        "usage": counts,
    }


def _handler(running: FakeProvider) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            models = [{"id": "first", "object": "model", "created": 1, "owned_by": "x"}]
            self._send(200, {"object": "list", "data": models}, {})

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            running.requests.append({**body, "authorization": self.headers["Authorization"]})
            self._send(*running.next())

        def _send(self, status: int, body: Any, headers: dict[str, str]) -> None:
            raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            kind = "text/html" if isinstance(body, str) else "application/json"
            for name, value in {**headers, "Content-Type": kind}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    return Handler
