"""A case's model: follows its script, and records how it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.errors import ModelUnavailable
from agent.models.base import ModelReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Message

START_MS = 1_700_000_000_000


class Speaker:
    """One for all turns in a case: its calls drive the clock."""

    name = "script"

    def __init__(self) -> None:
        self.calls = 0
        self.script: list[Any] = []
        self.asked: list[dict[str, Any]] = []
        self.thinks: list[str] = []
        self.steps: list[dict[str, int]] = []
        self.max_steps = 12
        self._place = ""

    def begin(self, script: Sequence[Any], max_steps: int) -> None:
        """Load a turn's script."""
        self.script, self.max_steps = list(script), max_steps
        self.asked, self.thinks, self.steps = [], [], []

    def now_ms(self) -> int:
        """Return the time: a millisecond passes with each call."""
        return START_MS + self.calls

    def note(self, kind: str, place: str = "", **data: Any) -> None:
        """Receive what the loop records: the place of the next request, and thoughts."""
        if kind == "model.request":
            self._place = place
        elif kind == "thought":
            self.thinks.append(data["text"])

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Give the next reply; a line that throws fails like a provider."""
        kind, number = self._kind()
        call: dict[str, Any] = {"kind": kind}
        self.asked.append(call)
        if kind == "loop":
            if number:
                most = self.max_steps if self._place.startswith("0/") else min(8, self.max_steps)
                self.steps.append({"step": number, "max": most, "messages": len(messages)})
            said = [{"role": m.role, "content": m.content} for m in messages]
        line = self.script.pop(0) if self.script else {"throw": "script exhausted"}
        self.calls += 1
        failed = isinstance(line, dict)
        call["threw" if failed else "reply"] = line["throw"] if failed else line
        if kind == "loop":
            call["messages"] = said
        if failed:
            raise ModelUnavailable(line["throw"])
        return ModelReply(line, model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _kind(self) -> tuple[str, int]:
        head, _, step = self._place.partition("/")
        if head == "synthesis":
            return "synthesis", 0
        if head.isdigit():
            return "loop", int(step) if step.isdigit() else 0
        return "internal", 0
