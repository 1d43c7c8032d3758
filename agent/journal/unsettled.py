"""The runs whose jobs after the answer are not done yet, so that a later run can finish them.

Each is an empty file in a folder beside the runs, locked by the process that is at the jobs. A
process that is killed lets go of its lock, and leaves the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filelock import FileLock

FOLDER = "unsettled"


class Claim:
    """The jobs of one run, which nobody else does while this is held."""

    def __init__(self, file: Path, lock: FileLock) -> None:
        self.run = file.name
        self._file = file
        self._lock = lock

    def settle(self) -> None:
        """Say that all is done, as the record does already: who takes it up now finds nothing."""
        self.let_go()
        self._file.unlink(missing_ok=True)

    def let_go(self) -> None:
        """Leave the rest, if there is any, to a later run."""
        self._lock.release()


class Unsettled:
    """The unsettled runs of a data folder."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def claim(self, run: str) -> Claim | None:
        """Mark a run as unsettled and take up its jobs; None while another process is at them."""
        from filelock import FileLock, Timeout  # noqa: PLC0415 - a run without memory has no jobs

        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self._folder / run
        lock = FileLock(file, blocking=False, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return Claim(file, lock)

    def runs(self) -> list[str]:
        """List the unsettled runs, oldest first, those among them that a process is at."""
        left = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(file.name for file in left)

    def claims(self) -> Iterator[Claim]:
        """Take up the runs that were left behind, oldest first."""
        for run in self.runs():
            claim = self.claim(run)
            if claim is not None:
                yield claim
