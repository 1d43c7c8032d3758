"""Pages, figures and answers that are watched: what changed is told as passages, and kept.

A monitor is a schedule whose job checks again. Its first check reads the page several times, to
learn what differs by itself. Bodies are kept by their hash in `monitors/NAME` of the data folder,
the changes with times and hashes in the database of jobs.
"""

from __future__ import annotations

import asyncio
import operator
import os
import re
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.config import options as check_options
from agent.config import private_folder
from agent.errors import UsageError, WebOutOfReach
from agent.jobs.job import JobOutcome, NoSuchJob, json_flags
from agent.jobs.jobs_database import NoteTable
from agent.jobs.page_diff import PageBlock, diff_blocks, first_number, learn_noise, read_blocks
from agent.jobs.schedules import Schedules
from agent.journal.runs import RunFolder
from agent.run.web import open_web
from browser.errors import BrowserError, RefError
from browser.net.url import is_web_url
from browser.read.reader import DEADLINE
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    from agent.config import Options
    from agent.jobs.job import Job, JobSpec
    from agent.jobs.jobs import Jobs
    from agent.tools.context import Web
    from browser.page.tab import Tab
    from browser.types import Page

EVERY: Final = "every 15 minutes"
"""The reference's default; its least interval is five minutes."""
LEARN, LEARN_GAP_S = 3, 2.0
"""Reads from which noise is learned, and the seconds between them."""
_MOST_LEARN: Final = 20
_CONDITION: Final = re.compile(r"\s*(<=|>=|<|>|=)\s*(-?[\d.]+)\s*|\s*(-?[\d.]+)\s*%\s*")
_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
}
_MARKERS: Final = re.compile(r"\s*\[\d+\]")


class Monitor(BaseModel):
    """What is watched: the page at an address, a part of it, or the answer to a question.

    `words`, `css` or `element` (what `Tab.identify` told of a ref) choose the part. `when` is a
    condition on its first figure: `<100`, `>=5`, or `10%` for a change by that much since it was
    last told. Noise is learned from `learn` reads, `gap` seconds apart.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    target: str
    kind: Literal["page", "answer"]
    every: str = EVERY
    words: str = ""
    css: str = ""
    element: dict[str, str] = Field(default_factory=dict)
    when: str = ""
    learn: int = Field(LEARN, ge=2, le=_MOST_LEARN)
    gap: float = LEARN_GAP_S
    options: dict[str, Any] = Field(default_factory=dict)
    created: datetime
    until: datetime | None = None

    @property
    def part(self) -> str:
        """The name of what is watched of the page; empty for all of it."""
        element = " ".join(filter(None, (self.element.get("role"), self.element.get("name"))))
        return element or self.element.get("path", "") or self.css or self.words


class MonitorState(BaseModel):
    """What the last check found; `figure` is the one last told."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    sha256: str = ""
    blocks: tuple[PageBlock, ...] = ()
    noise: frozenset[tuple[str, str]] = frozenset()
    answer: str = ""
    figure: float | None = None


class MonitorChange(BaseModel):
    """A change that was told: the passages before and after, with the hashes of both pages."""

    model_config = ConfigDict(frozen=True)

    monitor: str
    at: datetime
    since: datetime
    target: str
    diff: str
    before_sha256: str = ""
    after_sha256: str = ""
    figure: float | None = None
    run: str | None = None


