"""A loopback service that speaks 2captcha's API: createTask, getTaskResult."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.loopback import Handler, Server, serving

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

KEY = "a-key-of-the-service"
TOKEN = "token-from-the-service"


@dataclass
class Service:
    """The requests it received, and its responses: `busy` rounds of waiting, or an error code."""

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


def serve_service() -> AbstractContextManager[Service]:
    """Run the service until the block ends."""
    return serving(_Handler, Service)


class _Handler(Handler):
    server: Server[Service]

    def post(self, body: bytes) -> None:
        answer = self.server.site.answer(self.path, json.loads(body))
        self.send(200, "application/json", json.dumps(answer).encode())
