"""Attaching to a Chrome that is already open, leaving everything of its user as it was."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import async_playwright

from browser.errors import AttachFailed, BrowserError, BrowserGone
from browser.page import library
from browser.page.closed import closed_text
from browser.page.deadline import within
from browser.session.endpoint import websocket_of
from browser.session.launch import Running
from browser.session.relay import Relay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CONNECT_SECONDS = 10.0
LEAVE_SECONDS = 2.0
TAB_SECONDS = 1.0  # a tab under an open dialog does not answer


@asynccontextmanager
async def attach(url: str) -> AsyncIterator[Running]:
    """Connect to `http://127.0.0.1:9222`, a `ws://` address, or `chrome` / `msedge`.

    Raises AttachFailed, at once where nothing listens. Leaving drops the connection alone.
    """
    async with Relay.connect(await websocket_of(url)) as relay, async_playwright() as playwright:
        try:
            async with within(CONNECT_SECONDS, f"attach to {url}"):
                browser = await playwright.chromium.connect_over_cdp(
                    relay.endpoint, no_defaults=True, timeout=CONNECT_SECONDS * 1000
                )
        except BrowserError as error:
            raise AttachFailed(f"no Chrome answers at {url} ({error})") from error
        try:
            yield Running(browser.contexts[0], users=UsersTabs(relay))
        finally:
            with suppress(BrowserError):
                async with within(LEAVE_SECONDS, "leave the browser"):
                    await browser.close()


# Scripts are kept: sites leave in them what their pages are made of.
_DOM = "document.documentElement ? document.documentElement.outerHTML : ''"


class UsersTabs:
    """The person's own tabs, read and never touched."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    async def all(self) -> list[dict[str, Any]]:
        """List them as `{targetId, url, title, …}`."""
        return await self._relay.users_tabs()

    async def visible(self) -> dict[str, Any] | None:
        """Ask for the context of the tab in front, with its `target`.

        That is the one with the focus; while a terminal has it, the first that is visible.
        """
        targets = [tab["targetId"] for tab in await self.all()]
        asked = [asyncio.create_task(self._context(target)) for target in targets]
        shown: list[dict[str, Any]] = []
        try:
            for answer in asyncio.as_completed(asked):
                raw = await answer
                if raw and raw["visible"] and raw["focus"]:
                    return raw
                if raw and raw["visible"]:
                    shown.append(raw)
        finally:
            for task in asked:
                task.cancel()
        return min(shown, key=lambda raw: targets.index(raw["target"])) if shown else None

    async def html(self, target: str) -> str:
        """Ask a tab for its DOM as it stands; '' where it does not answer in time."""
        try:
            answer = await self._relay.evaluate(target, _DOM, TAB_SECONDS)
        except (TimeoutError, BrowserGone):
            return ""
        return answer if isinstance(answer, str) else ""

    async def text_behind(self, target: str) -> str:
        """Give the text in closed shadow roots of a tab, which its own text does not hold."""
        try:
            async with self._relay.asking(target) as send, asyncio.timeout(TAB_SECONDS):
                return await closed_text(send, library.SUSPECTS_EXPRESSION)
        except (TimeoutError, BrowserGone):
            return ""  # the rest of the page is known all the same

    async def _context(self, target: str) -> dict[str, Any] | None:
        try:
            answer = await self._relay.evaluate(target, library.CONTEXT_EXPRESSION, TAB_SECONDS)
        except (TimeoutError, BrowserGone):
            return None
        return {**json.loads(answer), "target": target} if answer else None
