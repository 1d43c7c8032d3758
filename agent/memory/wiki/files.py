"""Where a wiki's files live: a folder by default, or whatever implements `WikiFiles`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXTENSIONS = frozenset({".md", ".mdx", ".txt", ".jsonl"})


class WikiFiles(Protocol):
    """A store of texts by relative path, with `/` between its parts."""

    def list_files(self) -> Sequence[str]:
        """List the paths, sorted."""
        ...

    def read_file(self, path: str) -> str | None:
        """Read a file; None where there is none."""
        ...

    def write_file(self, path: str, text: str) -> None:
        """Write a file whole, or not at all."""
        ...


def safe_path(path: str) -> str:
    """Normalise a path; raises `UsageError` where it would lead out of the wiki."""
    pure = PurePosixPath(path.replace("\\", "/"))
    parts = [part for part in pure.parts if part != "."]
    if pure.is_absolute() or ".." in parts or not parts or "\x00" in path or ":" in parts[0]:
        raise UsageError(f"{path!r} is no path inside the wiki", hint="Use a path such as a/b.md.")
    return "/".join(parts)


class Folder:
    """A folder on disk; symbolic links that lead out of it are not followed."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._root = Path(root)

    def list_files(self) -> Sequence[str]:
        """List the files of known kinds, hidden ones left out."""
        found = (path for path in self._root.rglob("*") if path.suffix in EXTENSIONS)
        names = (path.relative_to(self._root).as_posix() for path in found if self._inside(path))
        return sorted(name for name in names if not name.startswith(".") and "/." not in name)

    def read_file(self, path: str) -> str | None:
        """Read a file as UTF-8; a byte order mark and foreign line ends are taken away."""
        place = self._root / safe_path(path)
        if not self._inside(place):
            return None
        return place.read_text(encoding="utf-8-sig", errors="replace").replace("\r\n", "\n")

    def write_file(self, path: str, text: str) -> None:
        """Write to a file beside it, then rename: a crash leaves the old text or the new.

        Raises `UsageError` where the folder does not let us.
        """
        place = self._root / safe_path(path)
        try:
            self._write(place, path, text)
        except OSError as error:
            raise UsageError(
                f"cannot write {place}: {error.strerror}", hint="Name another wiki with --folder."
            ) from error

    def _write(self, place: Path, path: str, text: str) -> None:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not place.parent.resolve().is_relative_to(self._root.resolve()):
            raise UsageError(f"{path!r} leads out of the wiki", hint="Remove the symbolic link.")
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=".")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(place)
        except OSError:
            Path(name).unlink()
            raise

    def _inside(self, place: Path) -> bool:
        return place.is_file() and place.resolve().is_relative_to(self._root.resolve())
