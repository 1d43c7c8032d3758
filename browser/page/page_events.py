"""What happens on a page by itself: dialogs, downloads, new tabs, requests, errors.

It is told at the next observation, and says when a page has come to rest.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from browser.page import injected
from browser.page.waiting import in_background
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
    )

    from browser.types import SavedFile

CAP_SECONDS = 2.5  # a page that never rests is looked at as it is
NAVIGATION_SECONDS = 12.0
_STEP = 0.02  # seconds between two looks at the page's state while requests are open
_RELEVANT = frozenset({"document", "xhr", "fetch", "script", "stylesheet"})
_STREAMING_SECONDS = 2.0  # a request still open after this is a stream or a long poll
_MESSAGE = 200  # characters of a dialog
_LINE = 280  # characters
_ERRORS_KEPT = 3
_LINES_KEPT = 20  # an alert in a loop says the same thousands of times


class PageEvents:
    """Listens to one page.

    Dialogs are answered at once: alerts and leaving are accepted, questions are declined unless
    `answer` says otherwise for the action under way, or whoever steers has them held. New tabs are
    given to `adopt`, which names them, or closes them where there are too many; downloads to
    `save`.
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
        self._lines: list[str] = []
        self._errors = 0
        self._requests: dict[Request, float] = {}  # open ones, and when they began
        self._popups: list[tuple[str | None, Page]] = []
        self._hears_choosers = False
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
        self.downloads: list[asyncio.Task[SavedFile]] = []
        page.on("dialog", self._on_dialog)
        page.on("download", self._on_download)
        page.on("popup", self._on_popup)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._on_error(f"page error: {error}"))
        page.on("crash", self._on_crash)
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_request_done)
        page.on("requestfailed", self._on_request_done)
        page.on("framenavigated", self._on_navigated)

    @property
    def closed(self) -> bool:
        """Whether the page is closed."""
        return self._page.is_closed()

    def begin(self, answer: str | None) -> None:
        """An action begins; `answer` is for the dialogs it may raise."""
        self.answer, self.diverted, self.opened = answer, False, 0

    def hold(self) -> None:
        """Leave dialogs open from now on, for who steers the page; note where files are asked for.

        Going to another address ends it: no page keeps itself from being opened.
        """
        self.holding = True
        if not self._hears_choosers:
            self._hears_choosers = True
            self._page.on("filechooser", self._on_chooser)

    def add(self, line: str) -> None:
        """Report something at the next observation."""
        if len(self._lines) < _LINES_KEPT:
            self._lines.append(clean(line).replace("\n", " ")[:_LINE])

    def drain(self) -> tuple[str, ...]:
        """Take what happened since the last call, one line each."""
        for name, page in self._popups:
            self.add(f"new tab {name}: {page.url}" if name else "a further new tab was closed")
        lines, self._lines = tuple(self._lines), []
        self._popups, self._errors = [], 0
        return lines

    async def settle(self, acted_in: Frame | None = None) -> None:
        """Wait for navigation, open requests, short timers and DOM changes to come to rest.

        `acted_in` is the frame that was acted in, where that is not the page's own.
        """
        until = time.monotonic() + CAP_SECONDS
        # The page is asked from outside: timers of its own are throttled in a background tab.
        while time.monotonic() < until and not (self.closed or self.crashed):
            left = await self._seconds_to_rest()
            if left == 0 and acted_in is not None:
                with suppress(PlaywrightError):  # it went, or goes elsewhere
                    left = float((await injected.call(acted_in, "restState"))["left"]) / 1000
            if left == 0:
                return
            await asyncio.sleep(min(left, max(0.0, until - time.monotonic())))

    async def _seconds_to_rest(self) -> float:
        """Seconds until the next look makes sense; 0 when the page is at rest."""
        try:
            state = await injected.call(self._page.main_frame, "restState")
            # The page hears of a navigation before the browser does, but not that it is a download.
            leaving = self.navigating or (state["navigating"] and not self.diverted)
        except PlaywrightError:
            leaving = True  # the document went away under the question
        if leaving:
            await self._arrive()
            return _STEP
        # A stream never ends; what a page waits for is short.
        now = time.monotonic()
        waits = any(now - begun < _STREAMING_SECONDS for begun in self._requests.values())
        if state["ready"] == "loading" or waits or state["opening"] > self.opened:
            return _STEP
        return float(state["left"]) / 1000

    async def _arrive(self) -> None:
        """Wait for the next document; a stopped or refused one leaves us where we are."""
        try:
            async with asyncio.timeout(NAVIGATION_SECONDS):
                if self.navigating:
                    milliseconds = NAVIGATION_SECONDS * 1000
                    await self._page.wait_for_event("framenavigated", timeout=milliseconds)
                await self._page.wait_for_load_state("domcontentloaded")
        except (TimeoutError, PlaywrightError):
            self.navigating = False

    def _on_chooser(self, chooser: FileChooser) -> None:
        self.chooser = chooser
        self.add(f"the page asks for {'files' if chooser.is_multiple() else 'a file'}")

    def _on_dialog(self, dialog: Dialog) -> None:
        if self.holding and dialog.type != "beforeunload":
            self.held = dialog
            self.raised.set()
        else:
            in_background(self._answer(dialog))

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

    def _on_download(self, download: Download) -> None:
        # A link to a file begins like a navigation, and brings no document.
        self.navigating, self.diverted = False, True
        self.downloads.append(asyncio.ensure_future(self._save(download)))
        self.add(f"download: {download.suggested_filename[:100]} from {download.url[:100]}")

    def _on_popup(self, page: Page) -> None:
        self.opened += 1
        self._popups.append((self._adopt(page), page))

    def _on_console(self, message: ConsoleMessage) -> None:
        # Browsers ask for an icon by themselves; that there is none is no error of the page.
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            self._on_error(f"console error: {message.text}")

    def _on_error(self, line: str) -> None:
        self._errors += 1
        if self._errors <= _ERRORS_KEPT:
            self.add(line)

    def _on_crash(self, _page: Page) -> None:
        self.crashed = True
        self.add("the page crashed")

    def _on_request(self, request: Request) -> None:
        if request.resource_type in _RELEVANT:
            self._requests[request] = time.monotonic()
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.navigating = True

    def _on_request_done(self, request: Request) -> None:
        self._requests.pop(request, None)
        if request.is_navigation_request() and request.failure:
            self.navigating = False

    def _on_navigated(self, frame: Frame) -> None:
        if frame == self._page.main_frame:
            self.navigating = False
            self.navigations += 1
            self._requests.clear()  # those of the page before never end for us
