"""Registers pages and search results as sources of a run, and formats passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from agent.errors import ToolError
from agent.evidence.page_state import append_shown_lines
from agent.evidence.passages import introduces_next
from agent.guard.provenance import Kind
from browser.text.words import CHARS_PER_TOKEN
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.evidence.store import Source
    from agent.tools.context import ToolContext
    from agent.tools.registry import ToolResult
    from agent.types import Passage, ToolCall
    from browser.types import SearchResult, Via

MIN_BEST_PASSAGES = 8
"""Minimum number of passages from a long page shown for a query: enough for three sentences."""
MAX_BEST_CHARS = 4_000
"""Passages beyond the minimum are shown for a query until they reach this many characters: eight
paragraphs do, but eight list items or lines of code contain less than a tenth of that.
"""
MAX_BEST_ROWS = 12
"""Maximum number of table rows shown for a query, the first few with adjacent rows: otherwise, a
word in every row (`ferry`) would show the start of the table instead of the requested row.
"""
ROWS_WITH_NEIGHBOURS = 4  # best passages shown together with adjacent ones
MAX_PASSAGES = 80  # candidates per source that are ranked for a query
MAX_ARGUMENT_CHARS = 200
"""Maximum length of a tool's arguments in the title of its source, in characters."""


def register_source(context: ToolContext, page: Page, outcome: str = "", step: str = "") -> Source:
    """Register a page as a source, and store the fetched content if the source is new.

    The source of a live page also contains the snapshot's text. `outcome` describes the action that
    led to this state of the page, `step` is the step id of the last action before it. Raises
    `ToolError` if the page has no text at all.
    """
    known, document, clean = len(context.evidence.sources), page.document, context.redactor.text
    text = document.text if document is not None else ""
    content = "\n".join((page.body.decode("utf-8", "replace"), text, page.shown, outcome))
    if clean(content) != content:  # the page shows a secret: keep only the redacted text
        page, outcome = replace(page, body=b"", shown=clean(page.shown)), clean(outcome)
        if document is not None:
            document = replace(document, text=clean(text), title=clean(document.title))
    if page.shown or outcome:
        document = append_shown_lines(document or Document(page.url), page.shown, outcome)
        # If only the controls differ from the last state, the new HTML is not worth storing.
        earlier = context.evidence.by_url(page.url)
        if earlier is not None and _article(earlier) == _article(document):
            page = replace(page, body=b"")
    page = replace(page, document=document)
    source = context.evidence.add(page, step, acted=bool(outcome))
    if document is not None:
        is_personal = page.via == "browser" and context.provenance.is_personal(page.url)
        links = (link.url for link in document.links)
        context.provenance.add_links(links, Kind.PAGE if is_personal else Kind.WEB, page.url)
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
            **_publication(document),
            **({"shown_from": source.shown_from} if source.shown_from is not None else {}),
            **({"canonical": source.canonical} if source.canonical else {}),
            **({"step": source.step, "acted": source.shows_action_result} if source.step else {}),
            text=context.store_bytes(source.text.encode("utf-8", "surrogatepass")),
            body=context.store_bytes(page.body) if page.body else None,
            content_type=page.content_type,
            status=page.status,
            headers=list(page.headers),
        )
    return source


def _publication(document: Document | None) -> dict[str, dict[str, Any]]:
    """Return where a work was published, for its reference; {} if the page lacks this data."""
    if document is None:
        return {}
    known = {name: value for name, value in asdict(document.publication).items() if value}
    return {"publication": known} if known else {}


def _article(page: Source | Document) -> str:
    return page.text[: page.shown_from].strip()


