"""Runs started by a client: reports steps as progress, and returns the report with links."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

from mcp.types import CallToolResult, ResourceLink

from agent.export.event_lines import event_lines
from agent.export.report_view import conflict_note, faults, text_parts
from agent.guard.provenance import PRIVATE_KINDS, Kind
from agent.mcp.results import text_result
from agent.protocol.replies import inert
from agent.run.research import StartedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from mcp.server.mcpserver import Context

    from agent.guard.provenance import Provenance
    from agent.journal.events import Event
    from agent.mcp.tool_session import ToolSession
    from agent.types import Report


_PAGE_TEXT_FIELDS = ("text", "title", "heading")
"""Passage fields that contain page text."""


async def follow_run(
    ctx: Context[Any, Any],
    session: ToolSession,
    start: Callable[..., Coroutine[Any, Any, Report]],
) -> Report:
    """Run until the report is done, sending events as progress; record the origin of its words.

    `start` is called with `on_event`. Post-run tasks continue in the server. If cancelled, the run
    stops, keeps its journal and can be resumed.
    """
    progress: asyncio.Queue[str] = asyncio.Queue()
    kinds_read: set[Kind] = set()

    def note(event: Event) -> None:
        if event.type == "run.started":
            progress.put_nowait(f"run {event.data['run']}")
        elif event.type == "context.read":
            kinds_read.add(Kind(event.data["origin"]))
        for line in event_lines(event, surface="page"):
            progress.put_nowait(line)

    async def report_progress() -> None:
        for number in count(1):
            await ctx.report_progress(number, message=await progress.get())

    run = StartedRun(start, note)
    reporting = asyncio.create_task(report_progress())
    try:
        report = await run.report()
    finally:
        reporting.cancel()
    session.background.add(run.task)
    run.task.add_done_callback(session.background.discard)
    _record_provenance(report, kinds_read, session.provenance)
    return report


def _record_provenance(report: Report, kinds_read: set[Kind], provenance: Provenance) -> None:
    """Record the origin of an answer's words; anything that public pages support is public."""
    private = next(iter(sorted(kinds_read & PRIVATE_KINDS)), None)
    public = {s.n for s in report.sources if s.url.startswith("http")}
    for sentence in report.sentences:
        cited = set(sentence.citations)
        supported = sentence.verdict.holds and cited and cited <= public
        # Pages in the user's browser cannot be distinguished from public ones by their URLs.
        is_public = supported and Kind.PAGE not in kinds_read
        provenance.add(sentence.text, private if private and not is_public else Kind.WEB)


def report_result(report: Report, **more: Any) -> CallToolResult:
    """Return a report for a client: the answer with its doubts, and links to the full report.

    `more` is additional structured data.
    """
    unsupported = [
        {"text": inert(s.text), "verdict": s.verdict.value, "reason": inert(s.reason)}
        for s in report.unsupported
    ]
    disputes = [
        {"text": inert(one.text), "note": inert(conflict_note(one, report))}
        for one in report.conflicts
    ]
    sources = [
        {"n": s.n, "url": s.url, "title": inert(s.title), "quotes": [inert(q) for q in s.quotes]}
        for s in report.sources
    ]
    data: dict[str, Any] = {
        "run": report.run,
        "status": report.status,
        "standing": report.standing,
        "doubt": report.doubt,
        "answer": inert(report.answer),
        "confidence": report.confidence,
        "supported": sum(s.holds for s in report.claims),
        "not_supported": unsupported,
        "disputes": disputes,
        "closest": [
            {**one.model_dump(), **{name: inert(getattr(one, name)) for name in _PAGE_TEXT_FIELDS}}
            for one in report.closest
        ],
        "sources": sources,
        "usd": report.usage.usd,
        "elapsed_s": report.elapsed_s,
        "error": report.error.model_dump() if report.error else None,
        **more,
    }
    # An audit's faults are returned as separate data, although they are also in the report's text.
    lines = [inert(part) for part in text_parts(report)]
    lines.append(f"status {report.badge}, run {report.run}")
    address = f"research://runs/{report.run}"
    links = [ResourceLink(uri=f"{address}/report.md", name="report", mime_type="text/markdown")]
    links += [
        ResourceLink(uri=f"{address}/sources/{s.n}", name=f"source {s.n}", mime_type="text/plain")
        for s in report.sources
    ]
    result = text_result(lines, *links, **data)
    result.is_error = report.status == "failed"
    return result


def audit_result(report: Report) -> CallToolResult:
    """Return an audit report with its faults and the state of each reference."""
    wrong = [{"what": inert(what), "why": inert(why)} for what, why in faults(report)]
    states = [{"url": one.url or one.doi, "state": one.state} for one in report.references]
    return report_result(report, faults=wrong, references=states)


def recheck_result(report: Report) -> CallToolResult:
    """Return a recheck report with the outcome for each sentence."""
    rows = [
        {name: inert(value) if isinstance(value, str) else value for name, value in row}
        for row in report.rechecked
    ]
    return report_result(report, rechecked=rows)
