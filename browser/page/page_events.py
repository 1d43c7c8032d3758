"""Events of a page: dialogs, downloads, new tabs, requests, errors, crashes.

They are reported with the next observation, and are used to tell when a page has settled.
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from browser.net.guard import VERDICT_HEADER
from browser.net.url import same_site
from browser.page import injected
from browser.page.waiting import run_in_background
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from playwright.async_api import (
        ConsoleMessage,
        Dialog,
        Download,
        FileChooser,
        Frame,
        Page,
        Request,
        Response,
    )

    from browser.types import SavedFile

SETTLE_SECONDS = 2.5  # after this time, the page is looked at even if it has not settled
NAVIGATION_SECONDS = 12.0  # for a navigation that an action started to show its page
_POLL_SECONDS = 0.02  # between checks of the page's state while requests are open
# Types of requests to wait for; images and fonts do not change a snapshot.
_AWAITED_TYPES = frozenset({"document", "xhr", "fetch", "script", "stylesheet"})
_SENDING_METHODS = frozenset({"POST", "PUT", "PATCH"})
_MAX_REFUSED = 200
_READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_STREAMING_SECONDS = 2.0  # a request that is open for longer is a stream or a long poll
_MAX_MESSAGE_CHARS = 200  # per dialog message
_MAX_LINE_CHARS = 280
_MAX_ERRORS = 3
_MAX_LINES = 20  # alerts in a loop would add thousands


class PageEvents:
    """Listens to one page.

    Dialogs are answered immediately: alerts and warnings about leaving the page are accepted,
    questions are declined unless `dialog_answer` is set for the current action. After
    `keep_dialogs_open`, dialogs stay open instead. Each new tab is passed to `adopt`, which returns
    its id, or None if it closed the tab because there are too many; downloads are passed to `save`.
    """

    def __init__(
        self,
        page: Page,
        save: Callable[[Download], Coroutine[Any, Any, SavedFile]],
        adopt: Callable[[Page], str | None],
    ) -> None:
        self._page = page
        self._save = save
        self._adopt = adopt
        self._lines: dict[str, int] = {}  # lines, and how often each occurred
        self._errors = 0
        self._requests: dict[Request, float] = {}  # open requests, with their start times
        self._unanswered: dict[Request, float] = {}  # open requests that send data to the site
        self._polled: set[str] = (
            set()
        )  # addresses of such requests that turned out to be long polls
        self._acted_at = math.inf
        self._popups: list[tuple[str | None, Page]] = []
        self._listens_for_choosers = False
        self.dialog_answer: str | None = None
        self.hold_dialogs = False
        self.open_dialog: Dialog | None = None
        self.dialog_opened = asyncio.Event()
        self.file_chooser: FileChooser | None = None
        self.navigating = False
        self.navigations = 0
        self.status: int | None = None  # the HTTP status of the page's response
        self.became_download = False  # a navigation turned out to be a download
        self.popups_opened = 0  # since the action began
        self.sent_requests = 0  # requests that carry data, since the action began
        self._refused: set[str] = set()  # addresses that our guard refused
        self.crashed = False
        self.downloads: list[asyncio.Task[SavedFile]] = []
        page.on("dialog", self._on_dialog)
        page.on("download", self._on_download)
        page.on("popup", self._on_popup)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._on_error(f"page error: {error}"))
        page.on("crash", self._on_crash)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", self._on_request_done)
        page.on("requestfailed", self._on_request_done)
        page.on("framenavigated", self._on_navigated)

    @property
    def closed(self) -> bool:
        """Whether the page is closed."""
        return self._page.is_closed()

    def begin(self, dialog_answer: str | None, *, acts: bool = True) -> None:
        """Start a new action; `dialog_answer` answers the dialogs that it may open.

        `acts` is False when a page is opened, because that sends nothing on the user's behalf.
        """
        now = time.monotonic()
        self._polled |= {
            _address(request)
            for request, started in self._unanswered.items()
            if started < self._acted_at and now - started > _STREAMING_SECONDS
        }
        self._acted_at = now if acts else math.inf
        self.dialog_answer, self.became_download, self.popups_opened = dialog_answer, False, 0
        self.sent_requests = 0

    def keep_dialogs_open(self) -> None:
        """From now on, leave dialogs and file choosers open for the caller to answer.

        `PageDriver.goto` ends this, as an open dialog could prevent another page from opening.
        """
        self.hold_dialogs = True
        if not self._listens_for_choosers:
            self._listens_for_choosers = True
            self._page.on("filechooser", self._on_chooser)

    def add(self, line: str) -> None:
        """Add a line to the next observation."""
        line = clean(line).replace("\n", " ")[:_MAX_LINE_CHARS]
        if line in self._lines or len(self._lines) < _MAX_LINES:
            self._lines[line] = self._lines.get(line, 0) + 1

    def drain(self) -> tuple[str, ...]:
        """Return the events since the last call, as one line each."""
        for name, page in self._popups:
            self.add(f"new tab {name}: {page.url}" if name else "another new tab was closed")
        lines, self._lines = self._lines, {}
        self._popups, self._errors = [], 0
        return tuple(f"{line} ({n} times)" if n > 1 else line for line, n in lines.items())

    async def settle(self, acted_in: Frame | None = None) -> None:
        """Wait for navigation, open requests, short timers and DOM changes to settle.

        `acted_in` is the frame of the action, if it is not the main frame.
        """
        until = time.monotonic() + SETTLE_SECONDS
        # Polled from outside the page, because a background tab throttles the page's timers.
        while time.monotonic() < until and not (self.closed or self.crashed):
            wait = await self._seconds_to_settle()
            if wait == 0 and acted_in is not None:
                with suppress(PlaywrightError):  # the frame no longer exists, or is navigating
                    wait = float((await injected.call(acted_in, "settleState"))["left"]) / 1000
            if wait == 0:
                return
            await asyncio.sleep(min(wait, max(0.0, until - time.monotonic())))

    @property
    def loading(self) -> bool:
        """Whether the page is waiting for scripts, data or another document."""
        return self.navigating or bool(self._requests)

    @property
    def unanswered(self) -> str:
        """A request from the last action that has no response yet; "" if there is none."""
        for request, started in self._unanswered.items():
            if started >= self._acted_at and (address := _address(request)) not in self._polled:
                return f"{request.method} {urlsplit(address).path}"
        return ""

    async def wait_for_answer(self, until: float) -> None:
        """Wait until the site has answered the last action's requests, or until the given time."""
        while self.unanswered and time.monotonic() < until:
            if self.closed or self.crashed:
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def _seconds_to_settle(self) -> float:
        """Return the seconds until the next poll; 0 if the page has settled."""
        try:
            state = await injected.call(self._page.main_frame, "settleState")
            # The page learns of a navigation before the browser does, but not whether it is a
            # download.
            leaving = self.navigating or (state["navigating"] and not self.became_download)
        except PlaywrightError:
            leaving = True  # the document disappeared during the call
        if leaving:
            await self._wait_for_document()
            return _POLL_SECONDS
        # A request that stays open for long is a stream, which never ends.
        now = time.monotonic()
        loading = any(now - started < _STREAMING_SECONDS for started in self._requests.values())
        # The page has requested more tabs than the browser has reported so far.
        opening = state["opening"] > self.popups_opened
        if state["ready"] == "loading" or loading or opening:
            return _POLL_SECONDS
        return float(state["left"]) / 1000

    async def _wait_for_document(self) -> None:
        """Wait for the next document; after a stopped or refused navigation, the page stays."""
        try:
            async with asyncio.timeout(NAVIGATION_SECONDS):
                if self.navigating:
                    milliseconds = NAVIGATION_SECONDS * 1000
                    await self._page.wait_for_event("framenavigated", timeout=milliseconds)
                await self._page.wait_for_load_state("domcontentloaded")
        except (TimeoutError, PlaywrightError):
            self.navigating = False

    def _on_chooser(self, chooser: FileChooser) -> None:
        self.file_chooser = chooser
        self.add(f"the page asks for {'files' if chooser.is_multiple() else 'a file'}")

    def _on_dialog(self, dialog: Dialog) -> None:
        if self.hold_dialogs and dialog.type != "beforeunload":
            self.open_dialog = dialog
            self.dialog_opened.set()
        else:
            run_in_background(self._answer(dialog))

    async def _answer(self, dialog: Dialog) -> None:
        kind, answer = dialog.type, self.dialog_answer
        accept = kind in {"alert", "beforeunload"} or answer not in {None, "dismiss"}
        try:
            if accept and kind == "prompt" and answer not in {None, "accept"}:
                await dialog.accept(answer)
            elif accept:
                await dialog.accept()
            else:
                await dialog.dismiss()
        except PlaywrightError:
            return  # the page and its dialog no longer exist
        done = "accepted" if accept else "dismissed"
        self.add(f'dialog: {kind} "{dialog.message[:_MAX_MESSAGE_CHARS]}" was {done}')

    def _on_download(self, download: Download) -> None:
        # A link to a file starts like a navigation, but no document will follow.
        self.navigating, self.became_download = False, True
        self.downloads.append(asyncio.ensure_future(self._save(download)))
        self.add(f"download: {download.suggested_filename[:100]} from {download.url[:100]}")

    def _on_popup(self, page: Page) -> None:
        self.popups_opened += 1
        self._popups.append((self._adopt(page), page))

    def _on_console(self, message: ConsoleMessage) -> None:
        # Browsers request an icon by themselves, so a missing icon is not an error on the page; nor
        # is an address that our guard refused.
        url = message.location["url"]
        expected = url.endswith("/favicon.ico") or url in self._refused
        if message.type == "error" and not expected:
            self._on_error(f"console error: {message.text}")

    def _on_error(self, line: str) -> None:
        self._errors += line not in self._lines
        if self._errors <= _MAX_ERRORS:
            self.add(line)

    def _on_crash(self, _page: Page) -> None:
        self.crashed = True
        self.add("the page crashed")

    def _on_request(self, request: Request) -> None:
        if request.resource_type in _AWAITED_TYPES:
            self._requests[request] = time.monotonic()
            if request.method not in _READ_METHODS and same_site(request.url, self._page.url):
                self._unanswered[request] = self._requests[request]
        self.sent_requests += request.method in _SENDING_METHODS
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.navigating = True

    def _on_response(self, response: Response) -> None:
        request = response.request
        if VERDICT_HEADER in response.headers and len(self._refused) < _MAX_REFUSED:
            self._refused.add(request.url)
        self._unanswered.pop(request, None)
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.status = response.status  # after redirects, the last one

    def _on_request_done(self, request: Request) -> None:
        self._requests.pop(request, None)
        self._unanswered.pop(request, None)
        if request.is_navigation_request() and request.failure:
            self.navigating = False

    def _on_navigated(self, frame: Frame) -> None:
        if frame == self._page.main_frame:
            self.navigating = False
            self.navigations += 1
            self._requests.clear()  # no events report the end of the old page's requests
            self._unanswered.clear()


def _address(request: Request) -> str:
    """Return the address of a request, without its query."""
    return request.url.partition("?")[0]
