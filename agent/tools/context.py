"""The context that a run gives to its tools: web, evidence, memory, limits and the person."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from agent.errors import ToolError
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import Kind
from agent.guard.redact import Redactor
from agent.limits import EFFORTS, STANDARD, Effort, LimitSettings
from browser.search.corpus import Corpus
from browser.types import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from agent.evidence.store import Evidence, Source
    from agent.guard.provenance import Provenance
    from agent.guard.secret_store import SecretStore
    from agent.memory.memory_api import Memory
    from agent.prompts.skill_files import Skill
    from agent.wiki import Wiki
    from browser.net.egress import Egress
    from browser.net.http import HttpClient
    from browser.net.polite import Polite
    from browser.page.content import StorageRows
    from browser.page.tab import Tab
    from browser.read.crawl import Crawler
    from browser.read.reader import Reader
    from browser.search.chain import Chain
    from browser.session.session import Browser
    from browser.solvers import Solver
    from browser.types import Page, PageContext

T = TypeVar("T")
CALL_TIMEOUT: ContextVar[asyncio.Timeout] = ContextVar("timeout")
"""Timeout of the current call."""
CALL_PLACE: ContextVar[str] = ContextVar("place", default="")
"""Place of the current call in the run, under which its questions to a model are recorded."""
Approve = Callable[[str], Awaitable[bool | str]]
"""Asks the person about an effect. Returns yes, no, or `site` for everything on this site."""
Ask = Callable[[str], Awaitable[str]]
"""Asks the person a question. Returns the answer, empty if none came."""
Rephrase = Callable[[str, str, str], Awaitable[Sequence[tuple[str, str | None]]]]
"""Takes question, query and place. Returns other queries, each with its language if it differs."""
Record = Callable[..., object]
NO_BROWSER = "no_browser"
"""Outcome of a call that needs a browser where none can be started."""
PERSON_TIMEOUT = 600.0
"""Seconds: a person who has not answered, or passed a captcha, in ten minutes is not there."""
HINT_FIELD = "the_person_says"
"""Field of a tool's result that brings a hint of the person to the model."""
SOLVABLE = frozenset({Outcome.CAPTCHA, Outcome.BOT_CHECK})
"""Walls that a captcha solver may clear."""


def no_record(_kind: str, _place: str = "", **_data: object) -> None:
    """Record nothing: outside of a run, or where everything is on record already."""


@dataclass(frozen=True, slots=True)
class InterruptedPage:
    """A page that was open when a run was cut off; `session` is its sessionStorage (secret)."""

    url: str
    session: StorageRows = ()


@dataclass(slots=True)
class Web:
    """A run's access to the web; the browser starts when it is first needed.

    `is_visible` means that a person can see the browser's window. `solver` solves captchas, at most
    `solves_left` of them: a page could otherwise use up its owner's balance. `interrupted_page` is
    the page that was open when the run was cut off, until it is opened again. `look_for_page` looks
    again for the user's visible tab, where one is attached to. `last_act` is the
    place of the last act on a page; `unseen_outcome` says what it did if its end was not seen,
    until a page is shown again. `state` is the source of the open page as it was last shown,
    `state_shown` what a snapshot shows of it.
    """

    egress: Egress
    http: HttpClient
    chain: Chain
    reader: Reader
    start_browser: Callable[[], Awaitable[Browser]]
    crawler: Crawler | None = None
    polite: Polite | None = None
    search_defaults: dict[str, Any] = field(default_factory=dict)
    attached: bool = False
    is_visible: bool = False
    fresh: bool = False
    solver: Solver | None = None
    solves_left: int = 10
    context: PageContext | None = None
    page: Page | None = None
    tab: Tab | None = None
    interrupted_page: InterruptedPage | None = None
    look_for_page: Callable[[], Awaitable[None]] | None = None
    last_act: str = ""
    unseen_outcome: str = ""
    state: Source | None = None
    state_shown: str = ""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def searches_locally_only(self) -> bool:
        """Tell whether only the person's folder is searched: no query leaves the machine."""
        return all(isinstance(provider, Corpus) for provider in self.chain.providers)

    @property
    def has_files(self) -> bool:
        """Tell whether a folder of the user is searched (`--corpus`)."""
        return any(isinstance(provider, Corpus) for provider in self.chain.providers)

    @property
    def can_clear_walls(self) -> bool:
        """Tell whether a person or a solver can pass a captcha in the browser."""
        return self.is_visible or self.solver is not None

    async def read_tab(self) -> Page:
        """Read the open page in its current state: our own tab, else the person's page.

        Raises `ToolError` if none is open.
        """
        if self.tab is not None:
            return await self.reader.read_tab(self.tab)
        if self.page is None and self.look_for_page is not None:
            await self.look_for_page()  # it may have been silent when the run began
        if self.page is None:
            raise ToolError("no page is open", hint="Give a url, or OPEN a page first.")
        return self.page


