"""JSON in what a model writes: fenced, with words around it, or slightly broken."""

from __future__ import annotations

import json
import re
from typing import Any

from agent import jsvalues as js

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