def register_results(
    context: ToolContext, query: str, results: Iterable[SearchResult]
) -> list[Source | None]:
    """Register search results as sources weaker than pages; None for a result without text.

    A single event records all new results of a search, as most of them are never cited.
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


def register_tool_result(context: ToolContext, call: ToolCall, result: ToolResult) -> ToolResult:
    """Register the result of a caller's or plug-in's tool as a source; its label names the source.

    A result that already names a source, or has no text, is returned unchanged.
    """
    named = isinstance(result.data, dict) and "source" in result.data
    text = (result.web or data_text(result.data)).strip()
    if named or result.passages or not text:
        return result
    source = register_call(context, f"tool:{call.name}", call.name, call.param, text)
    return replace(result, label=source.name)


def register_call(
    context: ToolContext, address: str, name: str, arguments: str, text: str, via: Via = "tool"
) -> Source:
    """Register text returned by a call as a source; its address and title include the arguments.

    Text that is far longer than the shown part is truncated.
    """
    arguments = context.redactor.text(arguments)
    query = f"?{quote(arguments[:MAX_ARGUMENT_CHARS])}" if arguments else ""
    title = f"{name}({' '.join(arguments.split())[:MAX_ARGUMENT_CHARS]})"
    kept = text[: 8 * context.limits.read_tokens * CHARS_PER_TOKEN]
    url = f"{address}{query}"
    document = Document(url, title=title, text=kept, kind="text")
    page = Page(url, url, via, Outcome.OK, datetime.now(UTC), document=document)
    return register_source(context, page)


def data_text(data: Any, name: str = "") -> str:
    """Format data as citable text: `city: Oslo`, one value per line; rows become a table."""
    if isinstance(data, Mapping):
        parts = (
            data_text(value, f"{name}.{key}" if name else str(key)) for key, value in data.items()
        )
        return "\n\n".join(part for part in parts if part)
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        columns = [*dict.fromkeys(str(key) for row in data for key in row)]
        rows = [[str(row.get(column, "")) for column in columns] for row in data]
        lines = [" | ".join(cells) for cells in (columns, ["---"] * len(columns), *rows)]
        table = "\n".join(f"| {' '.join(line.split())} |" for line in lines)
        return f"# {name}\n\n{table}" if name else table
    if isinstance(data, list | tuple):
        data = "; ".join(map(str, data))
    if data is None or isinstance(data, bool):
        data = "" if data is None else ("yes" if data else "no")
    text = str(data).strip()
    return f"{name}: {text}" if name and text else text


def show_passages(
    context: ToolContext, source: Source, *, query: str = "", start: int = 1
) -> tuple[str, tuple[Passage, ...]]:
    """Format a source's passages within the run's token budget; returns the text and the passages.

    A long page is reduced to its best passages for a query, in reading order. Its first passage is
    always shown, as it may explain what "it" refers to. For a table, the header and the best
    matching rows are shown, with adjacent rows.
    """
    max_chars = context.limits.read_tokens * CHARS_PER_TOKEN
    article = source.article
    chosen: Iterable[Passage] = article[max(0, start - 1) :]
    if query and sum(len(passage.text) for passage in article) > max_chars:
        best = context.evidence.search(query, MAX_PASSAGES, source.n)
        if len(article) < len(source.passages):
            best = [passage for passage in best if passage in article]
        ids, chars = {p.id for p in article[:1]}, 0
        rows = [passage for passage in best if passage.kind == "table"][:MAX_BEST_ROWS]
        for number, passage in enumerate(best):
            if number >= MIN_BEST_PASSAGES and chars > MAX_BEST_CHARS:
                break
            if passage.kind != "table" or passage in rows:
                ids.add(passage.id)
                chars += len(passage.text)
        ids |= _header_and_neighbour_ids([row for row in rows if row.id in ids], source)
        # A passage such as “The reasons are:” is meaningless without the next one.
        following = {
            after.id
            for passage, after in pairwise(article)
            if passage.id in ids and introduces_next(passage.text)
        }
        chosen = [p for p in article if p.id in ids | following]
    return list_passages(chosen, max_chars)


def _header_and_neighbour_ids(rows: Sequence[Passage], source: Source) -> set[str]:
    """Return the ids of the rows' table headers, and of the rows adjacent to the first few."""
    positions = {passage.id: at for at, passage in enumerate(source.passages)}
    ids = set[str]()
    for number, row in enumerate(rows):
        head = at = positions[row.id]
        while head and source.passages[head - 1].kind == "table":
            head -= 1
        ids.add(source.passages[head].id)
        if number < ROWS_WITH_NEIGHBOURS:
            beside = source.passages[max(head, at - 1) : at + 2]
            ids |= {passage.id for passage in beside if passage.kind == "table"}
    return ids


def list_passages(passages: Iterable[Passage], max_chars: int) -> tuple[str, tuple[Passage, ...]]:
    """Format passages, one per line, as many as fit (at least one); returns the text and the list.

    Each line begins with the passage's id.
    """
    lines: list[str] = []
    shown: list[Passage] = []
    for passage in passages:
        line = f"{passage.id} {' '.join(passage.text.split())}"
        if lines and len(line) > max_chars:
            break
        max_chars -= len(line) + 1
        lines.append(line)
        shown.append(passage)
    return "\n".join(lines), tuple(shown)
