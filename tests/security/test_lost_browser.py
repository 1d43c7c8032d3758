"""The run finishes if its browser is killed, stopped or crashed, or its socket is dropped."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.session import launch
from tests.browser.page.pages import Pages, serve_pages
from tests.browser.session.hostile import kill, stop, wire_to

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from browser.session.chrome import StartedChrome
    from tests.browser.session.hostile import Wire


pytestmark = [
    pytest.mark.row(n=16),
    pytest.mark.skipif(not Path("/proc").exists(), reason="finds processes in /proc"),
]


@pytest.fixture
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        served.put("<title>Lamp</title><p>The lamp was first lit in 1829.</p>", "/lamp")
        yield served


@dataclass(frozen=True)
class Process:
    """A process, as reported by /proc; `started` counts from the machine's start."""

    pid: int
    parent: int
    started: int
    line: str


def processes() -> dict[int, Process]:
    found: dict[int, Process] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            line = (path / "cmdline").read_text().replace("\0", " ")
            found[int(path.name)] = Process(int(path.name), int(fields[1]), int(fields[19]), line)
    return found


def newest_browser() -> int:
    """The browser that this process started last, which belongs to the run under test."""
    every = processes()

    def is_ours(process: Process | None) -> bool:
        return process is not None and (
            process.parent == os.getpid() or is_ours(every.get(process.parent))
        )

    ours = [
        process
        for process in every.values()
        if "--remote-debugging-pipe" in process.line
        and "--type=" not in process.line
        and is_ours(process)
    ]
    return max(ours, key=lambda process: process.started).pid


def renderers(browser: int) -> list[int]:
    every = processes()

    def is_below(process: Process | None) -> bool:
        return process is not None and (
            process.parent == browser or is_below(every.get(process.parent))
        )

    rendering = [p for p in every.values() if "--type=renderer" in p.line and is_below(p)]
    return [process.pid for process in rendering]


@pytest.fixture(autouse=True)
async def browser_of_the_run() -> None:
    """No browser kept by other tests is used: the run's own is the newest."""
    await launch.processes().close_idle()


async def killed(_: str) -> str:
    kill(newest_browser())
    return "killed"


async def stopped(_: str) -> str:
    stop(newest_browser())
    return "stopped"


async def crashed(_: str) -> str:
    for pid in renderers(newest_browser()):
        kill(pid)
    return "crashed"


@pytest.mark.parametrize("lose", [killed, stopped, crashed])
@pytest.mark.sample(1)
async def test_run_continues_in_new_browser_after_crash(ask, script, events, pages, lose):
    page = f"<<TOOL:OPEN:{pages.base}/lamp>>"
    model = script(
        page, "<<TOOL:LOSE>>", "<<TOOL:SNAPSHOT>>", page, "The lamp was first lit in 1829. [S1]"
    )
    allowed = [f"127.0.0.1:{pages.port}"]
    report = await ask(model=model, allow_private=allowed, tools={"LOSE": lose})
    results = [event.data for event in events(report) if event.type == "tool.result"]
    assert results[2]["data"]["error"]
    assert "first lit in 1829" in results[3]["web"]
    assert report.status == "answered"


@pytest.fixture
async def wire(chrome_in_use: StartedChrome) -> AsyncIterator[Wire]:
    """A user's Chrome behind a connection that can be cut."""
    async with wire_to(int(chrome_in_use.cdp_url.rpartition(":")[2])) as wire:
        yield wire


async def test_run_reattaches_after_socket_is_dropped(ask, script, events, pages, wire):
    async def drop(_: str) -> str:
        wire.cut()
        return "dropped"

    page = f"<<TOOL:OPEN:{pages.base}/lamp>>"
    model = script(
        page,
        "<<TOOL:DISCONNECT>>",
        "<<TOOL:SNAPSHOT>>",
        page,
        "The lamp was first lit in 1829. [S1]",
    )
    report = await ask(
        f"When was the lamp first lit, by {pages.base}/lamp ?",
        model=model,
        cdp=f"http://127.0.0.1:{wire.port}",
        allow_private=["127.0.0.1"],
        tools={"DISCONNECT": drop},
    )
    results = [event.data for event in events(report) if event.type == "tool.result"]
    assert "gone" in results[2]["data"]["error"]
    assert "first lit in 1829" in results[3]["web"]
    assert report.status == "answered"
