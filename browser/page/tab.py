"""A live page: look at it, find in it, act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.errors import BrowserError
from browser.page import library
from browser.page.budget import DEFAULT_BUDGET, Choice
from browser.page.challenge import answer_challenge, challenge_of
from browser.page.context import context_of, raw_context
from browser.page.deadline import within
from browser.page.effects import effect_of
from browser.page.events import Events
from browser.page.hands import Hands
from browser.page.html import html_of
from browser.page.lines import plain
from browser.page.live import ACT_SECONDS, LOOK_SECONDS
from browser.page.marks import marked_screenshot
from browser.page.settle import settle
from browser.page.snapshot import expand_in, find_in, snapshot_of
from browser.page.storage import stored_by
from browser.page.walls import wall_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Page

    from browser.page.storage import Stored
    from browser.page.transfer import Downloads
    from browser.types import Challenge, Outcome, PageContext, Snapshot

CLOSE_SECONDS = 1.5


class Tab(Hands):
    """One page of the session. Every call has a deadline and raises errors of `browser.errors`."""

    def __init__(
        self, page: Page, tab_id: str, downloads: Downloads, adopt: Callable[[Page], str | None]
    ) -> None:
        super().__init__(page, Events(page, downloads.start, adopt))
        self.id = tab_id
        self._choice = Choice()

    async def snapshot(
        self,
        budget: int | None = DEFAULT_BUDGET,
        query: str | None = None,
        *,
        deadline: float = LOOK_SECONDS,
    ) -> Snapshot:
        """Show the page within a budget of tokens (None: whole), ranked by the query."""
        view = await self.look(deadline)
        if view.consent:
            async with within(deadline, "close a consent dialog"):
                await self.close_consent()
            view = await self.look(deadline)
        self._query = query
        snapshot, self._choice = snapshot_of(view, budget, query)
        return snapshot

    async def find(self, text: str) -> str:
        """Find lines of the whole page by text, role or words.

        Text that nothing says can be clicked gets a ref too: a page may hide who listens.
        """
        found = find_in(await self.look(), text)
        async with within(LOOK_SECONDS, "read the page"):
            refs = await library.call(self.page.main_frame, "refsOfText", text)
        beside = [f'[{ref} text: {plain(said)}] in "{plain(row)}"' for ref, said, row in refs]
        return "\n".join([found, *beside])

    async def expand(self, ref: str) -> str:
        """Show what a fold left out, all options of a select, or what stands inside an element."""
        view = self._view or await self.look()
        return expand_in(view, self._choice, ref)

    async def context(self) -> PageContext:
        """Give URL, title, selection, focus and visible text."""
        self.check_alive()
        async with within(LOOK_SECONDS, "read the page"):
            return context_of(await raw_context(self.page))

    async def effect(self, ref: str | None, keys: str | None = None) -> str:
        """Tell what clicking `ref` (or pressing `keys` in it) would submit or post, else ""."""
        self.check_alive()
        return await effect_of(self, ref, keys)

    async def wall(self) -> Outcome:
        """Judge what stands in front of the page: OK, CAPTCHA, LOGIN, PAYWALL and so on."""
        self.check_alive()
        async with within(LOOK_SECONDS, "read the page"):
            return await wall_of(self.page, self.status)

    async def challenge(self) -> Challenge | None:
        """Find the captcha on the page, as a solver needs it; None where there is none we know."""
        self.check_alive()
        async with within(LOOK_SECONDS, "read the page"):
            return await challenge_of(self.page)

    async def answer(self, token: str) -> str:
        """Put a solver's token into the page's captcha, and say how; "" where it is gone."""
        self.check_alive()
        async with within(ACT_SECONDS, "answer the captcha"):
            await library.call(self.page.main_frame, "arm")
            how = await answer_challenge(self.page, token)
            await settle(self.page, self.events)
        return how

    async def screenshot(self, *, marks: bool = False) -> bytes:
        """Take a picture of what is in view, as PNG; with `marks` as JPEG, the refs drawn on it."""
        self.check_alive()
        async with within(ACT_SECONDS, "take a screenshot"):
            if marks:
                return await marked_screenshot(self.page, ACT_SECONDS)
            return await self.page.screenshot(timeout=ACT_SECONDS * 1000)

    async def html(self) -> str:
        """Give the DOM as it stands, shadow roots and frames put in their places."""
        self.check_alive()
        async with within(LOOK_SECONDS, "read the page"):
            return await html_of(self.page)

    async def stored(self) -> Stored:
        """Give the browser's cookies and what this page's site keeps."""
        self.check_alive()
        async with within(LOOK_SECONDS, "read what the site keeps"):
            return await stored_by(self.page)

    async def answers(self, seconds: float) -> bool:
        """Whether the page's own thread is free: not in a script without end, nor crashed."""
        if self.events.crashed or self.events.closed:
            return False
        try:
            async with within(seconds, "ask the page"):
                await self.page.evaluate("1")
        except BrowserError:
            return False
        return True

    async def close(self) -> None:
        """Close the tab; raises DeadlineExceeded when it does not let itself be closed."""
        async with within(CLOSE_SECONDS, "close the tab"):
            await self.page.close()
