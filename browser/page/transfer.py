"""Downloads and uploads: file names made safe, nothing outside the folder."""

from __future__ import annotations

import asyncio
import re
import tempfile
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.text import clean

if TYPE_CHECKING:
    from playwright.async_api import Download

_UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
# Names that Windows keeps for devices, whatever the ending.
_RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
NAME_LIMIT = 120  # characters; every file system takes them with room for a counter
FILES_LIMIT = 100  # downloads of one session
BYTES_LIMIT = 500_000_000  # of one session


def safe_name(suggested: str) -> str:
    """Make a file name that stays inside its folder on every system."""
    name = _UNSAFE.sub("_", clean(unicodedata.normalize("NFC", suggested)).replace("\n", "_"))
    name = name.strip(" .") or "download"
    if _RESERVED.match(name):
        name = f"_{name}"
    stem, dot, ending = name.rpartition(".")
    if dot and len(ending) <= 12:
        return f"{stem[: NAME_LIMIT - 13]}.{ending}"
    return name[:NAME_LIMIT]


class Downloads:
    """Saves downloads into one folder, up to a number of files and bytes."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._files = 0
        self._bytes = 0

    def start(self, download: Download) -> asyncio.Task[Path | None]:
        """Begin saving; the task gives the path, or None where it failed or went over the limit."""
        return asyncio.ensure_future(self._save(download))

    async def _save(self, download: Download) -> Path | None:
        self._files += 1
        try:
            if self._files > FILES_LIMIT or self._bytes > BYTES_LIMIT:
                await download.cancel()
                return None
            target = self._free(safe_name(download.suggested_filename))
            await download.save_as(target)
        except PlaywrightError:
            return None
        self._bytes += target.stat().st_size
        return target

    def _free(self, name: str) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="urchin-downloads-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / name
        counter = 1
        while target.exists():
            target = self._folder / f"{counter}-{name}"
            counter += 1
        return target
