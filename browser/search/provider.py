"""What every search provider has in common: its request, and how its answer is judged."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from browser.errors import BrowserError, ConnectFailed, DeadlineExceeded, Refused, SearchError
from browser.search.refusals import judge_refusal
from browser.search.search_results import SearchSource, is_on_site, is_sealed, tidy
from browser.types import Outcome, SearchPage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from browser.net.http import HttpClient
    from browser.net.transport import Response
    from browser.types import SearchQuery

    Render = Callable[[str, float], Awaitable[tuple[str, str]]]

HOUR = 3600.0
DAY = 24 * HOUR

# A search page is 20-600 KB; ten times the largest seen is surely not one.
MAX_BYTES = 6_000_000

# Public APIs ask their clients to say who they are (Wikimedia, arXiv, GitHub, OpenAlex).
API_HEADERS = {"User-Agent": "urchin-research/0.1", "Accept": "application/json, */*;q=0.5"}

# These say that this form of asking is not understood; another form may be.
_TRY_ANOTHER_FORM = (Outcome.ERROR, Outcome.UNAUTHORIZED)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One HTTP request to an engine: GET with `params`, or POST where `json` or `form` is given."""

    url: str
    params: Mapping[str, str] | None = None
    form: Mapping[str, str] | None = None
    json: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class SearchProvider(SearchSource):
    """A search engine: class attributes, `request` and `parse`.

    `url` is its endpoint, `key_variables` the environment variables that may hold its key (empty:
    it knows none), `needs_key` whether it answers without, `verified` that saved answers of the
    real engine were read.
    """

    url: ClassVar[str] = ""
    key_variables: ClassVar[tuple[str, ...]] = ()
    needs_key: ClassVar[bool] = True
    is_api: ClassVar[bool] = True
    verified: ClassVar[bool] = False
    lifetime = HOUR

    def __init__(self, *, url: str | None = None, key: str | None = None) -> None:
        self.key = key or ""
        self.endpoint = place(self.url, url)

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

    @abstractmethod
    def request(self, query: SearchQuery) -> SearchRequest:
        """Say how to ask the engine for a query."""

    @abstractmethod
    def parse(self, body: str, url: str) -> SearchPage:
        """Read an answer that came with status 200 from `url`."""

    def requests(self, query: SearchQuery) -> Iterator[SearchRequest]:
        """Yield forms of asking; a later one is used where an earlier is not understood."""
        yield self.request(query)

    async def search(self, query: SearchQuery, http: HttpClient, *, deadline: float) -> SearchPage:
        """Ask the engine; `deadline` in seconds. Failures become outcomes, none are raised."""
        page = SearchPage(Outcome.ERROR, detail="nothing to ask")
        for request in self.requests(query):
            try:
                response = await self._send(request, http, deadline)
            except BrowserError as error:
                return self._without_key(failed(error))
            page = self.read(decode(response.body), response.status, response.url, response.headers)
            if page.outcome not in _TRY_ANOTHER_FORM:
                break
        page = only_on_site(self._without_key(page), query.site)
        return replace(page, results=page.results[: query.limit])

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
        return judge_refusal(status, headers, body, keyed=bool(self.key_variables))

    def _without_key(self, page: SearchPage) -> SearchPage:
        """Keep the key out of the trail: errors repeat addresses, some engines repeat keys."""
        if not self.key or self.key not in page.detail:
            return page
        return replace(page, detail=page.detail.replace(self.key, "[key]"))

    async def _send(self, request: SearchRequest, http: HttpClient, deadline: float) -> Response:
        headers = {**API_HEADERS, **request.headers} if self.is_api else dict(request.headers)
        options: dict[str, Any] = {
            "headers": headers,
            "deadline": deadline,
            "max_bytes": MAX_BYTES,
        }
        if request.json is not None:
            return await http.post(request.url, json=dict(request.json), **options)
        if request.form is not None:
            return await http.post(request.url, form=dict(request.form), **options)
        return await http.get(request.url, params=dict(request.params or {}), **options)


