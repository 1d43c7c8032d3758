"""Tool results as the messages show them, taken apart again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_RESULT = re.compile(r"\[Tool result for (\w+)\]: ?(.*)")
_WEB_OPENS = re.compile(r"<web source=\"([^\"]*)\"[^>]*>")
_WEB_CLOSES = "</web>"
_PASSAGE = re.compile(r"(S\d+¶\d+)(?: (.*))?")
_HIT = re.compile(r"S?\d+\. (.*) — (\S+)")


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result."""

    url: str
    title: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A passage as it was shown: `text` without its id."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One tool result: its JSON line, and the web text under it, line by line."""

    tool: str
    data: dict[str, Any]
    lines: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether the tool answered with an error."""
        return bool(self.data.get("error"))

    @property
    def url(self) -> str:
        """The address that the result names, or nothing."""
        return str(self.data.get("url", ""))

    @property
    def title(self) -> str:
        """The title that the result names, or nothing."""
        return str(self.data.get("title", ""))

    def passages(self) -> list[Cited]:
        """Passages shown; a line without an id belongs to the passage above it."""
        found: list[Cited] = []
        for line in self.lines:
            match = _PASSAGE.fullmatch(line)
            if match:
                found.append(Cited(match[1], match[2] or ""))
            elif found and line.strip():
                found[-1] = Cited(found[-1].id, f"{found[-1].text}\n{line}")
        return found

    def hits(self) -> list[Hit]:
        """Search results shown, in order."""
        found: list[Hit] = []
        for line in self.lines:
            match = _HIT.fullmatch(line)
            if match:
                found.append(Hit(match[2], match[1]))
            elif found and line.startswith(" "):
                last = found[-1]
                found[-1] = Hit(last.url, last.title, f"{last.snippet} {line.strip()}".strip())
        return found


def observations(content: str) -> list[Observation]:
    """Take a message of tool results apart; what looks like a result inside web text is text."""
    found: list[Observation] = []
    inside = False
    for line in content.split("\n"):
        if inside:
            inside = line != _WEB_CLOSES
            if inside and found:
                found[-1].lines.append(line)
        elif match := _RESULT.match(line):
            found.append(Observation(match[1], read_json(match[2])))
        elif _WEB_OPENS.fullmatch(line):
            inside = True
    return found


def is_result(content: str) -> bool:
    """Whether a user message holds tool results."""
    return _RESULT.match(content.lstrip()) is not None


def given_passages(content: str) -> list[Observation]:
    """Passages in blocks of the question's own message: files and pages that were put into it."""
    found: list[Observation] = []
    inside = False
    for line in content.split("\n"):
        opened = _WEB_OPENS.match(line)
        if opened:
            inside = True
            found.append(Observation("READ", {"source": opened[1]}))
        elif line.startswith(_WEB_CLOSES):
            inside = False
        elif inside:
            found[-1].lines.append(line)
    return [o for o in found if o.passages()]


def read_json(text: str) -> dict[str, Any]:
    """Read an object; anything else comes back under `value`, a text that is no JSON as such."""
    try:
        value = json.loads(text)
    except ValueError:
        return {"value": text}
    return value if isinstance(value, dict) else {"value": value}
