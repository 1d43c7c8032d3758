"""What a model that sees is shown of a page: a picture of what is in view, the refs drawn on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.errors import BrowserError

if TYPE_CHECKING:
    from agent.tools.context import ToolContext
    from agent.tools.registry import ToolResult
    from browser.page.tab import Tab

PICTURED = "attached: what is in view, refs drawn on it"


async def picture_of(context: ToolContext, tab: Tab) -> bytes | None:
    """Take the picture, with `--vision` and a model that sees; the text stands without it too."""
    if not context.vision:
        return None
    try:
        return await tab.screenshot(marks=True)
    except BrowserError as error:
        context.record("note", text=f"no picture of {tab.url}: {error}")
        return None


def with_picture(result: ToolResult, picture: bytes | None) -> ToolResult:
    """Add a picture to a result whose data is an object."""
    if picture is None:
        return result
    data: dict[str, Any] = {**result.data, "picture": PICTURED}
    return replace(result, data=data, pictures=(picture,))
