"""What a job is: what was asked for, how it goes on, and what it came to."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.errors import UsageError
from agent.journal.runs import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dbos import WorkflowStatus

Kind = Literal["ask", "monitor", "remind"]
State = Literal["waiting", "queued", "running", "done", "failed", "cancelled", "expired"]
Lane = Literal["user", "autonomy"]
ENDED: Final = frozenset({"done", "failed", "cancelled", "expired"})
"""States that a job stays in unless somebody tries it again."""

QUEUE: Final = "urchin"
BASE_DELAY_S, LONGEST_DELAY_S = 60.0, 3600.0
"""Back-off before the second attempt, doubled each time: the reference's; its cap is ours."""
HIGHEST: Final = 1_000_000
"""Priorities go from minus to plus this."""
_LANE: Final = 4 * HIGHEST
_ATTEMPT: Final = "~"


class NoSuchJob(UsageError):
    """No job, schedule or monitor is called so."""


class AskedJob(BaseModel):
    """What was asked for, and how it is treated.

    `question` is the text of an `ask` and a `remind`, the name of a `monitor`. `options` are the
    flags of the run that were given, `run` is the id that its record gets, the same at every
    attempt. `after` names jobs whose answers are handed on.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    kind: Kind = "ask"
    question: str
    run: str = Field(default_factory=lambda given: run_id_of(given["id"]))
    priority: int = Field(0, ge=-HIGHEST, le=HIGHEST)
    lane: Lane = "user"
    after: tuple[str, ...] = ()
    attempt: int = 1
    retry: int = Field(0, ge=0, le=20)
    origin: str = "person"
    options: dict[str, Any] = Field(default_factory=dict)


class JobSpec(AskedJob):
    """A job as it travels to the worker, as JSON.

    `context` holds answers (Markdown) that stood already. `expires` is the time (epoch s) after
    which it is not begun any more.
    """

    context: tuple[str, ...] = ()
    continues: str | None = None
    base_delay: float = Field(BASE_DELAY_S, gt=0)
    expires: float | None = None
    notify: tuple[str, ...] = ()
    queue: str = QUEUE

    @property
    def workflow(self) -> str:
        """The id of this attempt's workflow."""
        return attempt_id(self.id, self.attempt)

    @property
    def rank(self) -> int:
        """Where it stands in DBOS's order, lowest first: a person's before the machine's."""
        return (_LANE if self.lane == "autonomy" else 0) + HIGHEST - self.priority + 1


class JobOutcome(BaseModel):
    """What one attempt came to; `report` is that of the run, `again` that it is tried again."""

    model_config = ConfigDict(frozen=True)

    state: Literal["done", "failed", "expired"]
    status: str = ""
    usd: float = 0.0
    elapsed_s: float = 0.0
    error: str = ""
    hint: str = ""
    report: dict[str, Any] | None = None
    again: bool = False


class Job(AskedJob):
    """A job as people and programs see it; times are UTC.

    `status` is that of the report, `error` why there is none or it failed. `worker` is who has it,
    or had it last, `untold` to whom the notice of its end did not get. `report` is there only where
    it was asked for.
    """

    state: State
    status: str = ""
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


def job_of(row: WorkflowStatus, *, report: bool = False) -> Job:
    """Read an attempt's row as the job that it stands for."""
    spec = spec_of(row)
    noted = row.attributes or {}
    ended = row.status == "SUCCESS"
    outcome = JobOutcome.model_validate(row.output or noted["outcome"]) if ended else None
    state = _state(row, outcome, spec)
    told = outcome.model_dump(include={"status", "usd", "hint", "report"}) if outcome else {}
    return Job(
        **spec.model_dump(exclude={"expires"}),
        **(told if report else {**told, "report": None}),
        state=state,
        created=_time(row.created_at) or datetime.now(UTC),
        due=_time(row.delay_until_epoch_ms) if state == "waiting" and not spec.after else None,
        started=_time(row.dequeued_at),
        ended=_time(row.completed_at),
        expires=_time(spec.expires * 1000) if spec.expires else None,
        worker=row.executor_id,
        error=noted.get("reason") or (outcome.error if outcome else _crash(row)),
        untold=tuple(noted.get("told", ())),
    )


def spec_of(row: WorkflowStatus) -> JobSpec:
    """Read what a workflow was given."""
    assert row.input is not None
    return JobSpec.model_validate(row.input["args"][0])


def _state(row: WorkflowStatus, outcome: JobOutcome | None, spec: JobSpec) -> State:
    if outcome is not None:
        return outcome.state
    known: dict[str, State] = {"DELAYED": "waiting", "ENQUEUED": "queued", "PENDING": "running"}
    state = known.get(row.status, "failed")
    if row.status == "CANCELLED":
        marked: State = (row.attributes or {}).get("state", "cancelled")
        return marked
    late = spec.expires is not None and spec.expires < datetime.now(UTC).timestamp()
    return "expired" if late and state in ("waiting", "queued") else state


def _crash(row: WorkflowStatus) -> str:
    if row.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        return "each worker that had it ended before it did"
    return str(row.error) if row.error else ""


def _time(ms: float | None) -> datetime | None:
    return datetime.fromtimestamp(ms / 1000, UTC) if ms else None


def attempt_id(job: str, attempt: int) -> str:
    """Name the workflow of an attempt: the job's own id, then `ID~2`, `ID~3`."""
    return job if attempt == 1 else f"{job}{_ATTEMPT}{attempt}"


def job_id_of(workflow: str) -> str:
    """Name the job that a workflow is an attempt of."""
    return workflow.partition(_ATTEMPT)[0]


def fresh_id() -> str:
    """Make the id of a new job; its run gets the same."""
    return new_id(datetime.now(UTC), 6)


def run_id_of(job: str) -> str:
    """Make a run's id for a job whose own id comes from its content: now, and a hash of it."""
    digest = hashlib.sha256(job.encode()).hexdigest()[:12]
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{digest}"


_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds_of(text: str) -> float:
    """Read `90`, `90s`, `20m`, `2h`, `1d`, `1h30m` as seconds; raises `UsageError`."""
    rest, total = text.strip().lower(), 0.0
    try:
        if rest and rest[-1].isdigit():
            return timedelta(seconds=float(rest)).total_seconds()
        number = ""
        for char in rest:
            if char.isdigit() or char == ".":
                number += char
            else:
                total, number = total + float(number) * _UNITS[char], ""
    except (KeyError, ValueError, OverflowError):
        total = 0.0
    if total <= 0:
        raise UsageError(f"{text!r} is no length of time", hint="Such as 90s, 20m, 2h or 1d.")
    return total


def plain(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Write the flags that were given as JSON; a path becomes absolute: a worker is elsewhere."""

    def written(value: Any) -> Any:
        if isinstance(value, Path):
            return str(value.absolute())
        return [written(one) for one in value] if isinstance(value, tuple | list) else value

    return {name: written(value) for name, value in flags.items() if value not in (None, ())}
