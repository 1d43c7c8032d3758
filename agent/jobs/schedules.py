"""Questions that come back: when they are due, in a person's time zone, and what was missed.

The engine has schedules, which fire twice at the end of summer time, run all that was missed or
none, and only by the real clock. Here a time is worked out by `cronsim`, and a firing is a job
whose id is made of the schedule and the time: however many workers see it, there is one.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dateparser
from cronsim import CronSim, CronSimError
from pydantic import BaseModel, ConfigDict, Field
from tzlocal import get_localzone_name

from agent.config import load_options
from agent.errors import UsageError
from agent.jobs.job import JobSpec, Kind, NoSuchJob, plain
from agent.jobs.jobs import check_targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs

GRACE: Final = timedelta(minutes=5)
"""A firing that is later than this was missed: nobody was there to fire it."""
LEAST: Final = timedelta(minutes=1)
_KIND: Final = "schedule"
_HINT: Final = (
    "Such as 'every weekday at 8', 'every 15 minutes', 'monthly on the 1st at 9', 'in 20 minutes', "
    "'tomorrow at 9:30', or the five fields of cron."
)


class Schedule(BaseModel):
    """A question and when it comes back; times are UTC.

    One of `cron` (in `zone`), `every` (seconds from `since` on) and `at` says when; `when` is what
    the person said. `seen` is the time up to which firings were looked for, `next` the one to come.
    `missed`: what was missed is run `once`, or not at all.
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
        """Give the times of firing after a moment, in order, up to `until`."""
        for time in self._times(after):
            if self.until is not None and time > self.until:
                return
            yield time

    def _times(self, after: datetime) -> Iterator[datetime]:
        if self.at is not None:
            yield from [self.at] if self.at > after else []
        elif self.every is not None:
            n = int((after - self.since).total_seconds() // self.every) + 1
            while True:
                yield self.since + timedelta(seconds=self.every * max(n, 1))
                n = max(n, 1) + 1
        else:
            assert self.cron is not None
            for time in CronSim(self.cron, after.astimezone(ZoneInfo(self.zone))):
                if (utc := time.astimezone(UTC)) > after:
                    yield utc

    def due(self, now: datetime) -> list[datetime]:
        """Give the firings to make now: those just due, and of those missed one or none."""
        fresh: list[datetime] = []
        missed: datetime | None = None
        for time in self.times(self.seen):
            if time > now:
                break
            if now - time <= GRACE:
                fresh.append(time)
            else:
                missed = time
        return fresh or ([missed] if missed is not None and self.missed == "once" else [])

    def after(self, now: datetime) -> Schedule:
        """Give it as it is when it was looked at."""
        return self.model_copy(update={"seen": now, "next": next(self.times(now), None)})


class Schedules:
    """What comes back, by name: questions and reminders, or, if `watched`, the looks of monitors.

    What is not there raises `NoSuchJob`.
    """

    def __init__(self, jobs: Jobs, *, watched: bool = False) -> None:
        self._jobs = jobs
        self._watched = watched

    def all(self) -> list[Schedule]:
        """Give them by name."""
        rows = self._jobs.database.notes(_KIND).values()
        found = (Schedule.model_validate(row) for row in rows)
        return [one for one in found if (one.kind == "monitor") is self._watched]

    def find(self, name: str) -> Schedule:
        """Find one by its name."""
        for one in self.all():
            if one.name == name:
                return one
        kind = "monitor" if self._watched else "schedule"
        raise NoSuchJob(f"no {kind} {name}", hint=f"`research {kind} list` lists them.")

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
        """Have a question asked again and again, or once later; raises `UsageError`.

        `when` is cron's five fields or plain words, `zone` a name of the tz database (the
        machine's); after `until` it does not come any more. One of the same name is replaced.
        """
        if not question.strip():
            raise UsageError("a schedule needs a question")
        check_targets(notify)
        zone, now, given = _zone(zone), now or datetime.now(UTC), plain(flags)
        if kind == "ask":
            load_options(given)
        made = Schedule(
            name=self._free(name, question), when=when.strip(), question=question.strip(),
            kind=kind, options=given, zone=zone, until=until, since=now, seen=now, missed=missed,
            retry=retry, notify=notify, **read_when(when, zone, now),
        )  # fmt: skip
        try:
            made = made.after(now)
        except (CronSimError, StopIteration, OverflowError) as error:
            raise UsageError(f"{when!r} never comes", hint=_HINT) from error
        if made.next is None:
            raise UsageError(f"{when!r} is past")
        self._jobs.database.keep(_KIND, made.name, made.model_dump(mode="json"))
        return made

    def _free(self, name: str | None, question: str) -> str:
        """Give the name asked for, unless it is one of the other kind; else one of the words."""
        known = self._jobs.database.notes(_KIND)
        if name is not None:
            if name in known and (known[name]["kind"] == "monitor") is not self._watched:
                raise UsageError(f"{name} is a {'schedule' if self._watched else 'monitor'}")
            return name
        plainly = "-".join(re.findall(r"\w+", question.lower())[:4])[:60] or "question"
        numbered = (plainly, *(f"{plainly}-{n}" for n in range(2, len(known) + 3)))
        return next(one for one in numbered if one not in known)

    def remove(self, name: str) -> None:
        """Take one away; jobs that it made stay."""
        self._jobs.database.drop(_KIND, self.find(name).name)

    def run(self, name: str) -> Job:
        """Fire one now, whatever it says; gives its job."""
        now = datetime.now(UTC)
        return _fire(self._jobs, self.find(name), f"{now:%Y%m%dT%H%M%S.%fZ}", lane="user")


def fire_due(jobs: Jobs, now: datetime | None = None) -> list[str]:
    """Put what is due on the queue; gives the ids of the jobs. Any number of workers may do so."""
    now = now or datetime.now(UTC)
    fired = []
    for name, row in jobs.database.notes(_KIND).items():
        if row["next"] is None or datetime.fromisoformat(row["next"]) > now:
            continue
        found = Schedule.model_validate(row)
        fired += [_fire(jobs, found, f"{at:%Y%m%dT%H%M%SZ}").id for at in found.due(now)]
        seen = found.after(now)
        if seen.next is None:
            jobs.database.drop(_KIND, name)
        else:
            jobs.database.renew(_KIND, name, seen.model_dump(mode="json"))
    return fired


def _fire(jobs: Jobs, found: Schedule, time: str, *, lane: Any = "autonomy") -> Job:
    name, origin = f"{found.name}-{time}", f"schedule:{found.name}"
    asked = found.model_dump(include={"kind", "question", "options", "retry", "notify"})
    jobs.enqueue(JobSpec(id=name, lane=lane, origin=origin, **asked))
    return jobs.show(name)


def _zone(name: str | None) -> str:
    named = name or get_localzone_name() or "UTC"
    try:
        ZoneInfo(named)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(f"no time zone {named!r}", hint="Such as Europe/Berlin.") from error
    return named


# When, in words. A phrase is one of these forms, or it is refused: a time that was understood
# wrongly is found out days later. (Of 26 phrases, `recurrent` read 3 wrongly without a word.)

_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_GROUPS: Final = {"day": "*", "weekday": "1-5", "weekend": "0,6", "week": "1"}
_TIME: Final = r"(?:at (?P<time>noon|midnight|\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm)?))"
_INTERVAL: Final = re.compile(r"every (?P<n>\d{1,9})?\s*(?P<unit>minute|min|hour)s?")
_WEEKLY: Final = re.compile(rf"(?:every|on|each)? ?(?P<days>[a-z ,]+?)(?: {_TIME})?")
_MONTHLY: Final = re.compile(
    r"(?:monthly|every month|each month)? ?on the (?P<day>first|\d{1,2})(?:st|nd|rd|th)?"
    rf"(?: of (?:each|every|the) month)?(?: {_TIME})?"
)
_CRON: Final = re.compile(r"[\d*][\d*/,\-]*(?:\s+[\w*/,\-#]+){4}")
_CLOCK: Final = re.compile(r"\bat (\d{1,2})(?![\d:.])(?!\s*(?:am|pm))", re.IGNORECASE)
_SAME: Final = {"hourly": "every hour", "daily": "every day", "weekly": "every monday"}


def read_when(text: str, zone: str, now: datetime) -> dict[str, Any]:
    """Read a time as `cron`, `every` (s) or `at`; raises `UsageError` for any other form."""
    said = " ".join(text.lower().split())
    for short, whole in _SAME.items():
        said = re.sub(rf"^{short}\b", whole, said)
    if _CRON.fullmatch(said):
        return {"cron": _checked(said, text)}
    if found := _INTERVAL.fullmatch(said):
        unit = 3600 if found["unit"] == "hour" else 60
        return {"every": float(int(found["n"] or 1) * unit)} if found["n"] != "0" else _refuse(text)
    if found := _MONTHLY.fullmatch(said):
        hour, minute = _clock(found["time"], text)
        day = 1 if found["day"] == "first" else int(found["day"])
        return {"cron": _checked(f"{minute} {hour} {day} * *", text)}
    # "friday at 5pm" is one Friday
    again = re.match(r"every|each", said) or re.search(r"days\b|ends\b", said)
    if again and (found := _WEEKLY.fullmatch(said)) and (days := _days(found["days"])):
        hour, minute = _clock(found["time"], text)
        return {"cron": _checked(f"{minute} {hour} * * {days}", text)}
    return {"at": _once(text, zone, now)}


def _refuse(text: str) -> Any:
    raise UsageError(f"{text!r} is no time that is understood", hint=_HINT)


def _days(text: str) -> str:
    """Read days of the week as cron's; "" where a word is none."""
    words = [word for word in re.split(r"[ ,]+| and ", text) if word not in ("", "and", "every")]
    if len(words) == 1 and words[0].removesuffix("s") in _GROUPS:
        return _GROUPS[words[0].removesuffix("s")]
    numbers = [_DAYS.index(word[:3]) if _is_day(word) else None for word in words]
    return ",".join(map(str, numbers)) if numbers and None not in numbers else ""


def _is_day(word: str) -> bool:
    whole = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
    return word in _DAYS or word.removesuffix("s") in whole


def _clock(said: str | None, text: str) -> tuple[int, int]:
    """Read a time of day; nine in the morning where none is said."""
    if said is None:
        return 9, 0
    if said in ("noon", "midnight"):
        return (12, 0) if said == "noon" else (0, 0)
    found = re.fullmatch(r"(\d{1,2})(?:[:.](\d\d))?\s*(am|pm)?", said)
    assert found is not None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= 12:
            _refuse(text)
        hour = hour % 12 + (12 if found[3] == "pm" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else _refuse(text)


def _checked(cron: str, text: str) -> str:
    try:
        CronSim(cron, datetime.now(UTC))
    except CronSimError as error:
        raise UsageError(f"{text!r} is no time: {error}", hint=_HINT) from error
    return cron


def _once(text: str, zone: str, now: datetime) -> datetime:
    """Read a single moment; it has the time of day that the words name, or they are refused."""
    local = now.astimezone(ZoneInfo(zone))
    clear = _CLOCK.sub(r"at \1:00", text)
    found: datetime | None = dateparser.parse(
        clear,
        languages=["en"],
        settings={
            "RELATIVE_BASE": local.replace(tzinfo=None),
            "PREFER_DATES_FROM": "future",
            "TIMEZONE": zone,
            "RETURN_AS_TIMEZONE_AWARE": True,
        },
    )
    named = re.search(r"\b(\d{1,2}):(\d\d)\b(?!\s*[ap]m)", clear, re.IGNORECASE)
    if found is None or (named and (found.hour, found.minute) != (int(named[1]), int(named[2]))):
        _refuse(text)
    assert found is not None
    return found.astimezone(UTC)
