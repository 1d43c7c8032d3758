"""Engines that answer in JSON: where the rows are, and which fields make a result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urljoin

from browser.search.base import Provider
from browser.search.outcomes import error_payload
from browser.search.tidy import without_marks
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Fields:
    """Dotted paths into a row, e.g. `meta.link`; several, parted by `|`, are tried in order."""

    url: str = "url"
    title: str = "title"
    snippet: str = "snippet"
    published: str = ""


class JsonProvider(Provider):
    """An engine whose answer holds a list of rows at the dotted path `rows`."""

    rows: str = "results"
    fields: Fields = Fields()
    empty_without_rows: ClassVar[tuple[str, ...]] = ()
    """An answer that has all of these fields but no list is this API's "nothing found"."""

    def parse(self, body: str, url: str) -> SearchPage:
        """Read the rows; anything that is no such JSON is judged as an error message."""
        try:
            data = json.loads(body)
        except ValueError:
            return error_payload(body)
        rows = dig(data, self.rows) if self.rows else data
        if rows is None and self._is_empty(data):
            return SearchPage(Outcome.EMPTY)
        if not isinstance(rows, list):
            return error_payload(body)
        results = tuple(self.result(row, url) for row in rows if isinstance(row, dict))
        return SearchPage(Outcome.OK if rows else Outcome.EMPTY, results)

    def result(self, row: Mapping[str, object], url: str) -> SearchResult:
        """Make one result of a row; `url` is where the answer came from."""
        address = text_at(row, self.fields.url)
        return SearchResult(
            url=urljoin(url, address) if address else "",
            title=without_marks(text_at(row, self.fields.title)),
            snippet=without_marks(text_at(row, self.fields.snippet)),
            published=text_at(row, self.fields.published) or None,
        )

    def _is_empty(self, data: object) -> bool:
        expected = self.empty_without_rows
        return bool(expected) and isinstance(data, dict) and all(name in data for name in expected)


def dig(data: object, path: str) -> object:
    """Follow a dotted path through objects and lists; None where it leads nowhere."""
    for step in path.split("."):
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            return None
    return data


def text_at(row: Mapping[str, object], paths: str) -> str:
    """Give the first non-empty text or number at one of the paths parted by `|`."""
    for path in filter(None, paths.split("|")):
        value = dig(row, path)
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, str | int | float) and str(value):
            return str(value)
    return ""
