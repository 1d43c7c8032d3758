"""The data of a job: the request, the spec that a worker gets, the outcome, the public view."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from agent.errors import UsageError
from browser.retries import RetryRule, delay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dbos import WorkflowStatus

Kind = Literal["ask", "monitor", "remind"]
State = Literal["waiting", "queued", "running", "done", "failed", "cancelled", "expired"]
Lane = Literal["user", "autonomy"]
ENDED: Final = frozenset({"done", "failed", "cancelled", "expired"})
"""States that a job stays in unless somebody retries it."""
_STATES: Final[dict[str, State]] = {
    "DELAYED": "waiting",
    "ENQUEUED": "queued",
    "PENDING": "running",
    "CANCELLED": "cancelled",
}
"""States of DBOS workflows without a result, in our words; any other one is `failed`."""

QUEUE: Final = "urchin"
BASE_DELAY_S, LONGEST_DELAY_S = 60.0, 3600.0
"""Backoff before the second attempt, doubled each time: the reference's; its cap is ours."""
HIGHEST: Final = 1_000_000
"""Priorities go from minus `HIGHEST` to plus `HIGHEST`."""
_LANE: Final = 4 * HIGHEST  # more than all priorities of a lane span
_ATTEMPT: Final = "~"


class NoSuchJob(UsageError):
    """There is no job, schedule or monitor of this name."""


class JobRequest(BaseModel):
    """What was asked for: the fields that a job has from the queue to the public view.

    `question` is the text of an `ask` and a `remind`, the target of a `monitor`. `options` are the
    flags of the run that were given, `run` is the id of its record, the same at every attempt.
    `after` names jobs whose answers are handed on.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    kind: Kind = "ask"
    question: str
    run: str = Field(default_factory=lambda fields: run_id_for(fields["id"]))
    priority: int = Field(0, ge=-HIGHEST, le=HIGHEST)
    lane: Lane = "user"
    after: tuple[str, ...] = ()
    attempt: int = 1
    retry: int = Field(0, ge=0, le=20)
    origin: str = "person"
    options: dict[str, Any] = Field(default_factory=dict)


class JobSpec(JobRequest):
    """A job as a worker gets it, as JSON in the database.

    `context` holds answers (Markdown) that stood already. `expires` is the time (epoch s) after
    which it is not started any more.
    """

    context: tuple[str, ...] = ()
    continues: str | None = None
    base_delay: float = Field(BASE_DELAY_S, gt=0)
    expires: float | None = None
    notify: tuple[str, ...] = ()
    queue: str = QUEUE

    @classmethod
    def from_row(cls, row: WorkflowStatus) -> Self:
        """Read the input of a workflow."""
        assert row.input is not None
        return cls.model_validate(row.input["args"][0])

    @property
    def workflow(self) -> str:
        """The id of this attempt's workflow: the job's own, then `ID~2`, `ID~3`."""
        return self.id if self.attempt == 1 else f"{self.id}{_ATTEMPT}{self.attempt}"

    @property
    def rank(self) -> int:
        """DBOS's priority, lowest first: all jobs of people come before those of schedules."""
        return (_LANE if self.lane == "autonomy" else 0) + HIGHEST - self.priority + 1


class JobOutcome(BaseModel):
    """The outcome of one attempt; `report` is that of the run, `again` that it is tried again.

    `badge` shows status and standing of the report as one.
    """

    model_config = ConfigDict(frozen=True)

    state: Literal["done", "failed", "expired"]
    status: str = ""
    badge: str = ""
    usd: float = 0.0
    elapsed_s: float = 0.0
    error: str = ""
    hint: str = ""
    report: dict[str, Any] | None = None
    again: bool = False


class Job(JobRequest):
    """A job as people and programs see it; times are UTC.

    `status` is that of the report, `badge` shows it with the standing, `error` says why there is
    none or it failed. `worker` is who has it, or had it last; `untold` are the targets that its
    notice did not reach. `report` is there only where it was asked for.
    """

    state: State
    status: str = ""
    badge: str = ""
    created: datetime
    due: datetime | None = None
    started: datetime | None = None
    ended: datetime | None = None
    expires: datetime | None = None
    worker: str | None = None
    usd: float = 0.0
    error: str = ""
    hint: str = ""
    untold: tuple[str, ...] = ()
    report: dict[str, Any] | None = None

    @classmethod
    def from_row(cls, row: WorkflowStatus, *, report: bool = False) -> Self:
        """Read the row of an attempt."""
        spec, attributes = JobSpec.from_row(row), row.attributes or {}
        outcome = None
        if row.status == "SUCCESS":  # rows of lists have no output; the attributes are its summary
            outcome = JobOutcome.model_validate(row.output or attributes["outcome"])
        state: State = outcome.state if outcome else _STATES.get(row.status, "failed")
        error = outcome.error if outcome else str(row.error or "")
        if row.status == "CANCELLED":  # why it was is on the attempt: a person, its parent, time
            state = attributes.get("state", state)
        elif row.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
            error = "each worker that had it ended before it did"
        elif state in ("waiting", "queued") and spec.expires:
            state = "expired" if spec.expires < datetime.now(UTC).timestamp() else state
        shown = {"status", "badge", "usd", "hint", *(["report"] if report else [])}
        return cls(
            **spec.model_dump(exclude={"expires"}),
            **(outcome.model_dump(include=shown) if outcome else {}),
            state=state,
            created=_utc(row.created_at) or datetime.now(UTC),
            due=_utc(row.delay_until_epoch_ms) if state == "waiting" and not spec.after else None,
            started=_utc(row.dequeued_at),
            ended=_utc(row.completed_at),
            expires=_utc(spec.expires * 1000) if spec.expires else None,
            worker=row.executor_id,
            error=attributes.get("reason") or error,
            untold=tuple(attributes.get("told", ())),
        )


def _utc(ms: float | None) -> datetime | None:
    return datetime.fromtimestamp(ms / 1000, UTC) if ms else None


def job_id_of(workflow: str) -> str:
    """Name the job that a workflow is an attempt of."""
    return workflow.partition(_ATTEMPT)[0]


def run_id_for(job: str) -> str:
    """Make a run's id for a job whose own id comes from its content: now, and a hash of it."""
    digest = hashlib.sha256(job.encode()).hexdigest()[:12]
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{digest}"


_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_duration(text: str) -> float:
    """Read `90`, `90s`, `20m`, `2h`, `1d`, `1h30m` as seconds; raises `UsageError`."""
    written = text.strip().lower()
    parts = re.findall(r"([\d.]+)([smhdw])", written)
    try:
        if parts and "".join(number + unit for number, unit in parts) == written:
            seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
        else:
            seconds = timedelta(seconds=float(written)).total_seconds()
    except (ValueError, OverflowError):
        seconds = -1.0
    if seconds < 0:
        raise UsageError(f"{text!r} is no length of time", hint="Such as 90s, 20m, 2h or 1d.")
    return seconds


def json_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Convert flags to JSON values; paths become absolute, as a worker has another directory."""

    def as_json(value: Any) -> Any:
        if isinstance(value, Path):
            return str(value.absolute())
        return [as_json(one) for one in value] if isinstance(value, tuple | list) else value

    return {name: as_json(value) for name, value in flags.items() if value not in (None, ())}


def backoff(job: JobSpec) -> float:
    """Return the seconds before the next attempt of a job."""
    rule = RetryRule(0, job.base_delay, LONGEST_DELAY_S, least=job.base_delay / 2)
    return delay(rule, job.attempt)
