"""A service on loopback that speaks 2captcha's API: createTask, getTaskResult."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "a-key-of-the-service"
TOKEN = "token-from-the-service"


@dataclass
class Service:
    """What it was asked, and how it answers: `busy` rounds of waiting, or an error code."""

    url: str = ""
    busy: int = 0
    error: str = ""
    tasks: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if body["clientKey"] != KEY:
            return {"errorId": 1, "errorCode": "ERROR_KEY_DOES_NOT_EXIST"}
        if self.error:
            return {"errorId": 12, "errorCode": self.error}
        if path == "/createTask":
            self.tasks.append(body["task"])
            return {"errorId": 0, "taskId": len(self.tasks)}
        if self.busy:
            self.busy -= 1
            return {"errorId": 0, "status": "processing"}
        turnstile = self.tasks[body["taskId"] - 1]["type"].startswith("Turnstile")
        solution = {"token" if turnstile else "gRecaptchaResponse": TOKEN}
        return {"errorId": 0, "status": "ready", "solution": solution}


@contextmanager
def serve_service() -> Iterator[Service]:
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(service.answer(self.path, asked)).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
