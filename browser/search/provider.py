"""Base classes of search providers: how queries are sent and answers interpreted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar
from urllib.parse import urlencode, urlsplit, urlunsplit

from browser.errors import BrowserError, ConnectFailed, DeadlineExceeded, NoAnswer, Refused
from browser.net.http import API_HEADERS
from browser.net.pace import retry_after
from browser.search.refusals import UNREADABLE, refusal_from_response
from browser.search.results import clean_results, is_encrypted_wrapper, is_on_site
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from browser.net.http import HttpClient
    from browser.types import SearchQuery

    Render = Callable[[str, float], Awaitable[tuple[str, str]]]

HOUR = 3600.0  # in seconds
DAY = 24 * HOUR

# Search pages are 20-600 KB; a response ten times as large as the largest is not a search page.
_MAX_BYTES = 6_000_000
# After these outcomes, the provider's next alternative request is tried.
_NEXT_REQUEST_AFTER = (Outcome.ERROR, Outcome.UNAUTHORIZED, Outcome.BLOCKED)
# Seconds; rendering a page in a browser, which may have to start first, takes 1-4 s.
_BROWSER_INTERVAL = 2.0


class SearchSource(ABC):
    """A source that a chain queries: a web search engine or the local corpus.

    `lifetime` is how many seconds its answers may be cached, `interval` how many seconds its
    operator requires between two requests. `local` marks a source on this machine; the chain
    decides whether engines are queried as well (`browser.search.chain.Local`).
    """

    name: str
    lifetime: float = 0.0
    interval: float = 0.0
    local: ClassVar[bool] = False

    @property
    @abstractmethod
    def identity(self) -> str:
        """A name that identifies the source's address and key without revealing the key."""

    def unavailable(self) -> str:
        """The reason why the source cannot be queried; "" if it can."""
        return ""

    @abstractmethod
    async def search(self, query: SearchQuery, http: HttpClient, *, deadline: float) -> SearchPage:
        """Search; `deadline` is in seconds. Failures become outcomes; nothing is raised."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Stop the source's background work."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One HTTP request to an engine: GET with `params`, or POST if `json` or `form` is given."""

    url: str
    params: Mapping[str, str] | None = None
    form: Mapping[str, str] | None = None
    json: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResultFieldPaths:
    """Dotted paths into a row, e.g. `meta.link`; alternatives are separated by `||`."""

    url: str = "url"
    title: str = "title"
    snippet: str = "snippet"
    published: str = ""