class Monitors:
    """The monitors by name; a name that is not there raises `NoSuchJob`."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.schedules = Schedules(jobs, watched=True)
        self._table = NoteTable(jobs.database, "monitor", Monitor)
        self.states = NoteTable(jobs.database, "monitor-state", MonitorState)

    def all(self) -> list[Monitor]:
        """Return them by name."""
        return [*self._table.all().values()]

    def find(self, name: str) -> Monitor:
        """Find one by its name."""
        if (monitor := self._table.get(name)) is None:
            raise NoSuchJob(f"no monitor {name}", hint="`research monitor list` lists them.")
        return monitor

    def changes(self, name: str) -> list[MonitorChange]:
        """Return the changes that one told, the oldest first."""
        return [*self._changes(name).all().values()]

    def _changes(self, name: str) -> NoteTable[MonitorChange]:
        return NoteTable(self._jobs.database, f"monitor-change:{name}", MonitorChange)

    def add(
        self,
        target: str,
        *,
        name: str | None = None,
        every: str = EVERY,
        zone: str | None = None,
        words: str = "",
        css: str = "",
        element: Mapping[str, str] | None = None,
        when: str = "",
        learn: int = LEARN,
        gap: float = LEARN_GAP_S,
        notify: tuple[str, ...] = (),
        until: datetime | None = None,
        **flags: Any,
    ) -> Monitor:
        """Watch a page (an address) or an answer (a question), up to `until`.

        One of the same name is replaced. Raises `UsageError`.
        """
        kind: Literal["page", "answer"] = "page" if is_web_url(target.strip()) else "answer"
        if kind == "answer" and target.isascii() and len(target.split()) < 2:
            hint = "An address begins with https://; a question has more than one word."
            raise UsageError(f"{target!r} is neither an address nor a question", hint=hint)
        if kind == "answer" and (words or css or element or when):
            raise UsageError("parts and figures are of pages; of a question the answer is watched")
        if when and not _CONDITION.fullmatch(when):
            raise UsageError(f"{when!r} is no condition", hint="Such as '<100', '>=5' or '10%'.")
        if not 2 <= learn <= _MOST_LEARN:
            raise UsageError(f"noise is learned from 2 to {_MOST_LEARN} reads, not {learn}")
        read_blocks(b"<p>x", "text/html", css)  # raises for what is no selector
        options = json_flags(flags)
        check_options(options)
        schedule = self.schedules.add(
            every, target, name=name, zone=zone, kind="monitor", notify=notify, until=until
        )
        monitor = Monitor(
            name=schedule.name,
            target=schedule.question,
            kind=kind,
            every=every,
            words=words,
            css=css,
            element=dict(element or {}),
            when=when,
            learn=learn,
            gap=gap,
            options=options,
            created=datetime.now(UTC),
            until=until,
        )
        self.states.delete(monitor.name)
        self._table.put(monitor.name, monitor)
        self.run(monitor.name)  # the first check
        return monitor

    def remove(self, name: str) -> None:
        """Watch no longer; what was kept stays."""
        self._table.delete(self.find(name).name)
        self.states.delete(name)
        with suppress(NoSuchJob):  # one that was watched up to a time has none left
            self.schedules.remove(name)

    def run(self, name: str) -> Job:
        """Check now; returns the job."""
        return self.schedules.run(name)

    def record(
        self,
        monitor: Monitor,
        job: JobSpec,
        before: MonitorState | None,
        now: MonitorState,
        diff: str,
    ) -> None:
        """Keep what a check found, and the change where it is told."""
        if before is not None and diff:
            change = MonitorChange(
                monitor=monitor.name,
                at=now.at,
                since=before.at,
                target=monitor.target,
                diff=diff,
                before_sha256=before.sha256,
                after_sha256=now.sha256,
                figure=now.figure,
                run=job.run if monitor.kind == "answer" else None,
            )
            self._changes(monitor.name).put(job.id, change)
        self.states.put(monitor.name, now)


def evidence_folder(jobs: Jobs, name: str) -> Path:
    """Return where the bodies of a monitor's pages are kept, by their hash."""
    return jobs.data_dir / "monitors" / name / "blobs"


async def check_monitor(
    job: JobSpec, jobs: Jobs, ask: Callable[[JobSpec], Awaitable[JobOutcome]]
) -> JobOutcome:
    """Check what a job's monitor watches against the last check; `ask` researches a question.

    The outcome's status is `first`, `same` or `changed`, its report holds the diff as `answer`.
    """
    monitors, name = Monitors(jobs), job.origin.partition(":")[2]
    try:
        monitor = await asyncio.to_thread(monitors.find, name)
    except NoSuchJob:
        return JobOutcome(state="failed", error=f"the monitor {name} was taken away")
    before = await asyncio.to_thread(monitors.states.get, name)
    usd = 0.0
    if monitor.kind == "answer":
        outcome = await ask(job.model_copy(update={"options": monitor.options}))
        if outcome.state != "done" or outcome.report is None or outcome.status == "partial":
            return outcome
        usd = outcome.usd
        now = MonitorState(at=datetime.now(UTC), answer=outcome.report["answer"])
        diff = _diff_answers(before.answer, now.answer) if before else ""
    else:
        try:
            now, diff = await _check_page(monitor, before, jobs)
        except WebOutOfReach as error:
            again = job.attempt <= job.retry
            return JobOutcome(state="failed", error=str(error), hint=error.hint, again=again)
    await asyncio.to_thread(monitors.record, monitor, job, before, now, diff)
    status = "first" if before is None else ("changed" if diff else "same")
    return JobOutcome(state="done", status=status, usd=usd, report={"answer": diff})


def _diff_answers(before: str, after: str) -> str:
    """Compare two answers by sentences, their source markers aside."""
    old, new = (
        [PageBlock("", _MARKERS.sub("", line)) for line in text.splitlines() if line]
        for text in (before, after)
    )
    return "\n".join(change.as_diff() for change in diff_blocks(old, new))


