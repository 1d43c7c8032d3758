"""A run's access to the web: its egress proxy, search, page reading, and browser if needed."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from agent.config import host_port
from agent.errors import UsageError, WebOutOfReach
from agent.guard.saved_logins import LoginsInUse, SavedLogins, merge_states
from agent.run.search_chain import make_search_chain, report_indexing
from agent.run.settings import learned_habits, local_files, logged_in_sites
from agent.tools.context import Web, no_record
from browser.errors import AttachFailed, BrowserError, BrowserMissing, SessionError
from browser.extract import prepare
from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.polite import Polite
from browser.net.url import normalize, parse
from browser.read.reader import Reader
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from agent.options import Options
    from agent.tools.context import Record
    from browser.read.crawl import Crawler
    from browser.session.session import Browser
    from browser.solvers import Solver
    from browser.types import PageContext


DEFAULT_CDP: Final = "http://127.0.0.1:9222"
"""The debugging port that `research chrome` uses and most guides mention."""
USERS_CHROME: Final = "chrome"
"""Playwright's name for the user's Chrome, if remote debugging is on at
chrome://inspect/#remote-debugging.
"""
_PUNCTUATION_AROUND_ADDRESS: Final = "<([{\"'“”„«».,;:!?)]}>"
"""Characters that may surround an address in a sentence."""


@asynccontextmanager
async def open_web(
    options: Options, environ: Mapping[str, str], record: Record = no_record, request: str = ""
) -> AsyncIterator[Web]:
    """Open a run's access to the web; everything is closed at the end of the block.

    The addresses in the user's `request` are read even if robots.txt disallows them. `environ` may
    contain search providers' keys; `record` writes the event `browser.missing`. Raises `UsageError`
    for a provider or a corpus that cannot be used, and `WebOutOfReach` if there is no Chrome to
    attach to.
    """
    folder = options.data  # used for caches and indexes
    async with AsyncExitStack() as stack:
        egress = await stack.enter_async_context(_make_egress(options))
        # Each namespace has its own page cache. The file is named after a hash, since a namespace's
        # name may contain characters that are not allowed in file names.
        namespace = sha256(options.namespace.encode()).hexdigest()[:16]
        cache = folder / "pages" / f"{namespace}.db"
        client = HttpClient(egress, cache=cache, fresh=options.fresh)
        http = await stack.enter_async_context(client)
        browser = _LazyBrowser(options, egress, stack, record)
        chain = make_search_chain(options, environ, http, browser.render)
        stack.callback(chain.close)
        indexing = asyncio.create_task(report_indexing(chain, record))
        stack.callback(indexing.cancel)
        named = NamedAddresses(request, options.allow_private)
        polite = Polite(http, obey_robots=not options.ignore_robots, is_named=named.include)
        reader = Reader(
            polite,
            browser=browser.get,
            files=local_files(options),
            habits=learned_habits(folder, record),
            metadata=options.online_metadata,
        )
        filters = {name: getattr(options, name) for name in ("site", "since", "lang", "region")}
        attached = bool(options.attach or options.cdp)
        web = Web(
            egress,
            http,
            chain,
            reader,
            browser.get,
            partial(_make_crawler, reader, polite),
            # robots.txt applies to robots, but not to the user's own browser
            None if attached else polite,
            {name: value for name, value in filters.items() if value},
            is_visible=bool(options.headed or attached),
            fresh=options.fresh,
            solver=await _open_solver(stack, options, environ),
            logins=SavedLogins(folder).names_by_site(options.login),
        )
        if attached:
            web.look_for_page = partial(_take_context, web, record)
            await web.look_for_page()
        yield web


def _make_crawler(reader: Reader, polite: Polite) -> Crawler:
    from browser.read.crawl import Crawler  # noqa: PLC0415 - few runs crawl

    return Crawler(reader, polite)


class NamedAddresses:
    """The addresses given by the user: those in a request, and the root of each private host."""

    def __init__(self, request: str, private: Iterable[str]) -> None:
        self._private = {name.casefold() for name in private}
        self._addresses = set[str]()
        for word in request.split():
            at = max(0, word.find("https://"), word.find("http://"))
            address = word[at:].strip(_PUNCTUATION_AROUND_ADDRESS)
            schemes = ("",) if "://" in address else ("https://", "http://")
            self._addresses |= {normalize(scheme + address) for scheme in schemes}

    def include(self, url: str) -> bool:
        """Return whether the user provided an address, regardless of its spelling."""
        parsed = parse(url)
        if parsed is None:
            return False
        is_root = parsed.path in ("", "/") and not parsed.query
        is_private = bool({parsed.host, parsed.netloc} & self._private)
        return (is_root and is_private) or normalize(url) in self._addresses


def _make_egress(options: Options) -> Egress:
    """Create the egress proxy; the user's search engines may have private addresses."""
    engines = [options.searxng_url, *(value.partition("=")[2] for value in options.search_url)]
    private = [*options.allow_private, *(host_port(url) for url in engines if url)]
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


