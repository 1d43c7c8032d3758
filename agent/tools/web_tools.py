"""Tools for searching and reading: WEB_SEARCH, READ, FETCH_URL, CRAWL."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from agent.errors import ToolError
from agent.guard.outgoing import Sent, Sink
from agent.tools.context import CALL_PLACE, SOLVABLE, require_web
from agent.tools.registry import Group, NonEmpty, ToolResult, reading_tool, sends_address
from agent.tools.sources import (
    list_passages,
    register_results,
    register_source,
    show_passages,
)
from agent.types import Passage, ToolTrait
from browser.page.block_pages import PAYWALL_REASON
from browser.search.chain import Local, merge_answers, search_with_rewrites
from browser.text.languages import question_language
from browser.text.words import CHARS_PER_TOKEN, content_words
from browser.types import Document, Outcome, Page, SearchQuery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.evidence.store import Source
    from agent.tools.context import ToolContext, Web
    from agent.tools.registry import Finish
    from agent.types import ToolCall
    from browser.read.crawl import Crawl
    from browser.search.chain import ChainResult
    from browser.search.corpus import Corpus


MAX_INDEXING_SECONDS, MAX_INDEXING_SECONDS_EXTRACTIVE = 20.0, 120.0
"""Maximum seconds that a search waits for a folder to be indexed, in addition to its own timeout.
After that, it uses the files indexed so far, and reports how many there are. A language model can
search again; the extractive model answers only once. A paper of 14 pages takes a tenth of a second
of processor time.
"""
MIN_RESULTS = 3
"""A search with fewer results is rephrased: two pages seldom confirm each other."""
MAX_FILES_READ = 5
"""Maximum number of files in the user's folder that a search reads: extracting a long PDF takes a
second.
"""
MAX_FILE_PASSAGES, MAX_FILE_CHARS = 2, 1_200
"""Maximum length of a file excerpt in search results; READ returns the rest."""
_CORPUS_PROVIDER = "corpus"
"""Provider name of the user's folder."""
_HAS_EVENTS = frozenset({ToolTrait.HAS_EVENTS})


def _sends_query(context: ToolContext, arguments: Any) -> Iterable[Sent]:
    """Declare the query and its filters, unless only the user's folder is searched."""
    files_only = getattr(arguments, "where", None) == "files"
    if files_only or (context.web is not None and context.web.searches_locally_only):
        return
    yield Sent(Sink.QUERY, arguments.query, field="query")
    if filters := " ".join(filter(None, (arguments.since, arguments.lang, arguments.site))):
        yield Sent(Sink.QUERY, filters)


search_tool = partial(
    reading_tool,
    "WEB_SEARCH",
    capped=False,
    sends=_sends_query,
    activity="searching",
    traits=_HAS_EVENTS | {ToolTrait.SEARCHES},
    playbook="query",
)


@search_tool("searches the web.")
async def web_search(
    context: ToolContext,
    *,
    query: NonEmpty,
    site: str | None = None,
    since: str | None = None,
    lang: str | None = None,
) -> Finish:
    """Search the web; `since` is an ISO date, `site` a domain, `lang` two letters."""
    filters = {"site": site, "since": since, "lang": lang}
    return await _web_search(context, query, filters)


@search_tool("searches the user's files and the web; `in` limits it to one.")
async def search_files_and_web(
    context: ToolContext,
    *,
    query: NonEmpty,
    where: Annotated[Literal["files", "web"] | None, Field(alias="in")] = None,
    site: str | None = None,
    since: str | None = None,
    lang: str | None = None,
) -> Finish:
    """Search the user's folder and the web, or one of them; the filters apply to the web."""
    filters = {"site": site, "since": since, "lang": lang}
    return await _web_search(context, query, filters, where)


async def _web_search(
    context: ToolContext, query: str, filters: dict[str, str | None], where: str | None = None
) -> Finish:
    web = require_web(context)
    options: dict[str, Any] = {**web.search_defaults, "limit": context.limits.search_results}
    options.update({name: value for name, value in filters.items() if value})
    folders = _folders(web)
    for folder in folders:
        await _index(context, folder)
    local = {"files": Local.ONLY, "web": Local.NEVER}.get(
        where or "", Local.FIRST if context.files_first else Local.BESIDE
    )
    result = await _search(context, web, SearchQuery(query, **options), local)
    files = {} if context.files_first else await _read_files(context, web, result)
    progress = [folder.progress for folder in folders if folder.progress]
    note = f"{progress[0]}: search again later for the rest" if progress else ""
    return lambda: _search_result(context, query, result, files, note)


def _folders(web: Web) -> list[Corpus]:
    """Return the user's folders among the search providers."""
    local = [provider for provider in web.chain.providers if provider.local]
    if not local:
        return []
    from browser.search.corpus import Corpus  # noqa: PLC0415 - most runs have no folder

    return [provider for provider in local if isinstance(provider, Corpus)]


