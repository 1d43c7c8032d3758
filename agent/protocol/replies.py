"""Tool tags and thoughts in a model's reply.

`<<TOOL:NAME:param>>` calls a tool, `<<THINK>>…<</THINK>>` is a thought; what is left is text. The
reply is read once, left to right: a tag inside a thought is not run, and a thought that is never
closed swallows the rest. A parameter ends at the first `>>` that stands outside quotes and JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from agent import jsvalues as js
from agent.jsvalues import trim
from agent.types import Reply, ToolCall

NOT_FOUND: Final = "NOT_FOUND"
"""A final answer that begins with this word says that the evidence does not hold the answer."""

_THINK_OPEN = "<<THINK>>"
_THINK_CLOSE = "<</THINK>>"
_TOKEN = re.compile(r"<<THINK>>|<<TOOL:([A-Za-z0-9_]+)(>>|:)")
_TOOL_OPEN = "<<TOOL:"
_CLOSERS = {"{": "}", "[": "]"}
# Web text must not be able to spell a tag, a result header, a role turn or our own delimiter.
_MARKERS = re.compile(
    r"<<(?=\s*/?\s*(?:TOOL|THINK))"
    r"|\[(?=\s*(?:Tool\s+result\s+for\b|HINT\s*:|Saved\s+memories\b|User\s+profile\b"
    r"|Learned\s+skills\b|Previous\s+conversation\b|Page\s*:|Selected\s+text\s*:))"
    r"|<(?=\s*/?\s*(?:web|guide|system|assistant|user|tool)\b)"
    r"|<(?=\|)",
    re.IGNORECASE,
)
_ROLE_TURN = re.compile(r"(?im)^(\s*(?:#+\s*)?(?:system|assistant|user|human|tool))(\s*):")
_OPENER_LOOKALIKES = {"<<": "‹‹", "[": "⟦", "<": "‹"}


def parse(reply: str) -> Reply:
    """Split a reply into thoughts, tool calls in tag order, and the text without the thoughts.

    The text keeps its tool tags: it is what goes back into the conversation as the assistant's
    turn. An empty parameter is no parameter.
    """
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    kept: list[str] = []
    at, unclosed = 0, False
    while (token := _TOKEN.search(reply, at)) is not None:
        if token[0] == _THINK_OPEN:
            kept.append(reply[at : token.start()])
            unclosed = reply.find(_THINK_CLOSE, token.end()) < 0
            thought, at = _thought(reply, token.end())
            if thought:
                thoughts.append(thought)
            continue
        end = token.end() if token[2] == ">>" else _call_end(reply, token.end())
        if end is not None:
            param = "" if token[2] == ">>" else trim(reply[token.end() : end - 2])
            calls.append(ToolCall(token[1], param))
        end = token.end() if end is None else end
        kept.append(reply[at:end])
        at = end
    kept.append(reply[at:])
    return Reply(tuple(thoughts), tuple(calls), trim("".join(kept)), unclosed)


def inert(text: str) -> str:
    """Make tags, headers and role turns in web text harmless, still legible, one to one."""
    broken = _MARKERS.sub(lambda m: _OPENER_LOOKALIKES[m[0]], text)
    return _ROLE_TURN.sub(r"\1\2：", broken)


def _thought(reply: str, start: int) -> tuple[str, int]:
    """Read a thought that begins at `start`: its text, and where the reply goes on."""
    close = reply.find(_THINK_CLOSE, start)
    if close < 0:
        return trim(reply[start:]), len(reply)
    return trim(reply[start:close]), close + len(_THINK_CLOSE)


def _call_end(reply: str, start: int) -> int | None:
    """Find where the call whose parameter begins at `start` ends, past its `>>`."""
    balanced = _balanced_end(reply, start)
    if balanced is not None:
        return balanced
    plain = reply.find(">>", start)
    following = reply.find(_TOOL_OPEN, start)
    if plain < 0 or 0 <= following < plain:
        return None
    return plain + 2


def _balanced_end(reply: str, start: int) -> int | None:
    """Find the first `>>` outside quotes and JSON nesting; None where they never close."""
    structured = reply[start:].lstrip()[:1] in _CLOSERS
    open_brackets: list[str] = []
    at = start
    while at < len(reply):
        char = reply[at]
        if char == '"':
            quoted = _quote_end(reply, at, structured=structured)
            at = at + 1 if quoted is None else quoted
            continue
        if not open_brackets and reply.startswith(">>", at):
            # `>>>`: the last two of a run of brackets close the call.
            return at + 2
        if not open_brackets and reply.startswith(_TOOL_OPEN, at):
            return None
        if structured and char in _CLOSERS:
            open_brackets.append(_CLOSERS[char])
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
        at += 1
    return None


def _quote_end(reply: str, start: int, *, structured: bool) -> int | None:
    """Find the end of a quoted piece, past its closing quote; None where it is only a mark.

    In a bare parameter (`5" screen`) a quote counts only when it closes before the next tag.
    """
    at = start + 1
    while at < len(reply):
        if reply[at] == "\\" and structured:
            at += 2
            continue
        if reply[at] == '"':
            return at + 1
        if not structured and (reply[at] == "\n" or reply.startswith(_TOOL_OPEN, at)):
            return None
        at += 1
    return None


_FENCE = re.compile(r"```(?:json)?\s*")


def loose_json(text: str) -> Any | None:
    """Read the JSON value in a text, else the object from first to last brace, else None."""
    plain = js.trim(_FENCE.sub("", text))
    start, end = plain.find("{"), plain.rfind("}")
    for candidate in (plain, plain[start : end + 1] if 0 <= start < end else ""):
        try:
            return json.loads(candidate, parse_constant=_no_constant)
        except (ValueError, RecursionError):  # nested deeper than any answer is
            continue
    return None


def loose_object(text: str) -> dict[str, Any]:
    """Read the JSON object in a text; empty where there is none."""
    value = loose_json(text)
    return value if isinstance(value, dict) else {}


def mended_object(text: str) -> dict[str, Any] | None:
    """Read the object that broken JSON was meant to be: quotes, commas, brackets that are off."""
    import json_repair  # noqa: PLC0415 - hardly ever needed

    value = json_repair.loads(text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) and value else None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
