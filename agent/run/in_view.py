"""The page that a person has before them, as the context of a run and as a source to cite."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.errors import WebOutOfReach
from browser.errors import SessionError
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from agent.tools import Web
    from browser.session import Browser
    from browser.types import PageContext


async def take_context(web: Web) -> None:
    """Make the page that the person has before them the context of the run.

    Raises `WebOutOfReach` where their browser does not answer.
    """
    try:
        browser = await web.start_browser()
        web.attached = True
        web.context = await browser.visible_context()
        if web.context is not None and web.context.visible_text.strip():
            web.page = await _as_page(web.context, browser)
    except SessionError as error:
        raise WebOutOfReach(str(error), hint=error.hint) from error


async def _as_page(context: PageContext, browser: Browser) -> Page:
    """Make a page of what the person sees, so that it can be cited like any other."""
    page = Page(
        requested_url=context.url,
        url=context.url,
        via="browser",
        outcome=Outcome.OK,
        fetched_at=datetime.now(UTC),
        content_type="text/plain",
        body=context.visible_text.encode(),
        document=Document(
            url=context.url,
            title=context.title,
            text=context.visible_text,
            canonical_url=context.canonical_url,
            language=context.language,
            published=context.published,
        ),
        reason="the tab before the person",
    )
    html = await browser.visible_html(context.url)
    return await asyncio.to_thread(_with_record, page, html) if html else page


def _with_record(page: Page, html: str) -> Page:
    """Where the site is one that is known, what its page holds is read as such, login or not."""
    from browser.extract.platforms.notes import record_of, with_platform  # noqa: PLC0415 - lxml

    body = html.encode("utf-8", "replace")
    if page.document is None or record_of(page.url, body) is None:
        return page
    document = with_platform(page.document, body, page.url)
    return replace(page, document=document, body=body, content_type="text/html; charset=utf-8")
