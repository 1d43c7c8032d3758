"""The context that a run passes to its tools: web, evidence, memory, limits and the user."""

from __future__ import annotations

import asyncio
import re
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
from agent.limits import DEPTH_LIMITS, STANDARD_LIMITS, DepthLimits, LimitSettings
from browser.net.url import host, origin, registrable_domain
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

_WORD_RE = re.compile(r"\w+")
T = TypeVar("T")
CALL_TIMEOUT: ContextVar[asyncio.Timeout] = ContextVar("timeout")
"""The timeout of the current call."""
CALL_PLACE: ContextVar[str] = ContextVar("place", default="")
"""The step id of the current call, under which its model calls are recorded."""
Approve = Callable[[str], Awaitable[bool | str | None]]
"""Asks the user to approve an effect. Returns yes, no, `site` for everything on this site, or None
if the user did not reply."""
Ask = Callable[[str], Awaitable[str]]
"""Asks the user a question. Returns the answer, or an empty string."""
Rephrase = Callable[[str, str, str], Awaitable[Sequence[tuple[str, str | None]]]]
"""Takes the question, query and step id. Returns alternative queries, each with its language if it
differs.
"""
Record = Callable[..., object]
NO_BROWSER = "no_browser"
"""The outcome of a call that needs a browser when no browser can be started."""
UNKNOWN = "unknown"
"""The outcome of a call that was started, but whose end was not observed."""
USER_TIMEOUT = 600.0
"""Seconds to wait for the user to answer or to solve a captcha."""
HINT_FIELD = "the_user_says"
"""Field of a tool result that contains the user's hint to the model."""
SOLVABLE = frozenset({Outcome.CAPTCHA, Outcome.BOT_CHECK})
"""Kinds of block pages that a captcha solver may get past."""


def no_record(_kind: str, _place: str = "", **_data: object) -> None:
    """Do not record anything: used outside a run, or if everything is already recorded."""


@dataclass(frozen=True, slots=True)
class InterruptedPage:
    """A page that was open when a run was interrupted; `session` is its sessionStorage (secret)."""

    url: str
    session: StorageRows = ()


@dataclass(slots=True)
class Web:
    """A run's access to the web. The browser starts on first use.

    `is_visible` means that the user can see the browser window. `solver` solves at most
    `solves_left` captchas, so that a page cannot use up the user's credit. `interrupted_page` is
    the page that was open when the run was interrupted, until it is reopened. `look_for_page` looks
    again for the user's visible tab in an attached Chrome; `silent_tabs` is the number of
    unresponsive tabs if none responded. `last_action_step` is the step id of the last action on a
    page; if its outcome was not observed, `unobserved_outcome` describes it until a page is shown
    again. `state` is the source of the open page as last shown, `shown_text` the part of it that
    was in the snapshot. `logins` maps sites to the names of saved logins.
    """

    egress: Egress
    http: HttpClient
    chain: Chain
    reader: Reader
    start_browser: Callable[[], Awaitable[Browser]]
    make_crawler: Callable[[], Crawler] | None = None
    crawl_policy: Polite | None = None
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
    silent_tabs: int = 0
    last_action_step: str = ""
    unobserved_outcome: str = ""
    state: Source | None = None
    shown_text: str = ""
    logins: dict[str, str] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def searches_locally_only(self) -> bool:
        """Return whether only the user's folder is searched, so that no query is sent anywhere."""
        return all(provider.local for provider in self.chain.providers)

    @property
    def has_files(self) -> bool:
        """Return whether the user's folder is searched (`--corpus`)."""
        return any(provider.local for provider in self.chain.providers)

    @property
    def can_solve_captchas(self) -> bool:
        """Return whether the user or a solver can solve a captcha in the browser."""
        return self.is_visible or self.solver is not None

    def expired_login(self, page: Page) -> str:
        """If the page asks for a login, describe the saved login that has expired; otherwise ""."""
        name = self.logins.get(registrable_domain(host(page.url)))
        if not name or page.outcome is not Outcome.LOGIN:
            return ""
        return (
            f"the saved login {name} has expired: the user can renew it with"
            f" `research login {name} {origin(page.url)}`"
        )

    def no_page(self, hint: str = "OPEN a page first.") -> ToolError:
        """Create the error for a call that needs an open, responsive page when there is none."""
        if not self.silent_tabs:
            return ToolError("no page is open", hint=hint)
        why = "the user's active tab does not respond: it is busy, or a dialog is open in it"
        return ToolError(why, hint="READ without url to try the tab again, or OPEN an address.")

    async def browser_for(self, url: str, seconds: float) -> Browser:
        """Start the browser while waiting for the turn to load a page, including its robots.txt.

        Raises the errors of `Polite.wait_turn` and `start_browser`, the former if both fail.
        """
        starting = asyncio.ensure_future(self.start_browser())
        try:
            if self.crawl_policy is not None:  # None for the user's Chrome
                await self.crawl_policy.wait_turn(url, seconds)
            return await starting
        finally:
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)

    async def read_tab(self) -> Page:
        """Read the current state of the open page: the run's tab, or the user's page.

        Raises `ToolError` if no page is open.
        """
        if self.tab is not None:
            return await self.reader.read_tab(self.tab)
        if self.page is None and self.look_for_page is not None:
            await self.look_for_page()  # the tab may not have responded at the start of the run
        if self.page is None:
            raise self.no_page("Give a url, or OPEN a page first.")
        return self.page


