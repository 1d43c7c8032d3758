"""The folder of all runs: create, find, list and delete runs."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import JournalError, UsageError
from browser.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, timedelta
    from typing import Any

    from filelock import FileLock

# no characters that look alike
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
_STAMP = "%Y%m%d-%H%M%S"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of a run: `journal.jsonl`, `report.json`, `blobs/<sha256>`, timestamps."""

    path: Path

    @property
    def id(self) -> str:
        """The run's id, such as `20261121-054512-k3f9`."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The file of events."""
        return self.path / "journal.jsonl"

    @property
    def report(self) -> Path:
        """The file of the finished report."""
        return self.path / "report.json"

    @property
    def browser_state(self) -> Path:
        """The run's cookies and site storage, which are secret and never exported."""
        return self.path / "browser-state.json"

    def settings_with_paths(self, recorded: dict[str, Any]) -> dict[str, Any]:
        """Add the paths, which the journal lacks, to the settings recorded in it."""
        try:
            return {**recorded, **json.loads(self.paths.read_bytes())}
        except FileNotFoundError:  # an archive, or an older run whose journal contains the paths
            return dict(recorded)

    @property
    def paths(self) -> Path:
        """The JSON file of the settings that are paths on this machine; it is never exported."""
        return self.path / "paths.json"

    @property
    def signature(self) -> Path:
        """The timestamp of the head by an authority (RFC 3161), if there is one."""
        return self.path / "head.tsr"

    @property
    def proof(self) -> Path:
        """The timestamp of the head by OpenTimestamps, if there is one."""
        return self.path / "head.ots"

    def lock(self) -> FileLock:
        """The lock held by the process that works on the run; released when that process ends."""
        from filelock import FileLock  # noqa: PLC0415 - most commands need none

        return FileLock(self.path / "running", blocking=False, thread_local=False)

    @property
    def is_running(self) -> bool:
        """Whether a process is currently working on the run."""
        lock = self.lock()
        if not Path(lock.lock_file).exists():
            return False
        try:
            with lock:
                return False
        except TimeoutError:
            return True

    def stamps(self) -> list[Path]:
        """List the timestamps that exist."""
        return [path for path in (self.signature, self.proof) if path.is_file()]

    def write(self, target: Path, body: bytes) -> None:
        """Write a file of the run atomically; raises `JournalError`."""
        try:
            write_atomic(target, body, private=True)
        except OSError as error:
            raise JournalError(
                f"cannot write {target}: {error.strerror}",
                hint="Free some disk space; everything recorded so far is intact.",
            ) from error

    def save_blob(self, body: bytes) -> str:
        """Save bytes as a blob unless it exists; returns its name, which is the SHA-256 (hex)."""
        digest = hashlib.sha256(body).hexdigest()
        target = self.path / "blobs" / digest
        if not target.exists():
            self.write(target, body)
        return digest

    def blob(self, digest: str) -> bytes:
        """Read a blob by its hash; raises `JournalError` if it does not exist."""
        # A record may come from elsewhere: a name that is not a hash could point outside the
        # folder.
        if len(digest) != 64 or digest.strip("0123456789abcdef"):
            raise JournalError(f"{digest[:80]!r} is not stored with {self.id}")
        try:
            return (self.path / "blobs" / digest).read_bytes()
        except OSError as error:
            raise JournalError(
                f"cannot read blob {digest} of {self.id}: {error.strerror}"
            ) from error


def new_id(now: datetime, length: int = 4) -> str:
    """Create an id from the time and `length` random characters."""
    return f"{now.strftime(_STAMP)}-{''.join(secrets.choice(_ALPHABET) for _ in range(length))}"


class Runs:
    """The runs of a data folder, each in its own folder that only the owner can read."""

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir / "runs"

    def create(self, now: datetime, name: str | None = None) -> RunFolder:
        """Create the folder of a new run; its id is `name` or a generated one."""
        folder = RunFolder(self.root / (name or new_id(now)))
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A given id may exist: if a job is killed before its run starts, it tries again with the
        # same id.
        for path in (folder.path, folder.path / "blobs"):
            path.mkdir(mode=0o700, exist_ok=name is not None)
        return folder

    def __iter__(self) -> Iterator[RunFolder]:
        """Iterate over the runs, newest first."""
        if self.root.is_dir():
            # Ids start with the time, so they sort chronologically.
            for path in sorted(self.root.iterdir(), reverse=True):
                if (path / "journal.jsonl").is_file():
                    yield RunFolder(path)

    def find(self, name: str) -> RunFolder:
        """Find a run by its id, an unambiguous part of it, or `last`; raises `UsageError`."""
        if name == "last":
            matches = list(self)[:1]
        else:
            matches = [run for run in self if name in run.id]
            exact = [run for run in matches if run.id == name]
            matches = exact or matches
        if not matches:
            raise UsageError(f"no run {name}", hint="`research runs` lists all runs.")
        if len(matches) > 1:
            some = ", ".join(run.id for run in matches[:5])
            raise UsageError(
                f"{name} matches several runs", hint=f"Specify one of these runs: {some}"
            )
        return matches[0]

    def remove(self, run: RunFolder) -> None:
        """Delete a run, including its pages."""
        shutil.rmtree(run.path)

    def remove_older(self, age: timedelta, now: datetime) -> list[str]:
        """Delete the runs older than `age`; returns their ids."""
        # ids start with the time, so they sort chronologically
        horizon = (now - age).strftime(_STAMP)
        old = [run for run in self if run.id < horizon]
        for run in old:
            self.remove(run)
        return [run.id for run in old]
