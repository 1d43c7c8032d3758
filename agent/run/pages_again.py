"""Rereads the pages of an earlier report, and searches for quotes that are no longer on them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from agent.evidence.changes import compare_words
from agent.evidence.passages import split_passages
from agent.run.draft import find_archived, normalise_url
from agent.tools.policy import Policy
from agent.tools.registry import Registry
from agent.tools.rephrasing import MAX_QUERY_CHARS
from agent.tools.sources import register_source
from agent.tools.web_tools import web_search
from agent.types import ReportSource, ToolCall
from browser.errors import Refused
from browser.types import Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.store import Source
    from agent.run.report_to_recheck import EarlierReport
    from agent.tools.context import ToolContext, Web
    from agent.types import Passage

CONCURRENT_READS: Final = 6  # pages read concurrently; each host has its own delay
MAX_SEARCHES: Final = 8
"""Maximum number of searches for pages that are gone or no longer contain the quoted words."""
RESULTS_READ: Final = 3
"""Pages read per search: if moved text is found at all, it is on one of the first results."""
_GONE_STATUSES: Final = (404, 410)  # HTTP statuses that mean that a page no longer exists


@dataclass(slots=True)
class RereadPage:
    """A page of the earlier report, read again; `source` is None if it could not be read.

    `moved_to` is the address to which the page redirected, `archived` the address of an archived
    copy.
    """

    earlier_source: ReportSource
    saved: Source | None
    page: Page
    source: Source | None = None
    moved_to: str = ""
    archived: str = ""
    other_sources: list[Source] = field(default_factory=list)

    @property
    def is_gone(self) -> bool:
        """Whether the site reports that the page no longer exists."""
        return self.page.outcome is Outcome.NOT_FOUND or self.page.status in _GONE_STATUSES

    @property
    def saved_passages(self) -> tuple[Passage, ...]:
        """The page's passages as saved by the earlier run."""
        return self.saved.passages if self.saved else ()

    @property
    def failure_reason(self) -> str:
        """The reason why the page could not be read."""
        return self.page.reason or self.page.outcome.value.replace("_", " ")


async def read_again(
    context: ToolContext, web: Web, earlier: EarlierReport, sources: Sequence[ReportSource]
) -> dict[int, RereadPage]:
    """Read pages again and register them as sources; returns them by their number in the report."""
    slots = asyncio.Semaphore(CONCURRENT_READS)

    async def read(then: ReportSource) -> RereadPage:
        url = then.url
        if then.via == "file" and earlier.files is not None:
            with suppress(Refused):  # reading the page will also be refused, and this is reported
                url = earlier.files.share(url, web.reader.files)
        async with slots:
            page = await web.reader.read(url)
            is_complete = len(_quotes_found(then, page)) == len(then.quotes)
            if then.via == "browser" and page.via == "http" and not is_complete:
                drawn = await web.reader.read(then.url, "browser")
                page = drawn if drawn.outcome is Outcome.OK else page
            return RereadPage(then, earlier.saved(then), page)

    pages: dict[int, RereadPage] = {}
    # Registered only now, so that source numbers do not depend on the sites' speed.
    for found in await asyncio.gather(*map(read, sources)):
        page = found.page
        if page.outcome is Outcome.OK and page.document and page.document.text.strip():
            found.source = register_source(context, page)
            if page.via != "file" and normalise_url(page.url) != normalise_url(
                found.earlier_source.url
            ):
                found.moved_to = page.url
        pages[found.earlier_source.n] = found
    return pages


async def search_for_lost_quotes(
    context: ToolContext, web: Web, archive: str, lost: Sequence[tuple[RereadPage, str]]
) -> None:
    """Search for lost quotes, read the pages found, and look up archived copies of old pages."""
    calls = Policy(Registry([web_search]), context)
    for number, (page, words) in enumerate(lost[:MAX_SEARCHES], 1):
        if page.earlier_source.via == "file":
            continue
        at = datetime.fromisoformat(page.earlier_source.fetched_at)
        page.archived, problem = await find_archived(web, archive, page.earlier_source.url, at)
        if problem:
            context.record("note", text=problem)
        query = " ".join(f"{page.earlier_source.title} {words}"[:MAX_QUERY_CHARS].split()[:-1])
        found = (await calls.run(ToolCall(web_search.name, query), f"recheck/{number}"))()
        urls = dict.fromkeys(hit.url for hit in found.results)
        urls.pop(page.earlier_source.url, None)
        for url in list(urls)[:RESULTS_READ]:
            read = await web.reader.read(url)
            if read.outcome is Outcome.OK and _quotes_found(page.earlier_source, read):
                page.other_sources.append(register_source(context, read))


def _quotes_found(then: ReportSource, page: Page) -> list[str]:
    """Return the quotes from `then` that occur in `page`, which may be a different page."""
    after = split_passages(page.document.text if page.document else "", 0)
    return [
        quote for quote in then.quotes if compare_words(quote, quote, (), after).state == "stands"
    ]
