"""Tools by which a model sets tasks, reminders and monitors, where a person allows it.

Their names, and a monitor's defaults, are the reference's. They act on the schedules that
`research schedule` and `research monitor` show; whom they tell, the person has named.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import AliasChoices, Field

from agent.errors import ToolError, UsageError
from agent.jobs.monitors import add_monitor, monitors, remove_monitor
from agent.jobs.schedules import add_schedule, remove_schedule, schedules
from agent.tools.context import web_of
from agent.tools.page_tools import open_tab
from agent.tools.registry import Handler, NoParams, Params, Risk, Tool, ToolResult, ToolSource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.config import Options
    from agent.jobs.jobs import Jobs
    from agent.jobs.schedules import Schedule
    from agent.tools.context import ToolContext

EVERY_MINUTES, LEAST_MINUTES, LAST_MINUTES = 15, 5, 360
"""A monitor's interval, the least there is, and after how long it ends: the reference's."""
_LAST_LOOK_S: Final = 30
"""The look at the very end of a monitor's time belongs to it."""
_MOST_MINUTES: Final = 60 * 24 * 366
_NOT_HANDED_ON: Final = {
    *("attach", "cdp", "headed", "storage_state", "share", "file"),  # what the person lends a run
    *("continue_run", "session", "schema_file", "dry_run", "report", "require_verified"),
    *("allow_tasks", "data_dir", "keep_days", "fresh"),
}
"""Settings of the run that its tasks do not get: a task sets no tasks."""
_NO_WORKER: Final = "nothing is done before somebody starts `research worker`: tell the person"


class TaskParams(Params):
    """A question, and when it is asked."""

    task: str = Field(min_length=1, validation_alias=AliasChoices("task", "prompt", "question"))
    when: str = Field(min_length=1, validation_alias=AliasChoices("when", "schedule", "cron"))
    name: str | None = None


class ReminderParams(Params):
    """What the person is told, and when."""

    text: str = Field(min_length=1, validation_alias=AliasChoices("text", "message"))
    when: str = Field(min_length=1, validation_alias=AliasChoices("when", "time"))


class TimerParams(Params):
    """How long, and what the person is told then."""

    minutes: float = Field(gt=0, le=_MOST_MINUTES)
    text: str = Field("The timer is up.", validation_alias=AliasChoices("text", "label"))


class MonitorParams(Params):
    """What is watched: an address, a question, or a `ref` of the open page; how often, how long."""

    target: str = Field("", validation_alias=AliasChoices("target", "url", "question"))
    minutes: int = Field(EVERY_MINUTES, ge=LEAST_MINUTES, le=_MOST_MINUTES)
    for_minutes: int = Field(LAST_MINUTES, ge=LEAST_MINUTES, le=_MOST_MINUTES)
    words: str = ""
    condition: str = ""
    ref: str = ""


class StopParams(Params):
    """Which one, by the name that LIST gives."""

    name: str = Field(min_length=1)


def task_tools(options: Options, open_jobs: Callable[[], Jobs]) -> list[Tool]:
    """Make the tools of a run: its tasks are asked with its settings, and tell whom it names."""
    given = options.model_dump(mode="json", exclude_defaults=True, exclude=_NOT_HANDED_ON)
    desk = _TaskDesk(open_jobs, given, options.allow_tasks)
    return [
        _tool(
            "SCHEDULE_TASK",
            "has a question asked later, once or again and again: when is “in 20 minutes”, "
            "“tomorrow at 9:30”, “every weekday at 8”, or cron's five fields.",
            TaskParams,
            partial(desk.do, desk.schedule),
        ),
        _tool(
            "REMIND_ME",
            "tells the person something then.",
            ReminderParams,
            partial(desk.do, desk.remind),
        ),
        _tool(
            "SET_TIMER",
            "tells the person when so long has passed.",
            TimerParams,
            partial(desk.do, desk.time),
        ),
        _tool(
            "MONITOR",
            "watches a page, or the answer to a question, and tells the person what changed; "
            "words, or a ref of the open page, chooses a part, condition is of its first figure "
            "(<100, >=5, 10%).",
            MonitorParams,
            desk.choose,
        ),
        _tool(
            "LIST",
            "lists tasks, reminders, timers and monitors.",
            NoParams,
            partial(desk.do, desk.list),
            lasting=False,
        ),
        _tool("STOP", "ends one of them.", StopParams, partial(desk.do, desk.stop)),
    ]


