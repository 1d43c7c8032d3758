"""Tool results as the model reads them.

`[Tool result for NAME]: {json}`, an error followed by a hint, web text below the JSON line as a
delimited block. Order and headers are the reference engine's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.protocol.text import inert

if TYPE_CHECKING:
    from agent.models import Image

RESULT_CAP = 3_000
"""Characters of a result's JSON above which it is cut; tools with budgets of their own are not."""
RESULT_CUT = 2_500
"""Characters that are left of the longest text of a result that is cut."""
_CUT_MARK = "…[truncated]"
DEFAULT_HINT = "Tool failed. Try a different approach."
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CallResult:
    """What one call came to: JSON data, and web text with the label of where it came from.

    `images` are shown to a model that sees, beside the text.
    """

    name: str
    data: Any
    web: str = ""
    label: str = ""
    hint: str = ""
    capped: bool = True
    images: tuple[Image, ...] = ()


def format_results(results: list[CallResult]) -> str:
    """Write the results of one step as one user message, in tag order."""
    return "".join(_format(result) for result in results).strip()


def to_json(data: Any) -> str:
    """Serialise as JavaScript would: compact, non-ASCII kept, `1.0` as `1`, unknown as null."""
    text = json.dumps(_plain(data), ensure_ascii=False, separators=(",", ":"), default=_foreign)
    return _LONE_SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def _format(result: CallResult) -> str:
    body = capped_json(result.data) if result.capped else to_json(result.data)
    lines = [f"[Tool result for {result.name}]: {inert(body)}\n"]
    if result.web:
        lines.append(f'<web source="{result.label}">\n{inert(result.web)}\n</web>\n')
    if isinstance(result.data, Mapping) and result.data.get("error"):
        lines.append(f"\n[HINT: {result.hint or DEFAULT_HINT}]\n")
    return "".join(lines)


def capped_json(data: Any) -> str:
    """Serialise within the cap: long texts are cut until the whole fits, still valid JSON."""
    text = to_json(data)
    if len(text) <= RESULT_CAP:
        return text
    limit = RESULT_CUT
    while limit > 0:
        shorter = to_json(_cut(data, limit))
        if len(shorter) <= RESULT_CAP:
            return shorter
        limit = limit // 2
    return to_json({"truncated": True, "preview": text[: RESULT_CUT // 2] + _CUT_MARK})


def _cut(data: Any, limit: int) -> Any:
    if isinstance(data, str) and len(data) > limit:
        return data[:limit] + _CUT_MARK
    if isinstance(data, Mapping):
        return {key: _cut(value, limit) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        kept = [_cut(value, limit) for value in data[: max(1, limit // 50)]]
        return kept if len(kept) == len(data) else [*kept, _CUT_MARK]
    return data


def _plain(data: Any) -> Any:
    if isinstance(data, float):
        return _number(data) if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    return data


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def _foreign(value: object) -> object:
    return None if callable(value) else str(value)