async def _index(context: ToolContext, corpus: Corpus) -> None:
    """Wait for a folder to be indexed; this does not count towards the search's timeout."""
    allowed = MAX_INDEXING_SECONDS_EXTRACTIVE if context.files_first else MAX_INDEXING_SECONDS
    started = time.monotonic()
    context.extend_timeout(allowed)
    await corpus.prepare(context.seconds_left(allowed))
    context.extend_timeout(time.monotonic() - started - allowed)


async def _read_files(context: ToolContext, web: Web, result: ChainResult) -> dict[str, Page]:
    """Read the user's files among the results, so that passages found in them can be cited."""
    urls = [hit.url for hit in result.results if hit.url.startswith("file:")][:MAX_FILES_READ]
    seconds = context.seconds_left(context.limits.read_seconds)
    pages = await asyncio.gather(*(web.reader.read(url, deadline=seconds) for url in urls))
    return {
        url: page
        for url, page in zip(urls, pages, strict=True)
        if page.document and page.document.text.strip()
    }


async def _search(context: ToolContext, web: Web, query: SearchQuery, local: Local) -> ChainResult:
    """Search; if there are too few results, also search with rephrased queries and merge them."""
    search = partial(
        search_with_rewrites,
        web.chain,
        engines=context.depth_limits.engines,
        fresh=web.fresh,
        local=local,
    )
    # Try a plain search first, as it does not cost any tokens.
    first = await search(query)
    if context.rephrase is None or not _needs_rephrasing(context, query, first):
        return first
    rephrased = await context.rephrase(context.question, query.text, CALL_PLACE.get())
    found = await asyncio.gather(
        *(
            search(replace(query, text=text, lang=lang or query.lang))
            for text, lang in rephrased
            # These queries are checked in the same way as the model's calls.
            if (text, []) == context.outgoing.filter_query(text, context.redactor)
        )
    )
    return merge_answers([first, *found], query.limit) if found else first


def _needs_rephrasing(context: ToolContext, query: SearchQuery, first: ChainResult) -> bool:
    """Return whether to rephrase a search: it found too few results, or is not in English.

    For a folder that contains only a few files, a few results are enough.
    """
    if len(first.results) < MIN_RESULTS:
        return first.answered and first.provider != _CORPUS_PROVIDER
    return context.depth_limits.translates and question_language(query.text) not in {None, "en"}


def _search_result(
    context: ToolContext, query: str, result: ChainResult, files: dict[str, Page], note: str
) -> ToolResult:
    notes = {"note": note} if note else {}
    for attempt in result.attempts:
        context.record(
            "search.attempt",
            query=attempt.query,
            provider=attempt.provider,
            outcome=attempt.outcome.value,
            results=attempt.results,
            ms=attempt.ms,
            detail=attempt.detail,
        )
    if result.results:
        sources = register_results(context, query, result.results)
        lines, shown = list[str](), list[Passage]()
        for n, (hit, source) in enumerate(zip(result.results, sources, strict=True), 1):
            if page := files.get(hit.url):
                file = register_source(context, page)
                lines.append(f"{file.name}. (your file) {hit.title} — {hit.url}")
                best = context.evidence.search(query, MAX_FILE_PASSAGES, file.n)
                text, passages = list_passages(best, MAX_FILE_CHARS)
                lines += [f"   {line}" for line in text.splitlines()]
                shown += passages
                continue
            lines.append(f"{source.name if source else n}. {hit.title} — {hit.url}")
            if hit.snippet:
                lines.append(f"   {hit.snippet}")
        data = {"query": query, "provider": result.provider, "results": len(result.results)}
        return ToolResult(
            data | notes,
            "\n".join(lines),
            "search",
            results=tuple(result.results),
            passages=tuple(shown),
        )
    outcomes = {attempt.provider: attempt.outcome.value for attempt in result.attempts}
    if result.answered:
        return ToolResult({"query": query, "results": 0, "providers": outcomes, **notes})
    error = "no search provider is configured"
    if outcomes:
        tried = ", ".join(f"{name}: {outcome}" for name, outcome in outcomes.items())
        error = f"no search provider could be reached ({tried})"
    return ToolResult(
        {"error": error, "query": query, "providers": outcomes},
        hint="Searching again will not help; READ addresses that are known, or say NOT_FOUND.",
    )


