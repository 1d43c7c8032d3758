"""Search engines that are declared in one line of the settings, with a URL template."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from browser.errors import SearchError
from browser.search.provider import (
    ResultFieldPaths,
    SearchProvider,
    SearchRequest,
    text_with_site_operator,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.types import SearchQuery

_FIELD_NAMES = ("url", "title", "snippet", "published")


@dataclass(frozen=True, slots=True)
class Declaration:
    """An engine, as declared in the settings.

    `url` has a placeholder `{query}` and may have `{page}`, `{offset}`, `{limit}`, `{lang}`,
    `{region}`, `{since}` and `{key}`; `rows` is the dotted path to the list ("" if the answer is
    itself the list), `fields` are dotted paths within a row. For an engine that returns HTML,
    `item` is the CSS selector of a result, and `fields` are selectors within it (`url` selects the
    link). `headers` may also contain `{key}`.
    """

    name: str
    url: str
    rows: str = "results"
    item: str = ""
    fields: ResultFieldPaths = field(default_factory=ResultFieldPaths)
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "{query}" not in self.url or urlsplit(self.url).scheme not in ("http", "https"):
            raise SearchError(
                f"the URL of search provider {self.name!r} must be http(s) and contain {{query}}",
                hint="For example https://search.example.org/api?q={query}.",
            )

    @classmethod
    def parse(cls, name: str, line: str) -> Declaration:
        """Parse a one-line declaration.

        After `#`, it may specify where the parts of the answer are, in the form of a query string:
        `https://search.example/api?q={query}#rows=data.hits&url=link&title=name&snippet=text`.
        Raises `SearchError` for an unknown part.
        """
        url, _, rest = line.partition("#")
        parts = dict(parse_qsl(rest, keep_blank_values=True))
        if unknown := parts.keys() - {"rows", "item", "header", *_FIELD_NAMES}:
            raise SearchError(
                f"search provider {name!r} has no field named {', '.join(sorted(unknown))}",
                hint="After #, you can set rows or item, url, title, snippet, published, header.",
            )
        header, colon, value = parts.pop("header", "").partition(":")
        return cls(
            name,
            url,
            rows=parts.pop("rows", "results"),
            item=parts.pop("item", ""),
            fields=ResultFieldPaths(**parts),
            headers={header.strip(): value.strip()} if colon else {},
        )


class DeclaredProvider(SearchProvider):
    """A provider that builds its address from a declaration's template."""

    def __init__(
        self, declaration: Declaration, *, url: str | None = None, key: str | None = None
    ) -> None:
        super().__init__(url=declaration.url, key=key)
        self.name = declaration.name
        self.rows, self.fields = declaration.rows, declaration.fields
        self._headers = declaration.headers
        if url:  # use the same template with the given host
            other, template = urlsplit(url), urlsplit(declaration.url)
            self.endpoint = urlunsplit(template._replace(scheme=other.scheme, netloc=other.netloc))

    def request(self, query: SearchQuery) -> SearchRequest:
        """Fill in the template; values are URL-quoted."""
        values = {
            "query": text_with_site_operator(query),
            "page": str(query.page),
            "offset": str((query.page - 1) * query.limit),
            "limit": str(query.limit),
            "lang": query.lang or "",
            "region": query.region or "",
            "since": query.since or "",
            "key": self.key,
        }
        url = self.endpoint
        for name, value in values.items():
            url = url.replace(f"{{{name}}}", quote(value, safe=""))
        headers = {name: text.replace("{key}", self.key) for name, text in self._headers.items()}
        return SearchRequest(url, headers=headers)
