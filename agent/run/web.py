"""Wiring the web of a run: the guarded way out, search, reading, and the browser when needed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from agent.config import host_port
from agent.errors import UsageError, WebOutOfReach
from agent.tools.context import Web, unrecorded
from browser.errors import AttachFailed, BrowserError, BrowserMissing, SearchError, SessionError
from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.polite import Polite
from browser.plugins import PluginBroken
from browser.read.crawl import Crawler
from browser.read.reader import Reader
from browser.search.chain import Chain
from browser.search.declared import Declaration
from browser.search.engines import build_providers, engine_name, keys_from
from browser.search.state import SearchCache
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping, Sequence
    from pathlib import Path

    from agent.config import Options
    from agent.tools.context import Record
    from browser.search.corpus import Corpus
    from browser.search.provider import SearchSource
    from browser.session.session import Browser
    from browser.solvers import Solver
    from browser.types import PageContext

    Renderer = Callable[[str, float], Awaitable[tuple[str, str]]]


DEFAULT_CDP = "http://127.0.0.1:9222"
"""Where `research chrome` and most guides put the debugging port."""
PERSONS_CHROME = "chrome"
"""The Chrome of the person, once they allowed it at chrome://inspect/#remote-debugging."""


@asynccontextmanager
async def open_web(
    options: Options, environ: Mapping[str, str], record: Record = unrecorded
) -> AsyncIterator[Web]:
    """Open the web of a run; what it started is ended when the block is left.

    `environ` may hold keys of search providers; `record` takes the event
    `browser.missing`. Raises `UsageError` for a provider or a corpus that
    cannot be used, `WebOutOfReach` where no Chrome answers to attach to.
    """
    folder = options.data  # for caches and indexes
    async with AsyncExitStack() as stack:
        egress = await stack.enter_async_context(Egress(_egress_policy(options)))
        cache = folder / "pages" / f"{sha256(options.namespace.encode()).hexdigest()[:16]}.db"
        client = HttpClient(egress, cache=cache, fresh=options.fresh)
        http = await stack.enter_async_context(client)
        browsers = _Browsers(options, egress, stack, record)
        chain = search_chain(options, environ, http, browsers.render)
        stack.callback(chain.close)
        polite = Polite(http, obey_robots=not options.ignore_robots)
        local = (*options.file, *([options.corpus] if options.corpus else []))
        reader = Reader(polite, browser=browsers.get, files=local, habits=folder / "habits.json")
        web = Web(
            egress,
            http,
            chain,
            reader,
            browsers.get,
            Crawler(reader, polite),
            None if options.attach or options.cdp else polite,
            search_defaults(options),
            in_sight=bool(options.headed or options.attach or options.cdp),
            fresh=options.fresh,
            solver=await _solver(stack, options, environ),
        )
        if options.attach or options.cdp:
            await take_context(web)
        yield web


async def _solver(
    stack: AsyncExitStack, options: Options, environ: Mapping[str, str]
) -> Solver | None:
    """Open the solver that was named, through a way out of its own: a service, not a page."""
    if not options.solver:
        return None
    from browser.solvers import Settings, make_solver  # noqa: PLC0415 - few runs have one

    name, _, url = options.solver.partition("=")
    private = (host_port(url),) if url else ()
    policy = EgressPolicy(allow_private=private, upstream_proxy=options.proxy)
    egress = await stack.enter_async_context(Egress(policy))
    try:
        solver = make_solver(name, Settings(environ, url or None, egress.proxy_url))
    except BrowserError as error:
        raise UsageError(str(error), hint=error.hint) from error
    stack.push_async_callback(solver.aclose)
    return solver


class _Browsers:
    """Starts the one browser of a run when it is first asked for."""

    def __init__(
        self, options: Options, egress: Egress, stack: AsyncExitStack, record: Record
    ) -> None:
        self._record = record
        self._missing = False
        self._options = options
        self._egress = egress
        self._stack = stack
        self._lock = asyncio.Lock()
        self._browser: Browser | None = None

    async def get(self) -> Browser:
        """Give the browser; raises a `SessionError` where it cannot be had."""
        async with self._lock:
            if self._browser is None:
                try:
                    self._browser = await self._start()
                except BrowserMissing as error:
                    if not self._missing:
                        self._record("browser.missing", reason=str(error), hint=error.hint)
                    self._missing = True
                    raise
            return self._browser

    async def render(self, url: str, deadline: float) -> tuple[str, str]:
        """Draw an engine's page in a tab of its own: the final address and the HTML."""
        browser = await self.get()
        tab = await browser.open(url, deadline=deadline)
        try:
            return tab.url, await tab.html()
        finally:
            await browser.close(tab)

    async def _start(self) -> Browser:
        from browser.session.session import Browser  # noqa: PLC0415 - Playwright only where it is used

        judge = self._egress.guard.check_place
        if self._options.cdp:
            return await self._stack.enter_async_context(Browser.attach(self._options.cdp, judge))
        if self._options.attach:
            return await self._attached()
        opening = Browser.launch(
            headless=not self._options.headed,
            proxy=self._egress.proxy_url,
            storage_state=self._options.storage_state,
            downloads_dir=self._options.data / "downloads",
        )
        return await self._stack.enter_async_context(opening)

    async def _attached(self) -> Browser:
        """Attach to what `research chrome` started, else to the Chrome that the person uses."""
        from browser.session.session import Browser  # noqa: PLC0415 - Playwright only where it is used

        judge = self._egress.guard.check_place
        try:
            return await self._stack.enter_async_context(Browser.attach(DEFAULT_CDP, judge))
        except AttachFailed as error:
            with suppress(AttachFailed):
                return await self._stack.enter_async_context(Browser.attach(PERSONS_CHROME, judge))
            raise error from None


