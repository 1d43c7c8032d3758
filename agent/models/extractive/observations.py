"""What the messages say: the question, the page that a person has before them, every tool result.

This is the model's only way to evidence: it reads the same text that any model is given.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.models.base import Message

_RESULT = re.compile(r"\[Tool result for (\w+)\]: ?(.*)")
_WEB_OPENS = re.compile(r"<web source=\"([^\"]*)\"[^>]*>")
_WEB_CLOSES = "</web>"
_PASSAGE = re.compile(r"(S\d+¶\d+)(?: (.*))?")
_HIT = re.compile(r"(\d+)\. (.*) — (\S+)$")
_CALL = re.compile(r"<<TOOL:(\w+):(.*?)>>", re.DOTALL)
_PAGE = re.compile(r"^\[Page: (?P<title>.*?) — (?P<url>\S+)\]$", re.MULTILINE)
_LAYER = re.compile(
    r"^\[(?:Page:|Selected text:|Page content:|User profile|Saved memories|Relevant|Active goals|Skills)"
    r"|^Captured context:",
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result."""

    url: str
    title: str
    snippet: str


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
    lines: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the tool answered with an error."""
        return "error" in self.data

    @property
    def url(self) -> str:
        """The address that the result names, or nothing."""
        return str(self.data.get("url", ""))

    def passages(self) -> list[Cited]:
        """Passages shown, a line without an id belonging to the passage above it."""
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
                found.append(Hit(match[3], match[2], ""))
            elif found and line.startswith(" "):
                last = found[-1]
                found[-1] = Hit(last.url, last.title, f"{last.snippet} {line.strip()}".strip())
        return found


@dataclass(frozen=True, slots=True)
class Notebook:
    """All that the messages say about the question at hand.

    `earlier` are the person's previous questions, oldest first; `calls` the tool calls made so
    far as (name, parameter); `page` the page that the person has before them as (title, url).
    """

    question: str
    earlier: tuple[str, ...] = ()
    page: tuple[str, str] | None = None
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    observations: tuple[Observation, ...] = field(default=(), repr=False)

    def asked(self, tool: str, key: str) -> list[str]:
        """The values of a parameter in the calls of a tool so far, in order."""
        return [str(param.get(key, "")) for name, param in self.calls if name == tool]

    @property
    def rounds(self) -> list[str]:
        """The tools of the replies so far, neighbours that are the same taken as one."""
        tools = [name for name, _ in self.calls]
        return [
            t for n, t in enumerate(tools) if t == "WEB_SEARCH" and (n == 0 or tools[n - 1] != t)
        ]

    def latest_searches(self) -> list[Observation]:
        """The search results of the latest reply that searched."""
        found: list[Observation] = []
        for observation in reversed(self.observations):
            if observation.tool != "WEB_SEARCH":
                break
            found.insert(0, observation)
        return found

    def of(self, *tools: str) -> list[Observation]:
        """The results of some tools that are no errors, in order."""
        return [o for o in self.observations if o.tool in tools and not o.failed]


def read(messages: Sequence[Message]) -> Notebook:
    """Read the messages; the question is the latest user message that is no tool result."""
    start = max(
        (n for n, m in enumerate(messages) if m.role == "user" and not _is_result(m.content)),
        default=0,
    )
    asked = messages[start].content if messages else ""
    after = messages[start + 1 :]
    page = _PAGE.search(asked)
    return Notebook(
        question=question_of(asked),
        earlier=tuple(
            question_of(m.content)
            for m in messages[:start]
            if m.role == "user" and not _is_result(m.content)
        ),
        page=(page["title"], page["url"]) if page else None,
        calls=tuple(_calls(m.content for m in after if m.role == "assistant")),
        observations=tuple(o for m in after if m.role == "user" for o in observations(m.content)),
    )


def observations(content: str) -> list[Observation]:
    """Take a user message of tool results apart; a result inside web text is only text."""
    found: list[Observation] = []
    lines: list[str] = []
    inside = False
    for line in content.split("\n"):
        if inside:
            inside = line != _WEB_CLOSES
            if inside:
                lines.append(line)
        elif match := _RESULT.match(line):
            lines = []
            found.append(Observation(match[1], _json(match[2]), ()))
        elif _WEB_OPENS.fullmatch(line):
            inside, lines = True, []
        if found and lines:
            found[-1] = Observation(found[-1].tool, found[-1].data, tuple(lines))
    return found


def question_of(content: str) -> str:
    """The person's own words: the last paragraph that is no page context or memory layer."""
    paragraphs = [p.strip() for p in re.split(r"\n\s*\n", content) if p.strip()]
    own = [p for p in (_without_layers(p) for p in paragraphs) if p]
    return " ".join(own[-1].split()) if own else " ".join(content.split())


def _without_layers(paragraph: str) -> str:
    if not _LAYER.match(paragraph):
        return paragraph
    rest: list[str] = []
    open_ = False
    for line in paragraph.split("\n"):
        if open_ or _LAYER.match(line):
            open_ = not line.rstrip().endswith("]")
            continue
        rest.append(line)
    return "\n".join(rest).strip()


def _is_result(content: str) -> bool:
    return _RESULT.match(content.lstrip()) is not None


def _calls(contents: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for content in contents:
        for name, param in _CALL.findall(content):
            yield name, _json(param)


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"error": "unreadable"} if text.startswith("{") else {"text": text}
    return value if isinstance(value, dict) else {"value": value}
