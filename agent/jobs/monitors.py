"""Monitors: pages, figures and answers that are watched, with their last state and changes.

A monitor is a schedule whose jobs are checks (`monitor_checks.py`). Bodies of pages are kept by
their hash in `monitors/NAME` of the data folder, changes with times and hashes in the database.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.config import load_options
from agent.errors import UsageError
from agent.jobs.job import NoSuchJob, json_flags
from agent.jobs.jobs_database import NoteTable
from agent.jobs.page_diff import PageBlock, read_blocks
from agent.jobs.schedules import Schedules
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from agent.jobs.job import Job, JobSpec
    from agent.jobs.jobs import Jobs

EVERY: Final = "every 15 minutes"
"""The reference's default; its least interval is five minutes."""
LEARN, LEARN_GAP_S = 3, 2.0
"""Reads from which noise is learned, and the seconds between them."""
_MOST_LEARN: Final = 20
CONDITION: Final = re.compile(r"\s*(<=|>=|<|>|=)\s*(-?[\d.]+)\s*|\s*(-?[\d.]+)\s*%\s*")


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
        zone: str | None = None,
        notify: tuple[str, ...] = (),
        until: datetime | None = None,
        **settings: Any,
    ) -> Monitor:
        """Watch a page (an address) or an answer (a question), up to `until`.

        `settings` are fields of `Monitor` (`every`, `words`, `when`, …) and flags of `research`.
        One of the same name is replaced. Raises `UsageError`.
        """
        kind: Literal["page", "answer"] = "page" if is_web_url(target.strip()) else "answer"
        if kind == "answer" and target.isascii() and len(target.split()) < 2:
            hint = "An address begins with https://; a question has more than one word."
            raise UsageError(f"{target!r} is neither an address nor a question", hint=hint)
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
        if kind == "answer" and (monitor.part or monitor.when):
            raise UsageError("parts and figures are of pages; of a question the answer is watched")
        if monitor.when and not CONDITION.fullmatch(monitor.when):
            message = f"{monitor.when!r} is no condition"
            raise UsageError(message, hint="Such as '<100', '>=5' or '10%'.")
        read_blocks(b"<p>x", "text/html", monitor.css)  # raises for what is no selector
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
        # The change first: a worker that dies in between makes the check again, with the same id.
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
