"""Schedules: recurring or delayed questions in the user's time zone.

DBOS's own schedules fire twice at the end of daylight-saving time, run all missed firings or none,
and always use the system clock. Here, `cronsim` computes the times, and a firing is a job whose id
consists of the schedule and the time, so that it is created only once, regardless of the number of
workers.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dateparser
from cronsim import CronSim, CronSimError
from pydantic import BaseModel, ConfigDict, Field
from tzlocal import get_localzone_name

from agent.config import load_options
from agent.errors import UsageError
from agent.jobs.job import JobSpec, Kind, Lane, NoSuchJob, json_flags
from agent.jobs.job_notices import check_targets
from agent.jobs.jobs_database import NoteTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs

MISFIRE_GRACE: Final = timedelta(minutes=5)
"""A firing that is later than this counts as missed because no worker was running."""
_WHEN_HINT: Final = (
    "Use a format such as 'every weekday at 8', 'every 15 minutes', 'monthly on the 1st at 9', "
    "'in 20 minutes', 'tomorrow at 9:30', or five cron fields."
)


class Schedule(BaseModel):
    """A question and when to ask it; all times are in UTC.

    One of `cron` (in `zone`), `every` (seconds, starting at `since`) and `at` is set; `when` is the
    user's text. All firings up to `seen` have been queued; `next` is the next one. `missed`
    determines whether missed firings run `once` or not at all.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    when: str
    question: str
    kind: Kind = "ask"
    options: dict[str, Any] = Field(default_factory=dict)
    cron: str | None = None
    every: float | None = None
    at: datetime | None = None
    zone: str = "UTC"
    until: datetime | None = None
    since: datetime
    seen: datetime
    next: datetime | None = None
    missed: Literal["once", "skip"] = "once"
    retry: int = 1
    notify: tuple[str, ...] = ()

    def times(self, after: datetime) -> Iterator[datetime]:
        """Return the times after a given moment, in order, up to `until`."""
        until = self.until or datetime.max.replace(tzinfo=UTC)
        yield from takewhile(lambda time: time <= until, self._endless_times(after))

    def _endless_times(self, after: datetime) -> Iterator[datetime]:
        if self.at is not None:
            if self.at > after:
                yield self.at
        elif self.every is not None:
            n = max(int((after - self.since).total_seconds() // self.every) + 1, 1)
            while True:
                yield self.since + timedelta(seconds=self.every * n)
                n += 1
        else:
            assert self.cron is not None
            for time in CronSim(self.cron, after.astimezone(ZoneInfo(self.zone))):
                # cronsim may start too early in the repeated hour when daylight-saving time ends
                if (utc := time.astimezone(UTC)) > after:
                    yield utc

    def due(self, now: datetime) -> list[datetime]:
        """Return the firings to queue now: those just due, or a single one for all missed ones."""
        fresh: list[datetime] = []
        missed: datetime | None = None
        for time in self.times(self.seen):
            if time > now:
                break
            if now - time <= MISFIRE_GRACE:
                fresh.append(time)
            else:
                missed = time
        return fresh or ([missed] if missed is not None and self.missed == "once" else [])

    def seen_at(self, now: datetime) -> Schedule:
        """Return a copy with all firings up to now marked as queued, and the next time set."""
        return self.model_copy(update={"seen": now, "next": next(self.times(now), None)})


class Schedules:
    """Schedules by name, for questions and reminders or, if `watched`, for monitors.

    An unknown name raises `NoSuchJob`.
    """

    def __init__(self, jobs: Jobs, *, watched: bool = False) -> None:
        self._jobs = jobs
        self._watched = watched
        self._table = _table(jobs)

    def all(self) -> list[Schedule]:
        """Return all schedules, sorted by name."""
        return [one for one in self._table.all().values() if self._is_ours(one)]

    def _is_ours(self, schedule: Schedule) -> bool:
        return (schedule.kind == "monitor") is self._watched

    def find(self, name: str) -> Schedule:
        """Find a schedule by name."""
        schedule = self._table.get(name)
        if schedule is None or not self._is_ours(schedule):
            kind = "monitor" if self._watched else "schedule"
            raise NoSuchJob(f"no {kind} {name}", hint=f"`research {kind} list` shows the {kind}s.")
        return schedule

    def add(
        self,
        when: str,
        question: str,
        *,
        name: str | None = None,
        zone: str | None = None,
        now: datetime | None = None,
        notify: tuple[str, ...] = (),
        kind: Any = "ask",
        missed: Any = "once",
        retry: int = 1,
        until: datetime | None = None,
        **flags: Any,
    ) -> Schedule:
        """Schedule a question regularly or once; raises `UsageError`.

        `when` is five cron fields or plain words, `zone` a tz database name (default: the
        machine's). The schedule ends at `until`. An existing schedule with the same name is
        replaced.
        """
        if not question.strip():
            raise UsageError("a schedule needs a question")
        check_targets(notify)
        zone, now, options = _check_zone(zone), now or datetime.now(UTC), json_flags(flags)
        if kind == "ask":
            load_options(options)
        schedule = Schedule(
            name=self._choose_name(name, question),
            when=when.strip(),
            question=question.strip(),
            kind=kind,
            options=options,
            zone=zone,
            until=until,
            since=now,
            seen=now,
            missed=missed,
            retry=retry,
            notify=notify,
            **parse_when(when, zone, now),
        )
        try:
            schedule = schedule.seen_at(now)
        except (CronSimError, StopIteration, OverflowError) as error:  # such as 30 February
            raise UsageError(f"{when!r} never occurs", hint=_WHEN_HINT) from error
        if schedule.next is None:
            raise UsageError(f"{when!r} is in the past")
        self._table.put(schedule.name, schedule)
        return schedule

    def _choose_name(self, name: str | None, question: str) -> str:
        """Return the given name, or one derived from the question.

        Raises `UsageError` if the other kind uses the given name.
        """
        known = self._table.all()
        if name is not None:
            if name in known and not self._is_ours(known[name]):
                kind = "schedule" if self._watched else "monitor"
                raise UsageError(f"{name} is already the name of a {kind}")
            return name
        words = "-".join(re.findall(r"\w+", question.lower())[:4])[:60] or "question"
        numbered = (words, *(f"{words}-{n}" for n in range(2, len(known) + 3)))
        return next(one for one in numbered if one not in known)

    def remove(self, name: str) -> None:
        """Delete a schedule, but keep its jobs."""
        self._table.delete(self.find(name).name)

    def run(self, name: str) -> Job:
        """Fire a schedule now; return its job."""
        now = datetime.now(UTC)
        return _fire(self._jobs, self.find(name), f"{now:%Y%m%dT%H%M%S.%fZ}", lane="user")


def fire_due(jobs: Jobs, now: datetime | None = None) -> list[str]:
    """Queue the jobs that are due; return their ids. Any number of workers may call this."""
    now = now or datetime.now(UTC)
    table = _table(jobs)
    fired = []
    for name, schedule in table.all().items():
        if schedule.next is None or schedule.next > now:
            continue
        fired += [_fire(jobs, schedule, f"{at:%Y%m%dT%H%M%SZ}").id for at in schedule.due(now)]
        seen = schedule.seen_at(now)
        if seen.next is None:
            table.delete(name)
        else:
            table.update(name, seen)  # does nothing if the user has removed it
    return fired


def _table(jobs: Jobs) -> NoteTable[Schedule]:
    return NoteTable(jobs.database, "schedule", Schedule)


def _fire(jobs: Jobs, schedule: Schedule, time: str, *, lane: Lane = "autonomy") -> Job:
    """Add the job for a firing, or return the job that another worker has added for it."""
    name, origin = f"{schedule.name}-{time}", f"schedule:{schedule.name}"
    asked = schedule.model_dump(include={"kind", "question", "options", "retry", "notify"})
    jobs.enqueue(JobSpec(id=name, lane=lane, origin=origin, **asked))
    return jobs.show(name)


def _check_zone(name: str | None) -> str:
    """Return the name of a time zone (by default, this machine's)."""
    zone = name or get_localzone_name() or "UTC"
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            f"unknown time zone {zone!r}", hint="Use a name such as Europe/Berlin."
        ) from error
    return zone


# Times in words. Only these forms are accepted, because a misread time would be noticed only days
# later. (The `recurrent` library silently misread 3 of 26 phrases.)

_WEEKDAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_DAY_NUMBERS: Final = {
    form: str(n) for n, day in enumerate(_WEEKDAYS) for form in (day[:3], day, f"{day}s")
}
_DAY_GROUPS: Final = {"day": "*", "weekday": "1-5", "weekend": "0,6", "week": "1"}
_WHEN_SYNONYMS: Final = {
    "hourly": "every hour",
    "daily": "every day",
    "everyday": "every day",
    "weekly": "every monday",
}
_MONTHLY_PREFIXES: Final = ("", "monthly ", "every month ", "each month ")
_CRON_RE: Final = re.compile(r"[\d*][\d*/,\-]*(?:\s+[\w*/,\-#]+){4}")
_INTERVAL_RE: Final = re.compile(r"every (?P<n>\d{1,9})?\s*(?P<unit>minute|min|hour)s?")
_BARE_HOUR_RE: Final = re.compile(r"\bat (\d{1,2})(?![\d:.])(?!\s*(?:am|pm))", re.IGNORECASE)


def parse_when(text: str, zone: str, now: datetime) -> dict[str, Any]:
    """Parse a time as `cron`, `every` (s) or `at`; raises `UsageError` for any other form."""
    phrase = " ".join(text.lower().split())
    if _CRON_RE.fullmatch(phrase):
        return {"cron": _check_cron(phrase, text)}
    first, *rest = phrase.replace(",", " ").split() or [""]
    phrase = " ".join([_WHEN_SYNONYMS.get(first, first), *rest])
    if found := _INTERVAL_RE.fullmatch(phrase):
        if found["n"] == "0":
            raise _unparsable_time_error(text)
        return {"every": float(int(found["n"] or 1) * (3600 if found["unit"] == "hour" else 60))}
    day, _, clock = phrase.partition(" at ")
    if fields := _day_of_month(day) or _days_of_week(day):
        return {"cron": _check_cron(f"{_time_of_day(clock or '9', text)} {fields}", text)}
    return {"at": _parse_moment(text, zone, now)}


def _unparsable_time_error(text: str) -> UsageError:
    return UsageError(f"cannot parse the time {text!r}", hint=_WHEN_HINT)


def _day_of_month(text: str) -> str:
    """Parse a phrase like `on the 15th of each month` as the last three cron fields, or ""."""
    before, on_the, after = text.partition("on the ")
    day, _, month = after.partition(" of ")
    number = "1" if day == "first" else day[:-2] if day[-2:] in ("st", "nd", "rd", "th") else day
    months = month in ("", "each month", "every month", "the month")
    monthly = on_the and months and before in _MONTHLY_PREFIXES and number.isdecimal()
    return f"{int(number)} * *" if monthly else ""


def _days_of_week(text: str) -> str:
    """Parse recurring days as the last three cron fields; "" if any word is not a day."""
    words = [word for word in text.split() if word != "and"]
    # "friday at 5pm" means one particular Friday
    if not text.startswith(("every", "each")) and not any(
        w.endswith(("days", "ends")) for w in words
    ):
        return ""
    words = [word for word in words if word not in ("every", "each", "on")]
    if len(words) == 1 and words[0].removesuffix("s") in _DAY_GROUPS:
        return f"* * {_DAY_GROUPS[words[0].removesuffix('s')]}"
    numbers = [_DAY_NUMBERS.get(word, "") for word in words]
    return f"* * {','.join(numbers)}" if all(numbers) and numbers else ""


def _time_of_day(words: str, text: str) -> str:
    """Parse a time of day, such as `8`, `8:30 pm` or `noon`, as cron's minute and hour."""
    words = {"noon": "12", "midnight": "0"}.get(words, words)
    half = words[-2:] if words.endswith(("am", "pm")) else ""
    hours, colon, minutes = words.removesuffix(half).strip().replace(".", ":").partition(":")
    if not (hours + minutes).isdecimal() or len(minutes) != 2 * len(colon):
        raise _unparsable_time_error(text)
    hour = int(hours or -1)
    if half:
        if hour not in range(1, 13):
            raise _unparsable_time_error(text)
        hour = hour % 12 + (12 if half == "pm" else 0)
    return f"{int(minutes or 0)} {hour}"


def _check_cron(cron: str, text: str) -> str:
    try:
        CronSim(cron, datetime.now(UTC))
    except CronSimError as error:
        raise UsageError(f"{text!r} is not a valid time: {error}", hint=_WHEN_HINT) from error
    return cron


def _parse_moment(text: str, zone: str, now: datetime) -> datetime:
    """Parse a one-off time; reject the text if the result has a different time of day."""
    local = now.astimezone(ZoneInfo(zone))
    clear = _BARE_HOUR_RE.sub(r"at \1:00", text)
    moment: datetime | None = dateparser.parse(
        clear,
        languages=["en"],
        settings={
            "RELATIVE_BASE": local.replace(tzinfo=None),
            "PREFER_DATES_FROM": "future",
            "TIMEZONE": zone,
            "RETURN_AS_TIMEZONE_AWARE": True,
        },
    )
    if moment is None:
        raise _unparsable_time_error(text)
    named = re.search(r"\b(\d{1,2}):(\d\d)\b(?!\s*[ap]m)", clear, re.IGNORECASE)
    # dateparser silently ignores words that it does not understand
    if named and (moment.hour, moment.minute) != (int(named[1]), int(named[2])):
        raise _unparsable_time_error(text)
    return moment.astimezone(UTC)
