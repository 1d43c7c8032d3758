"""A model that reads its replies from a file, for tests, CI and demonstrations.

The file is JSON Lines: each line is a reply, a JSON string or `{"reply": "…"}`. With the optional
`"expect": "regex"`, the script fails if the last message does not match. Alternatively, the file is
plain text, with replies separated by `---` lines.

Placeholders keep a script independent of numbering: `{{1}}` is the first passage id in the last
message, `{{passage:WORDS}}` is the id in a line with these words, `{{ref:NAME}}` is the ref of the
first element with this name in a snapshot, `{{ref:NAME@ROW}}` is the ref in a line with ROW.

A line with `"for": "plan"` (or `review`, `judge`, `after`) answers that task. A script without such
lines answers only the question.
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
from agent.types import PASSAGE_ID
from browser.text.words import CHARS_PER_TOKEN
from browser.types import REF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Message

_PASSAGE = re.compile(PASSAGE_ID)
_GUIDE = re.compile(r"<guide>.*?</guide>", re.DOTALL)
"""Matches guides, which contain example elements and are removed before searching for elements."""
_ELEMENT = re.compile(rf"\[({REF})\b([^\[\]\n]*)")
_PLACEHOLDER_RE = re.compile(r"\{\{(?:(\d+)|(ref|passage):([^}]+))\}\}")


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One line of a script."""

    reply: str
    expect: str | None = None
    task: Task | None = None


class ScriptedModel:
    """Replies from a script, one line per request; it accepts images but ignores them."""

    sees = True

    def __init__(self, replies: Sequence[ScriptedReply], name: str = "scripted") -> None:
        self.name = name
        self._replies = list(replies)
        self._next = 0

    @classmethod
    def from_file(cls, path: str | Path) -> ScriptedModel:
        """Read a script; raises `UsageError` if it is unreadable or invalid."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the script {path}: {error}") from error
        return cls(_read(text, str(path)), f"scripted:{Path(path).name}")

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Return the next reply; raises `ModelUnavailable` if there is none, or `expect` fails."""
        # A resumed run continues after the lines that it has already used.
        self._next = max(self._next, _count_rounds(messages))
        if self._next >= len(self._replies):
            raise ModelUnavailable(
                f"the script has no reply {self._next + 1}", hint="Add a line to the script."
            )
        line = self._replies[self._next]
        self._next += 1
        last = messages[-1].content if messages else ""
        if line.expect and not re.search(line.expect, last):
            raise ModelUnavailable(
                f"reply {self._next} expects /{line.expect}/, but the message is: {last[:200]}",
                hint="The run took a different path from the script.",
            )
        sent = len(system) + sum(len(message.content) for message in messages)
        text = _fill(line.reply, _GUIDE.sub("", last))
        return ModelReply(
            text, Usage(sent // CHARS_PER_TOKEN, 0, len(text) // CHARS_PER_TOKEN), self.name
        )

    def takes(self, task: Task) -> bool:
        """Return whether the next line is for this task; notes are always accepted."""
        if task is Task.FOLLOW_NOTES:
            return True
        if self._next >= len(self._replies):
            return False
        line = self._replies[self._next]
        return line.task is None if task is Task.NUDGE else line.task is task

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def _count_rounds(messages: Sequence[Message]) -> int:
    """Count the replies that call tools."""
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
            f"{name}:{number} is not a reply: {error}",
            hint='Write a JSON string, or {"reply": "…", "expect": "regex"}.',
        ) from error


def _fill(reply: str, message: str) -> str:
    """Replace the placeholders in a reply; those that match nothing are left unchanged."""
    passages = list(dict.fromkeys(_PASSAGE.findall(message)))

    def replacement(match: re.Match[str]) -> str:
        if match[1]:
            index = int(match[1]) - 1
            return passages[index] if index < len(passages) else match[0]
        if match[2] == "ref":
            name, _, row = match[3].partition("@")
            lines = "\n".join(line for line in message.splitlines() if row in line)
            found = [m[1] for m in _ELEMENT.finditer(lines) if name in m[2]]
        else:
            lines = "\n".join(line for line in message.splitlines() if match[3] in line)
            found = _PASSAGE.findall(lines)
        return found[0] if found else match[0]

    return _PLACEHOLDER_RE.sub(replacement, reply)
