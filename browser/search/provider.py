"""What every search provider has in common: its request, and how its answer is judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import urlencode, urlsplit, urlunsplit

from browser.errors import BrowserError, ConnectFailed, DeadlineExceeded, Refused
from browser.net.pace import retry_after
from browser.search.refusals import judge_refusal
from browser.search.results import is_on_site, is_sealed, tidy
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from browser.net.http import HttpClient
    from browser.types import SearchQuery

    Render = Callable[[str, float], Awaitable[tuple[str, str]]]

HOUR = 3600.0
DAY = 24 * HOUR

# A search page is 20-600 KB; ten times the largest seen is surely not one.
_MAX_BYTES = 6_000_000
# Public APIs ask their clients to say who they are (Wikimedia, arXiv, GitHub, OpenAlex).
_API_HEADERS = {"User-Agent": "urchin-research/0.1", "Accept": "application/json, */*;q=0.5"}
# These say that this form of asking is not understood; another form may be.
_TRY_ANOTHER_FORM = (Outcome.ERROR, Outcome.UNAUTHORIZED, Outcome.BLOCKED)
# A page drawn by scripts, in a browser that may have to start first, takes 1-4 s.
_BROWSER_INTERVAL = 2.0


class SearchSource(ABC):
    """What a chain asks: an engine on the web, or the local corpus.

    `lifetime` is how many seconds its answers may be kept, `interval` the seconds between two
    requests that its operator asks for; of a `local` one the answer needs no second opinion.
    """

    name: str
    lifetime: float = 0.0
    interval: float = 0.0
    local: ClassVar[bool] = False

    @property
    @abstractmethod
    def identity(self) -> str:
        """Names it together with its address and key, without revealing the key."""

    def unavailable(self) -> str:
        """Why it cannot be asked at all; empty if it can."""
        return ""

    @abstractmethod
    async def search(self, query: SearchQuery, http: HttpClient, *, deadline: float) -> SearchPage:
        """Ask it; `deadline` in seconds. Failures become outcomes, none are raised."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One HTTP request to an engine: GET with `params`, or POST where `json` or `form` is given."""

    url: str
    params: Mapping[str, str] | None = None
    form: Mapping[str, str] | None = None
    json: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fields:
    """Dotted paths into a row, e.g. `meta.link`; several, parted by `|`, are tried in order."""

    url: str = "url"
    title: str = "title"
    snippet: str = "snippet"
    published: str = ""


