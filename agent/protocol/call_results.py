"""Formats tool results for the model.

A result is `[Tool result for NAME]: {json}`, then the web text as a delimited block, then a hint if
the call failed. The order and the headers are the same as in the reference engine.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from agent import jsvalues as js
from agent.errors import ToolError
from agent.protocol.replies import inert

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.types import Observation, ToolCall

MAX_RESULT_UNITS = 3_000
"""Length in UTF-16 units above which a result's JSON is cut, unless the tool has another limit."""
CUT_TEXT_UNITS = 2_500
"""Length to which the strings in such a result are initially cut, in UTF-16 units."""
_MAX_INT_BITS = 1024
"""Maximum number of bits in an integer; larger ones are infinite in JavaScript."""
_CUT_MARK = "…[truncated]"
DEFAULT_HINT = ToolError.hint
_LONE_SURROGATE_RE = re.compile("[\ud800-\udfff]")


class Caller(Protocol):
    """Makes tool calls: the policy, or a replay of recorded results."""

    async def run(self, call: ToolCall, place: str) -> Callable[[], Observation]:
        """Make a call; returns a function that finishes it, to be called in tag order."""


def format_results(results: Sequence[Observation]) -> str:
    """Format one step's results as one user message, in tag order."""
    lines = []
    for result in results:
        body = capped_json(result.data) if result.capped else to_json(result.data)
        # Data and web text may contain text from a page, which could imitate tags and headers.
        lines.append(f"[Tool result for {result.tool}]: {inert(body)}\n")
        if result.web:
            lines.append(f'<web source="{result.label}">\n{inert(result.web)}\n</web>\n')
        elif result.label:
            lines.append(f"(source {result.label})\n")
        if result.failed:
            lines.append(f"\n[HINT: {result.hint or DEFAULT_HINT}]\n")
    return js.trim("".join(lines))


def capped_json(data: Any) -> str:
    """Serialise as valid JSON within `MAX_RESULT_UNITS`, cutting long strings until it fits."""
    text = to_json(data)
    if js.length(text) <= MAX_RESULT_UNITS:
        return text
    # Many medium strings together may be too long, so the limit is halved until everything fits.
    limit = CUT_TEXT_UNITS
    while limit > 0:
        shorter = to_json(cut_texts(data, limit))
        if js.length(shorter) <= MAX_RESULT_UNITS:
            return shorter
        limit = limit // 2
    return to_json({"truncated": True, "preview": js.cut(text, CUT_TEXT_UNITS // 2) + _CUT_MARK})


def cut_texts(data: Any, limit: int) -> Any:
    """Cut strings in JSON data to `limit` UTF-16 units, and lists to `limit` / 50 items."""
    if isinstance(data, str) and js.length(data) > limit:
        return js.cut(data, limit) + _CUT_MARK
    if isinstance(data, Mapping):
        return {key: cut_texts(value, limit) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        kept = [cut_texts(value, limit) for value in data[: max(1, limit // 50)]]
        return kept if len(kept) == len(data) else [*kept, _CUT_MARK]
    return data


def to_json(data: Any) -> str:
    """Serialise in JavaScript's format: compact, with `1` for `1.0`, and index-like keys first.

    Functions, numbers that are not finite in JavaScript, and data that is nested too deeply or
    contains itself become null.
    """
    pieces: list[str] = []
    try:
        _write(data, pieces)
    except RecursionError:
        return "null"
    return "".join(pieces)


def _write(data: Any, pieces: list[str]) -> None:
    separator = ""
    if isinstance(data, Mapping):
        pieces.append("{")
        for key, value in js.ordered({str(key): value for key, value in data.items()}).items():
            pieces.append(f"{separator}{_quoted(key)}:")
            _write(value, pieces)
            separator = ","
        pieces.append("}")
    elif isinstance(data, list | tuple):
        pieces.append("[")
        for value in data:
            pieces.append(separator)
            _write(value, pieces)
            separator = ","
        pieces.append("]")
    elif isinstance(data, float):
        pieces.append(js.number_to_string(data) if math.isfinite(data) else "null")
    elif isinstance(data, int) and data.bit_length() > _MAX_INT_BITS:
        pieces.append("null")
    elif data is None or isinstance(data, bool | int):
        pieces.append(json.dumps(data))
    else:
        pieces.append("null" if callable(data) else _quoted(str(data)))


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _LONE_SURROGATE_RE.sub(lambda m: f"\\u{ord(m[0]):04x}", quoted)
