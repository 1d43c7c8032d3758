"""Searching and reading: WEB_SEARCH, READ, FETCH_URL."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agent.errors import ToolError
from agent.guard import Kind
from agent.guard.provenance import SEARCH
from agent.tools.context import PLACE
from agent.tools.registry import Params, Tool, ToolResult
from browser.search.chain import ask, joined
from browser.search.corpus import Corpus
from browser.text import content_words, question_language
from browser.types import Outcome, Page, SearchQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from agent.evidence.store import Evidence, Source
    from agent.guard.redact import Redactor
    from agent.tools.context import ToolContext, Web
    from agent.types import Passage
    from browser.search.chain import ChainResult
    from browser.types import Document, Page, SearchAttempt, SearchResult


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


SOLVABLE = frozenset({Outcome.CAPTCHA, Outcome.BOT_CHECK})
"""Walls that a solver of captchas may take down."""


class SearchParams(Params):
    """`since` is an ISO date; `site` a domain; `lang` two letters, of the pages wanted."""

    query: str = Field(min_length=1)
    site: str | None = None
    since: str | None = None
    lang: str | None = None


class ReadParams(Params):
    """Without `url` the page that is open in the browser; `start` is a passage number."""

    url: str = ""
    query: str = ""
    start: int = 1


class FetchParams(Params):
    """The reference engine's form."""

    url: str = Field(min_length=1)


async def web_search(context: ToolContext, params: SearchParams) -> Callable[[], ToolResult]:
    """Ask the search chain."""
    web = web_of(context)
    asked: dict[str, Any] = {**web.search_defaults, "limit": context.limits.max_results}
    asked.update({k: v for k, v in params.model_dump().items() if v and k != "query"})
    await _index_folder(context, web)
    result = await search_web(context, web, SearchQuery(params.query, **asked))
    return lambda: _search_result(context, params.query, result)


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


async def read(context: ToolContext, params: ReadParams) -> Callable[[], ToolResult]:
    """Read a page, over HTTP or in the browser as it needs; or the page that is open."""
    page = await _page(context, params.url)
    return lambda: read_result(context, page, params)


async def fetch_url(context: ToolContext, params: FetchParams) -> Callable[[], ToolResult]:
    """Read a page in the reference engine's form."""
    page = await _page(context, params.url)
    return lambda: fetch_result(context, page)


def web_of(context: ToolContext) -> Web:
    """The web of a run; raises `ToolError` where the run has none."""
    if context.web is None:
        raise ToolError("this run has no web", hint="Answer from what is known.")
    return context.web


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


def read_result(context: ToolContext, page: Page, params: ReadParams) -> ToolResult:
    """Show a page that was read: its best passages, or those from a number on."""
    if page.document is None or not page.document.text.strip():
        return _unread(context, page)
    source = register(context, page)
    block, shown = passages_block(context, source, query=params.query, start=params.start)
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
    if params.query:
        data["pages"] = _pages(shown)
        data["links"] = _related_links(page.document, params.query)
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


WEB_TOOLS = (
    Tool("WEB_SEARCH", "searches the web.", SearchParams, web_search, capped=False),
    Tool(
        "READ",
        "reads a page or PDF; with a query only its best passages, else from passage `start` on. "
        "Without url: the page that is open.",
        ReadParams,
        read,
        capped=False,
    ),
    Tool(
        "FETCH_URL",
        "reads a page from its beginning.",
        FetchParams,
        fetch_url,
        capped=False,
        listed=False,
    ),
)


FEWEST_RESULTS = 3
"""With fewer a search search_web little: two pages seldom bear each other out."""

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

    A folder of a few files holds what it holds: one that was search_web there is no little.
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


BEST_PASSAGES = 8
"""Passages that a query gives of a long page: an answer of three sentences needs fewer."""
CHARS_PER_TOKEN = 4