@dataclass(slots=True)
class Person:
    """The person, who can be asked one question a run, whichever of its loops asks it."""

    ask: Ask
    asked: bool = False


@dataclass(slots=True)
class ToolContext:
    """What the tools of one run work with.

    `record(kind, place, **data)` writes a journal event; `keep(bytes)` stores bytes with the run
    and returns their hash. `approve(effect)` asks the person for a yes, `person` answers a question
    of the model: both are None where nobody is there. `memory` is None with `--no-memory`, `wiki`
    if the data folder has none. `vision` means that the model can see pictures. `outgoing` decides
    what may leave the run. On `approved_sites` the person lets the run act without asking again;
    `approvals` are acts and sites that were approved before it (`--yes`). `hints` are messages of
    the person that the model has not seen yet. `rephrase` asks the model
    for other queries. `effort` is what the run's depth spends; outside of a run, as little as any.
    With `files_first` a search that finds something in the user's folder asks no engine.
    """

    question: str
    evidence: Evidence
    limits: LimitSettings = field(default_factory=LimitSettings)
    record: Record = no_record
    keep: Callable[[bytes], str] = lambda _: ""
    outgoing: Outgoing = field(default_factory=Outgoing)
    redactor: Redactor = field(default_factory=Redactor)
    rephrase: Rephrase | None = None
    web: Web | None = None
    memory: Memory | None = None
    wiki: Wiki | None = None
    skills: Sequence[Skill] = ()
    run: str = ""
    files: tuple[Path, ...] = ()
    approve: Approve | None = None
    vision: bool = False
    files_first: bool = False
    person: Person | None = None
    secrets: SecretStore | None = None
    approved_sites: set[str] = field(default_factory=set)
    approvals: frozenset[tuple[str, str]] = frozenset()
    hints: list[str] = field(default_factory=list)
    approval_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    max_sources: int = STANDARD.sources
    effort: Effort = EFFORTS["quick"]
    deadline: float | None = None
    now_ms: Callable[[], int] = lambda: int(time.time() * 1000)
    _worker: ThreadPoolExecutor | None = None

    @property
    def provenance(self) -> Provenance:
        """What the run has read so far, and who wrote it."""
        return self.outgoing.provenance

    def seconds_left(self, wanted: float) -> float:
        """Return how many seconds a call may take: `wanted`, or what is left of the run's time."""
        if self.deadline is None:
            return wanted
        return max(0.1, min(wanted, self.deadline - time.monotonic()))

    def extend_timeout(self, seconds: float) -> None:
        """Give the current call more time, while a person or a captcha solver is at work."""
        timeout = CALL_TIMEOUT.get(None)
        until = timeout.when() if timeout else None
        if timeout and until is not None:
            now = asyncio.get_running_loop().time()
            timeout.reschedule(now + self.seconds_left(until - now + seconds))

    def with_hints(self, data: Any) -> Any:
        """Add the person's new hints to a result's data, so that record and replay have them."""
        if not (self.hints and isinstance(data, dict)):
            return data
        hints = "\n".join(self.hints)
        self.hints.clear()
        self.provenance.add(hints, Kind.PERSON)
        return {**data, HINT_FIELD: hints}

    async def in_memory_thread(self, function: Callable[..., T], *args: Any) -> T:
        """Call a synchronous function of memory or wiki in their single worker thread.

        Calls of one reply are made concurrently; there they take effect in the order of its tags.
        """
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="memory")
        return await asyncio.get_running_loop().run_in_executor(self._worker, function, *args)

    async def near(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        """Return the cosine similarity of a question to each text; {} without embeddings."""
        if self.memory is None:
            return {}
        return await self.in_memory_thread(self.memory.near, question, texts)

    def close(self) -> None:
        """Stop the memory's worker thread."""
        if self._worker is not None:
            self._worker.shutdown(wait=False)


def require_web(context: ToolContext) -> Web:
    """Return the web of a run; raises `ToolError` if it has none."""
    if context.web is None:
        raise ToolError("this run has no web", hint="Answer from what is known.")
    return context.web


def require_memory(context: ToolContext) -> Memory:
    """Return the memory of a run; raises `ToolError` if it has none."""
    if context.memory is None:
        raise ToolError("memory is off in this run", hint="Go on without it.")
    return context.memory
