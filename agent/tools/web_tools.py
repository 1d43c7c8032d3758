"""Searching and reading: WEB_SEARCH, READ, FETCH_URL."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from agent.errors import ToolError
from agent.evidence.passages import PassageIndex, split_passages
from agent.guard.provenance import SEARCH
from agent.tools.context import PLACE, SOLVABLE, web_of
from agent.tools.registry import Needed, ToolResult, tool
from agent.tools.sources import CHARS_PER_TOKEN, listed, passages_block, register, register_results
from browser.search.chain import ask, joined
from browser.search.corpus import Corpus
from browser.text.languages import question_language
from browser.text.words import content_words
from browser.types import Outcome, Page, SearchQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.store import Source
    from agent.tools.context import ToolContext, Web
    from agent.tools.registry import Finish
    from agent.types import Passage
    from browser.read.crawl import Crawl
    from browser.search.chain import ChainResult
    from browser.types import Document, SearchAttempt


RELATED_LINKS = 6
_UNREAD_HINTS = {
    Outcome.EMPTY.value: "OPEN it in the browser.",
    Outcome.REFUSED.value: "Only the person can allow it (--allow-private HOST). Go on without.",
}
INDEXING_SECONDS = 4.0
"""What each round of indexing a folder adds to the time of the call that it happens in."""
PREVIEW_CHARS = 8_000
"""What the reference engine's FETCH_URL gives of a page."""


_WALL_ADVICE = {
    Outcome.CONSENT: "OPEN it and answer its consent dialog, then READ without url",
    Outcome.LOGIN: "the page wants a login",
    Outcome.PAYWALL: "only the beginning is free to read",
}


@tool("WEB_SEARCH", "searches the web.", capped=False)
async def web_search(
    context: ToolContext,
    *,
    query: Needed,
    site: str | None = None,
    since: str | None = None,
    lang: str | None = None,
) -> Finish:
    """Ask the search chain; `since` is an ISO date, `site` a domain, `lang` two letters."""
    web = web_of(context)
    asked: dict[str, Any] = {**web.search_defaults, "limit": context.limits.search_results}
    filters = {"site": site, "since": since, "lang": lang}
    asked.update({name: value for name, value in filters.items() if value})
    await _index_folder(context, web)
    result = await search_web(context, web, SearchQuery(query, **asked))
    return lambda: _search_result(context, query, result)


async def _index_folder(context: ToolContext, web: Web) -> None:
    """Bring the index of the person's folder up to date; that takes no time from the search."""
    for provider in web.chain.providers:
        if isinstance(provider, Corpus):
            async for state in provider.prepare():
                context.wait_longer(INDEXING_SECONDS)
                context.record(
                    "corpus.indexed",
                    files=state.files,
                    left=state.left,
                    unread=[{"path": path, "reason": reason} for path, reason in state.unread],
                )


@tool(
    "READ",
    "reads a page or PDF; with a query only its best passages, else from passage `start` on. "
    "Without url: the page that is open.",
    capped=False,
)
async def read(context: ToolContext, *, url: str = "", query: str = "", start: int = 1) -> Finish:
    """Read a page, over HTTP or in the browser as it needs; or the page that is open."""
    page = await _page(context, url)
    return lambda: read_result(context, page, query, start)


@tool("FETCH_URL", "reads a page from its beginning.", capped=False, listed=False)
async def fetch_url(context: ToolContext, *, url: Needed) -> Finish:
    """Read a page in the reference engine's form."""
    page = await _page(context, url)
    return lambda: fetch_result(context, page)


async def _page(context: ToolContext, url: str) -> Page:
    web = web_of(context)
    if not url:
        if web.tab is None and web.page is None:
            raise ToolError("no page is open", hint="Give a url, or OPEN a page first.")
        return await web.read_tab()
    if len(context.evidence.sources) >= context.limits.max_sources:
        raise ToolError(
            f"the limit of {context.limits.max_sources} sources is reached",
            hint="Answer from the sources that were read.",
        )
    return await web.reader.read(url, deadline=context.seconds_left(context.limits.read_seconds))


def _search_result(context: ToolContext, query: str, result: ChainResult) -> ToolResult:
    for attempt in result.attempts:
        context.record("search.attempt", **_trail_line(attempt))
    if not result.results:
        return _nothing_found(query, result)
    sources = register_results(context, query, result.results)
    lines = [
        f"{source.name if source else n}. {hit.title} — {hit.url}"
        + (f"\n   {hit.snippet}" if hit.snippet else "")
        for n, (hit, source) in enumerate(zip(result.results, sources, strict=True), 1)
    ]
    data = {"query": query, "provider": result.provider, "results": len(result.results)}
    return ToolResult(data, "\n".join(lines), "search", results=tuple(result.results))


