"""The actions of a tab, each told in one line with what changed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from browser.errors import ActionError
from browser.page import actions, library
from browser.page.deadline import within
from browser.page.drawing import drawing
from browser.page.listbox import choose_shown
from browser.page.live import ACT_SECONDS, Live
from browser.page.marking import select_text
from browser.page.refs import target_of
from browser.page.waiting import text_shown

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from playwright.async_api import Download

    from browser.page.actions import Button, Held, Offset
    from browser.page.refs import Target
    from browser.page.transfer import Kept
    from browser.types import ActionOutcome

DOWNLOAD_SECONDS = 50.0
FIRST_BYTE_SECONDS = 5.0  # for a server that makes the file when it is asked


class Hands(Live):
    """Pointer, keys, fields and history. `ref` names an element of a snapshot.

    All raise RefError (the element is gone or no longer certain), ActionError (it does not let it
    happen), DeadlineExceeded, PageCrashed and BrowserGone.
    """

    async def click(
        self,
        ref: str,
        *,
        button: Button = "left",
        count: int = 1,
        at: Offset = None,
        hold: Held | None = None,
        seconds: float = 0,
        dialog: str | None = None,
    ) -> ActionOutcome:
        """Click an element, `at` an offset in pixels from its corner where that matters.

        `hold` is a key that is down meanwhile; the button stays down for `seconds` (a long press).
        `dialog` answers a question it asks: "accept",
        "dismiss" (the default) or a text.
        """

        async def perform(target: Target) -> None:
            await actions.click(
                target, button=button, count=count, offset=at, hold=hold, seconds=seconds
            )

        did = {1: "clicked", 2: "double-clicked"}.get(count, f"clicked {count} times")
        did = f"right-{did}" if button == "right" else did
        did = f"{did}, held for {seconds:g} s," if seconds else did
        return await self.act(f"{hold}-{did}" if hold else did, perform, ref, dialog)

    async def click_at(self, x: float, y: float) -> ActionOutcome:
        """Click at a point of the viewport, in CSS pixels as on the screenshot."""

        async def perform() -> None:
            await self.page.mouse.click(x, y)

        return await self.act_on_page(f"clicked at {x:g}, {y:g}", perform)

    async def type(
        self,
        ref: str,
        text: str,
        submit: bool = False,  # noqa: FBT001, FBT002 - so in the protocol: type(ref, text, submit)
        *,
        append: bool = False,
        instead: str | None = None,
        dialog: str | None = None,
    ) -> ActionOutcome:
        """Put text into a field in place of what was there, or behind it with `append`.

        `instead` names a part of what is there that alone is replaced. `submit` presses Enter
        after it.
        """

        async def perform(target: Target) -> None:
            if instead:
                await select_text(self.page, target.frame, instead, target.element)
                await actions.overtype(self.page, text)
            else:
                await (actions.add if append else actions.fill)(self.page, target, text)
            if submit:
                await self.page.keyboard.press("Enter")

        return await self.act(
            "typed and submitted" if submit else "typed into", perform, ref, dialog
        )

    async def clear(self, ref: str) -> ActionOutcome:
        """Empty a field."""

        async def perform(target: Target) -> None:
            await actions.fill(self.page, target, "")

        return await self.act("cleared", perform, ref)

    async def check(self, ref: str, *, on: bool = True) -> ActionOutcome:
        """Tick a checkbox, radio or switch, or untick it; one that is so already stays."""

        async def perform(target: Target) -> None:
            if await actions.is_checked(target) is not on:
                await actions.click(target)
            if await actions.is_checked(target) is not on:
                raise ActionError("it did not change", hint="CLICK what stands beside it.")

        return await self.act("checked" if on else "unchecked", perform, ref)

    async def select(self, ref: str, value: str) -> ActionOutcome:
        """Select an option by its text or value, in a native select or an ARIA listbox."""

        async def perform(target: Target) -> None:
            if not await actions.choose(target, value):
                await choose_shown(self, target, value)

        return await self.act(f"selected {value!r} in", perform, ref)

    async def press(self, keys: str, ref: str | None = None) -> ActionOutcome:
        """Press keys, separated by spaces, in an element or where the focus is."""
        named = keys.split() or ["Space"]
        if ref is None:
            return await self.act_on_page(
                f"pressed {keys}", lambda: actions.press(self.page, named)
            )

        async def perform(target: Target) -> None:
            await target.element.focus()
            await actions.press(self.page, named)

        return await self.act(f"pressed {keys} in", perform, ref)

    async def hover(self, ref: str, at: Offset = None) -> ActionOutcome:
        """Move the pointer over an element, or to a point of it."""

        async def perform(target: Target) -> None:
            await actions.hover(self.page, target, at)

        return await self.act("hovered", perform, ref, moving=True)

    async def drag(
        self,
        ref: str,
        to: str | None = None,
        by: tuple[float, float] = (0, 0),
        *,
        at: Offset = None,
        seconds: float = 0,
    ) -> ActionOutcome:
        """Drag an element onto another, or by pixels; it is taken hold of at a point of it.

        It is held for `seconds` first.
        """

        async def perform(target: Target) -> None:
            x, y = start = await actions.point_of(target, at)
            end = (x + by[0], y + by[1])
            if to is not None:
                end = await actions.point_of(await target_of(self.frames, to), covered=True)
            await actions.drag(self.page, start, end, seconds)

        return await self.act(f"dragged to {to or by}", perform, ref, moving=True)

    async def highlight(self, text: str, ref: str | None = None) -> ActionOutcome:
        """Select a text with the pointer, in an element or anywhere on the page.

        Raises ActionError where it does not stand there.
        """
        if ref is None:
            return await self.act_on_page(
                f"highlighted {text!r}",
                lambda: select_text(self.page, self.page.main_frame, text),
                moving=True,
            )
        return await self.act(
            f"highlighted {text!r} in",
            lambda target: select_text(self.page, target.frame, text, target.element),
            ref,
            moving=True,
        )

    async def scroll(
        self, pages: float = 1.0, ref: str | None = None, *, to: str | None = None
    ) -> ActionOutcome:
        """Scroll by screens (negative: up), or to `top`, `bottom` or a text.

        With `ref` that element scrolls, or what scrolls around it.
        """
        if to is not None and to not in {"top", "bottom"}:
            return await self.act_on_page(f"scrolled to {to!r}", lambda: self._to_text(to))
        if ref is None:
            asked = {"element": None, "pages": pages, "to": to}
            return await self.act_on_page(
                "scrolled", lambda: library.call(self.page.main_frame, "scroll", asked)
            )

        async def perform(target: Target) -> None:
            asked = {"element": target.element, "pages": pages, "to": to}
            await library.call(target.frame, "scroll", asked)

        return await self.act("scrolled", perform, ref)

    async def upload(self, ref: str, files: Sequence[str | os.PathLike[str]]) -> ActionOutcome:
        """Put local files into a file field, or into the one that a button opens."""
        paths = [Path(file) for file in files]

        async def perform(target: Target) -> None:
            await actions.upload(self.page, target, paths)

        names = ", ".join(path.name for path in paths)
        return await self.act(f"uploaded {names} to", perform, ref)

    async def download(self, ref: str, deadline: float = DOWNLOAD_SECONDS) -> Kept:
        """Click what gives a file, and wait until it is kept, or why it is not is known.

        Also raises ActionError when the click brings no file.
        """
        before = len(self.events.downloads)
        coming = asyncio.ensure_future(self.page.wait_for_event("download", timeout=0))
        try:
            async with within(deadline, f"download from {ref}"):
                outcome = await self.click(ref)
                if len(self.events.downloads) == before:
                    await self._download_begins(coming, outcome)
                return await self.events.downloads[before]
        finally:
            coming.cancel()

    async def _download_begins(
        self, coming: asyncio.Future[Download], outcome: ActionOutcome
    ) -> None:
        gone = outcome.changes or outcome.events
        await asyncio.wait({coming}, timeout=0 if gone else FIRST_BYTE_SECONDS)
        if not coming.done():
            raise ActionError(
                f"{outcome.did} brought no file", hint=f"READ {self.url} where the file is shown."
            )

    async def back(self) -> ActionOutcome:
        """Go back in the tab's history."""
        return await self.act_on_page("went back", lambda: self._history("go_back"))

    async def forward(self) -> ActionOutcome:
        """Go forward in the tab's history."""
        return await self.act_on_page("went forward", lambda: self._history("go_forward"))

    async def reload(self) -> ActionOutcome:
        """Load the page again."""
        return await self.act_on_page("reloaded", lambda: self._history("reload"))

    async def wait_for(self, text: str, deadline: float = ACT_SECONDS) -> ActionOutcome:
        """Wait until a text, or a `/pattern/`, is on the page.

        Raises DeadlineExceeded when it does not come.
        """
        before = self._view or await self.look()
        async with within(deadline + ACT_SECONDS, f"wait for {text!r}"), drawing(self.page):
            await text_shown(self.page, text, deadline)
        return await self._done(f"waited for {text!r}", _nothing, before)

    async def _to_text(self, text: str) -> None:
        found = self.page.get_by_text(text).first
        await found.scroll_into_view_if_needed(timeout=actions.POINTER_MS)

    async def _history(self, way: str) -> None:
        await getattr(self.page, way)(wait_until="domcontentloaded", timeout=ACT_SECONDS * 1000)


async def _nothing() -> None:
    return
