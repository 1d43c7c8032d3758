"""What the messages say about the question at hand: the model's only way to evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.keyless.observations import (
    Observation,
    given_passages,
    is_result,
    observations,
    read_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.models.base import Message

_CALL = re.compile(r"<<TOOL:(\w+)(?::(.*?))?>>", re.DOTALL)
_PAGE = re.compile(r"^\[Page: (?P<title>.*?) — (?P<url>\S+)\]$", re.MULTILINE)
_SELECTED = re.compile(r"^\[Selected text: (.*?)\]$", re.MULTILINE | re.DOTALL)
_OPEN_PAGE = "[open page] "
_WEB_BLOCK = re.compile(r"<web source=.*?</web>", re.DOTALL)
# What the message layout puts around the person's own words; each runs to a closing bracket at
# the end of a line, the captured context to the next blank line.
_LAYER = re.compile(
    r"^\[(?:Page|Selected text|Page content|User profile|Saved memories|Past session|Relevant"
    r"|Learned skills|Active goals|Previous conversation)\b.*?\]$",
    re.MULTILINE | re.DOTALL,
)
_CAPTURED = re.compile(r"^Captured context:\n(?:\[.*\n?)*", re.MULTILINE)
_RECALLED = re.compile(r"^--- CONTEXT .*?^--- END CONTEXT ---$", re.MULTILINE | re.DOTALL)
_LIMIT, _REPORT = "[Limit reached:", "[Report:"


@dataclass(frozen=True, slots=True)
class Notebook:
    """All that the messages say about the question at hand.

    `earlier` are the person's previous questions, oldest first; `replies` the calls of each reply
    so far as (tool, parameters); `page` what the person has before them as (title, url); `ended`
    says that no further tool will run; `wants_report` that what was read is to be written up;
    `page_is_open` that READ without an address gives that page,
    of which `selection` is selected.
    """

    question: str
    earlier: tuple[str, ...] = ()
    page: tuple[str, str] | None = None
    page_is_open: bool = False
    selection: str = ""
    replies: tuple[tuple[tuple[str, dict[str, Any]], ...], ...] = ()
    observations: tuple[Observation, ...] = field(default=(), repr=False)
    latest: tuple[Observation, ...] = field(default=(), repr=False)
    ended: bool = False
    wants_report: bool = False

    def asked(self, tool: str, key: str) -> list[str]:
        """The values of a parameter in the calls of a tool so far, in order."""
        calls = (call for reply in self.replies for call in reply)
        return [str(param.get(key, "")) for name, param in calls if name == tool]

    def rounds(self, tool: str) -> int:
        """How many replies called a tool."""
        return sum(any(name == tool for name, _ in reply) for reply in self.replies)

    def results(self, tool: str) -> list[Observation]:
        """The results of a tool that are no errors, in order."""
        return [o for o in self.observations if o.tool == tool and not o.failed]


def take_notes(messages: Sequence[Message]) -> Notebook:
    """Read the messages; the question is the latest user message that is no tool result."""
    own = [n for n, m in enumerate(messages) if m.role == "user" and _is_own(m.content)]
    start = own[-1] if own else 0
    asked = messages[start].content if messages else ""
    after = messages[start + 1 :]
    page = _PAGE.search(asked)
    found = [observations(m.content) for m in after if m.role == "user"]
    latest = next((o for o in reversed(found) if o), [])
    return Notebook(
        question=own_words(asked),
        earlier=tuple(own_words(messages[n].content) for n in own[:-1]),
        page=(page["title"], page["url"]) if page else None,
        page_is_open=_OPEN_PAGE in asked,
        selection=selected[1] if (selected := _SELECTED.search(asked)) else "",
        replies=tuple(_calls(m.content for m in after if m.role == "assistant")),
        observations=(*given_passages(asked), *(o for each in found for o in each)),
        latest=tuple(latest),
        ended=bool(after) and after[-1].content.startswith(_LIMIT),
        wants_report=bool(after) and after[-1].content.startswith(_REPORT),
    )


def own_words(content: str) -> str:
    """Take out page context, captured files and memory layers: the person's own words are left."""
    bare = _CAPTURED.sub("\n", _LAYER.sub("", _WEB_BLOCK.sub("", _RECALLED.sub("", content))))
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", bare) if p.strip()]
    return " ".join(paragraphs) or " ".join(content.split())


def _is_own(content: str) -> bool:
    return not is_result(content) and not content.startswith((_LIMIT, _REPORT))


def _calls(contents: Iterable[str]) -> Iterator[tuple[tuple[str, dict[str, Any]], ...]]:
    for content in contents:
        yield tuple((name, read_json(param)) for name, param in _CALL.findall(content))
