"""The folder of all runs: making, finding, listing and deleting them."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import JournalError, UsageError
from agent.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, timedelta
    from pathlib import Path

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no look-alikes: people read ids aloud
_STAMP = "%Y%m%d-%H%M%S"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run on disk: `journal.jsonl`, `report.json`, and `blobs/<sha256>`."""

    path: Path

    @property
    def id(self) -> str:
        """The run's id, such as `20261121-054512-k3f9`."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """Where the events stand."""
        return self.path / "journal.jsonl"

    @property
    def report(self) -> Path:
        """Where the finished report stands."""
        return self.path / "report.json"

    def keep(self, body: bytes) -> str:
        """Keep bytes under their SHA-256 (hex), once; whole or not at all."""
        digest = hashlib.sha256(body).hexdigest()
        target = self.path / "blobs" / digest
        if not target.exists():
            _keep(target, body)
        return digest

    def blob(self, digest: str) -> bytes:
        """Read bytes that were kept; raises `JournalError` where there are none by this name.

        Records come from elsewhere too: a name that is no hash could lead out of the folder.
        """
        if len(digest) != 64 or digest.strip("0123456789abcdef"):
            raise JournalError(f"{digest[:80]!r} names nothing that was kept with {self.id}")
        try:
            return (self.path / "blobs" / digest).read_bytes()
        except OSError as error:
            raise JournalError(
                f"cannot read blob {digest} of {self.id}: {error.strerror}"
            ) from error

    @property
    def browser_state(self) -> Path:
        """Where cookies and what sites store stand while the run lasts: secrets, never exported."""
        return self.path / "browser-state.json"

    def write_browser_state(self, text: str) -> None:
        """Keep the browser's state, whole or not at all."""
        _keep(self.browser_state, text.encode())

    @property
    def signature(self) -> Path:
        """Where the timestamp that an authority signed stands, if there is one (RFC 3161)."""
        return self.path / "head.tsr"

    @property
    def proof(self) -> Path:
        """Where the timestamp of OpenTimestamps stands, if there is one."""
        return self.path / "head.ots"

    def stamps(self) -> list[Path]:
        """List the timestamps of the head that there are."""
        return [path for path in (self.signature, self.proof) if path.is_file()]

    def write_stamp(self, path: Path, token: bytes) -> None:
        """Put a timestamp beside the journal, in place of an earlier one of its kind."""
        _keep(path, token)

    def write_report(self, text: str) -> None:
        """Put the finished report beside the journal, whole or not at all."""
        _keep(self.report, text.encode())


def new_id(now: datetime, length: int = 4) -> str:
    """Make an id that says when it was made, and ends in `length` random characters."""
    return f"{now.strftime(_STAMP)}-{''.join(secrets.choice(_ALPHABET) for _ in range(length))}"


class Runs:
    """All runs under a data folder, each in a folder of its own, readable by their owner only."""

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir / "runs"

    def create(self, now: datetime, name: str | None = None) -> RunFolder:
        """Make the folder of a new run; one with a given id may be there, if it never began."""
        folder = RunFolder(self.root / (name or new_id(now)))
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in (folder.path, folder.path / "blobs"):
            path.mkdir(mode=0o700, exist_ok=name is not None)
        return folder

    def __iter__(self) -> Iterator[RunFolder]:
        """Go through the runs, newest first."""
        if self.root.is_dir():
            for path in sorted(self.root.iterdir(), reverse=True):
                if (path / "journal.jsonl").is_file():
                    yield RunFolder(path)

    def find(self, name: str) -> RunFolder:
        """Find a run by its id, an unambiguous part of it, or `last`."""
        matches = [run for run in self if name == "last" or name in run.id]
        if name != "last" and len(matches) > 1:
            matches = [run for run in matches if run.id == name] or matches
            if len(matches) > 1:
                raise UsageError(f"{name} is the beginning of several runs", hint=_some(matches))
        if not matches:
            raise UsageError(f"no run {name}", hint="`research runs` lists them.")
        return matches[0]

    def remove(self, run: RunFolder) -> None:
        """Delete a run with all its pages."""
        shutil.rmtree(run.path)

    def remove_older(self, age: timedelta, now: datetime) -> list[str]:
        """Delete the runs older than `age`; gives their ids."""
        horizon = (now - age).strftime(_STAMP)
        old = [run for run in self if run.id < horizon]
        for run in old:
            self.remove(run)
        return [run.id for run in old]


def _some(runs: list[RunFolder]) -> str:
    return "Say which: " + ", ".join(run.id for run in runs[:5])


def _keep(target: Path, body: bytes) -> None:
    try:
        write_whole(target, body, private=True)
    except OSError as error:
        raise JournalError(
            f"cannot write {target}: {error.strerror}",
            hint="Free some disk space; what was recorded before is intact.",
        ) from error