class SearchProvider(SearchSource):
    """A search engine, defined by class attributes, how a query is sent, and `parse`.

    `url` is its endpoint, `key_variables` the environment variables that may contain its key (empty
    if it takes no key). `needs_key` means that it does not work without one, `verified` that it was
    tested on saved answers from the real engine, `documented` that its parameters and fields were
    compared with its documentation or published answers. A query is sent with `parameters` and
    `headers`, or with an overridden `request`. `sends` is the part of the request that contains the
    parameters; `key_header` or `key_parameter` names the header or parameter for the key
    (`Authorization: Bearer ` adds a scheme before the key).
    """

    url: ClassVar[str] = ""
    key_variables: ClassVar[tuple[str, ...]] = ()
    needs_key: ClassVar[bool] = True
    key_header: ClassVar[str] = ""
    key_parameter: ClassVar[str] = ""
    sends: ClassVar[Literal["params", "form", "json"]] = "params"
    is_api: ClassVar[bool] = True
    verified: ClassVar[bool] = False
    documented: ClassVar[bool] = False
    lifetime = HOUR

    def __init__(self, *, url: str | None = None, key: str | None = None) -> None:
        self.key = key or ""
        self.endpoint = _resolve_endpoint(self.url, url)
        self._in_browser = False
        self._render: Render | None = None

    def use_browser(self, render: Render | None) -> None:
        """Render result pages in the browser, as a separate engine: `NAME_browser`.

        `render(url, deadline)` opens an address in its own tab and returns the final address and
        the rendered HTML; it raises a `BrowserError` on failure. None means that there is no
        browser.
        """
        # This also changes `identity`, because the two engines are blocked separately.
        self.name = f"{self.name}_browser"
        self.interval = _BROWSER_INTERVAL
        self._in_browser, self._render = True, render

    @property
    def identity(self) -> str:
        """The engine's name with a digest of its address and key."""
        digest = sha256(f"{self.endpoint}\n{self.key}".encode()).hexdigest()[:12]
        return f"{self.name}:{digest}"

    def unavailable(self) -> str:
        """The reason why the source cannot be queried; "" if it can."""
        if self._in_browser and self._render is None:
            return "no browser"
        if self.key_variables and self.needs_key and not self.key:
            return f"no key; set {self.key_variables[0]}"
        return "" if self.endpoint else "no address"

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """The engine's parameters for a query; empty ones and None are not sent."""
        return {"q": text_with_site_operator(query)}

    def headers(self, query: SearchQuery) -> dict[str, str]:
        """The headers of a request, with the key if there is one."""
        del query
        name, _, scheme = self.key_header.partition(": ")
        return {name: f"{scheme}{self.key}"} if name and self.key else {}

    def request(self, query: SearchQuery) -> SearchRequest:
        """The request for a query."""
        items = self.parameters(query).items()
        parameters = {name: value for name, value in items if value not in ("", None)}
        if self.key and self.key_parameter:
            parameters[self.key_parameter] = self.key
        if self.sends != "json":
            parameters = {name: str(value) for name, value in parameters.items()}
        fields: dict[str, Any] = {self.sends: parameters}
        return SearchRequest(self.endpoint, headers=self.headers(query), **fields)

    def requests(self, query: SearchQuery) -> Iterator[SearchRequest]:
        """Yield alternative requests; if the engine rejects one, the next is sent."""
        yield self.request(query)

    @abstractmethod
    def parse(self, body: str, url: str) -> SearchPage:
        """Parse an answer with status 200 from `url`."""

    async def search(self, query: SearchQuery, http: HttpClient, *, deadline: float) -> SearchPage:
        """Query the engine within `deadline` seconds. Failures become outcomes, never errors."""
        page = SearchPage(Outcome.ERROR, detail="the query is empty")
        for request in self.requests(query):
            try:
                page = await self._ask(request, http, deadline)
            except BrowserError as error:
                page = _page_from_error(error)
                break
            if page.outcome not in _NEXT_REQUEST_AFTER:
                break
        if self.key:  # security: errors contain addresses, and some engines echo keys
            page = replace(page, detail=page.detail.replace(self.key, "[key]"))
        return _apply_filters(page, query)

    async def _ask(self, request: SearchRequest, http: HttpClient, deadline: float) -> SearchPage:
        if self._render is not None:
            parameters = urlencode(request.params or request.form or {})
            url, html = await self._render(f"{request.url}?{parameters}", deadline)
            return self.read(html, url=url)
        headers = {**API_HEADERS, **request.headers} if self.is_api else request.headers
        send = partial(http.get, params=request.params)
        if request.json is not None or request.form is not None:
            send = partial(http.post, json=request.json, form=request.form)
        response = await send(request.url, headers=headers, deadline=deadline, max_bytes=_MAX_BYTES)
        return self.read(decode(response.body), response.status, response.url, response.headers)

    def read(
        self,
        body: str,
        status: int = 200,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> SearchPage:
        """Interpret an answer: a refusal, nothing found, an unknown layout, or results."""
        refusal = self.refusal(body, status, url or self.endpoint, headers or {})
        if refusal is not None:
            return refusal
        page = self.parse(body, url or self.endpoint)
        results = clean_results(page.results, self.name)
        if page.outcome is Outcome.OK and not results:
            return SearchPage(Outcome.ERROR, detail=UNREADABLE)
        return replace(page, results=results)

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Recognise an error, limit or block page; None if the answer can be parsed."""
        del url
        return refusal_from_response(
            status, body, retry_after(headers), keyed=bool(self.key_variables)
        )


def _page_from_error(error: BrowserError) -> SearchPage:
    """Turn a failed request into an outcome."""
    if isinstance(error, DeadlineExceeded):
        return SearchPage(Outcome.TIMEOUT, detail=str(error))
    if isinstance(error, ConnectFailed | NoAnswer):
        return SearchPage(Outcome.UNREACHABLE, detail=str(error))
    if isinstance(error, Refused):
        return SearchPage(Outcome.REFUSED, detail=f"{error} ({error.hint})")
    return SearchPage(Outcome.ERROR, detail=str(error))


def _apply_filters(page: SearchPage, query: SearchQuery) -> SearchPage:
    """Apply the query's limit and site: some engines have no site filter, or ignore it."""
    results, site = page.results, query.site
    if site and page.outcome is Outcome.OK:
        results = tuple(
            r for r in results if is_encrypted_wrapper(r.url) or is_on_site(r.url, site)
        )
        if not results:
            return SearchPage(Outcome.EMPTY, detail=f"nothing on {site}")
    return replace(page, results=results[: query.limit])


def _resolve_endpoint(default: str, address: str | None) -> str:
    """Replace an endpoint with the user's address, which may lack the scheme and path."""
    if not address:
        return default
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.path in ("", "/"):
        parts = parts._replace(path=urlsplit(default).path)
    return urlunsplit(parts)


def decode(body: bytes | str) -> str:
    """Decode a search page: as UTF-8, which all engines send today, or Windows-1252 if declared."""
    if isinstance(body, str):
        return body
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        declared = b"charset=iso-8859-1" in body[:2048].lower()
        return body.decode("cp1252" if declared else "utf-8", errors="replace")


def text_with_site_operator(query: SearchQuery) -> str:
    """The query's text with its site filter as a `site:` operator, which most engines support."""
    return f"{query.text} site:{query.site}" if query.site else query.text


_Provider = TypeVar("_Provider", bound=SearchProvider)


def engines_in(
    base: type[_Provider], module: str, names: Mapping[str, Any]
) -> dict[str, type[_Provider]]:
    """Return the engines that a module defines (its classes that have a name), by name."""
    return {
        value.name: value
        for value in names.values()
        if isinstance(value, type)
        and issubclass(value, base)
        and value.__module__ == module
        and "name" in vars(value)
    }
