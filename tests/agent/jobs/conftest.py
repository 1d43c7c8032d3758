"""Jobs with a worker in the test's own process, using a model that the test controls."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from agent.jobs.job import FINAL_STATES
from agent.jobs.jobs import Jobs
from agent.jobs.worker import Worker
from tests.crash.speaker import speaking

if TYPE_CHECKING:
    from pathlib import Path


class JobsHarness:
    """A test's jobs, and a model that searches a folder and answers when allowed."""

    def __init__(self, jobs: Jobs, corpus: Path) -> None:
        self.jobs = jobs
        self.corpus = corpus
        self.asked: list[str] = []
        self.held = threading.Event()
        self.open = threading.Event()
        self.open.set()
        self.decide_with = None

    def decide(self, talk) -> str:
        """Search once, then answer; a request to wait lasts until the test releases it."""
        if talk.rounds:
            if self.decide_with is not None:
                return self.decide_with()
            return f"Nothing is known of it: {len(talk.messages)} messages."
        self.asked.append(talk.question)
        if "hold" in talk.question:
            self.held.set()
            self.open.wait(30)
        return "<<TOOL:WEB_SEARCH:who keeps the light>>"

    @property
    def model(self) -> dict[str, str]:
        """The flags for the model and its web."""
        web = {"corpus": str(self.corpus), "search": "corpus", "native_tools": False}
        return {"model": "openai/said", "base_url": self.url, **web}

    def add(self, question: str, **more):
        """Add a question for the model."""
        flags = {**self.model, "memory": False, **more}
        return self.jobs.add(question, **flags)

    @asynccontextmanager
    async def working(self, **settings):
        """Run a worker."""
        async with Worker(self.jobs, **{"at_once": 1, **settings}) as worker:
            yield worker

    async def until(self, job, holds):
        """Wait until a condition holds for a job; returns the job at that time."""
        while True:
            found = await asyncio.to_thread(self.jobs.show, job.id)
            if holds(found):
                return found
            await asyncio.sleep(0.05)

    async def ended(self, *jobs):
        """Wait for jobs to finish; returns them at that time."""
        return [await self.until(job, lambda found: found.state in FINAL_STATES) for job in jobs]


@pytest.fixture
def harness(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "config.toml"))
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "light.md").write_text("# The light\n\nIda Holm keeps the light of Skarholm.\n")
    with Jobs.open(None, tmp_path / "data") as jobs:
        harness = JobsHarness(jobs, corpus)
        with speaking(harness.decide) as speaker:
            harness.url, harness.speaker = speaker.url, speaker
            yield harness
            harness.open.set()
