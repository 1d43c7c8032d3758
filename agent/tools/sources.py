"""Sources of a run: pages and search results put on record, and shown as passages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.errors import ToolError
from agent.evidence.passages import introduces_next
from agent.guard.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.evidence.store import Source
    from agent.tools.context import ToolContext
    from agent.types import Passage
    from browser.types import Page, SearchResult

BEST_PASSAGES = 8
"""Passages that a query gives of a long page at least: an answer of three sentences needs fewer."""
BEST_CHARS = 4_000
"""Characters up to which it gives more: eight paragraphs have as many, eight items of a list or
lines of code no tenth of them."""
MOST_PASSAGES = 80
CHARS_PER_TOKEN = 4


def register(context: ToolContext, page: Page) -> Source:
    """Make a page a source of the run (again, if it is one already), and keep what was fetched."""
    known, document, clean = len(context.evidence.sources), page.document, context.redactor.text
    if document is not None:
        whole = page.body.decode("utf-8", "replace") + document.text
        if clean(whole) != whole:  # it shows a secret back: only the text is kept, without it
            document = replace(document, text=clean(document.text), title=clean(document.title))
            page = replace(page, body=b"", document=document)
    source = context.evidence.add(page)
    if document is not None:
        persons = page.via == "browser" and context.provenance.is_personal(page.url)
        links = (link.url for link in document.links)
        context.provenance.add_addresses(links, Kind.PAGE if persons else Kind.WEB, page.url)
    if len(context.evidence.sources) > known:
        context.record(
            "source.added",
            n=source.n,
            url=source.url,
            title=source.title,
            via=source.via,
            sha256=source.sha256,
            fetched_at=source.fetched_at.isoformat(),
            author=document.author if document else None,
            published=source.published,
            reason=page.reason,
            pages=list(document.pages) if document else [],
            text=context.keep(source.text.encode("utf-8", "surrogatepass")),
            body=context.keep(page.body) if page.body else None,
            content_type=page.content_type,
            status=page.status,
            headers=list(page.headers),
        )
    return source


def register_results(
    context: ToolContext, query: str, results: Iterable[SearchResult]
) -> list[Source | None]:
    """Make search results weaker sources of the run; None for one that cannot be cited.

    They are put on record with their words, in one event a search: most are never cited.
    """
    at, clean = datetime.now(UTC), context.redactor.text
    known = {source.n for source in context.evidence.snippets}
    sources: list[Source | None] = []
    rows = {}
    for result in results:
        url, title, snippet = clean(result.url), clean(result.title), clean(result.snippet)
        safe = replace(result, url=url, title=title, snippet=snippet)
        try:
            source = context.evidence.add_snippet(safe, at)
        except ToolError:
            sources.append(None)
            continue
        sources.append(source)
        if source.n not in known:
            rows[source.n] = {
                "n": source.n,
                "url": url,
                "title": title,
                "snippet": snippet,
                "published": result.published,
                "sha256": source.sha256,
            }
    if rows:
        context.record(
            "results.added", query=query, fetched_at=at.isoformat(), results=list(rows.values())
        )
    return sources


def show_passages(
    context: ToolContext, source: Source, *, query: str = "", start: int = 1
) -> tuple[str, tuple[Passage, ...]]:
    """List a source's passages within the budget, and which: all of it, or the best for a query.

    A short page is given whole; the first passage always comes, for it says what "it" is.
    """
    # Budgets are in tokens, texts in characters.
    room = context.limits.read_tokens * CHARS_PER_TOKEN
    chosen: Iterable[Passage] = source.passages[max(0, start - 1) :]
    if query and len(source.text) > room:
        best = context.evidence.search(query, MOST_PASSAGES, source.n)
        wanted, chars = {p.id for p in source.passages[:1]}, 0
        for number, passage in enumerate(best):
            if number >= BEST_PASSAGES and chars > BEST_CHARS:
                break
            wanted.add(passage.id)
            chars += len(passage.text)
        # “The reasons are:” is nothing without what follows.
        led_to = {
            b.id for a, b in pairwise(source.passages) if a.id in wanted and introduces_next(a.text)
        }
        chosen = [p for p in source.passages if p.id in wanted | led_to]
    return list_passages(chosen, room)


def list_passages(passages: Iterable[Passage], room: int) -> tuple[str, tuple[Passage, ...]]:
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
