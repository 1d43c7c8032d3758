"""A run as a client sees it: its steps as progress, its report as a result with links."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mcp.types import CallToolResult, ResourceLink

from agent.export.report_markdown import render_markdown
from agent.export.report_view import faults
from agent.guard.provenance import PRIVATE, Kind, Provenance
from agent.journal.events import Event
from agent.mcp.tool_session import AskedPerson, error_result, text_result
from agent.protocol.replies import inert
from agent.run.draft import read_draft
from agent.types import Report, VerdictState

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

    from agent.mcp.tool_session import ToolSession


Audit = Callable[..., Coroutine[Any, Any, Report]]
Told = Callable[[Event], list[str]]
"""What an event says to a person who watches, a line each."""


class FollowedRun:
    """A run whose events are told to the client as progress, and which ends with its report.

    The jobs behind the answer go on in the server: nobody waits for them.
    """

    def __init__(
        self, ctx: Context[Any, Any], told: Told, behind: set[asyncio.Future[Any]]
    ) -> None:
        self._behind = behind
        self.read: set[Kind] = set()
        self._ctx = ctx
        self._told = told
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._report: asyncio.Future[Report] = self._loop.create_future()
        # A run cannot be begun again with the answer, where the connection has no way back.
        self.approve = AskedPerson(ctx).approve if ctx.session.can_send_request else None

    def note(self, event: Event) -> None:
        """Take an event of the journal."""
        if event.type == "run.started":
            self._say(f"run {event.data['run']}")
        elif event.type == "context.read":
            self.read.add(Kind(event.data["origin"]))
        elif event.type == "run.finished":
            self._loop.call_soon_threadsafe(self._end, Report(**event.data["report"]))
        for line in self._told(event):
            self._say(line)

    def _say(self, line: str) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def _end(self, report: Report) -> None:
        if not self._report.done():
            self._report.set_result(report)

    async def to_report(self, run: Coroutine[Any, Any, Report]) -> Report:
        """Wait for the report; cancelled, the run stops, keeps its record and can be resumed."""
        working = asyncio.ensure_future(run)
        telling = asyncio.create_task(self._tell())
        try:
            await asyncio.wait({working, self._report}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            working.cancel()
            await asyncio.wait([working])
            raise
        finally:
            telling.cancel()
        if working.done():
            return working.result()
        self._behind.add(working)
        working.add_done_callback(self._behind.discard)
        return self._report.result()

    def note_words(self, report: Report, into: Provenance) -> None:
        """Note whose words an answer holds: what rests on pages is public, the rest may not be."""
        private = next(iter(sorted(self.read & PRIVATE)), None)
        public = {s.n for s in report.sources if s.url.startswith("http")}
        for sentence in report.sentences:
            cited = set(sentence.citations)
            rests = sentence.verdict is VerdictState.SUPPORTED and cited and cited <= public
            kind = private if private and not (rests and Kind.PAGE not in self.read) else Kind.WEB
            into.add(sentence.text, kind)

    async def _tell(self) -> None:
        number = 0
        while True:
            line = await self._lines.get()
            number += 1
            await self._ctx.report_progress(number, message=line)


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
    at = f"research://runs/{report.run}"
    links = [
        ResourceLink(uri=f"{at}/report.md", name="report", mime_type="text/markdown"),
        *(
            ResourceLink(uri=f"{at}/sources/{s.n}", name=f"source {s.n}", mime_type="text/plain")
            for s in report.sources
        ),
    ]
    result = text_result(lines, *links, **data)
    result.is_error = report.status == "failed"
    return result


async def audited(
    run: FollowedRun, audit: Audit, draft: str, session: ToolSession, flags: dict[str, Any]
) -> CallToolResult:
    """Audit a draft (Markdown); no address in it that holds private words is asked for."""
    with TemporaryDirectory() as folder:
        path = _written(draft, folder)
        for url in {one.url for one in read_draft(path).references} - {""}:
            if why := session.context.outgoing.refusal_of_address(url):
                return error_result(f"{url} is not asked for: {why}", "Leave it out.")
        found = await run.to_report(audit(path, on_event=run.note, **flags))
    run.note_words(found, session.read)
    wrong = [{"what": inert(what), "why": inert(why)} for what, why in faults(found)]
    states = [{"url": one.url or one.doi, "state": one.state} for one in found.references]
    return report_result(found, faults=wrong, references=states)


def report_markdown(folder: Path) -> str:
    """Give the report of a finished run as people read it."""
    return render_markdown(folder).decode()


def _written(draft: str, folder: str) -> Path:
    path = Path(folder, "draft.md")
    path.write_text(draft, encoding="utf-8")
    return path
