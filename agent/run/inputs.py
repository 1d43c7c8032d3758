"""What a caller brings to a run beside the settings."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agent.errors import UsageError, WebOutOfReach
from agent.journal import Runs, read_events
from agent.protocol import inert
from agent.run.values import fields_wanted
from agent.tools.context import Person
from agent.tools.web_tools import passages_block, register
from agent.types import Observation, ToolCall
from browser.errors import SessionError
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.config import Options
    from agent.evidence import Evidence
    from agent.journal import Event, Journal
    from agent.loop import Caller
    from agent.loop.context_builder import ContextBuilder
    from agent.memory import AnyMemory
    from agent.models import Message, Model
    from agent.run.outcome import Ledger
    from agent.run.record import RunRecord
    from agent.tools import ToolContext, Web
    from agent.tools.context import Ask, LeftPage, Record
    from browser.session import Browser
    from browser.types import PageContext


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller brings beside the settings; None where the settings decide."""

    model: Model | None = None
    memory: AnyMemory | None = None
    tools: dict[str, Callable[[str], Awaitable[Any]]] = field(default_factory=dict)
    on_event: Callable[[Event], None] | None = None
    approve: Callable[[str], Awaitable[bool | str]] | None = None
    ask: Callable[[str], Awaitable[str]] | None = None
    config: bool = False
    past: Past | None = None


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
            given = [*_open_page(context), *await _files(self.options, context)]
            captured = [line for line, _ in given if line]
            opening.captured = [*captured, *fields_wanted(self.options)]
            opening.observed = tuple(observation for _, observation in given)
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


async def take_context(web: Web) -> None:
    """Make the page that the person has before them the context of the run.

    Raises `WebOutOfReach` where their browser does not answer.
    """
    try:
        browser = await web.start_browser()
        web.attached = True
        web.context = await browser.visible_context()
        if web.context is not None and web.context.visible_text.strip():
            web.page = await _as_page(web.context, browser)
    except SessionError as error:
        raise WebOutOfReach(str(error), hint=error.hint) from error


async def _as_page(context: PageContext, browser: Browser) -> Page:
    """Make a page of what the person sees, so that it can be cited like any other."""
    page = Page(
        requested_url=context.url,
        url=context.url,
        via="browser",
        outcome=Outcome.OK,
        fetched_at=datetime.now(UTC),
        content_type="text/plain",
        body=context.visible_text.encode(),
        document=Document(
            url=context.url,
            title=context.title,
            text=context.visible_text,
            canonical_url=context.canonical_url,
            language=context.language,
            published=context.published,
        ),
        reason="the tab before the person",
    )
    html = await browser.visible_html(context.url)
    return await asyncio.to_thread(_with_html, page, html) if html else page


def _with_html(page: Page, html: str) -> Page:
    """Add what the text does not say: where the page's links go, and what it is on its platform."""
    from lxml.html import document_fromstring  # noqa: PLC0415 - only with an attached browser

    from browser.extract.links import read_links  # noqa: PLC0415 - as above

    if page.document is not None:
        links = read_links(document_fromstring(html), page.url)
        page = replace(page, document=replace(page.document, links=links))
    return _with_record(page, html)


def _with_record(page: Page, html: str) -> Page:
    """Where the site is one that is known, what its page holds is read as such, login or not."""
    from browser.extract.platforms.lookup import record_of, with_platform  # noqa: PLC0415 - lxml

    body = html.encode("utf-8", "replace")
    if page.document is None or record_of(page.url, body) is None:
        return page
    document = with_platform(page.document, body, page.url)
    return replace(page, document=document, body=body, content_type="text/html; charset=utf-8")


class Past(Protocol):
    """What a run takes over from a record, in the order in which it asks."""

    @property
    def source(self) -> RunRecord:
        """The record."""
        ...

    @property
    def live(self) -> bool:
        """Whether the web is opened for what the record does not hold."""
        ...

    def begin(self, runs: Runs, ledger: Ledger) -> Journal:
        """Open the journal to write to, and count what was used already."""
        ...

    def evidence(self) -> Evidence:
        """The sources there are."""
        ...

    def opening(self, place: str) -> list[Message] | None:
        """The messages that a loop begins with; None where they are laid out anew."""
        ...

    def left_open(self) -> dict[str, LeftPage]:
        """The pages that were open, by the loops that had them; opened again when needed."""
        ...

    def model(self, live: Model) -> Model:
        """The model to ask, given the live one."""
        ...

    def calls(self, live: Caller, journal: Journal) -> Caller:
        """Who makes the tool calls, given the live policy."""
        ...

    def record(self, write: Record) -> Record:
        """How events are written."""
        ...
