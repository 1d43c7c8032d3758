"""The data of a job: its request, its spec for a worker, its outcome, and its public view."""

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
FINAL_STATES: Final = frozenset({"done", "failed", "cancelled", "expired"})
"""Final states of a job, unless it is retried."""
_STATES_BY_STATUS: Final[dict[str, State]] = {
    "DELAYED": "waiting",
    "ENQUEUED": "queued",
    "PENDING": "running",
    "CANCELLED": "cancelled",
}
"""Job states by DBOS workflow state, for workflows without a result; other states mean `failed`."""

QUEUE: Final = "urchin"
BASE_DELAY_S, MAX_DELAY_S = 60.0, 3600.0
"""Backoff before the second attempt, in seconds, and its maximum; it doubles with each attempt. The
first value is the reference engine's.
"""
MAX_PRIORITY: Final = 1_000_000
"""Priorities range from minus `MAX_PRIORITY` to plus `MAX_PRIORITY`."""
_LANE_OFFSET: Final = 4 * MAX_PRIORITY  # exceeds the range of priorities within a lane
_ATTEMPT_SEPARATOR: Final = "~"


class NoSuchJob(UsageError):
    """Raised if there is no job, schedule or monitor with the given name."""


class JobRequest(BaseModel):
    """The fields that a job keeps from the queue to the public view.

    `question` is the text of an `ask` or `remind` job, or the target of a `monitor` job. `options`
    are the flags given for the run. `run` is the run's id, the same in every attempt. `after` lists
    jobs whose answers are passed on to this job.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    kind: Kind = "ask"
    question: str
    run: str = Field(default_factory=lambda fields: run_id_for(fields["id"]))
    priority: int = Field(0, ge=-MAX_PRIORITY, le=MAX_PRIORITY)
    lane: Lane = "user"
    after: tuple[str, ...] = ()
    attempt: int = 1
    retry: int = Field(0, ge=0, le=20)
    origin: str = "user"
    options: dict[str, Any] = Field(default_factory=dict)


class JobSpec(JobRequest):
    """A job for a worker, stored as JSON in the database.

    `context` contains earlier answers (Markdown). `expires` is the time (epoch s) after which the
    job is no longer started.
    """

    context: tuple[str, ...] = ()
    continues: str | None = None
    base_delay: float = Field(BASE_DELAY_S, gt=0)
    expires: float | None = None
    notify: tuple[str, ...] = ()
    queue: str = QUEUE

    @classmethod
    def from_row(cls, row: WorkflowStatus) -> Self:
        """Read a workflow's input."""
        assert row.input is not None
        return cls.model_validate(row.input["args"][0])

    @property
    def workflow(self) -> str:
        """The workflow id of this attempt: the job's id, then `ID~2`, `ID~3` and so on."""
        return self.id if self.attempt == 1 else f"{self.id}{_ATTEMPT_SEPARATOR}{self.attempt}"

    @property
    def rank(self) -> int:
        """The DBOS priority, lowest first: users' jobs come before scheduled jobs."""
        return (_LANE_OFFSET if self.lane == "autonomy" else 0) + MAX_PRIORITY - self.priority + 1


class JobOutcome(BaseModel):
    """The outcome of one attempt; `report` is the run's report, and `again` means a retry follows.

    `badge` combines the report's status and verdicts.
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
    """The public view of a job, for users and programs; times are UTC.

    `status` is the report's status, `badge` combines it with the verdicts, and `error` is the
    reason for a failure or a missing report. `worker` is the current or last worker. `undelivered`
    lists the targets that the notice did not reach. `report` is set only if it was requested.
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
    undelivered: tuple[str, ...] = ()
    report: dict[str, Any] | None = None

    @classmethod
    def from_row(cls, row: WorkflowStatus, *, report: bool = False) -> Self:
        """Read an attempt's row."""
        spec, attributes = JobSpec.from_row(row), row.attributes or {}
        outcome = None
        if row.status == "SUCCESS":  # list rows lack the output; the attributes contain a summary
            outcome = JobOutcome.model_validate(row.output or attributes["outcome"])
        state: State = outcome.state if outcome else _STATES_BY_STATUS.get(row.status, "failed")
        error = outcome.error if outcome else str(row.error or "")
        if row.status == "CANCELLED":  # by the user, because of a parent job, or because it expired
            state = attributes.get("state", state)
        elif row.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
            error = "every worker that ran this job died before finishing it"
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
            undelivered=tuple(attributes.get("undelivered", ())),
        )


def _utc(ms: float | None) -> datetime | None:
    return datetime.fromtimestamp(ms / 1000, UTC) if ms else None


def job_id_of(workflow: str) -> str:
    """Return the id of a workflow's job."""
    return workflow.partition(_ATTEMPT_SEPARATOR)[0]


def run_id_for(job: str) -> str:
    """Make a run id for a job with a content-based id, from the time and a hash of that id."""
    digest = hashlib.sha256(job.encode()).hexdigest()[:12]
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{digest}"


_UNIT_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_duration(text: str) -> float:
    """Parse a duration such as `90`, `90s`, `20m` or `1h30m` to seconds; raises `UsageError`."""
    written = text.strip().lower()
    parts = re.findall(r"([\d.]+)([smhdw])", written)
    try:
        if parts and "".join(number + unit for number, unit in parts) == written:
            seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)
        else:
            seconds = timedelta(seconds=float(written)).total_seconds()
    except (ValueError, OverflowError):
        seconds = -1.0
    if seconds < 0:
        raise UsageError(
            f"{text!r} is not a duration", hint="Use a format such as 90s, 20m, 2h or 1d."
        )
    return seconds


def json_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Convert flags to JSON values. Paths become absolute, because workers run in other folders."""

    def as_json(value: Any) -> Any:
        if isinstance(value, Path):
            return str(value.absolute())
        return [as_json(one) for one in value] if isinstance(value, tuple | list) else value

    return {name: as_json(value) for name, value in flags.items() if value not in (None, ())}


def backoff(job: JobSpec) -> float:
    """Return the seconds to wait before a job's next attempt."""
    rule = RetryRule(0, job.base_delay, MAX_DELAY_S, min_delay=job.base_delay / 2)
    return delay(rule, job.attempt)
