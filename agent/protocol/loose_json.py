"""Parses JSON from models: in a code fence, surrounded by text, or with wrong quotes and commas."""

from __future__ import annotations

import json
import re
from typing import Any

from agent import jsvalues as js

_FENCE_RE = re.compile(r"```(?:json)?\s*")


def loose_json(text: str) -> Any | None:
    """Parse `text` as JSON, or the object from its first to its last brace; None if both fail."""
    plain = js.trim(_FENCE_RE.sub("", text))
    start, end = plain.find("{"), plain.rfind("}")
    for candidate in (plain, plain[start : end + 1] if 0 <= start < end else ""):
        try:
            return json.loads(candidate, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):  # raised for deep nesting
            continue
    return None


def loose_object(text: str) -> dict[str, Any]:
    """Parse the JSON object after the thoughts in `text`; empty if there is none."""
    value = loose_json(text.rpartition("<</THINK>>")[2])
    return value if isinstance(value, dict) else {}


def repair_object(text: str) -> dict[str, Any] | None:
    """Parse a JSON object with wrong quotes, commas or brackets; None if that fails."""
    import json_repair  # noqa: PLC0415 - hardly ever needed

    try:
        value = json_repair.loads(text)
    except (ValueError, RecursionError):  # raised for deep nesting
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) and value else None


def _refuse_constant(name: str) -> Any:
    """Reject `NaN` and `Infinity`, which Python's parser accepts by default."""
    raise ValueError(f"{name} is not valid JSON")
