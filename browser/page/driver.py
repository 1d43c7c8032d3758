"""A page that is driven: opened, looked at, acted on, and looked at again for what changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.errors import (
    ActionError,
    BrowserGone,
    ElementLeft,
    PageCrashed,
    Refused,
)
from browser.net.guard import VERDICT, error_of_verdict
from browser.net.url import host, is_web_url
from browser.page import injected
from browser.page.snapshot import DEFAULT_BUDGET, changes
from browser.page.view import WALK_MS, Frames, View
from browser.page.waiting import drawing, within
from browser.types import ActionOutcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Frame, Page, Response

    from browser.page.page_events import PageEvents
    from browser.page.view import Target


LOOK_SECONDS = 6.0  # the walk stops itself at 2.5; a script that never ends is given up after this
WALK_SHARE = 0.5  # of a look's time that may be spent walking; the rest is for before and after
ACT_SECONDS = 10.0
RESTLESS_SECONDS = 4.0  # of an action's ten, on a page that draws itself anew all the time
OPEN_SECONDS = 20.0
ARRIVE_SHARE = 0.7  # of an opening's time a document may take; the rest is for looking at it
DIALOG_SHOWN = 200  # characters
FLASHED = "changed and changed back meanwhile"
# Platforms that put their consent dialog into a frame of their own.
_CONSENT_FRAMES = (
    "consent", "sp_message", "privacy-mgmt", "trustarc", "cmp.", "/cmp", "onetrust", "cookielaw",
)  # fmt: skip

Judge = Callable[[str], Awaitable[None]]
"""Raises Refused for an address that must not be reached."""
Perform = Callable[[], Awaitable[str | None]]
"""Acts; what it gives is added to the line that tells what was done."""


class PageDriver:
    """One page with its events, its frames and the last look at it.

    Where no proxy of ours judges what is reached, `judge` does.
    """

    def __init__(self, page: Page, events: PageEvents, judge: Judge | None) -> None:
        self.page = page
        self.events = events
        self.frames = Frames(page)
        self._judge = judge
        self._judged = set[str]()  # hosts that may be, and those that were asked for by name
        self._view: View | None = None
        self._query: str | None = None
        self._acted_in: Frame | None = None  # a frame inside the page

    @property
    def url(self) -> str:
        """The address shown now."""
        return self.page.url

    @property
    def title(self) -> str:
        """The title at the last look."""
        return self._view.title if self._view else ""

    async def goto(self, url: str, deadline: float = OPEN_SECONDS) -> None:
        """Go to an address; a page still loading when most of the time is up is taken as it is."""
        self._check_dialog()
        self._view, self.events.holding, self.events.chooser = None, False, None
        self.events.drain()  # what the page before had to tell
        self.events.begin(None)
        async with within(deadline, f"open {url}"):
            try:
                response = await self.page.goto(url, wait_until="commit", timeout=deadline * 1000)
            except PlaywrightError as error:
                if self.events.diverted or "Download is starting" in error.message:
                    return  # the page stays what it was
                raise
            await self._check_response(url, response)
            try:
                async with asyncio.timeout(deadline * ARRIVE_SHARE):
                    await self.page.wait_for_load_state("domcontentloaded")
            except TimeoutError:
                self.events.add("the page was still loading")
            await self.settle()
            await self.check_place()
            await self.close_consent()

    async def _check_response(self, url: str, response: Response | None) -> None:
        """Raise Refused or ConnectFailed where the guard answered, or a redirect led elsewhere."""
        self._judged = {host(url)}
        if response is None:
            return
        # Without a proxy that judges each hop, one may have led out of bounds and back.
        hop = response.request.redirected_from
        while hop is not None:
            await self._check_address(hop.url)
            hop = hop.redirected_from
        if verdict := response.headers.get(VERDICT):
            raise error_of_verdict(verdict, f"{url}: {response.status_text}")

    async def check_place(self) -> None:
        """Raise Refused where the page led to an address that must not be reached, and leave it."""
        await self._check_address(self.page.url)

    async def _check_address(self, url: str) -> None:
        if self._judge is None or not is_web_url(url) or host(url) in self._judged:
            return
        try:
            await self._judge(url)
        except Refused as refused:
            await self.page.goto("about:blank")
            why = f"the page led to {url}, which is out of bounds: {refused}"
            raise Refused(why, hint=refused.hint) from refused
        self._judged.add(host(url))

    def check_alive(self) -> None:
        """Raise what ended this page, or keeps it from answering, if anything does."""
        if self.events.crashed:
            raise PageCrashed("the page crashed", hint="Open it again.")
        if self.events.closed:
            raise BrowserGone("the tab is closed", hint="Open the page again.")
        self._check_dialog()

    def _check_dialog(self) -> None:
        if dialog := self.events.held:
            said = dialog.message[:DIALOG_SHOWN]
            raise ActionError(f'a dialog is open: {dialog.type} "{said}"')

    @asynccontextmanager
    async def reading(self, doing: str, seconds: float = LOOK_SECONDS) -> AsyncIterator[None]:
        """Read something of the page within `seconds`, if it lives and may be read."""
        self.check_alive()
        await self.check_place()
        async with within(seconds, doing):
            yield

    async def close_consent(self) -> None:
        """Close a consent dialog of a known platform, and tell so at the next observation.

        Buttons are known by the platform's own ids and classes, never by what they say.
        """
        inner = self.page.frames[1:]
        named = [f for f in inner if any(sign in f.url.lower() for sign in _CONSENT_FRAMES)]
        closed = None
        for frame in (self.page.main_frame, *named):
            with suppress(PlaywrightError):  # the frame went away with its dialog
                closed = closed or await injected.call(frame, "consent")
        if closed:
            self.events.add(f"consent dialog closed ({closed[0]}: {closed[1]})")
            await self.settle()

    async def settle(self) -> None:
        """Wait for the page to come to rest, and the frame that was acted in."""
        await self.events.settle(self._acted_in)

    async def look(self, deadline: float = LOOK_SECONDS) -> View:
        """Walk the page and all its frames; raises PageCrashed, BrowserGone, DeadlineExceeded."""
        self.check_alive()
        walk_ms = min(WALK_MS, int(deadline * 1000 * WALK_SHARE))
        async with within(deadline, "read the page"):
            await self.check_place()
            try:
                self._view = await self.frames.look(walk_ms)
            except PlaywrightError as error:
                # A navigation in the middle of the walk: it begins again on the new document.
                if "navigat" not in error.message and "context was destroyed" not in error.message:
                    raise
                await self.settle()
                self._view = await self.frames.look(walk_ms)
        return self._view

    async def act(
        self,
        did: str,
        perform: Callable[[Target], Awaitable[str | None]],
        ref: str,
        dialog: str | None = None,
        *,
        moving: bool = False,
    ) -> ActionOutcome:
        """Do something to an element and tell what changed.

        `dialog` answers a question the page asks meanwhile. `moving` says that the pointer goes a
        way, which a page is told frame by frame. Raises RefError when the ref names no element any
        more, ActionError when the element does not let it happen.
        """
        before = await self._before(dialog)
        target = await self.frames.find(ref)
        self._acted_in = None if target.frame == self.page.main_frame else target.frame

        async def perform_on_element() -> str | None:
            # An element that is drawn anew before the action reached it is found again.
            nonlocal target
            until = time.monotonic() + RESTLESS_SECONDS
            while time.monotonic() < until:
                try:
                    return await perform(target)
                except ElementLeft:
                    target = await self.frames.find(ref)
            return await perform(target)

        # The name is that of the element before: a click may change it.
        what = f"{did} [{ref}] {before.refs.get(ref, '')}".rstrip()
        return await self._observe(what, before, perform_on_element, moving=moving)

    async def act_on_page(
        self, did: str, perform: Perform, *, moving: bool = False
    ) -> ActionOutcome:
        """Do something to the page as a whole and tell what changed."""
        before = await self._before(None)
        self._acted_in = None
        async with within(ACT_SECONDS, did):  # finding an element arms the page by itself
            await injected.call(self.page.main_frame, "arm")
        return await self._observe(did, before, perform, moving=moving)

    async def _before(self, dialog: str | None) -> View:
        self.check_alive()
        self.events.begin(dialog)
        return self._view or await self.look()

    async def _observe(
        self, did: str, before: View, perform: Perform | None = None, *, moving: bool = False
    ) -> ActionOutcome:
        """Act, wait for the page to come to rest, and tell what is otherwise than `before`."""
        navigations = self.events.navigations
        async with within(ACT_SECONDS, did), AsyncExitStack() as while_acting:
            if moving:
                await while_acting.enter_async_context(drawing(self.page))
            if perform and (added := await perform()):
                did = f"{did} {added}" if added.startswith("in ") else f"{did}, {added}"
            await self.settle()
        if self.events.closed:
            self.events.add("the tab closed")
            return ActionOutcome(did, "", before.url, self.events.drain())
        after = await self.look()
        if self.events.navigations > navigations:
            self.events.add(f"navigated to {self.page.url}")
        else:
            self._tell_passing(before, after)
        text = changes(before, after, DEFAULT_BUDGET, self._query)
        return ActionOutcome(did, text, self.page.url, self.events.drain())

    def _tell_passing(self, before: View, after: View) -> None:
        """Note what the lines of the page do not say."""
        if after.title != before.title:
            self.events.add(f"the title is now: {after.title}")
        if after.flashed:
            order = " ".join(f"[{ref}]" for ref in after.flashed)
            self.events.add(f"{FLASHED}, in this order: {order}")
        for ref, text in after.gone:
            where = f"[{ref}] " if ref else ""
            self.events.add(f"stood there for a moment: {where}{text}")
