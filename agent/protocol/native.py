"""Native function calls: what a model calls becomes tool tags, what was said becomes calls again.

Whatever the transport, a reply is one text: it is recorded, replayed and parsed the same way. A
model that calls natively is shown the conversation in its own form, which is made from that text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.protocol.replies import format_call, loose_object, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent.types import Image, Message

_RESULT = "\n[Tool result for "
_ABOVE = "(given with the first result)"
_BARE = "input"
"""The field that a bare parameter fills where the tool is not known."""


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A call in native form; its id is made of its place in the conversation."""

    # Nine letters and digits: Mistral's API takes no other length.

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NativeTurn:
    """A message in native form: what was said, called, and what came of the calls (id, text)."""

    role: str
    text: str
    images: tuple[Image, ...] = ()
    calls: tuple[NativeCall, ...] = ()
    results: tuple[tuple[str, str], ...] = ()


def with_calls(text: str, calls: Iterable[tuple[str, str]]) -> str:
    """Put calls (name, raw arguments) behind a reply's text, a tag each."""
    return "\n".join([*([text] if text else []), *(format_call(*call) for call in calls)])


def as_turns(messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> list[NativeTurn]:
    """Write a conversation in native form; as it stands where no `tools` are offered.

    A turn's calls are answered by the message after it; calls that were not answered stay text.
    """
    fields = _first_fields(tools)
    turns: list[NativeTurn] = []
    waiting: tuple[NativeCall, ...] = ()
    for index, message in enumerate(messages):
        if not tools:
            turns.append(NativeTurn(message.role, message.content, message.images))
        elif message.role == "user":
            turns.append(_answered(message, waiting))
            waiting = ()
        else:
            answered = index + 1 < len(messages) and messages[index + 1].role == "user"
            waiting = _calls(index, message.content, fields) if answered else ()
            text = message.content.partition("<<TOOL:")[0].rstrip() if waiting else message.content
            turns.append(NativeTurn("assistant", text, calls=waiting))
    return turns


def _first_fields(tools: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The field of each tool that a bare parameter fills, by the tool's name."""
    functions = [tool["function"] for tool in tools]
    return {f["name"]: next(iter(f["parameters"].get("properties", {})), _BARE) for f in functions}


def _calls(index: int, text: str, fields: Mapping[str, str]) -> tuple[NativeCall, ...]:
    calls = []
    for number, call in enumerate(parse(text).calls):
        given = loose_object(call.param) if call.param.startswith("{") else {}
        bare = {fields.get(call.name, _BARE): call.param} if call.param else {}
        calls.append(NativeCall(f"c{index:05d}{number:03d}", call.name, given or bare))
    return tuple(calls)


def _answered(message: Message, calls: tuple[NativeCall, ...]) -> NativeTurn:
    """Give each call its result; where a message was shortened, the first one has what is left."""
    if not calls:
        return NativeTurn("user", message.content, message.images)
    before, *results = f"\n{message.content}".split(_RESULT)
    sections = [*([before] if before.strip() else []), *(f"{_RESULT}{part}" for part in results)]
    if len(sections) != len(calls):
        sections = [message.content, *[_ABOVE] * (len(calls) - 1)]
    said = [(call.id, part.strip()) for call, part in zip(calls, sections, strict=True)]
    return NativeTurn("user", "", message.images, results=tuple(said))
