"""Values of any JSON type in a store of texts."""

from __future__ import annotations

import json
from typing import Any

from agent.memory import jsvalues


def pack(value: Any) -> tuple[str, str | None]:
    """Split a value into the text that is searched, and its JSON where it is no plain string."""
    if isinstance(value, str) and jsvalues.well_formed(value) == value and "\x00" not in value:
        return value, None  # what a database may not hold as text, its JSON spells
    if isinstance(value, str | dict | list):
        return jsvalues.well_formed(json.dumps(value, ensure_ascii=False)), json.dumps(value)
    return jsvalues.to_string(value), json.dumps(value)


def details(row: Any) -> dict[str, Any]:
    """Give what a run or a dream noted with a memory; nothing for one that somebody else wrote."""
    value = {} if row is None or row.value is None else json.loads(row.value)
    return value if isinstance(value, dict) else {}


def unpack(row: Any) -> Any:
    """Read the value of a row back, exactly as it was given."""
    return row.text if row.value is None else json.loads(row.value)
