"""Turning what was read into sources of the run, and sources into what the model sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.evidence.store import Source
    from agent.tools.context import ToolContext
    from agent.types import Passage
    from browser.types import Page

BEST_PASSAGES = 8
"""Passages that a query gives of a long page: an answer of three sentences needs fewer."""
CHARS_PER_TOKEN = 4


def register(context: ToolContext, page: Page) -> Source:
    """Make a page a source of the run (again, if it is one already), and keep what was fetched."""
    known = len(context.evidence.sources)
    source = context.evidence.add(page)
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


def passages_block(
    context: ToolContext, source: Source, *, query: str = "", start: int = 1
) -> tuple[str, int]:
    """List a source's passages within the budget, and how many: all of it, or the best for a query.

    A short page is given whole; the first passage always comes, for it says what "it" is.
    """
    room = context.limits.read_tokens * CHARS_PER_TOKEN
    chosen: Iterable[Passage] = source.passages[max(0, start - 1) :]
    if query and len(source.text) > room:
        best = context.evidence.search(query, BEST_PASSAGES, source.n)
        wanted = {passage.id for passage in best} | {p.id for p in source.passages[:1]}
        chosen = [passage for passage in source.passages if passage.id in wanted]
    return listed(chosen, room)


def listed(passages: Iterable[Passage], room: int) -> tuple[str, int]:
    """Write passages a line each, as many as fit into `room` characters (the first always)."""
    lines: list[str] = []
    for passage in passages:
        line = f"{passage.id} {' '.join(passage.text.split())}"
        if lines and len(line) > room:
            break
        room -= len(line) + 1
        lines.append(line)
    return "\n".join(lines), len(lines)