def _tool(
    name: str, told: str, params: type[Params], work: Handler, *, lasting: bool = True
) -> Tool:
    risk = Risk.EXTERNAL if lasting else Risk.READ
    return Tool(name, told, params, work, risk, lasting=lasting, source=ToolSource.SYSTEM)


class _TaskDesk:
    """What the tools do with the jobs, which are opened for each call."""

    def __init__(
        self, open_jobs: Callable[[], Jobs], given: Mapping[str, Any], tells: tuple[str, ...]
    ) -> None:
        self._open = open_jobs
        self._given = dict(given)
        self._tells = tells

    async def do(
        self, work: Callable[[Jobs, Any], Any], _context: ToolContext, params: Any
    ) -> ToolResult:
        """Do what a tool is for, in a thread: a database is asked. Raises `ToolError`."""

        def opened() -> Any:
            with self._open() as jobs:
                made = work(jobs, params)
                idle = "next" in made and not jobs.workers()
                return {**made, "note": _NO_WORKER} if idle else made

        try:
            return ToolResult(await asyncio.to_thread(opened))
        except UsageError as error:
            raise ToolError(str(error), hint=error.hint) from error

    async def choose(self, context: ToolContext, params: MonitorParams) -> ToolResult:
        """Watch; of a ref, what tells its element again is kept. Raises `ToolError`."""
        element: dict[str, str] = {}
        if params.ref:
            tab = open_tab(context)
            async with web_of(context).lock:
                element = await tab.identify(params.ref)
            params = params.model_copy(update={"target": tab.url})
        return await self.do(partial(self.watch, element=element), context, params)

    def schedule(self, jobs: Jobs, params: TaskParams) -> dict[str, Any]:
        """Have a question asked; one of a name that is taken is refused, not replaced."""
        if params.name and any(one.name == params.name for one in schedules(jobs)):
            raise UsageError(f"{params.name} is there", hint="Take another name, or STOP it.")
        made = add_schedule(
            jobs, params.when, params.task, name=params.name, notify=self._tells, **self._given
        )
        return _set(made)

    def remind(self, jobs: Jobs, params: ReminderParams) -> dict[str, Any]:
        """Have the person told."""
        made = add_schedule(jobs, params.when, params.text, kind="remind", notify=self._tells)
        return _set(made)

    def time(self, jobs: Jobs, params: TimerParams) -> dict[str, Any]:
        """Have the person told when the time is up."""
        when = f"in {max(1, round(params.minutes * 60))} seconds"
        made = add_schedule(jobs, when, params.text, kind="remind", notify=self._tells)
        return _set(made)

    def watch(
        self, jobs: Jobs, params: MonitorParams, *, element: Mapping[str, str]
    ) -> dict[str, Any]:
        """Watch, for as long as told; the first look is at once."""
        ends = datetime.now(UTC) + timedelta(minutes=params.for_minutes, seconds=_LAST_LOOK_S)
        made = add_monitor(
            jobs,
            params.target,
            every=f"every {params.minutes} minutes",
            words=params.words,
            element=element,
            when=params.condition,
            notify=self._tells,
            until=ends,
            **self._given,
        )
        return _set(next(one for one in schedules(jobs) if one.name == made.name))

    def list(self, jobs: Jobs, _params: NoParams) -> dict[str, Any]:
        """Give all that is to come."""
        return {"tasks": [_told(one) for one in schedules(jobs)]}

    def stop(self, jobs: Jobs, params: StopParams) -> dict[str, Any]:
        """End one by its name."""
        if any(one.name == params.name for one in monitors(jobs)):
            remove_monitor(jobs, params.name)
        else:
            remove_schedule(jobs, params.name)
        return {"success": True, "message": f"{params.name} is stopped.", "stopped": params.name}


_KINDS: Final = {"ask": "task", "remind": "reminder", "monitor": "monitor"}


def _told(one: Schedule) -> dict[str, Any]:
    row = {"name": one.name, "kind": _KINDS[one.kind], "what": one.question, "when": one.when}
    times = {"next": one.next, "until": one.until}
    told = {name: f"{time.astimezone():%Y-%m-%d %H:%M %Z}" for name, time in times.items() if time}
    return {**row, **told}


def _set(one: Schedule) -> dict[str, Any]:
    """Say what was set: to the model, and as the answer of a run that did nothing else."""
    row = _told(one)
    times = f"first {row['next']}" if "until" in row or one.at is None else row["next"]
    ends = f", until {row['until']}" if "until" in row else ""
    said = f"Set the {row['kind']} “{one.question}” ({one.name}): {times}{ends}."
    return {**row, "success": True, "message": said}
