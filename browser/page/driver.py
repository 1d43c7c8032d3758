"""Drives a tab's page: opens it, reads it, acts on it, and reads it again to find changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.errors import (
    ActionError,
    BrowserGone,
    DeadlineExceeded,
    ElementDetached,
    OutcomeUnknown,
    PageCrashed,
    RefError,
    Refused,
)
from browser.net.guard import VERDICT_HEADER, error_from_verdict
from browser.net.url import host, is_web_url, registrable_domain
from browser.page import http_login, injected
from browser.page.snapshot import describe_changes, new_lines
from browser.page.view import WALK_CHARS, WALK_MS, WHOLE_CHARS, WHOLE_MS, Frames, View
from browser.page.waiting import keep_rendering, within
from browser.types import ActionOutcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Frame, Page, Response

    from browser.page.page_events import PageEvents
    from browser.page.view import Target
    from browser.types import HttpLogin


WHOLE_PAGE_SECONDS = 30.0  # for looking at all of a very large page
LOOK_SECONDS = 6.0  # the walk stops after 2.5; after 6, a page with an endless script is abandoned
EMPTY_WAIT_SHARE = 0.5  # of a look's time, for waiting while a page is empty or loading
WALK_SHARE = 0.5  # of a look's time, for walking the page
ACT_SECONDS = 10.0  # for an action, and for the page to settle after it
ACT_RESERVE_SECONDS = 3.0  # of ACT_SECONDS, reserved for the page to settle once more
RERENDER_SECONDS = 4.0  # of ACT_SECONDS, for retries on a page that keeps re-rendering
OPEN_SECONDS = 20.0  # for opening a page and the first look at it
LOAD_SHARE = 0.7  # of the time for opening a page; the first look gets the rest
DIALOG_SHOWN_CHARS = 200  # of a dialog's message
FLASHED = "changed and changed back in the meantime"
# Substrings of frame addresses, for consent platforms that show their dialog in a frame.
_CONSENT_FRAMES = (
    "consent", "sp_message", "privacy-mgmt", "trustarc", "cmp.", "/cmp", "onetrust", "cookielaw",
)  # fmt: skip

_UNKNOWN_OUTCOME_ERRORS = (BrowserGone, DeadlineExceeded, PageCrashed)

AddressCheck = Callable[[str], Awaitable[None]]
"""Raises Refused for an address that is not allowed."""
Perform = Callable[[], Awaitable[str | None]]
"""Performs an action; the string it returns is added to the line that describes the action."""


@dataclass(slots=True)
class Logins:
    """The sites that the browser is logged in to; an attached browser may be logged in anywhere."""

    sites: set[str] = field(default_factory=set)
    anywhere: bool = False

    def includes_site(self, url: str) -> bool:
        """Whether the browser is, or may be, logged in to the site of an address."""
        return self.anywhere or registrable_domain(host(url)) in self.sites

    def add(self, url: str) -> None:
        """Record that a password was typed on the site of an address, if it belongs to one."""
        if site := registrable_domain(host(url)):
            self.sites.add(site)


class PageDriver:
    """One page with its events, its frames and its last view.

    `check_allowed` is for an attached browser, whose requests do not go through the egress proxy.
    """

    def __init__(
        self,
        page: Page,
        events: PageEvents,
        check_allowed: AddressCheck | None,
        logins: Logins | None = None,
    ) -> None:
        self.page = page
        self.events = events
        self.frames = Frames(page)
        self.logins = logins or Logins()
        self.login_realm: str | None = None  # the realm of the HTTP authentication that failed
        self._consent_left_at = ""  # the address at which a dialog was left to the model
        self._check_allowed = check_allowed
        self._allowed_hosts = set[str]()  # already checked, or requested by the caller
        self.view: View | None = None
        self._looked_at = 0  # the number of navigations before the last view
        self.query: str | None = None
        self._flashed: list[str] = []  # refs, in order, since the last observation
        self._vanished: list[tuple[str, str]] = []  # (ref, text) pairs
        self._acted_frame: Frame | None = None  # the last action's frame, if not the main frame

    async def goto(
        self, url: str, deadline: float = OPEN_SECONDS, *, login: HttpLogin | None = None
    ) -> None:
        """Go to an address; a page that is still loading after LOAD_SHARE is used as it is.

        `login` is sent if the site asks for HTTP authentication; without it, the site's refusal
        page is opened.
        """
        self._check_dialog()
        self.view, self.events.hold_dialogs, self.events.file_chooser = None, False, None
        self.events.status = None
        self.events.drain()  # events of the previous page
        self.events.begin(None, acts=False)
        async with within(deadline, f"open {url}"):
            try:
                response = await self._request(url, deadline, login)
            except PlaywrightError as error:
                if self.events.became_download or "Download is starting" in error.message:
                    return  # the address is a file, so the tab stays on its page
                raise
            await self._check_response(url, response)
            try:
                async with asyncio.timeout(deadline * LOAD_SHARE):
                    await self.page.wait_for_load_state(timeout=0, state="domcontentloaded")
            except TimeoutError:
                self.events.add("the page was still loading")
            await self.settle()
            await self.check_current_url()
            await self.close_consent()

    async def _request(self, url: str, deadline: float, login: HttpLogin | None) -> Response | None:
        self.login_realm = None
        async with http_login.answering_requests(self.page, url, login) as realms:
            response = await self.page.goto(url, wait_until="commit", timeout=deadline * 1000)
        if response is not None and response.status == 401 and realms:
            self.login_realm = realms[-1]
        return response

    async def _check_response(self, url: str, response: Response | None) -> None:
        """Raise Refused or ConnectFailed if the guard refused the address or a redirect."""
        self._allowed_hosts = {host(url)}
        if response is None:
            return
        # The proxy checks each redirect; without it, a redirect may have led through a forbidden
        # host.
        hop = response.request.redirected_from
        while hop is not None:
            await self._check_url(hop.url)
            hop = hop.redirected_from
        if verdict := response.headers.get(VERDICT_HEADER):
            raise error_from_verdict(verdict, f"{url}: {response.status_text}")

    async def check_current_url(self) -> None:
        """Leave the page and raise Refused if it navigated to an address that is not allowed."""
        await self._check_url(self.page.url)

    async def _check_url(self, url: str) -> None:
        if self._check_allowed is None or not is_web_url(url) or host(url) in self._allowed_hosts:
            return
        try:
            await self._check_allowed(url)
        except Refused as refused:
            await self.page.goto("about:blank")
            why = f"the page led to {url}, which is not allowed: {refused}"
            raise Refused(why, hint=refused.hint) from refused
        self._allowed_hosts.add(host(url))

    def check_alive(self) -> None:
        """Raise an error if the page crashed, is closed, or is blocked by an open dialog."""
        if self.events.crashed:
            raise PageCrashed("the page crashed", hint="Open it again.")
        if self.events.closed:
            raise BrowserGone("the tab is closed", hint="Open the page again.")
        self._check_dialog()

    def _check_dialog(self) -> None:
        if dialog := self.events.open_dialog:
            message = dialog.message[:DIALOG_SHOWN_CHARS]
            raise ActionError(f'a dialog is open: {dialog.type} "{message}"')

    @asynccontextmanager
    async def reading(self, doing: str, seconds: float = LOOK_SECONDS) -> AsyncIterator[None]:
        """Limit a read of the page to `seconds`, after checking that it is alive and allowed."""
        self.check_alive()
        await self.check_current_url()
        async with within(seconds, doing):
            yield

    async def close_consent(self) -> bool:
        """Close a known platform's consent dialog over the page; returns whether one was closed.

        The next observation reports it. Buttons are recognised by the platform's ids and classes,
        never by their text, and are pressed only once. On sites where the browser is logged in,
        nothing is clicked, as a click might act on the user's behalf.
        """
        url = self.page.url
        press = not self.logins.includes_site(url)
        for frame in self.page.frames:
            with suppress(PlaywrightError):  # the frame and its dialog no longer exist
                if found := await self._consent_in(frame, press=press):
                    break
        else:
            return False
        platform, way, pressed = found
        if pressed:
            self.events.add(f"consent dialog closed ({platform}: {way})")
            await self.settle()
        elif url != self._consent_left_at:
            self._consent_left_at = url
            why = "as its button did not close it" if press else "as the browser is logged in here"
            self.events.add(
                f"a consent dialog ({platform}) covers the page; it was left open, {why}: "
                "CLICK its button if you need what is under it"
            )
        return pressed

    async def _consent_in(self, frame: Frame, *, press: bool) -> tuple[str, str, bool] | None:
        """Find and press the button of a consent dialog in a frame that covers the page."""
        if frame != self.page.main_frame:
            named = any(part in frame.url.lower() for part in _CONSENT_FRAMES)
            if not named or frame.parent_frame != self.page.main_frame:
                return None
            owner = await frame.frame_element()
            if not await injected.call(self.page.main_frame, "coversPage", owner):
                return None
        found = await injected.call(frame, "consent", {"press": press})
        return (found[0], found[1], found[2]) if found else None

    async def settle(self) -> None:
        """Wait for the page and the action's frame to settle."""
        await self.events.settle(self._acted_frame)

    async def look(self, deadline: float = LOOK_SECONDS, *, whole: bool = False) -> View:
        """Read the page and all its frames; raises PageCrashed, BrowserGone, DeadlineExceeded.

        Only part of a very large page is read, unless the `whole` page is requested.
        """
        self.check_alive()
        deadline = max(deadline, WHOLE_PAGE_SECONDS) if whole else deadline
        most_ms, chars = (WHOLE_MS, WHOLE_CHARS) if whole else (WALK_MS, WALK_CHARS)
        walk_ms = min(most_ms, int(deadline * 1000 * WALK_SHARE))
        before = self.view
        async with within(deadline, "read the page"):
            await self.check_current_url()
            try:
                self.view = await self.frames.look(walk_ms, before, chars=chars)
            except PlaywrightError as error:
                # A navigation interrupted the walk: walk the new document.
                if "navigat" not in error.message and "context was destroyed" not in error.message:
                    raise
                await self.settle()
                self.view = await self.frames.look(walk_ms, before, chars=chars)
            empty_until = time.monotonic() + deadline * EMPTY_WAIT_SHARE
            is_new = self.events.navigations != self._looked_at
            while self.events.loading and time.monotonic() < empty_until:
                if self.view.lines and not (is_new and self.view.says_loading):
                    break
                await self.settle()  # an application whose scripts render the page
                self.view = await self.frames.look(walk_ms, before, chars=chars)
        self._looked_at = self.events.navigations
        return self.view

    async def act(
        self,
        did: str,
        perform: Callable[[Target], Awaitable[str | None]],
        ref: str,
        dialog: str | None = None,
        *,
        moving: bool = False,
    ) -> ActionOutcome:
        """Perform an action on an element and report what changed.

        `dialog` answers a dialog that the action opens. `moving` is for actions that move the
        pointer along a path, which requires frames to be drawn. Raises RefError if the ref's
        element no longer exists, ActionError if the action is not possible.
        """
        before = await self._begin_action(dialog)
        try:
            target = await self.frames.find(ref)
        except RefError as error:
            if self.events.navigations == self._looked_at:
                raise
            went = f"the page navigated to {self.page.url} by itself after it was shown"
            raise RefError(f"{ref} is gone: {went}") from error
        self._acted_frame = None if target.frame == self.page.main_frame else target.frame

        async def perform_on_element() -> str | None:
            # An element that was re-rendered before the action reached it is looked up again.
            nonlocal target
            until = time.monotonic() + RERENDER_SECONDS
            while time.monotonic() < until:
                try:
                    return await perform(target)
                except ElementDetached:
                    target = await self.frames.find(ref)
            return await perform(target)

        # Uses the element's name from before the action, as a click may change it.
        did = f"{did} [{ref}] {before.refs.get(ref, '')}".rstrip()
        return await self.observe(did, before, perform_on_element, moving=moving)

    async def act_on_page(
        self, did: str, perform: Perform, *, moving: bool = False
    ) -> ActionOutcome:
        """Perform an action on the page rather than on an element, and report what changed."""
        before = await self._begin_action(None)
        self._acted_frame = None
        async with within(ACT_SECONDS, did):
            await self.watch()
        return await self.observe(did, before, perform, moving=moving)

    async def watch(self) -> None:
        """Watch the page for changes from now on; finding a ref's element also starts watching."""
        await injected.call(self.page.main_frame, "arm")

    async def _begin_action(self, dialog: str | None) -> View:
        self.check_alive()
        self.events.begin(dialog)
        return self.view or await self.look()

    async def observe(
        self, did: str, before: View, perform: Perform | None = None, *, moving: bool = False
    ) -> ActionOutcome:
        """Act, wait for the page to settle, and report how it differs from `before`."""
        navigations = self.events.navigations
        until = time.monotonic() + ACT_SECONDS
        try:
            async with within(ACT_SECONDS, did), AsyncExitStack() as while_acting:
                if moving:
                    await while_acting.enter_async_context(keep_rendering(self.page))
                if perform and (note := await perform()):
                    did = f"{did} {note}" if note.startswith("in ") else f"{did}, {note}"
                perform = None  # already performed: the rest only waits for its effect
                await self.settle()
                if self.events.unanswered:
                    await self.events.wait_for_answer(until - ACT_RESERVE_SECONDS)
                    await self.settle()
            if self.events.closed:
                self.events.add("the tab closed")
                return ActionOutcome(did, "", before.url, self.events.drain())
            after = await self.look()
        except _UNKNOWN_OUTCOME_ERRORS as error:
            # The action may have taken effect if it was performed, or if it timed out.
            if isinstance(error, DeadlineExceeded) or perform is None:
                raise OutcomeUnknown(did, str(error)) from error
            raise
        if self.events.navigations > navigations:
            self.events.add(f"navigated to {self.page.url}")
            self._flashed, self._vanished = [], []  # on the previous page
        else:
            self._report_passing_changes(before, after)
        text = describe_changes(before, after, self.query)
        return ActionOutcome(
            did,
            text,
            self.page.url,
            self.events.drain(),
            new_lines(before, after),
            self.events.unanswered,
        )

    def _report_passing_changes(self, before: View, after: View) -> None:
        """Report changes that a diff of the page's lines does not show."""
        if after.title != before.title:
            self.events.add(f"the title is now: {after.title}")
        self.keep_passing_changes(after)
        if self._flashed:
            order = " ".join(f"[{ref}]" for ref in self._flashed)
            self.events.add(f"{FLASHED}, in this order: {order}")
        for ref, text in self._vanished:
            where = f"[{ref}] " if ref else ""
            self.events.add(f"appeared briefly: {where}{text}")
        self._flashed, self._vanished = [], []

    def keep_passing_changes(self, view: View) -> None:
        """Keep a view's flashed refs and vanished text for the next observation."""
        self._flashed += view.flashed
        self._vanished += view.vanished
