"""Pages, figures and answers that are watched: what changed is told as passages, and kept.

A monitor is a schedule whose job looks again. Its first look reads the page several times, to learn
what differs by itself. Bodies are kept by their hash in `monitors/NAME` of the data folder, the
changes with times and hashes in the database of jobs.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.config import options as checked
from agent.errors import UsageError
from agent.jobs import page_changes
from agent.jobs.jobs import plain
from agent.jobs.schedules import add_schedule, remove_schedule, run_schedule
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs

MONITORS, STATES, CHANGES = "monitor", "monitor-state", "monitor-change"
"""Kinds of notes in the database of jobs; that of changes is followed by the monitor's name."""
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
        """Name what is watched of the page; empty for all of it."""
        element = " ".join(filter(None, (self.element.get("role"), self.element.get("name"))))
        return element or self.element.get("path", "") or self.css or self.words


class MonitorState(BaseModel):
    """What was there when it was last looked at; `figure` is the one last told."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    sha256: str = ""
    blocks: list[list[str]] = Field(default_factory=list)
    noise: list[list[str]] = Field(default_factory=list)
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


def monitors(jobs: Jobs) -> list[Monitor]:
    """Give all monitors, by name."""
    return [Monitor.model_validate(row) for row in jobs.database.notes(MONITORS).values()]


def find_monitor(jobs: Jobs, name: str) -> Monitor:
    """Find a monitor by its name; raises `UsageError`."""
    row = jobs.database.note(MONITORS, name)
    if row is None:
        raise UsageError(f"no monitor {name}", hint="`research monitor list` lists them.")
    return Monitor.model_validate(row)


def monitor_changes(jobs: Jobs, name: str) -> list[MonitorChange]:
    """Give the changes that a monitor told, the oldest first."""
    rows = jobs.database.notes(f"{CHANGES}:{name}").values()
    return [MonitorChange.model_validate(row) for row in rows]


def add_monitor(
    jobs: Jobs,
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
    """Watch a page (an address) or an answer (a question), up to `until`; raises `UsageError`."""
    kind: Literal["page", "answer"] = "page" if is_web_url(target.strip()) else "answer"
    if kind == "answer" and target.isascii() and len(target.split()) < 2:
        hint = "An address begins with https://; a question has more than one word."
        raise UsageError(f"{target!r} is neither an address nor a question", hint=hint)
    if kind == "answer" and (words or css or element or when):
        raise UsageError("parts and figures are of pages; of a question the answer is watched")
    if when and not CONDITION.fullmatch(when):
        raise UsageError(f"{when!r} is no condition", hint="Such as '<100', '>=5' or '10%'.")
    if not 2 <= learn <= _MOST_LEARN:
        raise UsageError(f"noise is learned from 2 to {_MOST_LEARN} reads, not {learn}")
    page_changes.blocks_of(b"<p>x", "text/html", css)  # raises for what is no selector
    given = plain(flags)
    checked(given)
    made = add_schedule(
        jobs, every, target, name=name, zone=zone, kind="monitor", notify=notify, until=until
    )
    found = Monitor(
        name=made.name, target=made.question, kind=kind, every=every, words=words, css=css,
        element=dict(element or {}), when=when, learn=learn, gap=gap, options=given,
        created=datetime.now(UTC), until=until,
    )  # fmt: skip
    jobs.database.drop(STATES, found.name)
    jobs.database.keep(MONITORS, found.name, found.model_dump(mode="json"))
    run_schedule(jobs, found.name)  # the first look
    return found


def remove_monitor(jobs: Jobs, name: str) -> None:
    """Watch no longer; raises `UsageError`."""
    if not jobs.database.drop(MONITORS, name):
        raise UsageError(f"no monitor {name}", hint="`research monitor list` lists them.")
    jobs.database.drop(STATES, name)
    with suppress(UsageError):  # one that was watched up to a time has none left
        remove_schedule(jobs, name)


def run_monitor(jobs: Jobs, name: str) -> Job:
    """Look now; gives the job."""
    return run_schedule(jobs, find_monitor(jobs, name).name)


def evidence_folder(jobs: Jobs, name: str) -> Path:
    """Say where the bodies of a monitor's pages are kept, by their hash."""
    return jobs.data_dir / "monitors" / name / "blobs"