MAX_RELATED_LINKS = 6  # maximum number of a page's links that READ lists for a query
PREVIEW_CHARS = 8_000
"""Maximum number of a page's characters that FETCH_URL shows, as in the reference engine."""
_UNREAD_HINTS = {
    Outcome.EMPTY: "OPEN it in the browser.",
    Outcome.REFUSED: "Only the user can allow it (--allow-private HOST). Continue without it.",
}
_READABLE_OUTCOMES = frozenset({Outcome.OK, Outcome.EMPTY})
"""Outcomes of a page with text; a page without an article may still show controls."""
_BLOCK_PAGE_ADVICE = {
    Outcome.CONSENT: "OPEN it and answer its consent dialog, then READ without url",
    Outcome.LOGIN: "the page requires a login",
    Outcome.PAYWALL: PAYWALL_REASON,
}


@reading_tool(
    "READ",
    "reads a page or PDF: the best passages for a query, else all from passage `start` on.",
    capped=False,
    sends=sends_address,
    page_without_url=True,
    activity="reading",
    traits=_HAS_EVENTS,
    playbook="url",
)
async def read(context: ToolContext, *, url: str = "", query: str = "", start: int = 1) -> Finish:
    """Read a page, over HTTP or in the browser as needed; without url, the open page."""
    page = await _page(context, url)
    return lambda: read_result(context, page, query, start)


@reading_tool(
    "FETCH_URL",
    "reads a page from its beginning.",
    capped=False,
    listed=False,
    sends=sends_address,
    activity="reading",
    traits=_HAS_EVENTS,
    playbook="url",
)
async def fetch_url(context: ToolContext, *, url: NonEmpty) -> Finish:
    """Read the beginning of a page; the result has the reference engine's format."""
    page = await _page(context, url)
    return lambda: fetch_result(context, page)


async def _page(context: ToolContext, url: str) -> Page:
    web = require_web(context)
    if not url:
        if web.tab is not None:
            await web.tab.driver.look()  # the visible text becomes part of the page's source
        return await web.read_tab()
    if context.evidence.pages_read >= context.max_sources:
        raise _too_many_sources(context)
    seconds = web.reader.deadline_of(url, context.limits.read_seconds)
    return await web.reader.read(url, deadline=context.seconds_left(seconds))


def _too_many_sources(context: ToolContext) -> ToolError:
    return ToolError(
        f"the limit of {context.max_sources} sources has been reached",
        hint="Answer from the sources that were read.",
    )


def read_result(context: ToolContext, page: Page, query: str, start: int) -> ToolResult:
    """Show a page that was read: its best passages for a query, or passages starting at `start`."""
    document = page.document or Document(page.url)
    if not (document.text.strip() or page.shown):
        return _unreadable_result(context, page)
    source = register_source(context, page)
    block, shown = show_passages(context, source, query=query, start=start)
    advice = _BLOCK_PAGE_ADVICE.get(page.outcome)
    if page.outcome in SOLVABLE and context.web and context.web.can_solve_captchas:
        advice = "OPEN it: the check can be solved there"
    data: dict[str, Any] = {
        "source": source.name,
        "url": source.url,
        "title": source.title,
        "via": page.via,
        "passages": len(source.article),
        "shown": len(shown) if len(shown) < len(source.article) else None,
        "published": document.published,
        "next": next((link.url for link in document.links if "next" in link.rel.split()), None),
        "outcome": page.outcome.value if page.outcome not in _READABLE_OUTCOMES else None,
        "advice": advice,
        "controls": list(document.controls),
        "notes": list(document.notes),
    }
    if query:
        first_on_page: dict[int, str] = {}  # page number in a paginated document -> passage id
        for passage in shown:
            if passage.page is not None:
                first_on_page.setdefault(passage.page, passage.id)
        data |= {"pages": first_on_page or None, "links": _related_links(document, query)}
    data = {name: value for name, value in data.items() if value not in ("", None, [])}
    return ToolResult(data, block, source.name, passages=shown)


def fetch_result(context: ToolContext, page: Page) -> ToolResult:
    """Show the beginning of a page that was read."""
    if page.document is None or not page.document.text.strip():
        return _unreadable_result(context, page)
    source = register_source(context, page)
    preview = "\n".join(f"{p.id} {p.text}" for p in source.passages)[:PREVIEW_CHARS]
    data: dict[str, Any] = {"success": True, "url": source.url}
    data |= {"source": source.name, "title": source.title}
    if page.document.notes:
        data["notes"] = list(page.document.notes)
    return ToolResult(data, preview, source.name, passages=source.passages)


def _unreadable_result(context: ToolContext, page: Page) -> ToolResult:
    """Report that a page has no readable text, with the reason and an alternative."""
    outcome = page.outcome if page.outcome is not Outcome.OK else Outcome.EMPTY
    notes = "; ".join(page.document.notes) if page.document else ""
    reason = notes or page.reason or "the page has no text"
    data = {"error": f"{page.url}: {reason}", "outcome": outcome.value, "status": page.status}
    hint = "Read another result." if notes else _UNREAD_HINTS.get(outcome, "Read another result.")
    result = context.evidence.result_for(page.requested_url)
    if result is not None:
        hint = (
            f"{hint} Otherwise, cite its search result, which is weaker evidence: [{result.name}]."
        )
    return ToolResult({k: v for k, v in data.items() if v is not None}, hint=hint)


