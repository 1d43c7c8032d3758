"""Prints the HTML report to a PDF file with the browser."""

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

_MARGIN: PdfMargins = {"top": "18mm", "right": "16mm", "bottom": "18mm", "left": "16mm"}


def render_pdf(folder: Path) -> bytes:
    """Print the report as PDF; raises `WebOutOfReach` if there is no browser."""
    page = render_html(folder).decode()
    # In its own thread: the caller's event loop may be running.
    with ThreadPoolExecutor(1, thread_name_prefix="print") as thread:
        return thread.submit(asyncio.run, _print(page)).result()


async def _print(page: str) -> bytes:
    from browser.session.launch import DUMMY_PROXY  # noqa: PLC0415 - Playwright only where used
    from browser.session.session import Browser  # noqa: PLC0415 - as above

    try:
        # without a proxy that answers, the report cannot load anything remote
        async with Browser.launch(proxy=DUMMY_PROXY) as browser:
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
        raise WebOutOfReach(
            f"no browser is available to print the PDF: {error}", hint=error.hint
        ) from error
