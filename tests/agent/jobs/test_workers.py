"""Workers: one is killed and another continues, with SQLite and Postgres; politeness."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import contextmanager
from functools import partial

import pytest

from agent.jobs.jobs import Jobs
from agent.jobs.jobs_database import JobsDatabase
from agent.jobs.shared_limits import SharedPace
from agent.jobs.worker import Worker
from agent.journal.events import read_events
from agent.journal.runs import Runs
from browser.errors import DeadlineExceeded
from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.pace import shared_pace
from browser.net.polite import Polite
from browser.read.reader import Mode, Reader
from browser.session.session import Browser
from tests.conftest import COMMAND
from tests.loopback import Handler, serving


@pytest.fixture(params=["sqlite", "postgres"])
def place(request):
    """The URL for jobs: none, or a Postgres server."""
    return request.getfixturevalue("postgres") if request.param == "postgres" else None


async def test_run_of_killed_worker_is_resumed_by_another_without_repeats(
    harness, place, tmp_path, commands
):
    env = {**os.environ, "RESEARCH_DATA_DIR": str(tmp_path / "data")}
    env |= {"RESEARCH_JOBS_URL": place} if place else {}
    harness.open.clear()
    with Jobs.open(place, tmp_path / "data") as jobs:
        harness.jobs = jobs
        first, second = harness.add("Whose is it?"), harness.add("hold: who keeps the light?")
        worker = commands.start(str(COMMAND), "worker", "-j", "1", env=env)
        await asyncio.to_thread(harness.held.wait, 60)
        worker.kill()
        worker.communicate()
        harness.open.set()
        async with Worker(jobs) as other:
            one, two = await harness.ended(first, second)
    assert (one.state, two.state, two.worker) == ("done", "done", other.id)
    assert one.worker != other.id
    questions = [question.rpartition("\n")[2] for question in harness.asked]
    assert sum("Whose" in question for question in questions) == 1
    for job in (first, second):
        events = read_events(Runs(tmp_path / "data").find(job.run).journal)
        places = [event.place for event in events if event.type == "model.reply"]
        assert len(places) == len(set(places))


class Logged(Handler):
    """Pages, and when each was requested."""

    def get(self) -> None:
        if self.path == "/robots.txt":
            self.send(200, "text/plain", b"User-agent: *\nCrawl-delay: 0.15\n")
            return
        if self.path != "/favicon.ico":
            self.server.site.times.append(time.monotonic())
        self.send(200, "text/html", b"<p>Words.</p>", {"Cache-Control": "no-store"})


class LoggedSite:
    def __init__(self, url: str) -> None:
        self.url = url
        self.times: list[float] = []


@contextmanager
def serve_logged_site():
    with serving(Logged, LoggedSite) as site:
        yield site


async def test_workers_share_crawl_delay_of_a_host(tmp_path, place):
    with serve_logged_site() as site:
        policy = EgressPolicy(allow_private=(site.url.removeprefix("http://"),))

        async def worker(mode: Mode) -> None:
            database = JobsDatabase.open(place, tmp_path)
            with shared_pace(SharedPace(database, 0.01)):
                async with (
                    Egress(policy) as egress,
                    HttpClient(egress) as http,
                    Browser.launch(proxy=egress.proxy_url) as browser,
                ):
                    reader = Reader(Polite(http), browser=partial(asyncio.sleep, 0, browser))
                    await reader.read(f"{site.url}/{mode}", "http")  # robots.txt says the delay
                    urls = [f"{site.url}/{mode}/{k}" for k in range(3)]
                    await asyncio.gather(*(reader.read(url, mode) for url in urls))
            database.close()

        await asyncio.gather(worker("http"), worker("browser"))
    assert len(site.times) == 8
    assert site.times[-1] - site.times[0] > 0.15 * 6  # seven delays; one may be in transit


async def test_host_cooldown_applies_to_all_workers(tmp_path):
    one, other = (SharedPace(JobsDatabase.open(None, tmp_path), 0.01) for _ in range(2))
    assert await one.take("a.example")
    await one.note("a.example", 429, {"retry-after": "60"})
    assert not await other.take("a.example")
    with pytest.raises(DeadlineExceeded):
        await other.wait("a.example", asyncio.get_running_loop().time() + 5)
    assert await other.take("b.example")


async def test_search_engine_pacing_and_cooldown_are_shared_by_workers(tmp_path):
    one, other = (SharedPace(JobsDatabase.open(None, tmp_path), 0.01) for _ in range(2))
    assert await one.turn("engine", 60.0, patience=1.0) == 0.0
    assert 50 < await other.turn("engine", 60.0, patience=1.0) <= 60
    await one.start_cooldown("unhurried", 60.0)
    assert await other.turn("unhurried", 0.0, patience=1.0) > 50
