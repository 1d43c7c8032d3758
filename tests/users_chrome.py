"""The Chrome of a user, to attach to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.session.chrome import EXECUTABLE_VARIABLES, start_chrome

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import BrowserContext

    from browser.session.chrome import StartedChrome


async def users_chrome(profile: Path) -> StartedChrome:
    """Start one as people have it, with windows and profiles, whatever the other tests drive."""
    with pytest.MonkeyPatch.context() as patch:
        for name in EXECUTABLE_VARIABLES:
            patch.delenv(name, raising=False)
        return await start_chrome(profile, headless=True)


async def reset_users_chrome(context: BrowserContext) -> None:
    """Leave a user's Chrome as it was found: one tab, with nothing in it."""
    front, *others = context.pages
    for tab in others:
        await tab.close()
    await front.goto("about:blank")
