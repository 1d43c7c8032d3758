"""A run that is killed with -9 at any point resumes to the same answer and repeats nothing.

A seeded sample; `make soak` kills hundreds.
"""

from __future__ import annotations

import random

import pytest

from tests.crash.kills import KillableTask, KillPoint
from tests.crash.orders import serve_order_site
from tests.crash.speaker import speaking
from tests.crash.tasks import ordering, planned, reading


@pytest.fixture
def orders():
    with serve_order_site() as running:
        yield running


def whole_and_broken(make, tmp_path, commands, points):
    """Run a task to its end, then once for each point at which it is killed."""
    with speaking(make("whole").decide) as speaker:
        whole = KillableTask(make("whole"), speaker, tmp_path / "whole", commands).unbroken()
    chance = random.Random(17)
    for number, (by, share) in enumerate(points):
        task = make(f"book{number}")
        with speaking(task.decide) as speaker:
            victim = KillableTask(task, speaker, tmp_path / str(number), commands)
            yield victim.broken(KillPoint(by, share * getattr(whole, by)), whole, chance)


@pytest.mark.parametrize(
    ("make", "points"),
    [
        (reading, (("bytes", 0.35), ("events", 0.8))),
        (planned, (("events", 0.55), ("bytes", 0.95))),
    ],
)
@pytest.mark.row(n=17)
@pytest.mark.sample(1)
@pytest.mark.soak
def test_run_with_pages_and_memories_survives_random_kills(make, points, site, tmp_path, commands):
    for broken in whole_and_broken(lambda _: make(site), tmp_path, commands, points):
        assert broken.kills
        assert broken.flaws == [], broken.point


@pytest.mark.row(n=17)
@pytest.mark.soak
def test_page_actions_and_orders_are_never_repeated_after_kills(orders, tmp_path, commands):
    points = (("events", 0.45),)
    for broken in whole_and_broken(lambda name: ordering(orders, name), tmp_path, commands, points):
        assert broken.kills
        assert broken.flaws == [], broken.point