async def _open_solver(
    stack: AsyncExitStack, options: Options, environ: Mapping[str, str]
) -> Solver | None:
    """Open the captcha solver named in the settings, with its own egress proxy.

    The user specified the service, so its address may be private, while page addresses may not.
    """
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
    """A run's browser, launched or attached to on first use."""

    def __init__(
        self, options: Options, egress: Egress, stack: AsyncExitStack, record: Record
    ) -> None:
        self._options = options
        self._egress = egress
        self._stack = stack
        self._record = record
        self._lock = asyncio.Lock()
        self._browser: Browser | None = None
        self._recorded_missing = False

    async def get(self) -> Browser:
        """Return the browser; raises `SessionError` if it cannot be opened."""
        async with self._lock:
            if self._browser is None:
                try:
                    self._browser = await self._open()
                except BrowserMissing as error:
                    if not self._recorded_missing:
                        self._record("browser.missing", reason=str(error), hint=error.hint)
                    self._recorded_missing = True
                    raise
            return self._browser

    async def render(self, url: str, deadline: float) -> tuple[str, str]:
        """Render a search engine's page in a new tab; returns its final address and HTML."""
        browser = await self.get()
        tab = await browser.open(url, deadline=deadline)
        try:
            return tab.url, await tab.html()
        finally:
            await browser.close(tab)

    async def _open(self) -> Browser:
        from browser.session.session import Browser  # noqa: PLC0415 - Playwright only where it is used

        prepare()

        options = self._options

        async def enter(browser: AbstractAsyncContextManager[Browser]) -> Browser:
            return await self._stack.enter_async_context(browser)

        if not (options.cdp or options.attach):
            launch = Browser.launch(
                headless=not options.headed,
                proxy=self._egress.proxy_url,
                storage_state=_storage_state(options),
                downloads_dir=options.data / "downloads",
                logged_in=logged_in_sites(options),
                record=options.record,
            )
            browser = await enter(launch)
            if options.login:
                self._stack.push_async_callback(_renew_logins, options, browser)
            return browser
        # The user's Chrome does not use our proxy, so its addresses are checked here.
        check_address = self._egress.guard.check_resolved_url
        try:
            return await enter(Browser.attach(options.cdp or DEFAULT_CDP, check_address))
        except AttachFailed as failed:
            if options.cdp:
                raise
            # `research chrome` is not running, so try the user's regular Chrome. If that is not
            # allowed, report the first error, which has the better hint.
            try:
                return await enter(Browser.attach(USERS_CHROME, check_address))
            except AttachFailed:
                raise failed from None


def _storage_state(options: Options) -> dict[str, Any] | Path | None:
    """Return the browser's initial storage state: from a file, saved logins, or both."""
    if not options.login:
        return options.storage_state
    states = [LoginsInUse(options.data, options.login).state()]
    if options.storage_state is not None:
        states.append(json.loads(options.storage_state.read_text(encoding="utf-8")))
    return merge_states(states)


async def _renew_logins(options: Options, browser: Browser) -> None:
    """Save the renewed cookies of saved logins at the end of the run."""
    with suppress(BrowserError):  # a closed browser has nothing to save
        state = await browser.storage_state()
        LoginsInUse(options.data, options.login).renew(state)


async def _take_context(web: Web, record: Record = no_record) -> None:
    """Use the page in the user's visible tab as the context of the run.

    Tabs that do not respond are recorded; the run tries again when it needs the page. Raises
    `WebOutOfReach` if the browser does not respond.
    """
    try:
        browser = await web.start_browser()
        web.attached = True
        web.context, html = await browser.visible_page() or (None, "")
        web.silent_tabs = browser.silent_tabs if web.context is None else 0
        if count := web.silent_tabs:
            tabs = "one of the user's tabs does" if count == 1 else f"{count} of the user's tabs do"
            record("note", text=f"{tabs} not respond; the run tries again when it needs the page")
        if web.context is not None and web.context.visible_text.strip():
            web.page = await asyncio.to_thread(_page_from_tab, web.context, html)
    except SessionError as error:
        raise WebOutOfReach(str(error), hint=error.hint) from error


def _page_from_tab(seen: PageContext, html: str) -> Page:
    """Make a `Page` from the page that the user sees, so that it can be cited like any other.

    The links and the data for site parsers come from the page's HTML.
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
        reason="the tab in front of the user",
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
