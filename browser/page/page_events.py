"""What comes between on a page: dialogs, downloads, new tabs, errors, consent pages and captchas.

Consent dialogs of well-known platforms are closed by rejecting where that is offered. A captcha is
found for a solver and answered with the token that it gave. Names of files are made safe, and
nothing is written outside the folder.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import time
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.net.url import host
from browser.page import injected
from browser.text.words import clean
from browser.types import Challenge, SavedFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import (
        ConsoleMessage,
        Dialog,
        Download,
        FileChooser,
        Frame,
        Page,
        Request,
    )

_RELEVANT = frozenset({"document", "xhr", "fetch", "script", "stylesheet"})
_STREAMING_SECONDS = 2.0  # a request still open after this is a stream or a long poll
_MESSAGE = 200
_CONSOLE_KEPT = 3
_LINES_KEPT = 20  # an alert in a loop says the same thousands of times


class Events:
    """Listens to one page.

    Dialogs are answered at once: alerts and leaving are accepted, questions are declined unless
    `answer` says otherwise for the action under way, or whoever steers has them held. New tabs are
    given to `adopt`, which names them, or closes them where there are too many.
    """

    def __init__(
        self,
        page: Page,
        save: Callable[[Download], asyncio.Task[SavedFile]],
        adopt: Callable[[Page], str | None],
    ) -> None:
        self._page = page
        self._save = save
        self._adopt = adopt
        self._seen: list[str] = []
        self._errors = 0
        self._choosers = False
        self._open: dict[Request, float] = {}
        self.answer: str | None = None
        self.holding = False  # dialogs stay open
        self.held: Dialog | None = None
        self.raised = asyncio.Event()
        self.chooser: FileChooser | None = None
        self.navigating = False
        self.navigations = 0
        self.diverted = False  # what looked like a navigation was a download
        self.opened = 0  # tabs since the action began
        self.crashed = False
        self.closed = False
        self._popups: list[tuple[str | None, Page]] = []
        self.downloads: list[asyncio.Task[SavedFile]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        page.on("dialog", self._dialog)
        page.on("download", self._download)
        page.on("popup", self._popup)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._error(f"page error: {error}"))
        page.on("crash", self._crash)
        page.on("close", self._close)
        page.on("request", self._request)
        page.on("requestfinished", self._request_done)
        page.on("requestfailed", self._request_done)
        page.on("framenavigated", self._navigated)

    def begin(self, answer: str | None) -> None:
        """An action begins; `answer` is for the dialogs it may raise."""
        self.answer, self.diverted, self.opened = answer, False, 0

    def hold(self) -> None:
        """Leave dialogs open from now on, for who steers the page; note where files are asked for.

        Going to another address ends it: no page keeps itself from being opened.
        """
        self.holding = True
        if not self._choosers:
            self._choosers = True
            self._page.on("filechooser", self._file_asked_for)

    def take_held(self) -> Dialog | None:
        """Take the dialog that is open, to answer it."""
        dialog, self.held = self.held, None
        return dialog

    def drain(self) -> tuple[str, ...]:
        """Take what happened since the last call, one line each."""
        for name, page in self._popups:
            self.add(f"new tab {name}: {page.url}" if name else "a further new tab was closed")
        seen, self._seen = tuple(self._seen), []
        self._popups, self._errors = [], 0
        return seen

    def add(self, line: str) -> None:
        """Report something at the next observation."""
        if len(self._seen) < _LINES_KEPT:
            self._seen.append(clean(line).replace("\n", " ")[: _MESSAGE + 80])

    async def saved(self) -> list[Path]:
        """Wait for the downloads begun so far; gives the files that were saved."""
        return [kept.path for kept in await self.kept() if kept.path]

    async def kept(self) -> list[SavedFile]:
        """Wait for the downloads begun so far; says of each how it ended."""
        return list(await asyncio.gather(*self.downloads))

    def pending(self) -> bool:
        """Whether requests are open that the page's content may wait for."""
        now = time.monotonic()
        return any(now - begun < _STREAMING_SECONDS for begun in self._open.values())

    def _file_asked_for(self, chooser: FileChooser) -> None:
        self.chooser = chooser
        self.add(f"the page asks for {'files' if chooser.is_multiple() else 'a file'}")

    def _dialog(self, dialog: Dialog) -> None:
        if self.holding and dialog.type != "beforeunload":
            self.held = dialog
            self.raised.set()
            return
        task = asyncio.ensure_future(self._answer(dialog))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, dialog: Dialog) -> None:
        kind, answer = dialog.type, self.answer
        accept = kind in {"alert", "beforeunload"} or answer not in {None, "dismiss"}
        try:
            if accept and kind == "prompt" and answer not in {None, "accept"}:
                await dialog.accept(answer)
            elif accept:
                await dialog.accept()
            else:
                await dialog.dismiss()
        except PlaywrightError:
            return  # the page went away with its dialog
        done = "accepted" if accept else "dismissed"
        self.add(f'dialog: {kind} "{dialog.message[:_MESSAGE]}" was {done}')

    def _download(self, download: Download) -> None:
        self.navigating, self.diverted = False, True
        self.downloads.append(self._save(download))
        self.add(f"download: {download.suggested_filename[:100]} from {download.url[:100]}")

    def _popup(self, page: Page) -> None:
        self.opened += 1
        self._popups.append((self._adopt(page), page))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            self._error(f"console error: {message.text}")

    def _error(self, line: str) -> None:
        self._errors += 1
        if self._errors <= _CONSOLE_KEPT:
            self.add(line)

    def _crash(self, _page: Page) -> None:
        self.crashed = True
        self.add("the page crashed")

    def _close(self, _page: Page) -> None:
        self.closed = True

    def _request(self, request: Request) -> None:
        if request.resource_type in _RELEVANT:
            self._open[request] = time.monotonic()
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.navigating = True

    def _request_done(self, request: Request) -> None:
        self._open.pop(request, None)
        if request.is_navigation_request() and request.failure:
            self.navigating = False

    def _navigated(self, frame: Frame) -> None:
        if frame == self._page.main_frame:
            self.navigating = False
            self.navigations += 1
            self._open.clear()


