"""DOWNLOAD: a file that a page offers, kept in the data folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import ToolError
from agent.tools.actions import RefParams
from agent.tools.page import open_tab
from agent.tools.registry import Risk, Tool, ToolResult
from agent.tools.web import web_of

if TYPE_CHECKING:
    from agent.tools.context import ToolContext


async def download(context: ToolContext, params: RefParams) -> ToolResult:
    """Click what gives a file, and say where it was put."""
    tab, web = open_tab(context), web_of(context)
    if web.attached:
        raise ToolError(
            "in a person's own Chrome a file goes to that person's downloads, where we do not look",
            hint="READ the address of the file, or ask the person for it.",
        )
    async with web.lock:
        kept = await tab.download(params.ref, context.seconds_left(context.limits.call_seconds))
    if kept.path is None:
        raise ToolError(f"{kept.name} was not kept: {kept.why}", hint="Go on without the file.")
    size = kept.path.stat().st_size
    return ToolResult({"file": kept.path.name, "bytes": size, "path": str(kept.path)})


DOWNLOAD_TOOLS = (
    Tool("DOWNLOAD", "clicks a link and keeps its file.", RefParams, download, Risk.EXTERNAL),
)
