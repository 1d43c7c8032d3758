"""Attaching to a Chrome that is already open, leaving everything of its user as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.errors import AttachFailed, BrowserError
from browser.page.deadline import within
from browser.session.launch import Running

if TYPE_CHECKING:
    from playwright.async_api import Dialog, Page, Playwright

CONNECT_SECONDS = 10.0  # a browser with hundreds of tabs takes a while; a wrong port fails at once


async def attach(playwright: Playwright, url: str) -> Running:
    """Connect over CDP to `http://127.0.0.1:9222`, a `ws://` address, or `chrome` / `msedge`.

    Raises AttachFailed, quickly where nothing listens.
    """
    try:
        async with within(CONNECT_SECONDS, f"attach to {url}"):
            browser = await playwright.chromium.connect_over_cdp(
                url, no_defaults=True, timeout=CONNECT_SECONDS * 1000
            )
    except BrowserError as error:
        raise AttachFailed(f"no Chrome answers at {url} ({error})") from error
    if not browser.contexts:
        await browser.close()
        raise AttachFailed(f"the browser at {url} has no window")
    context = browser.contexts[0]
    for page in context.pages:
        leave_alone(page)
    context.on("page", leave_alone)
    return Running(context, browser)


def leave_alone(page: Page) -> None:
    """With a listener that does nothing, Playwright leaves a dialog to the person it asks."""
    page.on("dialog", _left_to_the_user)


def _left_to_the_user(_dialog: Dialog) -> None:
    return
