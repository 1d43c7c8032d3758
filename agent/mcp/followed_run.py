"""A run as a client sees it: its steps as progress, its report as a result with links."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp.types import CallToolResult, ResourceLink

from agent.export.report_view import faults
from agent.guard.provenance import PRIVATE, Kind
from agent.mcp.tool_session import Consent, text_result
from agent.protocol.replies import inert
from agent.types import Report, VerdictState

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from mcp.server.mcpserver import Context

    from agent.guard.provenance import Provenance
    from agent.journal.events import Event


class FollowedRun:
    """A run whose events become lines of progress, and which ends with its report.

    The jobs behind the answer go on in the server, in `background`: nobody waits for them.
    `on_event` and `approve` are arguments of the run.
    """

    def __init__(
        self,
        ctx: Context[Any, Any],
        event_lines: Callable[[Event], list[str]],
        background: set[asyncio.Future[Any]],
    ) -> None:
        self._ctx = ctx
        self._event_lines = event_lines
        self._background = background
        self._kinds_read: set[Kind] = set()
        self._progress: asyncio.Queue[str] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._report: asyncio.Future[Report] = self._loop.create_future()
        # A run cannot be begun again with the answer, where the connection has no way back.
        self.approve = Consent(ctx).approve if ctx.session.can_send_request else None

    def on_event(self, event: Event) -> None:
        """Take an event of the journal, in whichever thread it was written."""
        lines = self._event_lines(event)
        if event.type == "run.started":
            lines = [f"run {event.data['run']}", *lines]
        elif event.type == "context.read":
            self._kinds_read.add(Kind(event.data["origin"]))
        elif event.type == "run.finished":
            self._loop.call_soon_threadsafe(self._end, Report(**event.data["report"]))
        for line in lines:
            self._loop.call_soon_threadsafe(self._progress.put_nowait, line)

    def _end(self, report: Report) -> None:
        if not self._report.done():
            self._report.set_result(report)

    async def to_report(self, run: Coroutine[Any, Any, Report]) -> Report:
        """Wait for the report; cancelled, the run stops, keeps its record and can be resumed."""
        working = asyncio.ensure_future(run)
        reporting = asyncio.create_task(self._report_progress())
        try:
            await asyncio.wait({working, self._report}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            working.cancel()
            await asyncio.wait([working])
            raise
        finally:
            reporting.cancel()
        if working.done():
            return working.result()
        self._background.add(working)
        working.add_done_callback(self._background.discard)
        return self._report.result()

    async def _report_progress(self) -> None:
        number = 0
        while True:
            line = await self._progress.get()
            number += 1
            await self._ctx.report_progress(number, message=line)

    def note_words(self, report: Report, into: Provenance) -> None:
        """Note the origin of an answer's words: what public pages support is public."""
        private = next(iter(sorted(self._kinds_read & PRIVATE)), None)
        public = {s.n for s in report.sources if s.url.startswith("http")}
        for sentence in report.sentences:
            cited = set(sentence.citations)
            supported = sentence.verdict is VerdictState.SUPPORTED and cited and cited <= public
            # A page of the person's own browser has an address as public ones do.
            is_public = supported and Kind.PAGE not in self._kinds_read
            into.add(sentence.text, private if private and not is_public else Kind.WEB)


def report_result(report: Report, **more: Any) -> CallToolResult:
    """Give a report to a client: the answer, what is in doubt, and links to the whole.

    `more` is data beside it.
    """
    doubtful = [
        {"text": inert(s.text), "verdict": s.verdict.value, "reason": inert(s.reason)}
        for s in report.sentences
        if s.verdict is not VerdictState.SUPPORTED and not s.about_search
    ]
    sources = [
        {"n": s.n, "url": s.url, "title": inert(s.title), "quotes": [inert(q) for q in s.quotes]}
        for s in report.sources
    ]
    data: dict[str, Any] = {
        "run": report.run,
        "status": report.status,
        "answer": inert(report.answer),
        "confidence": report.confidence,
        "supported": sum(s.verdict is VerdictState.SUPPORTED for s in report.sentences),
        "not_supported": doubtful,
        "sources": sources,
        "usd": report.usage.usd,
        "elapsed_s": report.elapsed_s,
        "error": report.error.model_dump() if report.error else None,
        **more,
    }
    lines = [data["answer"] or (report.error.message if report.error else report.status)]
    lines += [f"[{s['n']}] {s['title']} {s['url']}" for s in sources]
    lines += [f"{row['verdict']}: {row['text']} ({row['reason']})" for row in doubtful]
    lines += [f"fault: {row['what']} ({row['why']})" for row in more.get("faults", ())]
    lines.append(f"status {report.status}, run {report.run}")
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
    """Give the report of an audit, with its faults and the state of each reference."""
    wrong = [{"what": inert(what), "why": inert(why)} for what, why in faults(report)]
    states = [{"url": one.url or one.doi, "state": one.state} for one in report.references]
    return report_result(report, faults=wrong, references=states)