def _related_links(document: Document, query: str) -> list[dict[str, str]]:
    """Return the links whose text shares the most words with a query, without duplicates."""
    terms = set(content_words(query))
    counts = [(len(terms & set(content_words(link.text))), link) for link in document.links]
    best = sorted((row for row in counts if row[0]), key=lambda row: -row[0])
    texts = {link.url: link.text for _, link in best}
    return [{"text": text[:80], "url": url} for url, text in [*texts.items()][:MAX_RELATED_LINKS]]


def show_page(context: ToolContext, call: ToolCall, page: Page) -> ToolResult:
    """Show a page that was read as this call of READ or FETCH_URL does."""
    if call.name == fetch_url.name:
        return fetch_result(context, page)
    arguments = read.parse(call.param).arguments
    return read_result(context, page, arguments.query, arguments.start)


READING_TOOLS = (read, fetch_url)
"""Tools that read one page."""
WEB_TOOLS = (web_search, *READING_TOOLS)
MAX_CRAWL_PAGES = 30
"""Maximum number of pages in one crawl: at four in parallel and half a second each, they easily fit
into one call's time.
"""
MAX_CRAWL_PASSAGES = 10  # passages shown per crawl, over all its pages
CRAWL_SECONDS = 45.0  # out of the minute that a call may take


def _sends_crawl(_: ToolContext, arguments: Any) -> Iterable[Sent]:
    """Declare the address and the query, whose words the choice of pages reveals to the site."""
    yield Sent(Sink.ADDRESS, arguments.url)
    yield Sent(Sink.SITE, arguments.query)


@reading_tool(
    "CRAWL",
    "reads the pages of a section of a site: the best passages for a query.",
    capped=False,
    group=Group.SITE,
    sends=_sends_crawl,
    activity="crawling",
)
async def crawl(
    context: ToolContext,
    *,
    url: NonEmpty,
    query: str = "",
    pages: Annotated[int, Field(ge=1, le=MAX_CRAWL_PAGES)] = 12,
) -> Finish:
    """Read the pages below `url`, starting with those whose addresses and links match the query."""
    web = require_web(context)
    if web.make_crawler is None:
        raise ToolError("this run does not read websites", hint="READ single pages.")
    left = context.max_sources - context.evidence.pages_read
    if left <= 0:
        raise _too_many_sources(context)
    seconds = context.seconds_left(CRAWL_SECONDS)
    crawler = web.make_crawler()
    crawled = await crawler.crawl(url, query=query, max_pages=min(pages, left), seconds=seconds)
    return lambda: _crawl_result(context, crawled, url, query)


def _crawl_result(context: ToolContext, crawled: Crawl, url: str, query: str) -> ToolResult:
    if not crawled.pages:
        reason = crawled.unread[0].reason if crawled.unread else "nothing to read there"
        return ToolResult({"error": f"{url}: {reason}"}, hint="READ another result.")
    sources = _register_pages(context, crawled.pages)
    data: dict[str, Any] = {
        "url": url,
        "read": len(sources),
        "known": crawled.known,
        "unread": len(crawled.unread) + len(crawled.pages) - len(sources),
    }
    overview = "\n".join(f"{s.name} {' '.join(s.title.split())} — {s.url}" for s in sources)
    max_chars = context.limits.read_tokens * CHARS_PER_TOKEN - len(overview)
    passages, shown = list_passages(_best_of_each(context, sources, query), max_chars)
    return ToolResult(
        {name: value for name, value in data.items() if value != 0},
        "\n\n".join(part for part in (overview, passages) if part),
        "crawl",
        passages=shown,
    )


def _register_pages(context: ToolContext, pages: Sequence[Page]) -> list[Source]:
    """Register the pages of a crawl as sources; pages without text are omitted."""
    readable = (page for page in pages if page.document and page.document.text.strip())
    sources = (register_source(context, page) for page in readable)
    return list({source.n: source for source in sources}.values())


def _best_of_each(context: ToolContext, sources: Sequence[Source], query: str) -> Iterator[Passage]:
    """Yield the best passages for the query: one from every page, then more.

    A page without a match yields its first passage that is not a heading.
    """
    per_source = max(2, MAX_CRAWL_PASSAGES // max(1, len(sources)))
    best = []
    for source in sources:
        found = context.evidence.search(query, per_source, source.n) if query else []
        texts = (passage for passage in source.passages if passage.kind != "heading")
        best.append(found or [*islice(texts, 1)])
    for passages in best:
        yield from passages[:1]
    for passages in best:
        yield from passages[1:]


CRAWL_TOOLS = (crawl,)