def _trail_line(attempt: SearchAttempt) -> dict[str, Any]:
    return {
        "query": attempt.query,
        "provider": attempt.provider,
        "outcome": attempt.outcome.value,
        "results": attempt.results,
        "ms": attempt.ms,
        "detail": attempt.detail,
    }


def _nothing_found(query: str, result: ChainResult) -> ToolResult:
    trail = {attempt.provider: attempt.outcome.value for attempt in result.attempts}
    if result.answered:
        return ToolResult({"query": query, "results": 0, "providers": trail})
    names = ", ".join(f"{name}: {outcome}" for name, outcome in trail.items())
    error = f"no search provider could be asked ({names})" if trail else "no search provider is set"
    return ToolResult(
        {"error": error, "query": query, "providers": trail},
        hint="Searching again will not help; READ addresses that are known, or say NOT_FOUND.",
    )


def read_result(context: ToolContext, page: Page, query: str = "", start: int = 1) -> ToolResult:
    """Show a page that was read: its best passages, or those from a number on."""
    if page.document is None or not page.document.text.strip():
        return _unread(context, page)
    source = register(context, page)
    block, shown = passages_block(context, source, query=query, start=start)
    data: dict[str, Any] = {
        "source": source.name,
        "url": source.url,
        "title": source.title,
        "via": page.via,
        "passages": len(source.passages),
        "shown": len(shown) if len(shown) < len(source.passages) else None,
        **_extras(page, page.document),
    }
    if page.outcome in SOLVABLE and context.web and context.web.takes_walls_down:
        data["advice"] = "OPEN it: there the check can be taken down"
    if query:
        data["pages"] = _pages(shown)
        data["links"] = _related_links(page.document, query)
    return ToolResult(
        {k: v for k, v in data.items() if v not in ("", None, [])},
        block,
        source.name,
        passages=shown,
    )


def _pages(shown: Sequence[Passage]) -> dict[int, str] | None:
    """The first of the passages shown on each page of a paged document."""
    first: dict[int, str] = {}
    for passage in shown:
        if passage.page is not None:
            first.setdefault(passage.page, passage.id)
    return first or None


def _extras(page: Page, document: Document) -> dict[str, Any]:
    following = next((link.url for link in document.links if "next" in link.rel.split()), None)
    walled = page.outcome.value if page.outcome is not Outcome.OK else None
    advice = _WALL_ADVICE.get(page.outcome)
    return {
        "published": document.published,
        "next": following,
        "outcome": walled,
        "advice": advice,
        "controls": list(document.controls),
        "notes": list(document.notes),
    }


def fetch_result(context: ToolContext, page: Page) -> ToolResult:
    """Show the beginning of a page that was read."""
    if page.document is None or not page.document.text.strip():
        return _unread(context, page)
    source = register(context, page)
    preview = "\n".join(f"{p.id} {p.text}" for p in source.passages)[:PREVIEW_CHARS]
    data = {"success": True, "url": source.url, "source": source.name, "title": source.title}
    return ToolResult(data, preview, source.name, passages=source.passages)


def _unread(context: ToolContext, page: Page) -> ToolResult:
    what = page.outcome.value if page.outcome is not Outcome.OK else Outcome.EMPTY.value
    noted = "; ".join(page.document.notes) if page.document else ""
    reason = noted or page.reason or "the page holds no text"
    data = {"error": f"{page.url}: {reason}", "outcome": what, "status": page.status}
    hint = "Read another result." if noted else _UNREAD_HINTS.get(what, "Read another result.")
    result = context.evidence.result_for(page.requested_url)
    if result is not None:
        hint = f"{hint} Else its search result may be cited, as weaker: [{result.name}]."
    return ToolResult({k: v for k, v in data.items() if v is not None}, hint=hint)


def _related_links(document: Document, query: str) -> list[dict[str, str]]:
    wanted = set(content_words(query))
    scored = [
        (len(wanted & set(content_words(link.text))), -n, link)
        for n, link in enumerate(document.links)
        if link.text
    ]
    best = sorted((row for row in scored if row[0]), key=lambda row: row[:2], reverse=True)
    unique = {row[2].url: row[2].text for row in best}
    return [{"text": text[:80], "url": url} for url, text in [*unique.items()][:RELATED_LINKS]]


WEB_TOOLS = (web_search, read, fetch_url)


FEWEST_RESULTS = 3
"""With fewer a search found little: two pages seldom bear each other out."""

_FOLDER = "corpus"
"""What the trail calls the person's own folder."""


