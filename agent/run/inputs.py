"""What a caller brings to a run beside the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from agent.errors import UsageError
from agent.journal.events import read_events
from agent.journal.runs import Runs
from agent.protocol.replies import inert
from agent.tools.context import Person
from agent.tools.sources import passages_block, register
from agent.types import Observation, ToolCall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.config import Options
    from agent.memory.memory_api import Memory
    from agent.review.schema import Schema
    from agent.tools.context import Ask, ToolContext


T = TypeVar("T")


def on_record(
    ask: Callable[[str], Awaitable[T]] | None, write: Callable[..., object]
) -> Callable[[str], Awaitable[T]] | None:
    """Let a way of asking tell the record, so that a live view makes room; None stays None."""
    if ask is None:
        return None

    async def asking(what: str) -> T:
        write("person.asked", what=what)
        try:
            return await ask(what)
        finally:
            write("person.answered")

    return asking


def person(ask: Ask | None, write: Callable[..., object]) -> Person | None:
    """Give whom the tools can ask."""
    asking = on_record(ask, write)
    return None if asking is None else Person(asking)


async def nobody(_question: str) -> str:
    """Give no answer: the run went on where no person is."""
    return ""


async def gather(
    options: Options, context: ToolContext
) -> tuple[list[tuple[str, str]], tuple[Observation, ...]]:
    """Gather the open page and the files; raises `UsageError` for a file that cannot be read.

    Gives them as (type, text) pairs for a language model, and as data.
    """
    given = [*_open_page(context), *await _files(options, context)]
    captured = [line for line, _ in given if line]
    return [*captured, *fields_wanted(options)], tuple(observation for _, observation in given)


def schema_of(options: Options) -> Schema | None:
    """Read the schema of a run, if it has one; raises `UsageError` for what is none."""
    if options.schema_file is None:
        return None
    from agent.review.schema import Schema  # noqa: PLC0415 - few runs have one

    return Schema.of(options.schema_file)


def fields_wanted(options: Options) -> list[tuple[str, str]]:
    """Name the values that are wanted beside the answer, so that they are looked for."""
    schema = schema_of(options)
    if schema is None:
        return []
    lines = [f"{f.name} ({f.format or f.kind}) {f.said}".rstrip() for f in schema.fields()]
    return [("also wanted, each value from a page that is read", "; ".join(lines))]


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


_Given = tuple[tuple[str, str] | None, Observation]
"""What is put into the question's message: as (type, text) for a language model, and as data."""


def _open_page(context: ToolContext) -> list[_Given]:
    """Make the person's page a source, and name it: the block of the page itself has no ids."""
    if context.web is None or context.web.context is None:
        return []
    seen, page = context.web.context, context.web.page
    data = {"url": seen.url, "title": seen.title, "selection": seen.selection}
    if page is None:
        return [(None, Observation(ToolCall("PAGE_CONTEXT"), data))]
    source = register(context, page)
    line = ("open page", f"is {source.name}; READ without url gives its passages")
    return [(line, Observation(ToolCall("PAGE_CONTEXT"), data, source.passages))]


async def _files(options: Options, context: ToolContext) -> list[_Given]:
    captured: list[_Given] = []
    for path in options.file:
        if context.web is None or not path.is_file():
            raise UsageError(f"cannot read the file {path}", hint="Check the path of --file.")
        page = await context.web.reader.read(path.resolve().as_uri())
        if page.document is None:
            raise UsageError(f"cannot read the file {path}: {page.reason}")
        source = register(context, page)
        block, shown = passages_block(context, source, query=context.question)
        head = f"{path.name} is {source.name}, {len(shown)} of {len(source.passages)} passages:"
        line = ("file", f'{head}\n<web source="{source.name}">\n{inert(block)}\n</web>')
        data = {"url": source.url, "title": source.title, "source": source.name}
        captured.append((line, Observation(ToolCall("READ"), data, shown)))
    return captured
