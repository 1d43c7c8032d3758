"""Monitors: watched pages, numbers and answers, with their last state and changes.

A monitor is a schedule whose jobs are checks (`monitor_checks.py`). Page contents are stored by
hash in `monitors/NAME` in the data folder; changes, with times and hashes, are in the database.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.config import load_options
from agent.errors import UsageError
from agent.jobs.job import NoSuchJob, State, json_flags
from agent.jobs.jobs_database import NoteTable
from agent.jobs.page_diff import PageBlock, read_blocks
from agent.jobs.schedules import Schedules
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from agent.jobs.job import Job, JobSpec
    from agent.jobs.jobs import Jobs

DEFAULT_EVERY: Final = "every 15 minutes"
"""Default interval, as in the reference engine, whose minimum is five minutes."""
DEFAULT_LEARN, LEARN_GAP_S = 3, 2.0
"""Default number of reads from which noise is learned, and seconds between them."""
_MAX_LEARN: Final = 20  # reads; each takes two seconds
CONDITION: Final = re.compile(r"\s*(<=|>=|<|>|=)\s*(-?[\d.]+)\s*|\s*(-?[\d.]+)\s*%\s*")


MonitorKind = Literal["page", "answer", "recheck"]


class Monitor(BaseModel):
    """The target to watch: the page at a URL, part of it, the answer to a question, or a report.

    A report (kind `recheck`) is identified by its run or file, and is checked against the current
    pages.

    `words`, `css` or `element` (from `Tab.identify` for a ref) select the part. `when` is a
    condition on the first number in that part: `<100`, `>=5`, or `10%` for a change by that
    percentage since the last notification. Noise is learned from `learn` reads, `gap` seconds
    apart.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    target: str
    kind: MonitorKind
    every: str = DEFAULT_EVERY
    words: str = ""
    css: str = ""
    element: dict[str, str] = Field(default_factory=dict)
    when: str = ""
    learn: int = Field(DEFAULT_LEARN, ge=2, le=_MAX_LEARN)
    gap: float = LEARN_GAP_S
    options: dict[str, Any] = Field(default_factory=dict)
    created: datetime
    until: datetime | None = None

    @property
    def part(self) -> str:
        """The name of the watched part of the page; empty if the entire page is watched."""
        element = " ".join(filter(None, (self.element.get("role"), self.element.get("name"))))
        return element or self.element.get("path", "") or self.css or self.words


class MonitorState(BaseModel):
    """The result of the last check; `figure` is the last reported number, `run` a recheck's run."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    sha256: str = ""
    blocks: tuple[PageBlock, ...] = ()
    noise: frozenset[tuple[str, str]] = frozenset()
    answer: str = ""
    figure: float | None = None
    run: str | None = None


class MonitorChange(BaseModel):
    """A reported change: the passages before and after, and the hashes of both pages."""

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


class MonitorCheck(BaseModel):
    """An ended check: its time (UTC), the state, status and error of its job, and a hint."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    state: State
    status: str
    error: str
    hint: str


class Monitors:
    """All monitors, by name; an unknown name raises `NoSuchJob`."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.schedules = Schedules(jobs, watched=True)
        self._table = NoteTable(jobs.database, "monitor", Monitor)
        self.states = NoteTable(jobs.database, "monitor-state", MonitorState)

    def all(self) -> list[Monitor]:
        """Return all monitors, sorted by name."""
        return [*self._table.all().values()]

    def find(self, name: str) -> Monitor:
        """Find a monitor by name."""
        if (monitor := self._table.get(name)) is None:
            raise NoSuchJob(
                f"no monitor {name}", hint="`research monitor list` shows the monitors."
            )
        return monitor

    def changes(self, name: str) -> list[MonitorChange]:
        """Return the reported changes of a monitor, oldest first."""
        return [*self._changes(name).all().values()]

    def last_check(self, name: str) -> MonitorCheck | None:
        """Return the last check that has ended, or None; a failed one may be retried."""
        job = self._jobs.last_ended(f"schedule:{name}", f"{name}-")
        if job is None:
            return None
        row = job.model_dump(include={"state", "status", "error", "hint"})
        return MonitorCheck(at=job.ended or job.created, **row)

    def _changes(self, name: str) -> NoteTable[MonitorChange]:
        return NoteTable(self._jobs.database, f"monitor-change:{name}", MonitorChange)

    def add(
        self,
        target: str,
        *,
        kind: MonitorKind | None = None,
        name: str | None = None,
        zone: str | None = None,
        notify: tuple[str, ...] = (),
        until: datetime | None = None,
        **settings: Any,
    ) -> Monitor:
        """Watch a page (URL), an answer (question) or a report until `until`.

        `settings` are fields of `Monitor` (`every`, `words`, `when`, …) and flags of `research`.
        An existing monitor with the same name is replaced. Raises `UsageError`.
        """
        kind = kind or ("page" if is_web_url(target.strip()) else "answer")
        if kind == "answer" and target.isascii() and len(target.split()) < 2:
            hint = "Use an http:// or https:// URL, or a question of more than one word."
            raise UsageError(f"{target!r} is neither a URL nor a question", hint=hint)
        fields = {field: settings.pop(field) for field in Monitor.model_fields.keys() & settings}
        monitor = Monitor(
            name="",
            target=target,
            kind=kind,
            options=json_flags(settings),
            created=datetime.now(UTC),
            until=until,
            **fields,
        )
        if kind != "page" and (monitor.part or monitor.when):
            raise UsageError("only page monitors can watch a part or a number")
        if monitor.when and not CONDITION.fullmatch(monitor.when):
            message = f"{monitor.when!r} is not a condition"
            raise UsageError(message, hint="Use a format such as '<100', '>=5' or '10%'.")
        read_blocks(b"<p>x", "text/html", monitor.css)  # raises for an invalid selector
        load_options(monitor.options)
        schedule = self.schedules.add(
            monitor.every, target, name=name, zone=zone, kind="monitor", notify=notify, until=until
        )
        monitor = monitor.model_copy(update={"name": schedule.name, "target": schedule.question})
        self.states.delete(monitor.name)
        self._table.put(monitor.name, monitor)
        self.run(monitor.name)  # the first check
        return monitor

    def remove(self, name: str) -> None:
        """Remove a monitor. The recorded changes are kept."""
        self._table.delete(self.find(name).name)
        self.states.delete(name)
        with suppress(NoSuchJob):  # a monitor that has passed its `until` no longer has a schedule
            self.schedules.remove(name)

    def run(self, name: str) -> Job:
        """Run a check now; return its job."""
        return self.schedules.run(name)

    def record(
        self,
        monitor: Monitor,
        job: JobSpec,
        before: MonitorState | None,
        now: MonitorState,
        diff: str,
    ) -> None:
        """Store the result of a check, along with the change if there is one to report."""
        # Write the change first: if the worker dies in between, the check is repeated with the same
        # id.
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
                run=now.run or (job.run if monitor.kind == "answer" else None),
            )
            self._changes(monitor.name).put(job.id, change)
        self.states.put(monitor.name, now)
