"""What a tool has at hand during a run."""

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
from agent.limits import LimitSettings
from browser.search.corpus import Corpus
from browser.types import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from agent.config import Options
    from agent.evidence.store import Evidence
    from agent.guard.provenance import Provenance
    from agent.guard.secret_store import SecretStore
    from agent.memory.memory_api import Memory
    from agent.prompts.skill_files import Skill
    from agent.wiki import Wiki
    from browser.net.egress import Egress
    from browser.net.http import HttpClient
    from browser.net.polite import Polite
    from browser.page.content import StorageItems
    from browser.page.tab import Tab
    from browser.read.crawl import Crawler
    from browser.read.reader import Reader
    from browser.search.chain import Chain
    from browser.session.session import Browser
    from browser.solvers import Solver
    from browser.types import Page, PageContext

T = TypeVar("T")
CALL_TIMEOUT: ContextVar[asyncio.Timeout] = ContextVar("patience")
"""The time that the call under way has."""
CALL_PLACE: ContextVar[str] = ContextVar("place", default="")
"""Where the call under way stands in the run; what it asks of a model is recorded by it."""
Approve = Callable[[str], Awaitable[bool | str]]
"""What is to be done, to the person's word: no, yes, or `site` for all of it on this site."""
Ask = Callable[[str], Awaitable[str]]
"""Question to answer, empty where none came."""
Rephrase = Callable[[str, str, str], Awaitable[Sequence[tuple[str, str | None]]]]
"""Question, query and place to other queries, with their language where it is another one."""
Record = Callable[..., object]
NO_BROWSER = "no_browser"
"""Outcome of a call that needed a browser where none could be started."""
PATIENCE_SECONDS = 600.0
"""Who has not answered, or taken a wall down, after ten minutes is not coming."""
PERSON_SAYS = "the_person_says"
"""Field of a tool's result in which a hint of the person reaches the model."""
SOLVABLE = frozenset({Outcome.CAPTCHA, Outcome.BOT_CHECK})
"""Walls that a solver of captchas may take down."""


def unrecorded(_kind: str, _place: str = "", **_data: object) -> None:
    """Keep no record: outside of a run, or where all is on record already."""


class Limits(LimitSettings):
    """Bounds on tools: those that a person may set, and what the depth of the run gives.

    `engines` are asked at once where a question is hard; the depth says how many, and whether a
    search in another language than English `translates` at once.

    A call gets 60 s because a slow page may take 30 s to load and as long to settle; 24 sources
    are more than an answer of a few sentences ever cites; 3,000 tokens hold the passages that
    matter of a page and leave a 32k window room for ten steps.
    """

    max_sources: int = 24
    engines: int = 1
    translates: bool = False

    @classmethod
    def of(cls, options: Options) -> Limits:
        """Return the bounds of a run with these settings."""
        effort = options.effort
        return cls(
            **dict(options.limits),
            max_sources=options.max_sources or effort.sources,
            engines=effort.engines,
            translates=effort.translates,
        )


@dataclass(frozen=True, slots=True)
class LeftPage:
    """A page that was open when a run was cut off, and what its tab alone had stored: secrets."""

    url: str
    session: StorageItems = ()


@dataclass(slots=True)
class Web:
    """The web of a run; the browser starts when it is first asked for.

    `in_sight`: a person can see the browser's window. `solver` is asked about captchas, at most
    `solves_left` times a run: a page could otherwise spend its owner's balance.
    `left_open` is the page that was open when the run was cut off, until it is opened again.
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
    in_sight: bool = False
    fresh: bool = False
    solver: Solver | None = None
    solves_left: int = 10
    context: PageContext | None = None
    page: Page | None = None
    tab: Tab | None = None
    left_open: LeftPage | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def only_local(self) -> bool:
        """Whether no search leaves the machine: all that is searched is the person's folder."""
        return all(isinstance(provider, Corpus) for provider in self.chain.providers)

    @property
    def takes_walls_down(self) -> bool:
        """Whether a person or a solver can take down a captcha in the browser."""
        return self.in_sight or self.solver is not None

    async def read_tab(self) -> Page:
        """Read the page that is open, as it stands now: our own tab, else the person's.

        Raises `ToolError` where none is open.
        """
        if self.tab is not None:
            return await self.reader.read_tab(self.tab)
        if self.page is None:
            raise ToolError("no page is open", hint="Give a url, or OPEN a page first.")
        return self.page


@dataclass(slots=True)
class Person:
    """Who can be asked, once in a run, whichever of its loops asks."""

    ask: Ask
    asked: bool = False


@dataclass(slots=True)
class ToolContext:
    """One run's means: the web, its evidence, memory, limits, and whom to tell and to ask.

    `record(kind, place, **data)` writes a journal event, `keep(bytes)` keeps bytes with the run;
    `approve(what)` asks the person for a yes, `person` is who can be asked what was meant: both are
    None where nobody is there; `memory` is None with `--no-memory`, `wiki` where the data folder
    holds none. `vision`: the model sees, and is shown pictures. `outgoing` decides what may leave,
    `agreed` are the sites where the person lets the run act. `hints` are what the person says while
    it works, until they are handed on. `rephrase` asks the model for other queries.
    """

    question: str
    evidence: Evidence
    limits: Limits
    record: Record = unrecorded
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
    person: Person | None = None
    secrets: SecretStore | None = None
    agreed: set[str] = field(default_factory=set)
    hints: list[str] = field(default_factory=list)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    deadline: float | None = None
    now_ms: Callable[[], int] = lambda: int(time.time() * 1000)
    _worker: ThreadPoolExecutor | None = None

    @property
    def provenance(self) -> Provenance:
        """What the run has read so far, and whose words that is."""
        return self.outgoing.provenance

    def seconds_left(self, wanted: float) -> float:
        """Return how long a call may take: what it wants, or what is left of the run's time."""
        if self.deadline is None:
            return wanted
        return max(0.1, min(wanted, self.deadline - time.monotonic()))

    def extend_timeout(self, seconds: float) -> None:
        """Give the call under way more time: a person, or a solver of captchas, is at work."""
        patience = CALL_TIMEOUT.get(None)
        until = patience.when() if patience else None
        if patience and until is not None:
            now = asyncio.get_running_loop().time()
            patience.reschedule(now + self.seconds_left(until - now + seconds))

    def with_hints(self, data: Any) -> Any:
        """Put what the person said meanwhile into a result: so the record has it, and a replay."""
        if not (self.hints and isinstance(data, dict)):
            return data
        said = "\n".join(self.hints)
        self.hints.clear()
        self.provenance.add(said, Kind.PERSON)
        return {**data, PERSON_SAYS: said}

    async def in_memory_thread(self, function: Callable[..., T], *args: Any) -> T:
        """Call the synchronous memory from its one worker thread."""
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="memory")
        return await asyncio.get_running_loop().run_in_executor(self._worker, function, *args)

    async def near(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        """Return the cosine of a question and each text; {} where the run has no embeddings."""
        if self.memory is None:
            return {}
        return await self.in_memory_thread(self.memory.near, question, texts)

    def close(self) -> None:
        """Let the memory's thread go."""
        if self._worker is not None:
            self._worker.shutdown(wait=False)


def web_of(context: ToolContext) -> Web:
    """The web of a run; raises `ToolError` where the run has none."""
    if context.web is None:
        raise ToolError("this run has no web", hint="Answer from what is known.")
    return context.web


def memory_of(context: ToolContext) -> Memory:
    """Return the memory of the run; raises `ToolError` where it has none."""
    if context.memory is None:
        raise ToolError("memory is off in this run", hint="Go on without it.")
    return context.memory
