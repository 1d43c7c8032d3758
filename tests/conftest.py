"""Whole runs on the bundled web, by the front door."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agent import research
from agent.journal import Runs, read_events
from fixtures.server import Site, serve

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from agent import Report
    from agent.journal import Event


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write a script of replies; gives the model's name."""

    def write(*replies: str | dict[str, str]) -> str:
        path = tmp_path / "script.jsonl"
        path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        return f"scripted:{path}"

    return write


@pytest.fixture
def ask(site: Site, tmp_path: Path) -> Callable[..., Awaitable[Report]]:
    """Research on the bundled web, in a data folder of the test's own."""

    async def asking(question: str = "When was Hesk Light first lit?", **flags: Any) -> Report:
        settings: dict[str, Any] = {
            "search": ["searxng"],
            "searxng_url": site.url,
            "data_dir": tmp_path / "data",
            "memory": False,
            **flags,
        }
        return await research(question, **settings)

    return asking


@pytest.fixture
def events(tmp_path: Path) -> Callable[[Report], list[Event]]:
    """Read the record of a run."""

    def read(report: Report) -> list[Event]:
        return list(read_events(Runs(tmp_path / "data").find(report.run).journal))

    return read
