"""Finding a run by what people call it: its id, a folder, or the file of an archive."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.export.archive import unpacked
from agent.journal import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.journal import Runs


def is_archive(name: str) -> bool:
    """Whether a name is that of an archive, not of a run."""
    return name.lower().endswith(".zip")


@contextmanager
def opened(name: str, runs: Runs) -> Iterator[RunFolder]:
    """Open a run; what an archive was unpacked to is gone when the block is left.

    Raises `UsageError` where there is no such run or file, `ArchiveDamaged` where it is broken.
    """
    if is_archive(name):
        with unpacked(Path(name)) as folder:
            yield folder
    elif (Path(name) / "journal.jsonl").is_file():
        yield RunFolder(Path(name).resolve())
    else:
        yield runs.find(name)
