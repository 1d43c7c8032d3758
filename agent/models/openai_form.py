"""The OpenAI wire form: requests out, completions and chunks in."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.models.base import Usage
from agent.models.remote import Said
from agent.protocol.native import as_turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import Image
    from agent.models.remote import Asked
    from agent.protocol.native import NativeCall, Turn

Row = dict[str, Any]
STREAMED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
"""What a call adds that is to be answered in pieces."""


def request(asked: Asked, *, sees: bool) -> dict[str, Any]:
    """Write a call but for the model's name; with pictures for a model that `sees`."""
    form: dict[str, Any] = {"messages": _messages(asked, sees=sees)}
    if asked.tools:
        form["tools"] = list(asked.tools)
    return form


def first_fields(tools: Sequence[Row]) -> dict[str, str]:
    """Say for each tool by name which field a bare parameter fills."""
    functions = [tool["function"] for tool in tools]
    fields = {f["name"]: next(iter(f["parameters"].get("properties", {})), "") for f in functions}
    return {name: first for name, first in fields.items() if first}


def whole(completion: Any) -> Said:
    """Read a completion; raises `ValueError` where it holds no choice."""
    choices = getattr(completion, "choices", None)
    if not choices:
        raise ValueError("there is no choice in it")
    message = choices[0].message
    # Calls of another type than function are of no tool of ours.
    calls = [call.function for call in message.tool_calls or [] if call.type == "function"]
    return Said(
        message.content or getattr(message, "refusal", None) or "",
        tuple((call.name or "", call.arguments) for call in calls),
        _counted(getattr(completion, "usage", None)),
        completion.model or "",
    )


@dataclass(slots=True)
class Gathered:
    """A reply that comes in chunks: text and arguments piece by piece, the usage at the end."""

    _text: list[str] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)
    _usage: Usage | None = None
    _model: str = ""
    _ended: bool = False

    def add(self, chunk: Any) -> str:
        """Take up a chunk; gives the text that is new in it."""
        self._model = getattr(chunk, "model", None) or self._model
        if usage := getattr(chunk, "usage", None):
            self._usage = _counted(usage)
        choices = getattr(chunk, "choices", None)
        if not choices:
            return ""
        self._ended = self._ended or bool(choices[0].finish_reason)
        delta = choices[0].delta
        for call in delta.tool_calls or []:
            self._add_call(call)
        text: str = delta.content or getattr(delta, "refusal", None) or ""
        self._text.append(text)
        return text

    def said(self) -> Said:
        """Give the whole; raises `ValueError` where the stream broke off before its end."""
        if not self._ended and self._usage is None:
            raise ValueError("the stream broke off")
        calls = tuple((name, arguments) for name, arguments in self._calls.values())
        return Said("".join(self._text), calls, self._usage or Usage(), self._model)

    def _add_call(self, call: Any) -> None:
        # Some endpoints leave the index out: then each piece is a call of its own.
        index = len(self._calls) if call.index is None else call.index
        known = self._calls.setdefault(index, ["", ""])
        if call.function is not None:
            known[0] = known[0] or call.function.name or ""
            known[1] += call.function.arguments or ""


def _messages(asked: Asked, *, sees: bool) -> list[Row]:
    system: list[Row] = [{"role": "system", "content": asked.system}] if asked.system else []
    if not asked.tools:
        said = [_row(m.role, m.content, m.images if sees else ()) for m in asked.messages]
        return [*system, *said]
    turns = as_turns(asked.messages, first_fields(asked.tools))
    return [*system, *(row for turn in turns for row in _native(turn, sees=sees))]


def _native(turn: Turn, *, sees: bool) -> list[Row]:
    """Write a turn; each result is a message of its own, and pictures can only follow them."""
    if turn.calls:
        called = [_call(call) for call in turn.calls]
        return [{"role": "assistant", "content": turn.text or None, "tool_calls": called}]
    images = turn.images if sees else ()
    if not turn.results:
        return [_row(turn.role, turn.text, images)]
    given: list[Row] = [
        {"role": "tool", "tool_call_id": call, "content": text} for call, text in turn.results
    ]
    return [*given, _row("user", "[What it looks like]", images)] if images else given


def _call(call: NativeCall) -> Row:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _row(role: str, text: str, images: Sequence[Image]) -> Row:
    """Write a message; pictures stand before the words about them, as data URLs."""
    if not images:
        return {"role": role, "content": text}
    shown = [{"type": "image_url", "image_url": {"url": _url(image)}} for image in images]
    return {"role": role, "content": [*shown, {"type": "text", "text": text}]}


def _url(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"


def _counted(usage: Any) -> Usage:
    """Read the tokens; none where none are told."""
    if usage is None:
        return Usage()
    details = getattr(usage, "prompt_tokens_details", None)
    # DeepSeek tells the cached ones in a field of its own.
    cached = getattr(details, "cached_tokens", 0) or getattr(usage, "prompt_cache_hit_tokens", 0)
    return Usage(usage.prompt_tokens or 0, cached or 0, usage.completion_tokens or 0)