@dataclass(slots=True)
class User:
    """The user; all loops of a run together may ask one question."""

    ask: Ask
    asked: bool = False


@dataclass(slots=True)
class ToolContext:
    """Everything that a run's tools can access.

    `record(kind, place, **data)` writes a journal event; `store_bytes` stores bytes with the run
    and returns their hash. `approve(effect)` asks the user for approval, and `user` answers a
    question from the model; both are None if no user is available. `memory` is None with
    `--no-memory`; `wiki` is None if the data folder has no wiki. `vision` means that the model
    accepts images. `outgoing` decides what may be sent. On `approved_sites`, the run may act
    without asking the user again. `tasks_allowed` is the `--allow-tasks` flag; `approvals` are
    actions and sites approved before the run (`--yes`). `hints` are messages from the user that the
    model has not seen yet. `rephrase` asks the model for alternative queries. `depth_limits` are
    the preset limits for the run's depth; outside a run, the lowest ones. With `files_first`, a
    search that finds something in the user's folder does not query search engines. `time_left`
    returns the run's remaining seconds, or None if there is no limit.
    """

    question: str
    evidence: Evidence
    limits: LimitSettings = field(default_factory=LimitSettings)
    record: Record = no_record
    store_bytes: Callable[[bytes], str] = lambda _: ""
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
    user: User | None = None
    tasks_allowed: bool = False
    secrets: SecretStore | None = None
    approved_sites: set[str] = field(default_factory=set)
    approvals: frozenset[tuple[str, str]] = frozenset()
    hints: list[str] = field(default_factory=list)
    approval_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    max_sources: int = STANDARD_LIMITS.sources
    depth_limits: DepthLimits = DEPTH_LIMITS["quick"]
    time_left: Callable[[], float | None] = lambda: None
    now_ms: Callable[[], int] = lambda: int(time.time() * 1000)
    _worker: ThreadPoolExecutor | None = None

    @property
    def provenance(self) -> Provenance:
        """The text that the run has read so far, and its origins."""
        return self.outgoing.provenance

    def seconds_left(self, wanted: float) -> float:
        """Return the seconds that a call may take: `wanted`, up to the run's remaining time."""
        left = self.time_left()
        return wanted if left is None else max(0.1, min(wanted, left))

    def secrets_for(self, url: str) -> list[str]:
        """Return the names of the stored secrets that may be typed on the page at an address."""
        stored = self.secrets.origins() if self.secrets else {}
        return [name for name, own in stored.items() if own == origin(url)]

    def question_names_secret(self, secret: str) -> bool:
        """Return whether the question names a stored secret, which approves its use on its site."""
        question = {word.casefold() for word in _WORD_RE.findall(self.question)}
        return question.issuperset(word.casefold() for word in _WORD_RE.findall(secret))

    def extend_timeout(self, seconds: float, *, counts: bool = True) -> None:
        """Extend the current call's timeout, by default up to the run's remaining time.

        `counts` is False for time that does not count towards the run's time limit, such as waiting
        for the user.
        """
        timeout = CALL_TIMEOUT.get(None)
        until = timeout.when() if timeout else None
        if timeout and until is not None:
            now = asyncio.get_running_loop().time()
            wanted = until - now + seconds
            timeout.reschedule(now + (self.seconds_left(wanted) if counts else wanted))

    def with_hints(self, data: Any) -> Any:
        """Add the user's new hints to a result's data, so that the journal contains them."""
        if not (self.hints and isinstance(data, dict)):
            return data
        hints = "\n".join(self.hints)
        self.hints.clear()
        self.provenance.add(hints, Kind.USER)
        return {**data, HINT_FIELD: hints}

    async def in_memory_thread(self, function: Callable[..., T], *args: Any) -> T:
        """Call a synchronous memory or wiki function in the single worker thread that they share.

        Tool calls in one reply run concurrently; this thread makes them take effect in tag order.
        """
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="memory")
        return await asyncio.get_running_loop().run_in_executor(self._worker, function, *args)

    async def similarities(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        """Return the cosine similarity of a question to each text; {} without embeddings."""
        if self.memory is None:
            return {}
        return await self.in_memory_thread(self.memory.similarities, question, texts)

    def close(self) -> None:
        """Stop the memory's worker thread."""
        if self._worker is not None:
            self._worker.shutdown(wait=False)


def require_web(context: ToolContext) -> Web:
    """Return the run's web access; raises `ToolError` if it has none."""
    if context.web is None:
        raise ToolError("this run has no web access", hint="Answer from what you know.")
    return context.web


def require_memory(context: ToolContext) -> Memory:
    """Return the run's memory; raises `ToolError` if it has none."""
    if context.memory is None:
        raise ToolError("memory is off in this run", hint="Continue without it.")
    return context.memory