async def take_context(web: Web) -> None:
    """Make the page that the person has before them the context of the run.

    Raises `WebOutOfReach` where their browser does not answer.
    """
    try:
        browser = await web.start_browser()
        web.attached = True
        web.context = await browser.visible_context()
        if web.context is not None and web.context.visible_text.strip():
            web.page = await _as_page(web.context, browser)
    except SessionError as error:
        raise WebOutOfReach(str(error), hint=error.hint) from error


async def _as_page(context: PageContext, browser: Browser) -> Page:
    """Make a page of what the person sees, so that it can be cited like any other."""
    page = Page(
        requested_url=context.url,
        url=context.url,
        via="browser",
        outcome=Outcome.OK,
        fetched_at=datetime.now(UTC),
        content_type="text/plain",
        body=context.visible_text.encode(),
        document=Document(
            url=context.url,
            title=context.title,
            text=context.visible_text,
            canonical_url=context.canonical_url,
            language=context.language,
            published=context.published,
        ),
        reason="the tab before the person",
    )
    html = await browser.visible_html(context.url)
    return await asyncio.to_thread(_with_html, page, html) if html else page


def _with_html(page: Page, html: str) -> Page:
    """Add what the text does not say: where the page's links go, and what it is on its platform."""
    from lxml.html import document_fromstring  # noqa: PLC0415 - only with an attached browser

    from browser.extract.links import read_links  # noqa: PLC0415 - as above

    if page.document is not None:
        links = read_links(document_fromstring(html), page.url)
        page = replace(page, document=replace(page.document, links=links))
    return _with_platform(page, html)


def _with_platform(page: Page, html: str) -> Page:
    """Where the site is one that is known, what its page holds is read as such, login or not."""
    from browser.extract.platforms.lookup import record_of, with_platform  # noqa: PLC0415 - lxml

    body = html.encode("utf-8", "replace")
    if page.document is None or record_of(page.url, body) is None:
        return page
    document = with_platform(page.document, body, page.url)
    return replace(page, document=document, body=body, content_type="text/html; charset=utf-8")


def _egress_policy(options: Options) -> EgressPolicy:
    named = [options.searxng_url, *(value.partition("=")[2] for value in options.search_url)]
    private = [*options.allow_private, *(host_port(url) for url in named if url)]
    policy = EgressPolicy(
        allow_private=tuple(private),
        allow_hosts=options.allow,
        deny_hosts=options.deny,
        upstream_proxy=options.proxy,
    )
    try:
        Egress(policy)
    except ValueError as error:
        raise UsageError(
            str(error), hint="See --allow, --deny, --allow-private, --proxy."
        ) from error
    return policy


_QUERY = "{query}"
"""In the address of a search provider, it says that the provider is one's own."""


def search_chain(
    options: Options,
    environ: Mapping[str, str],
    http: HttpClient,
    render: Renderer,
) -> Chain:
    """Build the chain; `render` draws an engine's page in the browser.

    Raises `UsageError` for a provider or a corpus that cannot be used.
    """
    folder = options.data
    return Chain(
        _providers(options, folder, environ, render),
        http,
        folder / "search-rests.db",
        cache=SearchCache(folder / "search-cache.db"),
    )


def _providers(
    options: Options,
    folder: Path,
    environ: Mapping[str, str],
    render: Renderer,
) -> list[SearchSource]:
    named = dict(_named_url(value) for value in options.search_url)
    urls = {name: url for name, url in named.items() if _QUERY not in url}
    if options.searxng_url:
        urls["searxng"] = options.searxng_url
    try:
        own = [Declaration.parse(name, url) for name, url in named.items() if _QUERY in url]
        # The key of an engine of one's own stands where those of the others do.
        keys = {one.name: environ.get(f"{one.name.upper()}_API_KEY", "") for one in own}
        return build_providers(
            options.search or None,
            urls=urls,
            keys={**keys_from(environ, _brought(options.search, named)), **keys},
            corpus=_corpus(options, folder),
            declared=own,
            render=render,
        )
    except (SearchError, PluginBroken) as error:
        raise UsageError(str(error), hint=error.hint) from error


def _brought(names: Sequence[str], declared: Container[str]) -> list[str]:
    """Leave out what the person declared, and engines drawn in the browser."""
    plain = (name for name in names if name not in declared and not name.endswith("_browser"))
    return [engine_name(name) for name in plain]


def _named_url(value: str) -> tuple[str, str]:
    name, sign, url = value.partition("=")
    if not sign or not url:
        raise UsageError(f"--search-url {value!r} is not NAME=URL")
    return name, url


def _corpus(options: Options, folder: Path) -> Corpus | None:
    if options.corpus is None:
        return None
    # Most runs have no folder, and reading files loads what reads pages.
    from browser.extract import extract_body  # noqa: PLC0415
    from browser.search.corpus import Corpus  # noqa: PLC0415

    return Corpus(options.corpus, folder / "corpus", extract_body)


def search_defaults(options: Options) -> dict[str, object]:
    """Give the filters that every search of the run has."""
    named = {
        "site": options.site,
        "since": options.since,
        "lang": options.lang,
        "region": options.region,
    }
    return {key: value for key, value in named.items() if value}