def failed(error: BrowserError) -> SearchPage:
    """Say as an outcome that an engine could not be reached."""
    if isinstance(error, DeadlineExceeded):
        return SearchPage(Outcome.TIMEOUT, detail=str(error))
    if isinstance(error, ConnectFailed):
        return SearchPage(Outcome.UNREACHABLE, detail=str(error))
    if isinstance(error, Refused):
        return SearchPage(Outcome.REFUSED, detail=f"{error} ({error.hint})")
    return SearchPage(Outcome.ERROR, detail=str(error))


def only_on_site(page: SearchPage, site: str | None) -> SearchPage:
    """Drop what lies elsewhere: not all engines know the site filter, and some take it lightly."""
    if not site or page.outcome is not Outcome.OK:
        return page
    kept = tuple(r for r in page.results if is_sealed(r.url) or is_on_site(r.url, site))
    if not kept:
        return SearchPage(Outcome.EMPTY, detail=f"nothing on {site}")
    return replace(page, results=kept)


def place(default: str, given: str | None) -> str:
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


@dataclass(frozen=True, slots=True)
class Fields:
    """Dotted paths into a row, e.g. `meta.link`; several, parted by `|`, are tried in order."""

    url: str = "url"
    title: str = "title"
    snippet: str = "snippet"
    published: str = ""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the settings say of an engine.

    `url` holds `{query}` and may hold `{page}`, `{offset}`, `{limit}`, `{lang}`, `{region}`,
    `{since}` and `{key}`; `rows` is the dotted path to the list ('' where the answer is the
    list), `fields` are dotted paths within a row. An engine that answers with a page has the CSS
    selector of a result in `item`, and in `fields` selectors within it: `url` of the link, `title`
    and `snippet` of what holds them. `headers` may hold `{key}` too.
    """

    name: str
    url: str
    rows: str = "results"
    item: str = ""
    fields: Fields = field(default_factory=Fields)
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "{query}" not in self.url or urlsplit(self.url).scheme not in ("http", "https"):
            raise SearchError(
                f"the URL of search provider {self.name!r} must be http(s) and hold {{query}}",
                hint="For example https://search.example.org/api?q={query}.",
            )


def declared(name: str, url: str) -> Declaration:
    """Read a declaration from one line, as settings hold it.

    Behind `#` may stand where the answer has its parts, as in an address:
    `https://search.example/api?q={query}#rows=data.hits&url=link&title=name&snippet=text`.
    Raises `SearchError` for a part that is none.
    """
    address, _, said = url.partition("#")
    parts = dict(parse_qsl(said, keep_blank_values=True))
    unknown = parts.keys() - {"rows", "item", "url", "title", "snippet", "published", "header"}
    if unknown:
        raise SearchError(
            f"search provider {name!r} has no part called {', '.join(sorted(unknown))}",
            hint="Behind # may stand rows or item, url, title, snippet, published, header.",
        )
    places = {key: parts[key] for key in ("url", "title", "snippet", "published") if key in parts}
    header, colon, value = parts.get("header", "").partition(":")
    return Declaration(
        name,
        address,
        rows=parts.get("rows", "results"),
        item=parts.get("item", ""),
        fields=Fields(**places),
        headers={header.strip(): value.strip()} if colon else {},
    )


class DeclaredProvider(SearchProvider):
    """A provider whose address is the template of a declaration."""

    def __init__(
        self, declaration: Declaration, *, url: str | None = None, key: str | None = None
    ) -> None:
        super().__init__(url=declaration.url, key=key)
        self.name = declaration.name
        self._headers = declaration.headers
        if url:
            given, template = urlsplit(url), urlsplit(declaration.url)
            self.endpoint = urlunsplit(template._replace(scheme=given.scheme, netloc=given.netloc))

    def request(self, query: SearchQuery) -> SearchRequest:
        """Fill in the template; what is put in is quoted."""
        values = {
            "query": with_site(query),
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


# A page drawn by scripts, in a browser that may have to start first, takes 1-4 s.
_BROWSER_INTERVAL = 2.0


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
        address = f"{request.url}?{urlencode(dict(request.params or request.form or {}))}"
        try:
            url, html = await self._render(address, deadline)
        except BrowserError as error:
            return failed(error)
        page = only_on_site(self._provider.read(html, url=url), query.site)
        named = tuple(replace(r, provider=self.name) for r in page.results[: query.limit])
        return replace(page, results=named)
