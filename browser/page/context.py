"""What a person has before them on a page, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.page import library
from browser.text import clean
from browser.types import PageContext

if TYPE_CHECKING:
    from playwright.async_api import Page


async def raw_context(page: Page) -> dict[str, Any]:
    """Ask the page for its context; also whether it is visible and focused."""
    found: dict[str, Any] = await library.call(
        page.main_frame, "context", {"limit": library.CONTEXT_LIMIT}
    )
    return found


def context_of(raw: dict[str, Any]) -> PageContext:
    """Make a PageContext of what the page told, cleaned."""
    return PageContext(
        url=raw["url"],
        title=clean(raw["title"]),
        selection=clean(raw["selection"]),
        visible_text=clean(raw["visible_text"]),
        canonical_url=raw["canonical_url"],
        focused=clean(raw["focused"]) if raw["focused"] else None,
        language=raw["language"],
        published=raw["published"],
    )