class SearchProvider(SearchSource):
    """A search engine: class attributes, how it is asked, and `parse`.

    `url` is its endpoint, `key_variables` the environment variables that may hold its key (empty:
    it knows none), `needs_key` whether it answers without, `verified` that saved answers of the
    real engine were read. It is asked with `parameters` and `headers`, or with a `request` of
    its own; `sends` says how the parameters go, `key_header` and `key_parameter` where the key
    goes (`Authorization: Bearer ` has a scheme before it).
    """

    url: ClassVar[str] = ""
    key_variables: ClassVar[tuple[str, ...]] = ()
    needs_key: ClassVar[bool] = True
    key_header: ClassVar[str] = ""
    key_parameter: ClassVar[str] = ""
    sends: ClassVar[Literal["params", "form", "json"]] = "params"
    is_api: ClassVar[bool] = True
    verified: ClassVar[bool] = False
    lifetime = HOUR

    def __init__(self, *, url: str | None = None, key: str | None = None) -> None:
        self.key = key or ""
        self.endpoint = _place(self.url, url)

    @property
    def identity(self) -> str:
        """Names the engine together with its address and key, without revealing the key."""
        digest = sha256(f"{self.endpoint}\n{self.key}".encode()).hexdigest()[:12]
        return f"{self.name}:{digest}"

    def unavailable(self) -> str:
        """Why it cannot be asked at all; empty if it can."""
        if self.key_variables and self.needs_key and not self.key:
            return f"no key; set {self.key_variables[0]}"
        return "" if self.endpoint else "no address"

    def parameters(self, query: SearchQuery) -> Mapping[str, object]:
        """Say a query in the engine's parameters; what is empty or None is left out."""
        return {"q": with_site(query)}

    def headers(self, query: SearchQuery) -> dict[str, str]:
        """Give the headers of a request, the key among them where there is one."""
        del query
        name, _, scheme = self.key_header.partition(": ")
        return {name: f"{scheme}{self.key}"} if name and self.key else {}

    def request(self, query: SearchQuery) -> SearchRequest:
        """Say how to ask the engine for a query."""
        parameters = self.parameters(query).items()
        sent = {name: value for name, value in parameters if value not in ("", None)}
        if self.key and self.key_parameter:
            sent[self.key_parameter] = self.key
        if self.sends != "json":
            sent = {name: str(value) for name, value in sent.items()}
        fields: dict[str, Any] = {self.sends: sent}
        return SearchRequest(self.endpoint, headers=self.headers(query), **fields)

    def requests(self, query: SearchQuery) -> Iterator[SearchRequest]:
        """Yield forms of asking; a later one is used where an earlier is not understood."""
        yield self.request(query)

    @abstractmethod
    def parse(self, body: str, url: str) -> SearchPage:
        """Read an answer that came with status 200 from `url`."""

    async def search(self, query: SearchQuery, http: HttpClient, *, deadline: float) -> SearchPage:
        """Ask the engine; `deadline` in seconds. Failures become outcomes, none are raised."""
        page = SearchPage(Outcome.ERROR, detail="nothing to ask")
        for request in self.requests(query):
            headers = {**_API_HEADERS, **request.headers} if self.is_api else request.headers
            ask = partial(http.get, params=request.params)
            if request.json is not None or request.form is not None:
                ask = partial(http.post, json=request.json, form=request.form)
            try:
                response = await ask(
                    request.url, headers=headers, deadline=deadline, max_bytes=_MAX_BYTES
                )
            except BrowserError as error:
                page = _failed(error)
                break
            page = self.read(decode(response.body), response.status, response.url, response.headers)
            if page.outcome not in _TRY_ANOTHER_FORM:
                break
        if self.key:  # errors repeat addresses, some engines repeat keys: none in the trail
            page = replace(page, detail=page.detail.replace(self.key, "[key]"))
        return _narrowed(page, query)

    def read(
        self,
        body: str,
        status: int = 200,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> SearchPage:
        """Judge an answer: refused, limited, empty, of unknown layout, or results."""
        refusal = self.refusal(body, status, url or self.endpoint, headers or {})
        if refusal is not None:
            return refusal
        page = self.parse(body, url or self.endpoint)
        results = tidy(page.results, self.name)
        if page.outcome is Outcome.OK and not results:
            return SearchPage(Outcome.ERROR, detail="no result could be read; changed layout?")
        return replace(page, results=results)

    def refusal(
        self, body: str, status: int, url: str, headers: Mapping[str, str]
    ) -> SearchPage | None:
        """Recognise an answer that is no answer; None where it may be parsed."""
        del url
        return judge_refusal(status, body, retry_after(headers), keyed=bool(self.key_variables))


class RenderedProvider(SearchSource):
    """An engine's page as the browser draws it, read by the parser of its HTML.

    `render(url, deadline)` opens an address in a tab of its own and gives the final address and
    the drawn HTML; it raises a `BrowserError` where it cannot.
    """

    interval = _BROWSER_INTERVAL

    def __init__(self, provider: SearchProvider, render: Render | None) -> None:
        self.name = f"{provider.name}_browser"
        self.lifetime = provider.lifetime
        self._provider = provider
        self._render = render

    @property
    def identity(self) -> str:
        """The engine's, told apart from the one asked over HTTP: they are blocked separately."""
        return f"browser/{self._provider.identity}"

    def unavailable(self) -> str:
        """Say that a browser is needed."""
        return "" if self._render is not None else "no browser"

    async def search(self, query: SearchQuery, http: HttpClient, *, deadline: float) -> SearchPage:
        """Open the result page and read it; failures are outcomes."""
        del http
        assert self._render is not None, "`unavailable` says when it cannot be asked"
        request = self._provider.request(query)
        address = f"{request.url}?{urlencode(request.params or request.form or {})}"
        try:
            url, html = await self._render(address, deadline)
        except BrowserError as error:
            return _failed(error)
        page = _narrowed(self._provider.read(html, url=url), query)
        return replace(page, results=tuple(replace(r, provider=self.name) for r in page.results))


def _failed(error: BrowserError) -> SearchPage:
    """Say as an outcome that an engine could not be reached."""
    if isinstance(error, DeadlineExceeded):
        return SearchPage(Outcome.TIMEOUT, detail=str(error))
    if isinstance(error, ConnectFailed):
        return SearchPage(Outcome.UNREACHABLE, detail=str(error))
    if isinstance(error, Refused):
        return SearchPage(Outcome.REFUSED, detail=f"{error} ({error.hint})")
    return SearchPage(Outcome.ERROR, detail=str(error))


def _narrowed(page: SearchPage, query: SearchQuery) -> SearchPage:
    """Hold to the query's limit and site: not all engines know the filter, some take it lightly."""
    results, site = page.results, query.site
    if site and page.outcome is Outcome.OK:
        results = tuple(r for r in results if is_sealed(r.url) or is_on_site(r.url, site))
        if not results:
            return SearchPage(Outcome.EMPTY, detail=f"nothing on {site}")
    return replace(page, results=results[: query.limit])


def _place(default: str, given: str | None) -> str:
    """Put an endpoint elsewhere: a given address without a path gets the default's path."""
    if not given:
        return default
    parts = urlsplit(given if "://" in given else f"http://{given}")
    if parts.path in ("", "/"):
        parts = parts._replace(path=urlsplit(default).path)
    return urlunsplit(parts)


def decode(body: bytes | str) -> str:
    """Decode a search page: UTF-8, as all engines send today, else as older ones did."""
    if isinstance(body, str):
        return body
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        declared = b"charset=iso-8859-1" in body[:2048].lower()
        return body.decode("cp1252" if declared else "utf-8", errors="replace")


def with_site(query: SearchQuery) -> str:
    """Write the site filter as the operator that nearly all engines know."""
    return f"{query.text} site:{query.site}" if query.site else query.text
