"""Reading a section of a site: CRAWL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from agent.errors import ToolError
from agent.evidence.passages import PassageIndex, split_passages
from agent.tools.context import web_of
from agent.tools.registry import Params, Tool, ToolResult
from agent.tools.sources import CHARS_PER_TOKEN, listed, register

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.evidence.store import Source
    from agent.tools.context import ToolContext
    from agent.types import Passage
    from browser.read.crawl import Crawl
    from browser.types import Page

MOST_PAGES = 30
"""Pages of one crawl: at four at once and half a second each, well within one call's time."""
BEST_PASSAGES = 10
MOST_SOURCES = 6
"""Pages of a crawl that become sources: those that hold the best passages."""
CRAWL_SECONDS = 45.0


class CrawlParams(Params):
    """`pages` is how many are read at most; a section is the folder of `url`."""

    url: str = Field(min_length=1)
    query: str = ""
    pages: int = Field(12, ge=1, le=MOST_PAGES)


async def crawl(context: ToolContext, params: CrawlParams) -> Callable[[], ToolResult]:
    """Read a section of a site, the pages first whose addresses and links speak of the query."""
    web = web_of(context)
    if web.crawler is None:
        raise ToolError("this run reads no sites", hint="READ single pages.")
    seconds = context.seconds_left(CRAWL_SECONDS)
    crawled = await web.crawler.crawl(
        params.url, query=params.query, most=params.pages, seconds=seconds
    )
    return lambda: _result(context, crawled, params)


def _result(context: ToolContext, crawled: Crawl, params: CrawlParams) -> ToolResult:
    if not crawled.pages:
        reason = crawled.unread[0].reason if crawled.unread else "nothing to read there"
        return ToolResult({"error": f"{params.url}: {reason}"}, hint="READ another result.")
    sources = _sources(context, crawled.pages, params.query)
    data: dict[str, Any] = {
        "url": params.url,
        "read": len(crawled.pages),
        "known": crawled.known,
        "sources": [source.name for source in sources.values()],
        "unread": len(crawled.unread),
    }
    room = context.limits.read_tokens * CHARS_PER_TOKEN
    overview = "\n".join(_line(page, sources.get(page.url)) for page in crawled.pages)
    best = _best(context, list(sources.values()), params.query)
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


CRAWL_TOOLS = (
    Tool(
        "CRAWL",
        "reads a section of a site (sitemap, links): its pages, and the best passages for a query.",
        CrawlParams,
        crawl,
        capped=False,
    ),
)
