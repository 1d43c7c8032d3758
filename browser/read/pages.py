"""Responses, live pages and errors as Pages with a typed outcome."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from browser.errors import BrowserError, DeadlineExceeded, ExtractError, Refused
from browser.extract import extract_body
from browser.extract.body import may_be_platform, on_platform
from browser.extract.charset import decode
from browser.read.front import document_of_rendered
from browser.read.headers import described
from browser.read.walls import find_wall
from browser.types import Outcome, Page

if TYPE_CHECKING:
    from browser.net.http import Response
    from browser.page.tab import Tab
    from browser.types import Document


def page_of_response(requested: str, response: Response) -> Page:
    """Read what HTTP brought; a body that is no document makes the outcome `error`."""
    kind = response.headers.get("content-type", "")
    page = Page(
        requested_url=requested, url=response.url, via="http", outcome=Outcome.OK,
        fetched_at=datetime.now(UTC) - timedelta(seconds=response.age or 0.0),
        status=response.status, content_type=kind,
        headers=described(response.headers), body=response.body, reason=_way(response),
    )  # fmt: skip
    try:
        document = extract_body(response.body, kind, response.url) if response.body else None
    except BrowserError as error:
        wall = find_wall(response.status, requested, response.url, "", None)
        return replace(
            page,
            outcome=wall.outcome if wall else Outcome.ERROR,
            reason=wall.reason if wall else _told(error),
        )
    html = decode(response.body, kind) if document and document.kind == "html" else ""
    wall = find_wall(response.status, requested, response.url, html, document)
    if wall:
        return replace(page, outcome=wall.outcome, reason=wall.reason, document=document)
    return replace(page, outcome=_outcome(document), document=document)


def _way(response: Response) -> str:
    if response.age is None:
        return "plain HTTP"
    return "plain HTTP, from the cache" + ("" if response.age else ", confirmed by the site")


async def read_rendered(tab: Tab) -> Page:
    """Read a live page as it stands now. Raises SessionError where the page is gone."""
    from browser.read.rendered import rendered_html  # noqa: PLC0415 - Playwright is slow to import

    html = await rendered_html(tab)
    url = tab.url
    whole = await tab.html() if may_be_platform(url) else ""
    document = await asyncio.to_thread(_document_of_live, html, whole, url)
    wall = find_wall(None, url, url, html, document)
    return Page(
        requested_url=url, url=url, via="browser",
        outcome=wall.outcome if wall else _outcome(document), fetched_at=datetime.now(UTC),
        content_type="text/html; charset=utf-8", body=html.encode("utf-8", "replace"),
        document=document, reason=wall.reason if wall else "",
    )  # fmt: skip


def _document_of_live(shown: str, whole: str, url: str) -> Document:
    """What a person sees of a page, completed from what its whole DOM says on a known platform."""
    return on_platform(document_of_rendered(shown, url), whole.encode("utf-8", "replace"), url)


def page_of_error(url: str, error: BrowserError) -> Page:
    """Say in a Page what kept it from being read."""
    outcome = Outcome.ERROR
    if isinstance(error, Refused):
        outcome = Outcome.REFUSED
    elif isinstance(error, DeadlineExceeded):
        outcome = Outcome.TIMEOUT
    return Page(
        requested_url=url, url=url, via="file" if url.lower().startswith("file:") else "http",
        outcome=outcome, fetched_at=datetime.now(UTC), reason=_told(error),
    )  # fmt: skip


def _told(error: BrowserError) -> str:
    """What happened; of a document that cannot be read also what to do with it."""
    return (
        f"{error}. {error.hint}" if isinstance(error, ExtractError) and error.hint else str(error)
    )


def _outcome(document: Document | None) -> Outcome:
    return Outcome.OK if document and document.text.strip() else Outcome.EMPTY
