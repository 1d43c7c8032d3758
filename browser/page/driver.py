"""A page that is driven: opened, looked at, acted on, and looked at again for what changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
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
from browser.page.page_events import close_consent
from browser.page.snapshot import DEFAULT_BUDGET, changes
from browser.page.view import WALK_MS, Frames, View, look, target_of
from browser.page.waiting import drawing, settle, within
from browser.types import ActionOutcome

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

    from browser.page.page_events import Events
    from browser.page.view import Target


LOOK_SECONDS = 6.0  # the walk stops itself at 2.5; a script that never ends is given up after this
WALK_SHARE = 0.5  # of a look's time that may be spent walking; the rest is for before and after
ACT_SECONDS = 10.0
RESTLESS_SECONDS = 4.0  # of an action's ten, on a page that draws itself anew all the time
OPEN_SECONDS = 20.0
ARRIVE_SHARE = 0.7  # of an opening's time a document may take; the rest is for looking at it
TOLD_OF_DIALOG = 200  # characters
FLASHED = "changed and changed back meanwhile"


Judge = Callable[[str], Awaitable[None]]
"""Raises Refused for an address that must not be reached."""


class PageDriver:
    """One page with its events, its frames and the last look at it."""

    def __init__(self, page: Page, events: Events) -> None:
        self.page = page
        self.events = events
        self.frames = Frames()
        self._view: View | None = None
        self._query: str | None = None
        self.status: int | None = None  # HTTP status of the page as it was opened
        self._acted_in: Frame | None = None  # a frame inside the page
        self.judge: Judge | None = None  # where no proxy of ours judges what is reached
        self._judged = set[str]()  # hosts that may be, and those that were asked for by name

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
        self._check_held()
        self._view, self.events.holding, self.events.chooser = None, False, None
        self.events.drain()  # what the page before had to tell
        self.events.begin(None)
        async with within(deadline, f"open {url}"):
            if not await self._committed(url, deadline):
                return  # a download: the page stays what it was
            try:
                async with asyncio.timeout(deadline * ARRIVE_SHARE):
                    await self.page.wait_for_load_state("domcontentloaded")
            except TimeoutError:
                self.events.add("the page was still loading")
            await self.settle()
            await self.check_place()
            await self.close_consent()

    async def check_place(self) -> None:
        """Raise Refused where the page led to an address that must not be reached, and leave it."""
        await self._check_hops(self.page.url)

    async def _check_hops(self, *urls: str) -> None:
        for url in urls:
            if self.judge is None or not is_web_url(url) or host(url) in self._judged:
                continue
            try:
                await self.judge(url)
            except Refused as refused:
                await self.page.goto("about:blank")
                why = f"the page led to {url}, which is out of bounds: {refused}"
                raise Refused(why, hint=refused.hint) from refused
            self._judged.add(host(url))

    async def _committed(self, url: str, deadline: float) -> bool:
        try:
            response = await self.page.goto(url, wait_until="commit", timeout=deadline * 1000)
        except PlaywrightError as error:
            if self.events.diverted or "Download is starting" in error.message:
                return False
            raise
        self.status = response.status if response else None
        self._judged = {host(url)}
        hop = response.request.redirected_from if response else None
        while hop is not None:
            await self._check_hops(hop.url)
            hop = hop.redirected_from
        if response is not None and (verdict := response.headers.get(VERDICT)):
            raise error_of_verdict(verdict, f"{url}: {response.status_text}")
        return True

    async def close_consent(self) -> None:
        """Close a consent dialog of a known platform, and tell so at the next observation."""
        if done := await close_consent(self.page):
            self.events.add(f"consent dialog closed ({done})")
            await self.settle()

    async def look(self, deadline: float = LOOK_SECONDS) -> View:
        """Walk the page and all its frames; raises PageCrashed, BrowserGone, DeadlineExceeded."""
        self.check_alive()
        self.frames.walk_ms = min(WALK_MS, int(deadline * 1000 * WALK_SHARE))
        async with within(deadline, "read the page"):
            await self.check_place()
            self._view = await self._walk()
        return self._view

    async def _walk(self) -> View:
        """A navigation in the middle of the walk makes it begin again on the new document."""
        try:
            return await look(self.page, self.frames)
        except PlaywrightError as error:
            if "navigat" not in error.message and "context was destroyed" not in error.message:
                raise
        await self.settle()
        return await look(self.page, self.frames)

    def check_alive(self) -> None:
        """Raise what ended this page, if anything did."""
        if self.events.crashed:
            raise PageCrashed("the page crashed", hint="Open it again.")
        if self.events.closed:
            raise BrowserGone("the tab is closed", hint="Open the page again.")
        self._check_held()

    def _check_held(self) -> None:
        if self.events.held:
            said = self.events.held.message[:TOLD_OF_DIALOG]
            raise ActionError(f'a dialog is open: {self.events.held.type} "{said}"')

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

        What `perform` gives is added to the line that tells what was done. `moving` says that the
        pointer goes a way, which a page is told frame by frame. Raises RefError when the ref names
        no element any more, ActionError when the element does not let it happen.
        """
        before = await self._before(dialog)
        target = await target_of(self.frames, ref)
        self._acted_in = None if target.frame == self.page.main_frame else target.frame
        what = f"{did} [{ref}] {before.refs.get(ref, '')}".rstrip()

        async def do() -> str | None:
            return await _again_if_it_left(perform, target, lambda: target_of(self.frames, ref))

        return await self._done(what, before, do, moving=moving)

    async def act_on_page(
        self,
        did: str,
        perform: Callable[[], Awaitable[str | None]],
        dialog: str | None = None,
        *,
        moving: bool = False,
    ) -> ActionOutcome:
        """Do something to the page as a whole and tell what changed."""
        before = await self._before(dialog)
        self._acted_in = None
        async with within(ACT_SECONDS, did):
            await injected.call(self.page.main_frame, "arm")
        return await self._done(did, before, perform, moving=moving)

    async def settle(self) -> None:
        """Wait for the page to come to rest, and the frame that was acted in."""
        await settle(self.page, self.events, self._acted_in)

    async def _before(self, dialog: str | None) -> View:
        self.check_alive()
        self.events.begin(dialog)
        return self._view or await self.look()

    async def _done(
        self,
        did: str,
        before: View,
        perform: Callable[[], Awaitable[str | None]] | None = None,
        *,
        moving: bool = False,
    ) -> ActionOutcome:
        navigations = self.events.navigations
        async with within(ACT_SECONDS, did), AsyncExitStack() as while_doing:
            if moving:
                await while_doing.enter_async_context(drawing(self.page))
            if perform and (added := await perform()):
                did = f"{did} {added}" if added.startswith("in ") else f"{did}, {added}"
            await self.settle()
        if self.events.closed:
            self.events.add("the tab closed")
            return ActionOutcome(did, "", before.url, self.events.drain())
        after = await self.look()
        self._tell(before, after, arrived=self.events.navigations > navigations)
        text = changes(before, after, DEFAULT_BUDGET, self._query)
        return ActionOutcome(did, text, self.page.url, self.events.drain())

    def _tell(self, before: View, after: View, *, arrived: bool) -> None:
        """Note what the lines of a page do not say."""
        if arrived:
            self.events.add(f"navigated to {self.page.url}")
            return
        if after.title != before.title:
            self.events.add(f"the title is now: {after.title}")
        if after.flashed:
            order = " ".join(f"[{ref}]" for ref in after.flashed)
            self.events.add(f"{FLASHED}, in this order: {order}")
        for ref, text in after.gone:
            where = f"[{ref}] " if ref else ""
            self.events.add(f"stood there for a moment: {where}{text}")


async def _again_if_it_left(
    perform: Callable[[Target], Awaitable[str | None]],
    target: Target,
    find: Callable[[], Awaitable[Target]],
) -> str | None:
    """Find an element again that was drawn anew before the action reached it."""
    until = time.monotonic() + RESTLESS_SECONDS
    while time.monotonic() < until:
        try:
            return await perform(target)
        except ElementLeft:
            target = await find()
    return await perform(target)
