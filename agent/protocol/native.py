"""Native function calls: converts a model's calls to tool tags, and conversations back to calls.

Regardless of the transport, a reply is stored as a single string, so all replies are recorded,
replayed and parsed in the same way. For a model with native function calling, the conversation is
converted from these strings to its native format.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.protocol.forms import CALL_TOOL, tool_name
from agent.protocol.loose_json import loose_object
from agent.protocol.replies import format_call, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent.types import Image, Message

_RESULT_HEADER = "\n[Tool result for "
_SHARED_RESULT_NOTE = "(given with the first result)"
_DEFAULT_FIELD = "input"
"""The field for a parameter that is not a JSON object if the tool is unknown."""


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A call in native format; its id is derived from its position in the conversation."""

    # Nine letters and digits, the only length that Mistral's API accepts.
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NativeTurn:
    """A message in native format: text with calls, or call results (id, text)."""

    role: str
    text: str
    images: tuple[Image, ...] = ()
    calls: tuple[NativeCall, ...] = ()
    results: tuple[tuple[str, str], ...] = ()


def with_calls(text: str, calls: Iterable[tuple[str, str]]) -> str:
    """Append calls, given as (name, raw arguments), to a reply's text as tool tags."""
    lines = [text] if text else []
    for name, arguments in calls:
        called, raw = _called_tool(tool_name(name), arguments)
        lines.append(format_call(called, raw))
    return "\n".join(lines)


def _called_tool(name: str, arguments: str) -> tuple[str, str]:
    """Return the called tool's name and raw arguments, unwrapping CALL_TOOL if necessary."""
    if name != CALL_TOOL:
        return name, arguments
    fields = loose_object(arguments)
    inner = fields.get("arguments", "")
    inner = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
    return tool_name(str(fields.get("name") or name)), inner


def as_turns(messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> list[NativeTurn]:
    """Convert a conversation to native format; without `tools`, its text is left unchanged.

    The results of a turn's calls are in the message after it; calls without results remain text.
    Tools that are not functions are called through CALL_TOOL.
    """
    fields = _first_fields(tools)
    turns: list[NativeTurn] = []
    waiting: tuple[NativeCall, ...] = ()  # calls whose results are in the next message
    for index, message in enumerate(messages):
        if not tools:
            turns.append(NativeTurn(message.role, message.content, message.images))
        elif message.role == "user":
            turns.append(_split_results(message, waiting))
            waiting = ()
        else:
            answered = index + 1 < len(messages) and messages[index + 1].role == "user"
            waiting = _calls(index, message.content, fields) if answered else ()
            text = message.content.partition("<<TOOL:")[0].rstrip() if waiting else message.content
            turns.append(NativeTurn("assistant", text, calls=waiting))
    return turns


def _first_fields(tools: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return each tool's first field, which receives parameters that are not JSON objects."""
    functions = [tool["function"] for tool in tools]
    return {
        f["name"]: next(iter(f["parameters"].get("properties", {})), _DEFAULT_FIELD)
        for f in functions
    }


def _calls(index: int, text: str, fields: Mapping[str, str]) -> tuple[NativeCall, ...]:
    calls = []
    for number, call in enumerate(parse(text).calls):
        arguments = loose_object(call.param) if call.param.startswith("{") else {}
        if not arguments and call.param:
            arguments = {fields.get(call.name, _DEFAULT_FIELD): call.param}
        name = call.name
        if name not in fields and CALL_TOOL in fields:
            name, arguments = CALL_TOOL, {"name": name, "arguments": call.param}
        calls.append(NativeCall(f"c{index:05d}{number:03d}", name, arguments))
    return tuple(calls)


def _split_results(message: Message, calls: tuple[NativeCall, ...]) -> NativeTurn:
    """Split a message into call results.

    If the message was cut to fit the context window, the first call gets the entire text.
    """
    if not calls:
        return NativeTurn("user", message.content, message.images)
    before, *results = f"\n{message.content}".split(_RESULT_HEADER)
    sections = [before] if before.strip() else []
    sections += [f"{_RESULT_HEADER}{result}" for result in results]
    if len(sections) != len(calls):
        sections = [message.content, *[_SHARED_RESULT_NOTE] * (len(calls) - 1)]
    rows = [(call.id, section.strip()) for call, section in zip(calls, sections, strict=True)]
    return NativeTurn("user", "", message.images, results=tuple(rows))
