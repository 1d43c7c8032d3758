"""Replays runs offline: `python -m tests.offline RUN_FOLDER…`.

All sockets and new processes are refused; best run in a network namespace without interfaces as
well. Prints one line per run: the SHA-256 of the report, or what went wrong.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

REFUSED = ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto", "os.exec",
           "subprocess.Popen", "os.posix_spawn", "os.fork")  # fmt: skip


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in REFUSED:
        raise PermissionError(f"{event} {arguments!r}: nothing is reached from here")


def replayed_offline(folders: list[Path]) -> list[str]:
    """Replay runs in an offline process; returns a line from `main` for each."""
    command = [sys.executable, "-m", "tests.offline", *map(str, folders)]
    alone = ["unshare", "--net"] if namespaces() else []
    done = subprocess.run([*alone, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def namespaces() -> bool:
    """Whether this machine lets us create our own network namespace."""
    if not shutil.which("unshare"):
        return False
    return (
        subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode
        == 0
    )


def digest(report: bytes) -> str:
    return hashlib.sha256(report).hexdigest()


def main() -> None:
    """Replay each named run, and print its digest."""
    from agent.errors import ReplayDiverged
    from agent.journal.runs import RunFolder
    from agent.run.record import RunRecord
    from agent.run.replay import replay

    os.environ.clear()
    sys.addaudithook(refuse)
    for name in sys.argv[1:]:
        try:
            report = asyncio.run(replay(RunRecord.read(RunFolder(Path(name)))))
        except ReplayDiverged as error:
            print(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
            continue
        print(digest(report.to_json().encode()))


if __name__ == "__main__":
    main()
