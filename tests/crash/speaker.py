"""A loopback language model that decides by what it has read, and counts its requests."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.guard.model_client import request_digest
from agent.types import Message
from tests.loopback import Handler, Server, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    Decide = Callable[["Talk"], str]

RESULT = "[Tool result for "


@dataclass(frozen=True)
class Talk:
    """A request to a model: the system prompt and the messages after it."""

    system: str
    messages: tuple[Message, ...]

    @property
    def question(self) -> str:
        """The last message to it that is not a tool result."""
        said = [m.content for m in self.messages if m.role == "user"]
        return next(text for text in reversed(said) if not text.startswith(RESULT))

    @property
    def rounds(self) -> list[str]:
        """The tool results so far, one per message."""
        return [m.content for m in self.messages if m.content.startswith(RESULT)]

    @property
    def passages(self) -> list[str]:
        """The lines read, each with its id."""
        lines = "\n".join(self.rounds).splitlines()
        return [line for line in lines if re.match(r"S\d+¶", line)]

    def source_of(self, words: str) -> str:
        """Return the name of the source (`S2`) whose passages contain these words."""
        return next(line.partition("¶")[0] for line in self.passages if words in line)

    def ref_of(self, label: str) -> str:
        """Return an element's ref in the last observation."""
        found = re.findall(r"\[((?:f\d+)?e\d+)\b([^\[\]\n]*)", self.rounds[-1])
        return next((ref for ref, rest in found if label in rest), "")


@dataclass
class Speaker:
    """A running model: its address, and how often each request (by digest) was received."""

    url: str
    decide: Decide
    asked: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: dict[str, Any]) -> str:
        """Count the request and decide."""
        system, *rest = body["messages"]
        talk = Talk(system["content"], tuple(Message(m["role"], m["content"]) for m in rest))
        with self.lock:
            self.asked[request_digest(talk.system, talk.messages)] += 1
        return self.decide(talk)


def speaking(decide: Decide) -> AbstractContextManager[Speaker]:
    """Serve a model on 127.0.0.1 until the block ends."""
    return serving(_Handler, lambda url: Speaker(f"{url}/v1", decide))


class _Handler(Handler):
    server: Server[Speaker]

    def post(self, body: bytes) -> None:
        asked = json.loads(body)
        text = self.server.site.answer(asked)
        sent = sum(len(str(m["content"])) for m in asked["messages"]) // 4
        choice = {"role": "assistant", "content": text}
        answer = {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "speaker",
            "choices": [{"index": 0, "message": choice, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": sent,
                "completion_tokens": len(text) // 4,
                "total_tokens": sent + len(text) // 4,
            },
        }
        self.send(200, "application/json", json.dumps(answer).encode())
