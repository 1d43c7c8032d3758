"""As much of CSS as is needed to see that something is invisible."""

from __future__ import annotations

Declarations = dict[str, str]


def parse_declarations(style: str) -> Declarations:
    """Read `a: b; c: d` into lower-case names and values, `!important` dropped."""
    found: Declarations = {}
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip().lower()] = value.replace("!important", "").strip().lower()
    return found


def hides(declared: Declarations) -> bool:
    """Whether these declarations alone make an element invisible."""
    return declared.get("display") == "none" or declared.get("visibility") in {"hidden", "collapse"}
