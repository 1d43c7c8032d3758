"""Tools that let a model create tasks, reminders and monitors, if the user allows it.

Their names and the monitor defaults are the reference engine's. They use the same schedules as
`research schedule` and `research monitor`. The user chooses the notification targets.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AliasChoices, Field

from agent.config import dump_options
from agent.errors import ToolError, UsageError
from agent.guard.outgoing import Sent, Sink
from agent.jobs.monitors import Monitors
from agent.jobs.schedules import Schedules
from agent.tools.context import require_web
from agent.tools.page_tools import require_tab
from agent.tools.registry import (
    CONFIRMS,
    Tool,
    ToolResult,
    reading_tool,
    sends_nothing,
    tool,
)
from agent.types import ToolTrait
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent.jobs.jobs import Jobs
    from agent.jobs.schedules import Schedule
    from agent.options import Options
    from agent.tools.context import ToolContext

EVERY_MINUTES, MIN_MINUTES, DURATION_MINUTES = 15, 5, 360
"""A monitor's default interval, its minimum, and its duration, in minutes: as in the reference
engine."""
_LAST_CHECK_EXTRA_S: Final = 30
"""Extra seconds at the end of a monitor, so that its last check still runs."""
_MAX_MINUTES: Final = 60 * 24 * 366
UNINHERITED_SETTINGS: Final = {
    # Permissions that the user granted to one run only.
    *("attach", "cdp", "headed", "storage_state", "login", "record", "share", "yes", "file"),
    *("continue_run", "session", "schema", "dry_run", "report", "require_verified"),
    *("allow_tasks", "data_dir", "keep_days", "fresh"),
}
"""Run settings that tasks do not inherit: a task may not create tasks."""
_NO_WORKER_NOTE: Final = "nothing runs until `research worker` is started: tell the user"


Task = Annotated[
    str, Field(min_length=1, validation_alias=AliasChoices("task", "prompt", "question"))
]
TaskTime = Annotated[
    str, Field(min_length=1, validation_alias=AliasChoices("when", "schedule", "cron"))
]
Reminder = Annotated[str, Field(min_length=1, validation_alias=AliasChoices("text", "message"))]
ReminderTime = Annotated[str, Field(min_length=1, validation_alias=AliasChoices("when", "time"))]
Label = Annotated[str, Field(validation_alias=AliasChoices("text", "label"))]
Watched = Annotated[str, Field(validation_alias=AliasChoices("target", "url", "question"))]
Minutes = Annotated[int, Field(ge=MIN_MINUTES, le=_MAX_MINUTES)]


def task_tools(options: Options, open_jobs: Callable[[], Jobs]) -> list[Tool]:
    """Make the task tools of a run; tasks inherit the run's settings and notification targets."""
    settings = dump_options(options, exclude=UNINHERITED_SETTINGS, changed_only=True)
    tasks = _TaskTools(open_jobs, settings, options.allow_tasks)
    lasting = partial(
        tool,
        lasting=True,
        source="system",
        sends=sends_nothing,
        traits=CONFIRMS | {ToolTrait.REPORTS},
    )
    return [
        lasting(
            "SCHEDULE_TASK",
            "asks a question later, once or regularly: when is “in 20 minutes”, “tomorrow at "
            "9:30”, “every weekday at 8”, or five cron fields.",
            sends=lambda _, arguments: _sends_question(arguments.task),
            activity="scheduling a task",
        )(tasks.schedule),
        lasting(
            "REMIND_ME",
            "sends the user a reminder at that time.",
            allowed_task=True,
            activity="setting a reminder",
        )(tasks.remind),
        lasting(
            "SET_TIMER",
            "notifies the user when the time is up.",
            allowed_task=True,
            activity="setting a timer",
        )(tasks.set_timer),
        lasting(
            "MONITOR",
            "watches a page or the answer to a question, and notifies the user of changes; words "
            "or a ref of the open page selects a part, condition applies to its first number "
            "(<100, >=5, 10%).",
            sends=lambda _, arguments: _sends_question(arguments.target),
            activity="setting up a monitor",
        )(tasks.monitor),
        reading_tool(
            "LIST",
            "lists tasks, reminders, timers and monitors.",
            source="system",
            sends=sends_nothing,
            activity="listing tasks",
        )(tasks.list),
        lasting("STOP", "ends a task, reminder, timer or monitor.", activity="ending a task")(
            tasks.stop
        ),
    ]


def _sends_question(question: str) -> Iterable[Sent]:
    """Declare that a later run may send the question's words to search engines."""
    if question:
        yield Sent(Sink.ADDRESS if is_web_url(question) else Sink.QUERY, question)


