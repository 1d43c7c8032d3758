"""State that pages carry in their scripts: Next.js in both its forms, and named variables."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.extract.platforms.source import Source

# Next.js streams what its components need as strings: `self.__next_f.push([1,"…"])`.
_STREAMED = re.compile(r"__next_f\.push\(\s*(?=\[)")
# Objects beyond these are a page's translations or its routes.
_MOST_NODES = 200_000


def next_data(source: Source) -> Any:
    """The page properties of a Next.js page; None where there are none."""
    script = source.first("script#__NEXT_DATA__")
    data = decoded(script.text or "") if script is not None else None
    return ((data or {}).get("props") or {}).get("pageProps") if isinstance(data, dict) else None


def variable(source: Source, name: str) -> Any:
    """The JSON value that a script assigns to a variable of this name; None without one."""
    assigned = re.compile(
        rf"(?:^|[^\w.])(?:window\.|self\.)?{re.escape(name)}\"?\]?\s*=\s*(?=[{{\[])"
    )
    for script in source.root.iter("script"):
        text = script.text or ""
        if name in text and (match := assigned.search(text)):
            return decoded(text, match.end())
    return None


def objects(source: Source, *keys: str) -> Iterator[dict[str, Any]]:
    """Every object that has all of these keys, in a page's Next.js state or its JSON."""
    data = source.json
    roots = [data] if data is not None else [next_data(source), *_streamed(source)]
    for node in walk(roots):
        if all(key in node for key in keys):
            yield node


def _streamed(source: Source) -> Iterator[Any]:
    pieces: list[str] = []
    for script in source.root.iter("script"):
        text = script.text or ""
        for match in _STREAMED.finditer(text):
            row = decoded(text, match.end())
            if isinstance(row, list) and len(row) > 1 and isinstance(row[1], str):
                pieces.append(row[1])
    # A row is `id:value` on a line of its own; what is no JSON (modules, texts) is passed over.
    for line in "".join(pieces).split("\n"):
        value = line.partition(":")[2]
        if value[:1] in ("{", "["):
            yield decoded(value)


def walk(roots: list[Any]) -> Iterator[dict[str, Any]]:
    """Every object within some values, in their order."""
    stack = list(reversed(roots))
    for _ in range(_MOST_NODES):
        if not stack:
            return
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))


def decoded(text: str, start: int = 0) -> Any:
    """The JSON value that begins at a place of a text; None where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text.lstrip() if not start else text, start)[0]
    except (ValueError, RecursionError):
        return None
