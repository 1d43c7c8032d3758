"""Row 16: the browser killed, stopped, crashed, its socket dropped; the run finishes."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.session.start import start_chrome
from tests.browser.page.pages import Pages, serve_pages
from tests.browser.session.hostile import kill, stop, wire_to

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.browser.session.hostile import Wire

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="finds processes in /proc")


@pytest.fixture
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        served.put("<title>Lamp</title><p>The lamp was first lit in 1829.</p>", "/lamp")
        yield served


def parent_of(pid: str) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]


def descendants() -> dict[int, str]:
    """Processes below this one, with their command lines."""
    found = {str(os.getpid()): ""}
    for path in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        try:
            if parent_of(path.name) in found:
                found[path.name] = (path / "cmdline").read_text().replace("\0", " ")
        except FileNotFoundError:
            continue  # it ended meanwhile
    return {int(pid): line for pid, line in found.items() if line}


def browsers() -> list[int]:
    return [
        pid
        for pid, line in descendants().items()
        if "--remote-debugging-pipe" in line and "--type=" not in line
    ]


def renderers() -> list[int]:
    return [
        pid
        for pid, line in descendants().items()
        if "--type=renderer" in line and "--extension-process" not in line
    ]


async def killed(_: str) -> str:
    kill(browsers()[-1])
    return "killed"


async def stopped(_: str) -> str:
    stop(browsers()[-1])
    return "stopped"


async def crashed(_: str) -> str:
    for pid in renderers():
        kill(pid)
    return "crashed"


@pytest.mark.parametrize(
    ("lose", "error"), [(killed, "gone|closed"), (stopped, "no answer"), (crashed, "crashed")]
)
async def test_a_run_goes_on_with_a_new_browser(ask, script, events, pages, lose, error):
    page = f"<<TOOL:OPEN:{pages.base}/lamp>>"
    model = script(
        page, "<<TOOL:LOSE>>", "<<TOOL:SNAPSHOT>>", page, "The lamp was first lit in 1829. [S1]"
    )
    allowed = [f"127.0.0.1:{pages.port}"]
    report = await ask(model=model, allow_private=allowed, tools={"LOSE": lose})
    results = [event.data for event in events(report) if event.type == "tool.result"]
    assert re.search(error, results[2]["data"]["error"])
    assert "first lit in 1829" in results[3]["web"]
    assert report.status == "answered"


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    """A person's Chrome behind a wire that can be cut."""
    chrome = await start_chrome(tmp_path / "profile", headless=True)
    async with wire_to(int(chrome.cdp_url.rpartition(":")[2])) as wire:
        yield wire
    os.killpg(chrome.pid, signal.SIGKILL)


async def test_a_run_attaches_again_when_its_socket_is_dropped(ask, script, events, pages, wire):
    async def drop(_: str) -> str:
        wire.cut()
        return "dropped"

    page = f"<<TOOL:OPEN:{pages.base}/lamp>>"
    model = script(
        page, "<<TOOL:DROP>>", "<<TOOL:SNAPSHOT>>", page, "The lamp was first lit in 1829. [S1]"
    )
    report = await ask(
        model=model,
        cdp=f"http://127.0.0.1:{wire.port}",
        allow_private=["127.0.0.1"],
        tools={"DROP": drop},
    )
    results = [event.data for event in events(report) if event.type == "tool.result"]
    assert "gone" in results[2]["data"]["error"]
    assert "first lit in 1829" in results[3]["web"]
    assert report.status == "answered"
