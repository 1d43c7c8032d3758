"""The web of a run: the guarded way out, search, reading, and the browser when it is needed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from agent.config import host_port
from agent.errors import UsageError, WebOutOfReach
from agent.tools.context import Web, no_record
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
    from collections.abc import AsyncIterator, Mapping
    from contextlib import AbstractAsyncContextManager

    from agent.config import Options
    from agent.tools.context import Record
    from browser.search.provider import SearchSource
    from browser.session.session import Browser
    from browser.solvers import Solver
    from browser.types import PageContext


DEFAULT_CDP: Final = "http://127.0.0.1:9222"
"""Where `research chrome` and most guides put the debugging port."""
PERSONS_CHROME: Final = "chrome"
"""The Chrome of the person, once they allowed it at chrome://inspect/#remote-debugging."""
_QUERY: Final = "{query}"
"""In the address of a search provider, it says that the provider is one's own."""


@asynccontextmanager
async def open_web(
    options: Options, environ: Mapping[str, str], record: Record = no_record
) -> AsyncIterator[Web]:
    """Open the web of a run; what it started is ended when the block is left.

    `environ` may hold keys of search providers; `record` takes the event `browser.missing`. Raises
    `UsageError` for a provider or a corpus that cannot be used, `WebOutOfReach` where no Chrome
    answers to attach to.
    """
    folder = options.data  # for caches and indexes
    async with AsyncExitStack() as stack:
        egress = await stack.enter_async_context(_egress(options))
        # A namespace may be named like no file can be, and its pages are nobody else's.
        cache = folder / "pages" / f"{sha256(options.namespace.encode()).hexdigest()[:16]}.db"
        client = HttpClient(egress, cache=cache, fresh=options.fresh)
        http = await stack.enter_async_context(client)
        browser = _LazyBrowser(options, egress, stack, record)
        chain = _search_chain(options, environ, http, browser)
        stack.callback(chain.close)
        polite = Polite(http, obey_robots=not options.ignore_robots)
        local = (*options.file, *([options.corpus] if options.corpus else []))
        reader = Reader(polite, browser=browser.get, files=local, habits=folder / "habits.json")
        filters = {name: getattr(options, name) for name in ("site", "since", "lang", "region")}
        attached = bool(options.attach or options.cdp)
        web = Web(
            egress,
            http,
            chain,
            reader,
            browser.get,
            Crawler(reader, polite),
            None if attached else polite,  # robots.txt binds a robot, not the person's own browser
            {name: value for name, value in filters.items() if value},
            is_visible=bool(options.headed or attached),
            fresh=options.fresh,
            solver=await _open_solver(stack, options, environ),
        )
        if attached:
            await _take_context(web)
        yield web


def _egress(options: Options) -> Egress:
    """Make the way out; search engines with an address of their own may be on this machine."""
    named = [options.searxng_url, *(value.partition("=")[2] for value in options.search_url)]
    private = [*options.allow_private, *(host_port(url) for url in named if url)]
    policy = EgressPolicy(
        allow_private=tuple(private),
        allow_hosts=options.allow,
        deny_hosts=options.deny,
        upstream_proxy=options.proxy,
    )
    try:
        return Egress(policy)
    except ValueError as error:
        hint = "See --allow, --deny, --allow-private, --proxy."
        raise UsageError(str(error), hint=hint) from error


def _search_chain(
    options: Options, environ: Mapping[str, str], http: HttpClient, browser: _LazyBrowser
) -> Chain:
    """Build the chain of search providers; some draw an engine's page in the browser."""
    named: dict[str, str] = {}
    for value in options.search_url:
        name, _, named[name] = value.partition("=")
        if not named[name]:
            raise UsageError(f"--search-url {value!r} is not NAME=URL")
    urls = {name: url for name, url in named.items() if _QUERY not in url}
    if options.searxng_url:
        urls["searxng"] = options.searxng_url
    corpus: SearchSource | None = None
    try:
        if options.corpus is not None:
            # Most runs have no folder, and reading files loads what reads pages.
            from browser.extract import extract_body  # noqa: PLC0415
            from browser.search.corpus import Corpus  # noqa: PLC0415

            corpus = Corpus(options.corpus, options.data / "corpus", extract_body)
        own = [Declaration.parse(name, url) for name, url in named.items() if _QUERY in url]
        # Neither what the person declared nor engines drawn in the browser have keys of their own.
        plain = [n for n in options.search if n not in named and not n.endswith("_browser")]
        keys = keys_from(environ, [engine_name(name) for name in plain])
        keys |= {one.name: environ.get(f"{one.name.upper()}_API_KEY", "") for one in own}
        providers = build_providers(
            options.search or None,
            urls=urls,
            keys=keys,
            corpus=corpus,
            declared=own,
            render=browser.render,
        )
    except (SearchError, PluginBroken) as error:
        raise UsageError(str(error), hint=error.hint) from error
    cache = SearchCache(options.data / "search-cache.db")
    return Chain(providers, http, options.data / "search-rests.db", cache=cache)