async def _check_page(
    monitor: Monitor, before: MonitorState | None, jobs: Jobs
) -> tuple[MonitorState, str]:
    """Read the page, the first time several times; returns its state and the diff to be told."""
    settings = check_options(
        {**monitor.options, "data_dir": jobs.data_dir, "fresh": True}, config=True
    )
    folder = RunFolder(private_folder(jobs.data_dir / "monitors") / monitor.name)
    private_folder(private_folder(folder.path) / "blobs")
    reads: list[list[PageBlock]] = []
    async with open_web(settings, os.environ) as web:
        for n in range(monitor.learn if before is None else 1):
            if n:
                await asyncio.sleep(monitor.gap)
            page, html = await _read_page(web, monitor)
            blocks = await asyncio.to_thread(_watched_blocks, monitor, page, html)
            if not blocks and before is None:
                raise WebOutOfReach(
                    f"{monitor.target}: there is nothing of {monitor.part!r}",
                    hint="Choose the part anew.",
                )
            reads.append(blocks)
    noise = learn_noise(reads) if before is None else before.noise
    now = MonitorState(
        at=page.fetched_at,
        sha256=await asyncio.to_thread(folder.keep, page.body),
        blocks=tuple(blocks),
        noise=noise,
        figure=before.figure if before else first_number(blocks),
    )
    if before is None:
        return now, ""
    diff = "\n".join(change.as_diff() for change in diff_blocks(before.blocks, blocks, noise))
    if not blocks and before.blocks:
        return now, f"@ {monitor.part or 'all text'} is no longer on the page\n{diff}"
    if not monitor.when:
        return now, diff
    figure = first_number(blocks)
    if figure == before.figure or not condition_holds(monitor.when, before.figure, figure):
        return now, ""
    return now.model_copy(update={"figure": figure}), diff


async def _read_page(web: Web, monitor: Monitor) -> tuple[Page, bytes]:
    """Read the page; where an element was chosen in the browser, which gives its HTML."""
    if not monitor.element:
        page = await web.reader.read(monitor.target)
        return page, page.body
    async with _open_tab(web, monitor.target) as tab:
        html = await tab.html_of(monitor.element)
        return await web.reader.read_tab(tab), html.encode("utf-8", "replace")


def _watched_blocks(monitor: Monitor, page: Page, html: bytes) -> list[PageBlock]:
    """Read the blocks of what is watched; raises `WebOutOfReach` for a page that did not come."""
    if page.outcome is not Outcome.OK or page.document is None:
        raise WebOutOfReach(f"{monitor.target} did not come: {page.reason or page.outcome.value}")
    if "html" in page.content_type:
        return read_blocks(html, page.content_type, monitor.css, monitor.words)
    words = monitor.words.casefold()
    lines = [line.strip() for line in page.document.text.splitlines() if line.strip()]
    return [PageBlock("", line) for line in lines if words in line.casefold()]


@asynccontextmanager
async def _open_tab(web: Web, url: str) -> AsyncIterator[Tab]:
    """Open a page in a tab of its own, politely; raises `WebOutOfReach` where it does not come."""
    try:
        if web.polite is not None:
            await web.polite.turn(url, DEADLINE)
        browser = await web.start_browser()
        tab = await browser.open(url, deadline=DEADLINE)
        try:
            yield tab
        finally:
            await browser.close(tab)
    except BrowserError as error:
        raise WebOutOfReach(f"{url} did not come: {error}", hint=error.hint) from error


async def page_with_refs(url: str, settings: Options, ref: str = "") -> tuple[str, dict[str, str]]:
    """Return a page's snapshot, and what tells the element of a ref again, where one is named.

    Raises `UsageError` for a ref that it does not have, `WebOutOfReach`.
    """
    async with open_web(settings, os.environ) as web, _open_tab(web, url) as tab:
        snapshot = await tab.snapshot(budget=None)
        try:
            return snapshot.text, await tab.identify(ref) if ref else {}
        except RefError as error:
            hint = f"`research monitor refs {url}` shows those there are."
            raise UsageError(str(error), hint=hint) from error


def condition_holds(when: str, before: float | None, now: float | None) -> bool:
    """Evaluate a condition on a figure; one that is not there meets none."""
    found = _CONDITION.fullmatch(when)
    assert found is not None
    if now is None:
        return False
    if found[3]:
        return before is not None and abs(now - before) >= abs(before) * float(found[3]) / 100
    return _COMPARE[found[1]](now, float(found[2]))
