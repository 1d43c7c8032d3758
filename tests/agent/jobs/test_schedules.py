"""Schedules on a test clock: across daylight-saving changes, sleep and several workers."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest

from agent.errors import UsageError
from agent.jobs.jobs import Jobs
from agent.jobs.jobs_database import NoteTable
from agent.jobs.schedules import MISFIRE_GRACE, Schedule, Schedules, fire_due, parse_when

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 23, 15, 0, tzinfo=UTC)  # a Monday


def berlin(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=BERLIN).astimezone(UTC)


def schedule_for(when: str, now: datetime, **more) -> Schedule:
    given = {**parse_when(when, "Europe/Berlin", now), **more}
    return Schedule(
        name="s", when=when, question="Who?", zone="Europe/Berlin", since=now, seen=now, **given
    ).seen_at(now)


@pytest.mark.parametrize(
    ("words", "means"),
    [
        ("every weekday at 8", {"cron": "0 8 * * 1-5"}),
        ("daily at 8:30 pm", {"cron": "30 20 * * *"}),
        ("every mon and thu at 6:15", {"cron": "15 6 * * 1,4"}),
        ("Mondays at noon", {"cron": "0 12 * * 1"}),
        ("every weekend", {"cron": "0 9 * * 0,6"}),
        ("everyday at 7.30", {"cron": "30 7 * * *"}),
        ("on mondays, wednesdays and fridays at 12am", {"cron": "0 0 * * 1,3,5"}),
        ("monthly on the 15th at 7", {"cron": "0 7 15 * *"}),
        ("on the first of each month", {"cron": "0 9 1 * *"}),
        ("every 15 minutes", {"every": 900.0}),
        ("hourly", {"every": 3600.0}),
        ("*/5 8-18 * * mon-fri", {"cron": "*/5 8-18 * * mon-fri"}),
        ("in 20 minutes", {"at": NOW + timedelta(minutes=20)}),
        ("tomorrow at 9", {"at": berlin(2026, 11, 24, 9, 0)}),
        ("friday at 5pm", {"at": berlin(2026, 11, 27, 17, 0)}),
        ("2026-12-01 08:00", {"at": berlin(2026, 12, 1, 8, 0)}),
    ],
)
def test_plain_language_schedules_are_parsed(words, means):
    assert parse_when(words, "Europe/Berlin", NOW) == means


@pytest.mark.parametrize(
    "words",
    ["every other tuesday at 14:00", "at noon every day", "every morning", "every day at 25",
     "every day at 8:5", "every day at 13pm", "on the 2nd of the month at 8:5",
     "61 8 * * *", "every 0 minutes", "whenever", "", "first monday of every month at 9"],
)  # fmt: skip
def test_ambiguous_schedules_are_refused(words):
    with pytest.raises(UsageError):
        parse_when(words, "Europe/Berlin", NOW)


def test_daily_schedule_keeps_local_time_across_dst_changes():
    for start in (berlin(2026, 3, 27, 12), berlin(2026, 10, 23, 12)):
        times = islice(schedule_for("every day at 2:30", start).times(start), 6)
        local = [time.astimezone(BERLIN) for time in times]
        assert len({time.date() for time in local}) == 6
        # 2:30 does not exist on the day when daylight-saving time begins
        assert {f"{time:%H:%M}" for time in local} <= {"02:30", "03:00"}


@pytest.mark.parametrize("missed", ["once", "skip"])
def test_500_firings_across_dst_and_sleep_have_no_duplicates_or_losses(missed):
    chance = random.Random(7)
    now = start = berlin(2026, 3, 20, 0)
    found = schedule_for("17 * * * *", start, missed=missed)
    enough = next(islice(found.times(start), 500, None))
    fired: list[datetime] = []
    asleep: list[tuple[datetime, datetime]] = []
    while now < enough:
        slept = chance.random() < 0.004
        before, now = now, now + timedelta(hours=chance.uniform(1, 30) if slept else 1 / 60)
        if slept:
            asleep.append((before, now))
        fired += found.due(now)
        found = found.seen_at(now)
    wanted = list(
        takewhile(lambda time: time <= now, schedule_for("17 * * * *", start).times(start))
    )
    counted = Counter(fired)
    assert len(wanted) >= 500
    assert max(counted.values()) == 1
    lost = set(wanted) - set(fired)
    assert all(any(a < time <= b for a, b in asleep) for time in lost)
    for a, b in asleep:
        over = [time for time in wanted if a < time <= b]
        done = [time for time in over if time in counted]
        late = [time for time in over if b - time > MISFIRE_GRACE]
        # the runs that are not too late; if there are none, the last one with `missed="once"`
        expected = [time for time in over if time not in late]
        assert done == (expected or (over[-1:] if missed == "once" else []))
    assert asleep
    assert set(fired) <= set(wanted)


def test_workers_fire_schedule_once_and_remove_finished_ones(tmp_path):
    with Jobs.open(None, tmp_path) as one, Jobs.open(None, tmp_path) as other:
        kept = Schedules(one)
        kept.add("every day at 8", "Who?", name="daily", zone="Europe/Berlin", now=NOW)
        kept.add("in 20 minutes", "When?", now=NOW, zone="UTC")
        later = NOW + timedelta(hours=20)
        table = NoteTable(one.database, "schedule", Schedule)
        seen = kept.find("daily")
        first = fire_due(one, later)
        table.put("daily", seen)  # the other worker read it before
        second = fire_due(other, later)
        origins = sorted(job.origin for job in one.list())
        assert origins == ["schedule:daily", "schedule:when"]
        assert set(second) <= set(first)
        assert [found.name for found in kept.all()] == ["daily"]
        assert kept.run("daily").lane == "user"
        kept.remove("daily")
        assert fire_due(one, later + timedelta(days=2)) == []
        for broken in (kept.remove, kept.run):
            with pytest.raises(UsageError):
                broken("daily")
        for bad in ({"when": "yesterday at 5"}, {"zone": "Mars/Base"}, {"question": " "}):
            with pytest.raises(UsageError):
                kept.add(**{"when": "in 1 hour", "question": "Who?", "now": NOW, **bad})