async def _open_solver(
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


class _LazyBrowser:
    """The one browser of a run, started or attached to when it is first asked for."""

    def __init__(
        self, options: Options, egress: Egress, stack: AsyncExitStack, record: Record
    ) -> None:
        self._options = options
        self._egress = egress
        self._stack = stack
        self._record = record
        self._lock = asyncio.Lock()
        self._browser: Browser | None = None
        self._missing = False

    async def get(self) -> Browser:
        """Give the browser; raises a `SessionError` where it cannot be had."""
        async with self._lock:
            if self._browser is None:
                try:
                    self._browser = await self._open()
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

    async def _open(self) -> Browser:
        from browser.session.session import Browser  # noqa: PLC0415 - Playwright only where it is used

        options = self._options

        async def entered(opening: AbstractAsyncContextManager[Browser]) -> Browser:
            return await self._stack.enter_async_context(opening)

        if not (options.cdp or options.attach):
            launch = Browser.launch(
                headless=not options.headed,
                proxy=self._egress.proxy_url,
                storage_state=options.storage_state,
                downloads_dir=options.data / "downloads",
            )
            return await entered(launch)
        judge = self._egress.guard.check_resolved_url
        try:
            return await entered(Browser.attach(options.cdp or DEFAULT_CDP, judge))
        except AttachFailed as failed:
            if options.cdp:
                raise
            # Nobody called `research chrome`: the Chrome that the person uses, where they let us.
            try:
                return await entered(Browser.attach(PERSONS_CHROME, judge))
            except AttachFailed:
                raise failed from None


async def _take_context(web: Web) -> None:
    """Make the page that the person has before them the context of the run.

    Raises `WebOutOfReach` where their browser does not answer.
    """
    try:
        browser = await web.start_browser()
        web.attached = True
        web.context = await browser.visible_context()
        if web.context is not None and web.context.visible_text.strip():
            html = await browser.visible_html(web.context.url)
            web.page = await asyncio.to_thread(_page_of, web.context, html or "")
    except SessionError as error:
        raise WebOutOfReach(str(error), hint=error.hint) from error


def _page_of(seen: PageContext, html: str) -> Page:
    """Make a page of what the person sees, so that it can be cited like any other.

    Its HTML tells where its links go and, where the site is one that is known, what it holds.
    """
    document = Document(
        url=seen.url,
        title=seen.title,
        text=seen.visible_text,
        canonical_url=seen.canonical_url,
        language=seen.language,
        published=seen.published,
    )
    page = Page(
        requested_url=seen.url,
        url=seen.url,
        via="browser",
        outcome=Outcome.OK,
        fetched_at=datetime.now(UTC),
        content_type="text/plain",
        body=seen.visible_text.encode(),
        document=document,
        reason="the tab before the person",
    )
    if not html:
        return page
    from lxml.html import document_fromstring  # noqa: PLC0415 - only with an attached browser

    from browser.extract.links import read_links  # noqa: PLC0415 - as above
    from browser.extract.platforms.lookup import record_of, with_platform  # noqa: PLC0415 - as above

    document = replace(document, links=read_links(document_fromstring(html), page.url))
    body = html.encode("utf-8", "replace")
    if record_of(page.url, body) is None:
        return replace(page, document=document)
    document = with_platform(document, body, page.url)
    return replace(page, document=document, body=body, content_type="text/html; charset=utf-8")
