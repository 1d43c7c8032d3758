"""What the model is told at the start: the question, with what the person has before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.journal import Runs, read_events
from agent.models import Message
from agent.protocol import inert
from agent.tools.sources import passages_block, register

if TYPE_CHECKING:
    from agent.config import Options
    from agent.memory import Memory
    from agent.memory.types import Layers
    from agent.tools import ToolContext


async def opening_messages(
    question: str, options: Options, context: ToolContext, session: str
) -> list[Message]:
    """Lay out the memory layers, the page context, the files and the question."""
    captured = [*_open_page(context), *await _files(options, context)]
    page = context.web.context if context.web else None
    if context.memory is None and page is None and not captured:
        return [Message("user", question)]
    from agent.memory import build_messages  # noqa: PLC0415 - a bare question needs no layers
    from agent.memory.types import Layers  # noqa: PLC0415 - as above

    layers = Layers()
    if context.memory is not None:
        layers = await context.in_memory_thread(context.memory.layers, question, session)
        context.secrets.add_text(_private_text(layers))
    messages, _ = build_messages(
        question,
        condensed=layers.condensed,
        history=layers.history,
        profile=layers.profile,
        memories=layers.memories,
        sessions=layers.sessions,
        skills=layers.skills,
        page_context=page,
        context=captured,
        recalled=layers.recalled,
        frame=inert,
    )
    return messages


def _private_text(layers: Layers) -> str:
    entries = [*layers.profile.items(), *layers.memories.items()]
    lines = [f"{key}: {value}" for key, value in entries]
    return "\n".join([*lines, *map(str, layers.sessions.values()), layers.condensed])


def session_of(options: Options, run: str, memory: Memory | None) -> str:
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
