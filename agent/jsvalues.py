"""JavaScript semantics for values: strings, lengths and key order.

The layout of the memory layers and the format of imported and exported storage come from an engine
written in JavaScript. This module covers the cases in which it differs from Python.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# ECMA-262: WhiteSpace and LineTerminator. Python's set includes U+001C-1F and U+0085 and lacks
# U+FEFF.
_WHITESPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_SPACES = re.compile(f"[{_WHITESPACE}]+")
_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2  # ECMA-262: array indices end below 2**32 - 1


UNDEFINED = object()
"""Stands for a missing value."""
_CONSTANTS = ((None, "null"), (True, "true"), (False, "false"), (UNDEFINED, "undefined"))


def to_string(value: Any) -> str:
    """Convert a JSON value to a string as a template literal does."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return join(value, ",")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_to_string(value)
    for constant, spelling in _CONSTANTS:
        if value is constant:
            return spelling
    return "[object Object]"


def join(values: list[Any] | tuple[Any, ...], separator: str) -> str:
    """Join as `Array.join` does: null and undefined become empty strings."""
    return separator.join("" if v is None or v is UNDEFINED else to_string(v) for v in values)


def number_to_string(number: float) -> str:
    """Format a number as ECMA-262 `Number::toString` does: 1.0 is `1`, 1e21 is `1e+21`."""
    value = float(number)
    if value != value:  # noqa: PLR0124 - the definition of NaN
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    # From that size, Python writes an exponent too, but with at least two digits.
    digits, _, exponent = repr(value).partition("e")
    return f"{digits.removesuffix('.0')}e{int(exponent):+d}"


def length(text: str) -> int:
    """Count UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, units: int) -> str:
    """Keep the first `units` UTF-16 code units; cutting a surrogate pair leaves its first half."""
    if len(text) <= units and length(text) <= units:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode(
        "utf-16-le", "surrogatepass"
    )


def cut_start(text: str, units: int) -> str:
    """Keep the last `units` UTF-16 code units; cutting a surrogate pair leaves its second half."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return raw[-2 * units :].decode("utf-16-le", "surrogatepass") if units else ""


def well_formed(text: str) -> str:
    """Drop lone surrogates: they cannot be encoded, and `cut` may leave some behind."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def cut_well_formed(text: str, units: int) -> str:
    """Cut a string to `units` UTF-16 units, and drop lone surrogates."""
    return well_formed(cut(text, units))


def trim(text: str) -> str:
    """Strip the characters that JavaScript treats as whitespace."""
    return text.strip(_WHITESPACE)


def split_words(text: str) -> list[str]:
    """Split on whitespace; leading or trailing space yields an empty word, as in JavaScript."""
    return _SPACES.split(text)


def sort_key(text: str) -> bytes:
    """Order strings by UTF-16 code units, as `Array.sort` does."""
    return text.encode("utf-16-be", "surrogatepass")


def truthy(value: Any) -> bool:
    """Return whether JavaScript treats a value as true; empty lists and objects are true."""
    if isinstance(value, list | tuple | dict):
        return True
    return value is not UNDEFINED and bool(value)


def ordered(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Order an object's keys: array indices in ascending order, then the others as inserted."""
    indices = [k for k in mapping if _ARRAY_INDEX.fullmatch(k) and int(k) <= _LAST_INDEX]
    first = sorted(indices, key=int)
    return {key: mapping[key] for key in [*first, *(k for k in mapping if k not in set(first))]}