async def search_web(context: ToolContext, web: Web, query: SearchQuery) -> ChainResult:
    """Search; where that finds little, ask the model for other words, and merge what they find."""
    engines = context.limits.engines
    first = await ask(web.chain, query, engines=engines, fresh=web.fresh)
    if not _is_too_little(context, query, first):
        return first
    forms = await _other_forms(context, query)
    others = (ask(web.chain, form, engines=engines, fresh=web.fresh) for form in forms)
    return joined([first, *await asyncio.gather(*others)], query.limit) if forms else first


def _is_too_little(context: ToolContext, query: SearchQuery, first: ChainResult) -> bool:
    """Whether engines answered with too little, or to a question that pages may not speak.

    A folder of a few files holds what it holds: one that was found there is no little.
    """
    if len(first.results) < FEWEST_RESULTS:
        return first.answered and first.provider != _FOLDER
    return context.limits.translates and question_language(query.text) not in {None, "en"}


async def _other_forms(context: ToolContext, query: SearchQuery) -> list[SearchQuery]:
    if context.rephraser is None:
        return []
    other = await context.rephraser.ask(context.question, query.text, PLACE.get())
    return [
        replace(query, text=text, lang=lang or query.lang)
        for text, lang in other
        if not context.outgoing.refusal(text, SEARCH)
    ]


MOST_PAGES = 30
"""Pages of one crawl: at four at once and half a second each, well within one call's time."""
BEST_PASSAGES = 10
MOST_SOURCES = 6
"""Pages of a crawl that become sources: those that hold the best passages."""
CRAWL_SECONDS = 45.0


@tool(
    "CRAWL",
    "reads a section of a site (sitemap, links): its pages, and the best passages for a query.",
    capped=False,
)
async def crawl(
    context: ToolContext,
    *,
    url: Needed,
    query: str = "",
    pages: Annotated[int, Field(ge=1, le=MOST_PAGES)] = 12,
) -> Finish:
    """Read the folder of `url`, the pages first whose addresses and links speak of the query."""
    web = web_of(context)
    if web.crawler is None:
        raise ToolError("this run reads no sites", hint="READ single pages.")
    seconds = context.seconds_left(CRAWL_SECONDS)
    crawled = await web.crawler.crawl(url, query=query, most=pages, seconds=seconds)
    return lambda: _result(context, crawled, url, query)


def _result(context: ToolContext, crawled: Crawl, url: str, query: str) -> ToolResult:
    if not crawled.pages:
        reason = crawled.unread[0].reason if crawled.unread else "nothing to read there"
        return ToolResult({"error": f"{url}: {reason}"}, hint="READ another result.")
    sources = _sources(context, crawled.pages, query)
    data: dict[str, Any] = {
        "url": url,
        "read": len(crawled.pages),
        "known": crawled.known,
        "sources": [source.name for source in sources.values()],
        "unread": len(crawled.unread),
    }
    room = context.limits.read_tokens * CHARS_PER_TOKEN
    overview = "\n".join(_line(page, sources.get(page.url)) for page in crawled.pages)
    best = _best(context, list(sources.values()), query)
    found, shown = listed(best, room - len(overview))
    web = "\n\n".join(part for part in (overview, found) if part)
    return ToolResult(
        {k: v for k, v in data.items() if v not in (0, [])}, web, "crawl", passages=shown
    )


def _sources(context: ToolContext, pages: Sequence[Page], query: str) -> dict[str, Source]:
    """Make sources of the pages that hold the best passages for the query; of none without one."""
    if not query:
        return {}
    left = context.limits.max_sources - len(context.evidence.sources)
    chosen = _promising(pages, query)[: max(0, min(left, MOST_SOURCES))]
    return {page.url: register(context, page) for page in chosen}


def _promising(pages: Sequence[Page], query: str) -> list[Page]:
    texts = [(page.document.title, page.document.text) for page in pages if page.document]
    index = PassageIndex(
        (title, split_passages(text, number)) for number, (title, text) in enumerate(texts)
    )
    best = index.search(query, BEST_PASSAGES)
    return [pages[number] for number in dict.fromkeys(passage.source for passage in best)]


def _best(context: ToolContext, sources: Sequence[Source], query: str) -> list[Passage]:
    each = max(2, BEST_PASSAGES // max(1, len(sources)))
    return [p for source in sources for p in context.evidence.search(query, each, source.n)]


def _line(page: Page, source: Source | None) -> str:
    title = " ".join(page.document.title.split()) if page.document else ""
    return f"{source.name if source else '-'} {title} — {page.url}"


CRAWL_TOOLS = (crawl,)
