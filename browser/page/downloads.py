"""Saves downloads into one folder, up to a number of files and bytes.

File names are made safe, so that nothing is written outside the folder.
"""

from __future__ import annotations

import asyncio
import re
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

MAX_NAME_BYTES = 200  # in UTF-8; file systems allow 255, and a counter may be added
MAX_FILES_PER_SESSION = 100  # a page that starts more is filling the disk
MAX_BYTES_PER_SESSION = 500_000_000  # large data sets fit; a disk is not filled
WATCH_SECONDS = 0.2  # between checks of the received bytes, as the browser reports no progress
_MAX_EXTENSION_CHARS = 12  # kept when a name is shortened; longer ones are not extensions
_UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
# Names that Windows reserves for devices, with any extension.
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)


def safe_name(suggested: str) -> str:
    """Turn a suggested name into a file name without folders that is valid on any system."""
    encodable = unicodedata.normalize("NFC", suggested).encode("utf-8", "ignore").decode()
    name = _UNSAFE.sub("_", clean(encodable).replace("\n", "_"))
    name = name.strip(" .") or "download"
    if name.partition(".")[0].lower() in _RESERVED:
        name = f"_{name}"
    stem, dot, extension = name.rpartition(".")
    if dot and len(extension) <= _MAX_EXTENSION_CHARS:
        ending = f".{extension}"
        return _cut_to_bytes(stem, MAX_NAME_BYTES - len(ending.encode())) + ending
    return _cut_to_bytes(name, MAX_NAME_BYTES)


def _cut_to_bytes(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore")


class Downloads:
    """Saves the downloads of a session; without a `folder`, it creates a temporary one.

    Incoming files are watched: a download that exceeds the `quota` in bytes is cancelled while it
    is running, whatever size the server announced. Unsaved files are deleted with the browser
    context.
    """

    def __init__(self, folder: Path | None, quota: int = MAX_BYTES_PER_SESSION) -> None:
        self._folder = folder
        self._quota = quota
        self._files = 0
        self._bytes = 0
        self._arriving: list[Download] = []

    async def save(self, download: Download) -> SavedFile:
        """Save a download; failures are reported in the result, not raised."""
        name = safe_name(download.suggested_filename)
        self._files += 1
        if self._files > MAX_FILES_PER_SESSION:
            await _stop(download)
            return SavedFile(name, reason=f"a session keeps at most {MAX_FILES_PER_SESSION} files")
        self._arriving.append(download)
        try:
            if not await self._wait_until_complete(download):
                quota = self._quota
                most = f"{quota / 1_000_000:.0f} MB" if quota >= 1_000_000 else f"{quota} bytes"
                return SavedFile(name, reason=f"it exceeds the limit of {most}")
            target = self._reserve(name)
            try:
                await download.save_as(target)
            except BaseException:  # including cancellation: an empty file must not be left behind
                target.unlink(missing_ok=True)
                raise
        except (PlaywrightError, OSError) as error:
            return SavedFile(
                name, reason=f"the download failed: {str(error).splitlines()[0][:200]}"
            )
        finally:
            self._arriving.remove(download)
        self._bytes += target.stat().st_size
        await download.delete()
        return SavedFile(name, target)

    def keep(self, suggested_name: str, data: bytes) -> SavedFile:
        """Save a file whose content was read from the page."""
        name = safe_name(suggested_name)
        self._files += 1
        if self._files > MAX_FILES_PER_SESSION or self._bytes + len(data) > self._quota:
            return SavedFile(name, reason="it exceeds the session's limit of files or bytes")
        target = self._reserve(name)
        target.write_bytes(data)
        self._bytes += len(data)
        return SavedFile(name, target)

    async def _wait_until_complete(self, download: Download) -> bool:
        """Wait until a download is complete; if it exceeds the quota, stop it and return False."""
        completed = asyncio.ensure_future(download.path())
        try:
            while not completed.done():
                await asyncio.wait({completed}, timeout=WATCH_SECONDS)
                if self._bytes + self._bytes_arriving() > self._quota:
                    completed.cancel()
                    await _stop(download)
                    return False
            await completed
        finally:
            completed.cancel()
        return True

    def _bytes_arriving(self) -> int:
        return sum(map(_bytes_of, self._arriving))

    def _reserve(self, name: str) -> Path:
        """Create an empty file with an unused name, as another download may want the same name."""
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


def _bytes_of(download: Download) -> int:
    """Return how many bytes of a download have been received."""
    # Playwright's public `path` waits until the file is complete.
    whole = Path(download._impl_obj._artifact._initializer["absolutePath"])  # noqa: SLF001
    total = 0
    for path in (whole, whole.with_name(f"{whole.name}.crdownload")):
        with suppress(FileNotFoundError):  # not started, already saved, or cancelled
            total += path.stat().st_size
    return total


async def _stop(download: Download) -> None:
    """Cancel a download; if it was complete, delete its file, which counts towards the quota."""
    await download.cancel()
    with suppress(PlaywrightError):  # cancelled before it was complete: there is no file
        await download.delete()
