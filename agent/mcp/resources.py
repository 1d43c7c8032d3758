"""MCP resources: run reports, their sources, and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from agent.errors import ResearchError
from agent.export.finished_run import FinishedRun
from agent.export.report_markdown import render_markdown
from agent.journal.runs import Runs
from agent.protocol.replies import inert

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from agent.mcp.tool_session import ToolSession


class RunResources:
    """The resources. Clients see their docstrings as descriptions."""

    def __init__(self, session: ToolSession) -> None:
        self._session = session
        self._runs = Runs(session.options.data)

    def add_to(self, server: MCPServer[Any]) -> None:
        """Add these resources to a server."""
        for uri, mime_type, resource in (
            ("research://runs/{run}/report.md", "text/markdown", self.report_markdown),
            ("research://runs/{run}/report.json", "application/json", self.report_json),
            ("research://runs/{run}/sources/{n}", "text/plain", self.source_text),
            ("research://pages/{name}", "text/plain", self.page_text),
        ):
            server.resource(uri, mime_type=mime_type)(resource)

    def report_markdown(self, run: str) -> str:
        """Return a run's report: answer, verdicts, sources with quotes, searches, steps."""
        return render_markdown(self._finished(run).folder.path).decode()

    def report_json(self, run: str) -> str:
        """Return a run's report as JSON."""
        return self._finished(run).report.to_json()

    def source_text(self, run: str, n: int) -> str:
        """Return the saved text of a source."""
        record = self._finished(run)
        source = next((s for s in record.report.sources if s.n == n), None)
        if source is None:
            raise ResourceNotFoundError(f"{run} has no source {n}")
        return inert(record.source_text(source))

    async def page_text(self, name: str) -> str:
        """Return the full text of a page that `read` has read."""
        n = int(name[1:]) if name[1:].isdecimal() else 0
        source = self._session.context.evidence.source(n)
        if source is None:
            raise ResourceNotFoundError(f"{name} is no longer stored; read its URL again")
        return inert(source.text)

    def _finished(self, run: str) -> FinishedRun:
        try:
            return FinishedRun.read(self._runs.find(run).path)
        except ResearchError as error:
            raise ResourceNotFoundError(f"{error}. {error.hint}") from error
