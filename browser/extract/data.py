"""JSON and CSV as text that can be searched and quoted."""

from __future__ import annotations

import csv
import io
import json
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from browser.extract.plain import extract_plain
from browser.extract.tables import table_markdown, table_text
from browser.text import clean
from browser.types import Document, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

# Rows beyond this are data to compute with, not to read.
_MOST_ROWS = 20_000
# No table has a row as long as this; a line of nothing but commas is made to burst.
_LONGEST_LINE = 1_000_000


def extract_json(text: str, url: str, name: str) -> Document:
    """Lay JSON out as `path: value` lines, values unchanged; broken JSON stays as it is."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raw = clean(text)
        return Document(
            url=url,
            title=name,
            text=raw,
            markdown=raw,
            kind="json",
            notes=("not valid JSON: shown as text",),
        )
    body = "\n".join(_leaves(value, ""))
    title = value.get("title") or value.get("name") if isinstance(value, dict) else None
    return Document(
        url=url,
        title=title if isinstance(title, str) else name,
        text=body,
        markdown=body,
        kind="json",
    )


def extract_csv(text: str, url: str, name: str) -> Document:
    """Read CSV or TSV as one table; the delimiter is found by looking."""
    if max(map(len, text.splitlines()), default=0) > _LONGEST_LINE:
        return replace(extract_plain(text, url, name), kind="csv", notes=("not CSV: as text",))
    try:
        rows = list(_rows(text))
    except csv.Error:
        return replace(
            extract_plain(text, url, name), kind="csv", notes=("not valid CSV: as text",)
        )
    notes = (f"the first {_MOST_ROWS} rows",) if len(rows) > _MOST_ROWS else ()
    table = Table(rows=tuple(rows[:_MOST_ROWS]))
    return Document(
        url=url, title=name, text=table_text(table), markdown=table_markdown(table) if rows else "",
        kind="csv", tables=(table,), notes=notes,
    )  # fmt: skip


def _rows(text: str) -> Iterator[tuple[str, ...]]:
    dialect: csv.Dialect | type[csv.Dialect] = csv.excel
    with suppress(csv.Error):  # one column, or none that repeats: commas, then
        dialect = csv.Sniffer().sniff(text[:4096], delimiters=",;\t|")
    reader = csv.reader(io.StringIO(text, newline=None), dialect)
    for row in islice(filter(None, reader), _MOST_ROWS + 1):
        yield tuple(clean(" ".join(cell.split())) for cell in row)


def _leaves(value: object, path: str) -> Iterator[str]:
    stack: list[tuple[str, object]] = [(path, value)]
    while stack:
        place, item = stack.pop()
        if isinstance(item, dict):
            stack.extend(
                (f"{place}.{key}" if place else str(key), item[key]) for key in reversed(item)
            )
        elif isinstance(item, list):
            stack.extend(
                (f"{place}[{number}]", item[number]) for number in reversed(range(len(item)))
            )
        else:
            yield clean(f"{place}: {_scalar(item)}" if place else _scalar(item))


def _scalar(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
