"""A browser's scratch files are removed with it; those of a killed one, by the next one."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

from browser.session.launch import LOCK_FILE_NAME, MIN_SCRATCH_AGE, scratch

BROWSE = """
import asyncio, sys
from browser import Browser

async def main():
    async with Browser.launch() as browser:
        await browser.open("about:blank")
        print(browser._running.process.pid, flush=True)
        sys.stdin.readline()

asyncio.run(main())
"""


@pytest.fixture
def place():
    """The temporary folder for the processes started; its path is short."""
    with tempfile.TemporaryDirectory(prefix="t") as folder:
        yield Path(folder)


@pytest.fixture
def browsing(place):
    """Start a process with a browser in its own group; it ends on a line of input."""

    def start(place=place):
        process = subprocess.Popen(
            [sys.executable, "-c", BROWSE],
            env={**os.environ, "TMPDIR": str(place)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return process, int(process.stdout.readline())

    return start


def wait_for_exit(pid):
    """Wait for a process to end that is not our child."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([watched], [], [])
    os.close(watched)


def is_in(pid, group):
    """Whether a process is in a group of processes."""
    try:
        return os.getpgid(pid) == group
    except ProcessLookupError:
        return False


def make_old(folder):
    """Make a folder older than one that is about to be locked."""
    past = folder.stat().st_mtime - 2 * MIN_SCRATCH_AGE
    os.utime(folder, (past, past))
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_browser_leaves_no_process_and_no_file(browsing, place):
    process, browser = browsing()
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    group = [pid for pid in numbers if is_in(pid, browser)]
    assert len(group) > 1  # renderers are separate processes
    process.communicate("\n")
    for pid in group:
        wait_for_exit(pid)
    assert list(place.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system cleans up")
def test_leftovers_of_killed_browser_are_removed_by_the_next(browsing, place):
    killed, browser = browsing()
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    wait_for_exit(browser)
    [left] = place.iterdir()
    assert list(left.glob("playwright_chromiumdev_profile-*"))
    make_old(left)
    whole, _ = browsing()
    assert not left.exists()
    whole.communicate("\n")
    assert list(place.iterdir()) == []


@pytest.fixture
def own_place(place):
    """The same for this process, using Python's own setting."""
    before, tempfile.tempdir = tempfile.tempdir, str(place)
    yield place
    tempfile.tempdir = before


def test_browser_starts_with_long_temp_path(browsing, place):
    deep = place / ("long" * 20)
    deep.mkdir()
    process, _ = browsing(deep)
    process.communicate("\n")
    assert process.returncode == 0


def test_scratch_folder_in_use_is_not_removed(own_place):
    with scratch() as first:
        make_old(first)
        with scratch() as second:
            assert first.is_dir()
            assert first != second


def test_recent_unlocked_scratch_folder_is_kept(own_place):
    young = own_place / "urchin-browser-young"
    old = own_place / "urchin-browser-old"
    for folder in (young, old):
        folder.mkdir()
    make_old(old)
    with scratch():
        assert young.is_dir()
        assert not old.exists()


def test_scratch_cleanup_ignores_foreign_files(own_place):
    for name in ("org.chromium.Chromium.abc", "playwright-artifacts-abc"):
        (own_place / name).mkdir()
        make_old(own_place / name)
    (own_place / "urchin-browser-link").symlink_to(own_place / "playwright-artifacts-abc")
    with scratch():
        assert (own_place / "org.chromium.Chromium.abc").is_dir()
        assert (own_place / "playwright-artifacts-abc").is_dir()


def test_scratch_lock_is_released_with_folder(own_place):
    with scratch() as folder, pytest.raises(TimeoutError):
        FileLock(folder / LOCK_FILE_NAME, blocking=False).acquire()
    assert not folder.exists()


BROWSE_AT_ONCE = """
import asyncio, os, threading
from browser import Browser

async def browse():
    async with Browser.launch() as browser:
        await browser.open("about:blank")

before = os.environ["TMPDIR"]
threads = [threading.Thread(target=lambda: asyncio.run(browse())) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert os.environ["TMPDIR"] == before
"""


def test_concurrent_browsers_use_separate_scratch_folders(place):
    """A server's runs start browsers in threads of one process with one environment."""
    environment = {**os.environ, "TMPDIR": str(place)}
    subprocess.run([sys.executable, "-c", BROWSE_AT_ONCE], env=environment, check=True)
    assert list(place.iterdir()) == []
