"""JSON in what a model writes: fenced, with words around it, or slightly broken."""

from __future__ import annotations

import json
import re
from typing import Any

_FENCE = re.compile(r"```(?:json)?\s*")


def loose_json(text: str) -> Any | None:
    """Read the JSON value in a text, else the object from first to last brace, else None."""
    plain = _FENCE.sub("", text).strip()
    start, end = plain.find("{"), plain.rfind("}")
    for candidate in (plain, plain[start : end + 1] if 0 <= start < end else ""):
        try:
            return json.loads(candidate, parse_constant=_no_constant)
        except ValueError:
            continue
    return None


def loose_object(text: str) -> dict[str, Any]:
    """Read the JSON object in a text; empty where there is none."""
    value = loose_json(text)
    return value if isinstance(value, dict) else {}


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