def register(context: ToolContext, page: Page) -> Source:
    """Make a page a source of the run (again, if it is one already), and keep what was fetched."""
    known = len(context.evidence.sources)
    page = _kept_without_secrets(page, context.redactor)
    source = context.evidence.add(page)
    if page.document is not None:
        persons = page.via == "browser" and context.read.is_persons(page.url)
        links = (link.url for link in page.document.links)
        context.read.add_addresses(links, Kind.PAGE if persons else Kind.WEB, page.url)
    if len(context.evidence.sources) > known:
        context.record(
            "source.added",
            n=source.n,
            url=source.url,
            title=source.title,
            via=source.via,
            sha256=source.sha256,
            fetched_at=source.fetched_at.isoformat(),
            author=page.document.author if page.document else None,
            published=source.published,
            reason=page.reason,
            pages=list(page.document.pages) if page.document else [],
            text=context.keep(source.text.encode("utf-8", "surrogatepass")),
            body=context.keep(page.body) if page.body else None,
            content_type=page.content_type,
            status=page.status,
            headers=list(page.headers),
        )
    return source


def _kept_without_secrets(page: Page, redactor: Redactor) -> Page:
    """Give a page as it may be kept: of one that shows a secret back, the text without it."""
    said, document = redactor.text, page.document
    body = page.body.decode("utf-8", "replace")
    if document is None or said(body + document.text) == body + document.text:
        return page
    told = replace(document, text=said(document.text), title=said(document.title))
    return replace(page, body=b"", document=told)


def register_results(
    context: ToolContext, query: str, results: Iterable[SearchResult]
) -> list[Source | None]:
    """Make search results weaker sources of the run; None for one that cannot be cited.

    They are put on record with their words, in one event a search: most are never cited.
    """
    at = datetime.now(UTC)
    known = {source.n for source in context.evidence.snippets}
    safe = [_without_secrets(result, context.redactor) for result in results]
    sources = [_registered(context.evidence, result, at) for result in safe]
    new = {source.n for source in context.evidence.snippets} - known
    pairs = zip(sources, safe, strict=True)
    rows = {s.n: _result_row(s, result) for s, result in pairs if s and s.n in new}
    if rows:
        context.record(
            "results.added", query=query, fetched_at=at.isoformat(), results=list(rows.values())
        )
    return sources


def _without_secrets(result: SearchResult, redactor: Redactor) -> SearchResult:
    """Give a result as it may stand on record, which is what its hash is taken of."""
    said = redactor.text
    return replace(
        result, url=said(result.url), title=said(result.title), snippet=said(result.snippet)
    )


def _registered(evidence: Evidence, result: SearchResult, at: datetime) -> Source | None:
    try:
        return evidence.add_snippet(result, at)
    except ToolError:
        return None


def _result_row(source: Source, result: SearchResult) -> dict[str, Any]:
    return {
        "n": source.n,
        "url": result.url,
        "title": result.title,
        "snippet": result.snippet,
        "published": result.published,
        "sha256": source.sha256,
    }


def passages_block(
    context: ToolContext, source: Source, *, query: str = "", start: int = 1
) -> tuple[str, tuple[Passage, ...]]:
    """List a source's passages within the budget, and which: all of it, or the best for a query.

    A short page is given whole; the first passage always comes, for it says what "it" is.
    """
    room = context.limits.read_tokens * CHARS_PER_TOKEN
    chosen: Iterable[Passage] = source.passages[max(0, start - 1) :]
    if query and len(source.text) > room:
        best = context.evidence.search(query, BEST_PASSAGES, source.n)
        wanted = {passage.id for passage in best} | {p.id for p in source.passages[:1]}
        chosen = [passage for passage in source.passages if passage.id in wanted]
    return listed(chosen, room)


def listed(passages: Iterable[Passage], room: int) -> tuple[str, tuple[Passage, ...]]:
    """Write passages a line each, as many as fit into `room` characters (the first always).

    Gives the text, and the passages that are in it.
    """
    lines: list[str] = []
    shown: list[Passage] = []
    for passage in passages:
        line = f"{passage.id} {' '.join(passage.text.split())}"
        if lines and len(line) > room:
            break
        room -= len(line) + 1
        lines.append(line)
        shown.append(passage)
    return "\n".join(lines), tuple(shown)
