"""Addresses for local files that reveal only the folders that the user named.

The file `2024/pump.md` in the folder `/home/ida/notes` is `file:///notes/2024/pump.md`.
Such addresses appear in reports and exports, which others may read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit
from urllib.request import url2pathname

from browser.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_FILE_BYTES = 32 * 1024 * 1024
"""Maximum size of a file that is read or indexed, in bytes; no document is larger than this."""


class LocalFiles:
    """The files and folders that may be read, each with the name that prefixes its addresses.

    The address of a file that is in several folders is based on the first one. If two names are
    equal, a number is added to the later one: `notes-2`.
    """

    def __init__(self, paths: Iterable[Path | str] = ()) -> None:
        self._roots: dict[str, Path] = {}
        for path in paths:
            self.add(Path(path))

    def add(self, path: Path, name: str = "") -> str:
        """Allow a file or folder to be read; returns its address, which begins with `name`."""
        # Security: symbolic links are resolved once, so changing one later gives no access.
        path = path.expanduser().resolve()
        if name or not any(path.is_relative_to(root) for root in self._roots.values()):
            taken, first, number = self._roots, name or path.name or "files", 1
            name = first
            while taken.get(name, path) != path:
                number += 1
                name = f"{Path(first).stem}-{number}{Path(first).suffix}"
            taken[name] = path
        return self.address(path)

    def address(self, path: Path) -> str:
        """Return the address of a readable file."""
        path = path.resolve()
        for name, root in self._roots.items():
            if path.is_relative_to(root):
                return f"file:///{quote('/'.join((name, *path.relative_to(root).parts)))}"
        raise Refused(f"{path.name} is outside the files and folders that you named")

    def share(self, url: str, others: LocalFiles) -> str:
        """Add the file at `url` to `others`; returns its address there, unchanged if possible.

        Raises `Refused` under the same conditions as `path`.
        """
        path = self.path(url)
        return others.add(path, unquote(urlsplit(self.address(path)).path).lstrip("/"))

    def path(self, url: str) -> Path:
        """Return the file at an address; a `file:` URL with the full path is also accepted.

        Raises `Refused` for anything outside the files and folders that may be read.
        """
        parts = urlsplit(url)
        is_local = parts.scheme == "file" and parts.netloc in {"", "localhost"}
        if is_local and "\x00" not in unquote(parts.path):
            # Resolved before it is compared: `..` and links must not leave the allowed paths.
            found = [path.resolve() for path in self._candidates(parts.path)]
            allowed = [
                path
                for path in found
                if any(path.is_relative_to(root) for root in self._roots.values())
            ]
            if allowed:
                return next((path for path in allowed if path.is_file()), allowed[0])
        raise Refused(
            f"{url} is outside the files and folders that you named",
            hint="Pass the file with --file, or its folder with --corpus.",
        )

    def _candidates(self, path: str) -> Iterator[Path]:
        inside = unquote(path).lstrip("/")
        for name, root in self._roots.items():
            if inside == name:
                yield root
            elif inside.startswith(f"{name}/"):
                yield root / inside.removeprefix(f"{name}/")
        yield Path(url2pathname(path))  # handles `/C:/…` on Windows
