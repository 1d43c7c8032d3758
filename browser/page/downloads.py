"""Downloads, saved into one folder up to a number of files and bytes.

Names of files are made safe, and nothing is written outside the folder.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.text.words import clean
from browser.types import SavedFile

if TYPE_CHECKING:
    from playwright.async_api import Download

NAME_LIMIT = 120  # characters; every file system takes them with room for a counter
FILES_LIMIT = 100  # downloads of one session
BYTES_LIMIT = 500_000_000  # of one session
WATCH_SECONDS = 0.2  # between two looks at what has arrived; the browser tells of no progress
_ENDING = 12  # characters; what is longer is no file name's ending
_UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
# Names that Windows keeps for devices, whatever the ending.
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)


def safe_name(suggested: str) -> str:
    """Make a file name that stays inside its folder on every system."""
    name = _UNSAFE.sub("_", clean(unicodedata.normalize("NFC", suggested)).replace("\n", "_"))
    name = name.strip(" .") or "download"
    if name.partition(".")[0].lower() in _RESERVED:
        name = f"_{name}"
    stem, dot, ending = name.rpartition(".")
    if dot and len(ending) <= _ENDING:
        return f"{stem[: NAME_LIMIT - _ENDING - 1]}.{ending}"
    return name[:NAME_LIMIT]


class Downloads:
    """Saves downloads, into a new folder where none is named.

    The browser writes what arrives into `arriving`, which is watched: a download that goes over
    the quota of bytes is stopped while it runs, whatever size the server announced.
    """

    def __init__(self, folder: Path | None, arriving: Path, quota: int = BYTES_LIMIT) -> None:
        self._folder = folder
        self._quota = quota
        self._files = 0
        self._bytes = 0
        self.arriving = arriving
        arriving.mkdir(exist_ok=True)

    def clear(self) -> None:
        """Remove what arrived and was not kept."""
        shutil.rmtree(self.arriving, ignore_errors=True)

    async def save(self, download: Download) -> SavedFile:
        """Save a download; says how it ended."""
        name = safe_name(download.suggested_filename)
        self._files += 1
        if self._files > FILES_LIMIT:
            await _stop(download)
            return SavedFile(name, why=f"{FILES_LIMIT} files are the most that a session keeps")
        try:
            if not await self._arrived(download):
                quota = self._quota
                most = f"{quota / 1_000_000:.0f} MB" if quota >= 1_000_000 else f"{quota} bytes"
                return SavedFile(name, why=f"it is more than the {most} that may be kept")
            target = self._free(name)
            try:
                await download.save_as(target)
            except BaseException:
                target.unlink(missing_ok=True)
                raise
        except (PlaywrightError, OSError) as error:
            return SavedFile(name, why=f"it broke off: {str(error).splitlines()[0][:200]}")
        self._bytes += target.stat().st_size
        await download.delete()
        return SavedFile(name, target)

    async def _arrived(self, download: Download) -> bool:
        """Wait for a download, and stop it where it outgrows the quota."""
        whole = asyncio.ensure_future(download.path())
        try:
            while not whole.done():
                await asyncio.wait({whole}, timeout=WATCH_SECONDS)
                if self._bytes + self._bytes_arriving() > self._quota:
                    whole.cancel()
                    await _stop(download)
                    return False
            await whole
        finally:
            whole.cancel()
        return True

    def _bytes_arriving(self) -> int:
        total = 0
        for path in self.arriving.rglob("*"):
            with suppress(FileNotFoundError):  # kept or cancelled in this moment
                total += path.stat().st_size
        return total

    def _free(self, name: str) -> Path:
        """A path that nothing has yet, made at once: another of the name may arrive meanwhile."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="urchin-downloads-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / name
        counter = 1
        while target.exists() or target.is_symlink():
            target = self._folder / f"{counter}-{name}"
            counter += 1
        target.touch()
        return target


async def _stop(download: Download) -> None:
    """Cancel a download, and remove one that had arrived meanwhile: it would count for ever."""
    await download.cancel()
    with suppress(PlaywrightError):  # cancelled in time, there is nothing to remove
        await download.delete()
