"""A folder for all that a browser leaves lying about: profile, sockets, what is arriving.

It is gone when the browser has ended. Where the process is killed first the folder stays behind,
without its lock: the next start sweeps it away, and never one that is in use.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "urchin-browser-"
LOCK = "in-use"
LONGEST = 40
"""Characters of a place in which Chromium can still have its socket: Linux takes 107, of which our
folder's name and `/org.chromium.Chromium.123456/SingletonSocket` are 68."""
YOUNG = 60.0
"""Seconds for which a folder is left alone: it may be about to be locked."""


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder of one's own until the block ends."""
    place = _place()
    _sweep(place)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    lock = FileLock(folder / LOCK, thread_local=False)
    lock.acquire()
    try:
        yield folder
    finally:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary_files_in(folder: Path | None) -> Iterator[None]:
    """Let a process that is started in this block, and those it starts, put theirs in a folder.

    On Linux alone: elsewhere the paths of sockets are long already. Our own temporary files are
    not moved.
    """
    if folder is None or sys.platform != "linux":
        yield
        return
    tempfile.gettempdir()  # is asked once, and known from then on
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def _place() -> Path:
    """Tell where temporary files belong; Chromium does not start where that has a long name."""
    place = tempfile.gettempdir()
    too_long = sys.platform == "linux" and len(place) >= LONGEST
    return Path("/tmp" if too_long else place)  # noqa: S108 - a folder of its own is made there


def _sweep(place: Path) -> None:
    """Remove what killed processes of this user have left."""
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError, Timeout):
            if _may_be_left(folder):
                with FileLock(folder / LOCK, blocking=False):
                    pass  # nobody has it in use
                shutil.rmtree(folder)


def _may_be_left(folder: Path) -> bool:
    found = folder.lstat()
    mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    old = time.time() - found.st_mtime > YOUNG
    return mine and old and folder.is_dir() and not folder.is_symlink()
