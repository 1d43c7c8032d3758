"""What the person has before them: the conversation, the open page, the files."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.journal import Runs, read_events
from agent.protocol import inert
from agent.run.values import fields_wanted
from agent.tools.sources import passages_block, register

if TYPE_CHECKING:
    from agent.config import Options
    from agent.context_builder import ContextBuilder
    from agent.memory import AnyMemory
    from agent.tools import ToolContext


@dataclass(slots=True)
class Before:
    """What is before the person: gathered once, when a loop begins that is not on record."""

    options: Options
    context: ToolContext
    _gathered: bool = False
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def put_into(self, opening: ContextBuilder) -> None:
        """Put the open page and the files into what loops begin with. Raises `UsageError`."""
        async with self._lock:
            if self._gathered:
                return
            context = self.context
            files = await _files(self.options, context)
            opening.captured = [*_open_page(context), *files, *fields_wanted(self.options)]
            opening.page = context.web.context if context.web else None
            self._gathered = True


def session_of(options: Options, run: str, memory: AnyMemory | None) -> str:
    """Name the conversation: the one asked for, the one continued, or a new one of this run."""
    if options.session:
        return options.session
    if options.continue_run is None:
        return run
    if options.continue_run:
        return _session_of_run(options, options.continue_run)
    return (memory.latest_session() if memory else None) or run


def _session_of_run(options: Options, name: str) -> str:
    folder = Runs(options.data).find(name)
    started = next(read_events(folder.journal), None)
    return str(started.data.get("session") or folder.id) if started else folder.id


def _open_page(context: ToolContext) -> list[tuple[str, str]]:
    """Make the person's page a source, and name it: the block of the page itself has no ids."""
    if context.web is None or context.web.page is None:
        return []
    source = register(context, context.web.page)
    return [("open page", f"is {source.name}; READ without url gives its passages")]


async def _files(options: Options, context: ToolContext) -> list[tuple[str, str]]:
    captured: list[tuple[str, str]] = []
    for path in options.file:
        if context.web is None or not path.is_file():
            raise UsageError(f"cannot read the file {path}", hint="Check the path of --file.")
        page = await context.web.reader.read(path.resolve().as_uri())
        if page.document is None:
            raise UsageError(f"cannot read the file {path}: {page.reason}")
        context.secrets.add_text(page.document.text)
        source = register(context, page)
        block, shown = passages_block(context, source, query=context.question)
        head = f"{path.name} is {source.name}, {shown} of {len(source.passages)} passages:"
        captured.append(("file", f'{head}\n<web source="{source.name}">\n{inert(block)}\n</web>'))
    return captured
