"""From a call's raw parameter to its tool's fields, in tiers: as written, mended, picked out."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.protocol.replies import mended_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

AS_WRITTEN, LENIENT, PICKED, ASKED = "", "lenient", "fields", "asked"
"""How a parameter was read: as it stands, as the JSON that was meant, by the fields named in it, or
as the model wrote it when it was asked again."""
_JSON_LIKE = ("{", "```", "“{", "[{")


@dataclass(frozen=True, slots=True)
class Form:
    """What a tool takes: its fields in order, and those it must have."""

    names: tuple[str, ...]
    required: frozenset[str]

    @property
    def first(self) -> str | None:
        """The field that a bare parameter fills."""
        return next(iter(self.names), None)


def readings(param: str, form: Form) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give what a parameter may mean, the likeliest first: (tier, fields)."""
    if not param:
        yield AS_WRITTEN, {}
        return
    if not param.startswith(_JSON_LIKE):
        if named := picked_out(param, form.names, begins=True):
            yield PICKED, named
        yield from bare(param, form)
        return
    strict = _strict_object(param)
    mended = mended_object(param) if strict is None else None
    for tier, read in ((AS_WRITTEN, strict), (LENIENT, mended)):
        if read is not None:
            fields = _in_case(read, form)
            yield tier, fields
            yield PICKED, renamed(fields, form)
    yield PICKED, picked_out(param, form.names)


def bare(param: str, form: Form) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read a parameter as the value of the tool's first field."""
    if form.first:
        yield AS_WRITTEN, {form.first: _unquoted(param)}


def _in_case(fields: Mapping[str, Any], form: Form) -> dict[str, Any]:
    """Write names that are right but for their case as the tool has them."""
    known = {name.casefold(): name for name in form.names}
    return {known.get(name.casefold(), name): value for name, value in fields.items()}


def renamed(fields: Mapping[str, Any], form: Form) -> dict[str, Any]:
    """Put the one value of an unknown name into the one field that is needed and missing."""
    missing = [name for name in form.names if name in form.required and name not in fields]
    unknown = [name for name in fields if name not in form.names]
    if len(missing) != 1 or len(unknown) != 1:
        return dict(fields)
    return {**fields, missing[0]: fields[unknown[0]]}


def picked_out(param: str, names: Sequence[str], *, begins: bool = False) -> dict[str, str]:
    """Find `name: value` for each field, in whatever brackets and quotes it stands.

    `begins` asks that the text begins so: words before it make it an ordinary sentence.
    """
    if not names:
        return {}
    either = "|".join(map(re.escape, names))
    head = rf"[\"'“‘<]?\b({either})\b[\"'”’>]?\s*[:=]?\s*"
    if begins and not re.match(rf"[\"'“‘<]?\b(?:{either})\b[\"'”’>]?\s*(?:[:=]|(?<=>)\S)", param):
        return {}
    value = r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|“[^”]*”|[^,}<>\s][^,}<\n]*)"
    found = re.findall(head + value, param)
    return {name: _unquoted(text.strip()) for name, text in found}


def _strict_object(param: str) -> dict[str, Any] | None:
    """Read a JSON object; raw newlines inside its strings are forgiven."""
    try:
        value = json.loads(param, strict=False)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _unquoted(param: str) -> str:
    quoted = len(param) > 1 and (param[0] + param[-1]) in ('""', "''", "“”")
    return param[1:-1] if quoted else param
