"""The HTML report, printed by the browser."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from agent.errors import WebOutOfReach
from agent.export.report_html import render_html
from browser.errors import SessionError

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import PdfMargins

_NOWHERE = "http://127.0.0.1:9"
"""Port 9 discards: the report asks for nothing, and if it did, it would not get it."""
_MARGIN: PdfMargins = {"top": "18mm", "right": "16mm", "bottom": "18mm", "left": "16mm"}


def render_pdf(folder: Path) -> bytes:
    """Print the report; raises `WebOutOfReach` where there is no browser to print it.

    The browser has an event loop in a thread of its own, as the caller's may be running.
    """
    page = render_html(folder).decode()
    with ThreadPoolExecutor(1, thread_name_prefix="print") as thread:
        return thread.submit(asyncio.run, _printed(page)).result()


async def _printed(page: str) -> bytes:
    from browser.session.session import Browser  # noqa: PLC0415 - Playwright only where it is used

    try:
        async with Browser.launch(proxy=_NOWHERE) as browser:
            tab = await browser.open("about:blank")
            await tab.page.set_content(page)
            return await tab.page.pdf(
                format="A4",
                margin=_MARGIN,
                print_background=True,
                tagged=True,
                outline=True,
            )
    except SessionError as error:
        raise WebOutOfReach(f"no browser to print with: {error}", hint=error.hint) from error