# Platforms that put their dialog into a frame of their own.
_CONSENT_FRAMES = (
    "consent", "sp_message", "privacy-mgmt", "trustarc", "cmp.", "/cmp", "onetrust", "cookielaw",
)  # fmt: skip
# The widgets' own frames hold nothing that a token could be put into.
_WIDGETS = ("google.com", "recaptcha.net", "hcaptcha.com", "cloudflare.com")


async def close_consent(page: Page) -> str | None:
    """Close the consent dialog in front; gives what was done ("OneTrust: rejected") or None.

    Buttons are known by the platform's own ids and classes, never by what they say.
    """
    named = [f for f in page.frames[1:] if any(sign in f.url.lower() for sign in _CONSENT_FRAMES)]
    for frame in (page.main_frame, *named):
        with suppress(PlaywrightError):  # the frame went away with its dialog
            if found := await injected.call(frame, "consent"):
                return f"{found[0]}: {found[1]}"
    return None


async def challenge_of(page: Page) -> Challenge | None:
    """Find the captcha of a page or of a frame in it; None where there is none we know."""
    found = await _found_in(page)
    return found[1] if found else None


async def answer_challenge(page: Page, token: str) -> str:
    """Hand the token to the page as the widget would.

    Says how: `callback`, `submitted`, `filled` (the page's own button is to follow), or "" where
    the captcha is gone.
    """
    found = await _found_in(page)
    if found is None:
        return ""
    return str(await injected.call(found[0], "answerChallenge", token))


async def _found_in(page: Page) -> tuple[Frame, Challenge] | None:
    for frame in page.frames:
        if frame.parent_frame and host(frame.url).endswith(_WIDGETS):
            continue
        with suppress(PlaywrightError):  # a frame that went away
            if raw := await injected.call(frame, "challenge"):
                return frame, Challenge(**raw)
    return None


_UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
# Names that Windows keeps for devices, whatever the ending.
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
NAME_LIMIT = 120  # characters; every file system takes them with room for a counter
FILES_LIMIT = 100  # downloads of one session
BYTES_LIMIT = 500_000_000  # of one session
WATCH_SECONDS = 0.2  # between two looks at what has arrived; the browser tells of no progress


def safe_name(suggested: str) -> str:
    """Make a file name that stays inside its folder on every system."""
    name = _UNSAFE.sub("_", clean(unicodedata.normalize("NFC", suggested)).replace("\n", "_"))
    name = name.strip(" .") or "download"
    if name.partition(".")[0].lower() in _RESERVED:
        name = f"_{name}"
    stem, dot, ending = name.rpartition(".")
    if dot and len(ending) <= 12:
        return f"{stem[: NAME_LIMIT - 13]}.{ending}"
    return name[:NAME_LIMIT]


class Downloads:
    """Saves downloads into one folder, up to a number of files and bytes.

    The browser writes what arrives into `arriving`, which is watched: a download that goes over
    the quota is stopped while it runs, whatever size the server announced.
    """

    def __init__(self, folder: Path | None, arriving: Path, quota: int = BYTES_LIMIT) -> None:
        self._folder = folder
        self._quota = quota
        self._files = 0
        self._bytes = 0
        self.arriving = arriving
        arriving.mkdir(exist_ok=True)

    def start(self, download: Download) -> asyncio.Task[SavedFile]:
        """Begin saving; the task says how it ended."""
        return asyncio.ensure_future(self._save(download))

    def clear(self) -> None:
        """Remove what arrived and was not kept."""
        shutil.rmtree(self.arriving, ignore_errors=True)

    async def _save(self, download: Download) -> SavedFile:
        name = safe_name(download.suggested_filename)
        self._files += 1
        if self._files > FILES_LIMIT:
            await _stop(download)
            return SavedFile(name, why=f"{FILES_LIMIT} files are the most that a session keeps")
        try:
            if not await self._arrived(download):
                return SavedFile(
                    name, why=f"it is more than the {_size_of(self._quota)} that may be kept"
                )
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
                if self._bytes + _bytes_in(self.arriving) > self._quota:
                    whole.cancel()
                    await _stop(download)
                    return False
            await whole
        finally:
            whole.cancel()
        return True

    def _free(self, name: str) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="urchin-downloads-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / name
        counter = 1
        while target.exists() or target.is_symlink():
            target = self._folder / f"{counter}-{name}"
            counter += 1
        target.touch()  # another of the same name may arrive while this is being kept
        return target


async def _stop(download: Download) -> None:
    """Cancel a download, and remove one that had arrived meanwhile: it would count for ever."""
    await download.cancel()
    with suppress(PlaywrightError):  # cancelled in time, there is nothing to remove
        await download.delete()


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # kept or cancelled in this moment
            total += path.stat().st_size
    return total


def _size_of(count: int) -> str:
    return f"{count / 1_000_000:.0f} MB" if count >= 1_000_000 else f"{count} bytes"
