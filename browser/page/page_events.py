"""What comes between on a page: dialogs, downloads, new tabs, errors, consent pages and captchas.

Consent dialogs of well-known platforms are closed by rejecting where that is offered. A captcha is
found for a solver and answered with the token that it gave.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.net.url import host
from browser.page import injected
from browser.text.words import clean
from browser.types import Challenge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.async_api import (
        ConsoleMessage,
        Dialog,
        Download,
        FileChooser,
        Frame,
        Page,
        Request,
    )

    from browser.types import SavedFile

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
