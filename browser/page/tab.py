"""A live page: look at it, find in it, act on it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from browser.errors import ActionError, BrowserGone, PageCrashed
from browser.page import actions, library
from browser.page.budget import DEFAULT_BUDGET, Choice
from browser.page.context import context_of, raw_context
from browser.page.deadline import within
from browser.page.diff import changes
from browser.page.events import Events
from browser.page.refs import target_of
from browser.page.settle import settle
from browser.page.snapshot import expand_in, find_in, snapshot_of
from browser.page.view import Frames, View, look
from browser.types import ActionOutcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Page

    from browser.page.actions import Button
    from browser.page.refs import Target
    from browser.page.transfer import Downloads
    from browser.types import PageContext, Snapshot

LOOK_SECONDS = 6.0
ACT_SECONDS = 10.0
OPEN_SECONDS = 20.0
CLOSE_SECONDS = 3.0


class Tab:
    """One page of the session. Every call has a deadline and raises errors of `browser.errors`."""

    def __init__(self, page: Page, tab_id: str, downloads: Downloads) -> None:
        self.page = page
        self.id = tab_id
        self.events = Events(page, downloads.start)
        self._frames = Frames()
        self._view: View | None = None
        self._choice = Choice()
        self._query: str | None = None
        self._title = ""

    @property
    def url(self) -> str:
        """The address shown now."""
        return self.page.url

    @property
    def title(self) -> str:
        """The title at the last look."""
        return self._title

    async def goto(self, url: str, deadline: float = OPEN_SECONDS) -> None:
        """Go to an address and wait until the page has settled."""
        async with within(deadline, f"open {url}"):
            await self.page.goto(url, wait_until="domcontentloaded", timeout=deadline * 1000)
            await settle(self.page, self.events)
        self._view = None

    async def snapshot(
        self, budget: int | None = DEFAULT_BUDGET, query: str | None = None
    ) -> Snapshot:
        """Show the page within a budget of tokens (None: whole), ranked by the query."""
        view = await self._look()
        self._query = query
        snapshot, self._choice = snapshot_of(view, budget, query)
        return snapshot

    async def find(self, text: str) -> str:
        """Find lines of the whole page by text, role or words."""
        return find_in(await self._look(), text)

    async def expand(self, ref: str) -> str:
        """Show what a fold left out, all options of a select, or what stands inside an element."""
        view = self._view or await self._look()
        return expand_in(view, self._choice, ref)

    async def context(self) -> PageContext:
        """Give URL, title, selection, focus and visible text."""
        async with within(LOOK_SECONDS, "read the page"):
            return context_of(await raw_context(self.page))

    async def screenshot(self) -> bytes:
        """Take a picture of what is in view, as PNG."""
        async with within(ACT_SECONDS, "screenshot"):
            return await self.page.screenshot(timeout=ACT_SECONDS * 1000)

    async def html(self) -> str:
        """Give the rendered DOM as HTML."""
        async with within(LOOK_SECONDS, "read the page"):
            return await self.page.content()

    async def click(
        self, ref: str, *, button: Button = "left", count: int = 1, dialog: str | None = None
    ) -> ActionOutcome:
        """Click an element; `dialog` answers a question it asks ("accept", "dismiss" or a text)."""

        async def perform(target: Target) -> None:
            await actions.click(target, button=button, count=count)

        verb = {1: "clicked", 2: "double-clicked"}.get(count, f"clicked {count} times")
        return await self._act(f"right-{verb}" if button == "right" else verb, ref, perform, dialog)

    async def type(
        self, ref: str, text: str, submit: bool = False, dialog: str | None = None
    ) -> ActionOutcome:
        """Put text into a field in place of what was there; `submit` presses Enter after it."""

        async def perform(target: Target) -> None:
            await actions.fill(self.page, target, text)
            if submit:
                await self.page.keyboard.press("Enter")

        return await self._act(
            "typed into" if not submit else "typed and submitted", ref, perform, dialog
        )

    async def select(self, ref: str, value: str) -> ActionOutcome:
        """Select an option by its text or value."""

        async def perform(target: Target) -> None:
            if not await actions.choose(target, value):
                raise ActionError("it is no list to select from", hint="CLICK it to open it.")

        return await self._act(f"selected {value!r} in", ref, perform)

    async def press(self, keys: str, ref: str | None = None) -> ActionOutcome:
        """Press keys, separated by spaces, in an element or where the focus is."""

        async def perform(target: Target | None) -> None:
            if target is not None:
                await target.element.focus()
            await actions.press(self.page, keys.split() or [" "])

        return await self._act(f"pressed {keys}", ref, perform)

    async def hover(self, ref: str) -> ActionOutcome:
        """Move the pointer over an element."""

        async def perform(target: Target) -> None:
            await actions.hover(self.page, target)

        return await self._act("hovered", ref, perform)

    async def drag(
        self, ref: str, to: str | None = None, by: tuple[float, float] = (0, 0)
    ) -> ActionOutcome:
        """Drag an element onto another, or by an offset in pixels."""

        async def perform(target: Target) -> None:
            x, y = await actions.point_of(target)
            end = (x + by[0], y + by[1])
            if to is not None:
                end = await actions.point_of(await target_of(self._frames, to))
            await actions.drag(self.page, target, end)

        return await self._act(f"dragged to {to or by}", ref, perform)

    async def scroll(self, pages: float = 1.0, ref: str | None = None) -> ActionOutcome:
        """Scroll the page, or an element, by screens (negative: up)."""

        async def perform(target: Target | None) -> None:
            script = "(e, n) => (e ?? window).scrollBy({top: n * (e?.clientHeight ?? innerHeight)})"
            if target is not None:
                await target.element.evaluate(script, pages)
            else:
                await self.page.evaluate(f"n => ({script})(null, n)", pages)

        return await self._act("scrolled", ref, perform)

    async def back(self) -> ActionOutcome:
        """Go back in the tab's history."""

        async def perform(_: object) -> None:
            await self.page.go_back(wait_until="domcontentloaded", timeout=ACT_SECONDS * 1000)

        return await self._act("went back", None, perform)

    async def wait_for(self, text: str, deadline: float = ACT_SECONDS) -> ActionOutcome:
        """Wait until a text is on the page; raises DeadlineExceeded when it does not come."""

        async def perform(_: object) -> None:
            waits = [
                asyncio.ensure_future(
                    frame.get_by_text(text).first.wait_for(timeout=deadline * 1000)
                )
                for frame in self.page.frames
            ]
            try:
                async with within(deadline, f"wait for {text!r}"):
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()

        return await self._act(f"waited for {text!r}", None, perform)

    async def close(self) -> None:
        """Close the tab; a page that does not answer is left to the browser's end."""
        async with within(CLOSE_SECONDS, "close the tab"):
            await self.page.close()

    async def _look(self) -> View:
        self._check()
        async with within(LOOK_SECONDS, "read the page"):
            self._view = await look(self.page, self._frames)
        self._title = self._view.title
        return self._view

    def _check(self) -> None:
        if self.events.crashed:
            raise PageCrashed("the page crashed", hint="Open it again.")
        if self.events.closed:
            raise BrowserGone("the tab was closed", hint="Open the page again.")

    async def _act(
        self,
        did: str,
        ref: str | None,
        perform: Callable[..., Awaitable[None]],
        dialog: str | None = None,
    ) -> ActionOutcome:
        self._check()
        before = self._view or await self._look()
        navigations = self.events.navigations
        self.events.answer = dialog
        target = await target_of(self._frames, ref) if ref else None
        what = f" [{ref}] {before.refs.get(ref, '')}".rstrip() if ref else ""
        async with within(ACT_SECONDS, f"{did}{what}"):
            if ref is None:
                await library.call(self.page.main_frame, "arm")
            await perform(target)
            await settle(self.page, self.events)
        after = await self._look()
        if self.events.navigations > navigations:
            self.events.add(f"navigated to {self.page.url}")
        text = changes(before, after, DEFAULT_BUDGET, self._query)
        return ActionOutcome(f"{did}{what}", text, self.page.url, self.events.drain())