class _TaskTools:
    """The tool functions; each call opens the jobs database, and may raise `ToolError`."""

    def __init__(
        self, open_jobs: Callable[[], Jobs], settings: Mapping[str, Any], targets: tuple[str, ...]
    ) -> None:
        self._open = open_jobs
        self._settings = dict(settings)
        self._targets = targets

    async def _call(self, work: Callable[[Jobs], dict[str, Any]]) -> ToolResult:
        """Call `work` with the jobs in a thread, since it blocks on the database."""

        def in_thread() -> dict[str, Any]:
            with self._open() as jobs:
                result = work(jobs)
                idle = "next" in result and not jobs.workers()
                return {**result, "note": _NO_WORKER_NOTE} if idle else result

        try:
            return ToolResult(await asyncio.to_thread(in_thread))
        except UsageError as error:
            raise ToolError(str(error), hint=error.hint) from error

    async def schedule(
        self, _: ToolContext, task: Task, when: TaskTime, name: str | None = None
    ) -> ToolResult:
        """Schedule a question; a name that is already in use is rejected, not replaced."""

        def add(jobs: Jobs) -> dict[str, Any]:
            if name and any(one.name == name for one in _all_schedules(jobs)):
                raise UsageError(
                    f"the name {name} is in use", hint="Choose another name, or STOP it first."
                )
            flags = {"name": name, "notify": self._targets, **self._settings}
            return _confirm(Schedules(jobs).add(when, task, **flags))

        return await self._call(add)

    async def remind(self, _: ToolContext, text: Reminder, when: ReminderTime) -> ToolResult:
        """Schedule a reminder for the user."""

        def add(jobs: Jobs) -> dict[str, Any]:
            schedules = Schedules(jobs)
            return _confirm(schedules.add(when, text, kind="remind", notify=self._targets))

        return await self._call(add)

    async def set_timer(
        self,
        context: ToolContext,
        minutes: Annotated[float, Field(gt=0, le=_MAX_MINUTES)],
        text: Label = "The timer is up.",
    ) -> ToolResult:
        """Notify the user when the time is up."""
        return await self.remind(context, text, f"in {max(1, round(minutes * 60))} seconds")

    async def monitor(
        self,
        context: ToolContext,
        target: Watched = "",
        minutes: Minutes = EVERY_MINUTES,
        for_minutes: Minutes = DURATION_MINUTES,
        words: str = "",
        condition: str = "",
        ref: str = "",
    ) -> ToolResult:
        """Watch a page or answer for some time; a ref is stored as its element's locator."""
        element: dict[str, str] = {}
        if ref:
            tab = require_tab(context)
            async with require_web(context).lock:
                element = await tab.identify(ref)
            target = tab.url
        until = datetime.now(UTC) + timedelta(minutes=for_minutes, seconds=_LAST_CHECK_EXTRA_S)

        def add(jobs: Jobs) -> dict[str, Any]:
            monitors = Monitors(jobs)
            monitor = monitors.add(
                target,
                words=words,
                element=element,
                when=condition,
                every=f"every {minutes} minutes",
                until=until,
                notify=self._targets,
                **self._settings,
            )
            return _confirm(monitors.schedules.find(monitor.name))

        return await self._call(add)

    async def list(self, _: ToolContext) -> ToolResult:
        """List everything that is scheduled."""
        return await self._call(
            lambda jobs: {"tasks": [_describe(one) for one in _all_schedules(jobs)]}
        )

    async def stop(self, _: ToolContext, name: Annotated[str, Field(min_length=1)]) -> ToolResult:
        """Stop the task with this name."""

        def remove(jobs: Jobs) -> dict[str, Any]:
            monitors = Monitors(jobs)
            is_monitor = any(one.name == name for one in monitors.all())
            (monitors if is_monitor else Schedules(jobs)).remove(name)
            return {"success": True, "message": f"{name} is stopped.", "stopped": name}

        return await self._call(remove)


def _all_schedules(jobs: Jobs) -> list[Schedule]:
    return [*Schedules(jobs).all(), *Monitors(jobs).schedules.all()]


_KIND_LABELS: Final = {"ask": "task", "remind": "reminder", "monitor": "monitor"}


def _describe(one: Schedule) -> dict[str, Any]:
    row = {"name": one.name, "kind": _KIND_LABELS[one.kind], "what": one.question, "when": one.when}
    times = {"next": one.next, "until": one.until}
    local = {name: f"{at.astimezone():%Y-%m-%d %H:%M %Z}" for name, at in times.items() if at}
    return {**row, **local}


def _confirm(one: Schedule) -> dict[str, Any]:
    """Describe the created task, for the model and as the answer if the run did nothing else."""
    row = _describe(one)
    times = f"first {row['next']}" if "until" in row or one.at is None else row["next"]
    ends = f", until {row['until']}" if "until" in row else ""
    message = f"Created the {row['kind']} “{one.question}” ({one.name}): {times}{ends}."
    return {**row, "success": True, "message": message}
