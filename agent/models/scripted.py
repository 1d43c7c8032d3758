"""A model whose replies stand in a file: for tests, CI and demonstrations.

The file is JSON Lines: each line a reply, as a JSON string or as `{"reply": "…"}` with, if wanted,
`"expect": "regex"` that the last message must match (else the script fails, saying so). A plain
text file whose replies are separated by lines of `---` works too. `{{1}}` in a reply is the first
passage id of the last message, `{{ref:NAME}}` the ref of the first element of a snapshot
that reads NAME (`{{ref:NAME@ROW}}`: in a line that holds ROW), `{{passage:WORDS}}` the id of the
passage in whose line these words stand, so that a script survives other numbering.

A line with `"for": "plan"` (or `review`, `judge`, `after`) answers that task; a script without such
lines is asked for the question only.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import ModelUnavailable, UsageError
from agent.models.base import ModelReply, Task, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Message

_PASSAGE = re.compile(r"S\d+¶\d+")
_GUIDE = re.compile(r"<guide>.*?</guide>", re.DOTALL)
"""Its examples are no elements of the page."""
_ELEMENT = re.compile(r"\[((?:f\d+)?e\d+)\b([^\[\]\n]*)")
_FILL = re.compile(r"\{\{(?:(\d+)|(ref|passage):([^}]+))\}\}")


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One line of a script."""

    reply: str
    expect: str | None = None
    task: Task | None = None


class ScriptedModel:
    """Answers from a script, one line a call; it is shown whatever a model that sees is shown."""

    sees = True

    def __init__(self, replies: Sequence[ScriptedReply], name: str = "scripted") -> None:
        self.name = name
        self._replies = list(replies)
        self._next = 0

    @classmethod
    def from_file(cls, path: str | Path) -> ScriptedModel:
        """Read a script; raises `UsageError` where it cannot be read."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the script {path}: {error}") from error
        return cls(_read(text, str(path)), f"scripted:{path}")

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """The next reply; `ModelUnavailable` at the script's end or a broken expectation."""
        self._next = max(self._next, _rounds(messages))
        if self._next >= len(self._replies):
            raise ModelUnavailable(
                f"the script has no reply {self._next + 1}", hint="Add a line to the script."
            )
        line = self._replies[self._next]
        self._next += 1
        seen = messages[-1].content if messages else ""
        if line.expect and not re.search(line.expect, seen):
            raise ModelUnavailable(
                f"reply {self._next} expects /{line.expect}/, but the message is: {seen[:200]}",
                hint="The run went another way than the script.",
            )
        sent = len(system) + sum(len(message.content) for message in messages)
        text = _filled(line.reply, _GUIDE.sub("", seen))
        return ModelReply(text, Usage(sent // 4, 0, len(text) // 4), self.name)

    def takes(self, task: Task) -> bool:
        """Whether the next line is for this task; notes it heeds as any model does."""
        following = self._replies[self._next : self._next + 1]
        if task is Task.NUDGE:
            return any(line.task is None for line in following)
        return task is Task.FOLLOW_NOTES or any(line.task is task for line in following)

    async def aclose(self) -> None:
        """Nothing to let go of."""


def _rounds(messages: Sequence[Message]) -> int:
    """Count the tool rounds behind this call: a resumed run goes on at the line where it was."""
    return sum(
        message.role == "assistant" and after.content.startswith("[Tool result for ")
        for message, after in itertools.pairwise(messages)
    )


def _read(text: str, name: str) -> list[ScriptedReply]:
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].lstrip()[:1] in ('"', "{"):
        return [_line(line, number, name) for number, line in enumerate(lines, 1)]
    return [ScriptedReply(part.strip()) for part in f"\n{text}\n".split("\n---\n")]


def _line(line: str, number: int, name: str) -> ScriptedReply:
    try:
        value: Any = json.loads(line)
        if isinstance(value, str):
            return ScriptedReply(value)
        task = Task(value["for"]) if "for" in value else None
        return ScriptedReply(str(value["reply"]), value.get("expect"), task)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{name}:{number} is no reply: {error}",
            hint='Write a JSON string, or {"reply": "…", "expect": "regex"}.',
        ) from error


def _filled(reply: str, seen: str) -> str:
    passages = list(dict.fromkeys(_PASSAGE.findall(seen)))

    def fill(match: re.Match[str]) -> str:
        if match[1]:
            index = int(match[1]) - 1
            return passages[index] if index < len(passages) else match[0]
        if match[2] == "ref":
            name, _, row = match[3].partition("@")
            lines = "\n".join(line for line in seen.splitlines() if row in line)
            named = (m[1] for m in _ELEMENT.finditer(lines) if name in m[2])
        else:
            rows = (row for row in seen.splitlines() if match[3] in row)
            named = (m[0] for row in rows for m in _PASSAGE.finditer(row))
        return next(named, match[0])

    return _FILL.sub(fill, reply)
