"""After a run was cut off: the page that was open is opened again, and the model is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.errors import ToolError
from browser.errors import BrowserError

if TYPE_CHECKING:
    from agent.tools.context import LeftPage, ToolContext, Web
    from agent.tools.registry import Tool

LOOKING: Final = frozenset(
    {
        "SNAPSHOT",
        "FIND",
        "SCREENSHOT",
        "PAGE_CONTEXT",
        "READ",
        "TABS",
        "WAIT",
        "SCROLL",
        "SOLVE_CAPTCHA",
    }
)
ACTING: Final = frozenset(
    {"CLICK", "TYPE", "SELECT", "PRESS", "HOVER", "DRAG", "HIGHLIGHT", "BACK", "UPLOAD", "DOWNLOAD"}
)


async def reopened(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Before the first call that needs the page of before, open it again.

    Looking at it goes on as asked. What would act on it is not done: it was decided on a page
    whose refs, and whatever was typed into it, are gone. Raises `ToolError` that says so.
    """
    web = context.web
    if web is None or web.left_open is None:
        return
    if tool.name == "OPEN":
        web.left_open = None
        return
    elsewhere: str = getattr(arguments, "url", "")
    if tool.name not in LOOKING | ACTING or elsewhere:
        return
    told = await _opened(context, web, web.left_open)
    if tool.name in ACTING or getattr(arguments, "ref", None):
        raise ToolError(told, hint="SNAPSHOT shows the page with new refs.")


async def _opened(context: ToolContext, web: Web, left: LeftPage) -> str:
    """Open the page; gives what the next observation tells of it."""
    url, web.left_open = left.url, None
    try:
        web.egress.check_url(url)
        async with web.lock:
            browser = await web.start_browser()
            seconds = context.seconds_left(context.limits.read_seconds)
            web.tab = await browser.open(url, deadline=seconds, session=left.session)
    except BrowserError as error:
        failed = f"the run was cut off, and {url} could not be opened again: {error}"
        raise ToolError(failed, hint="OPEN a page.") from error
    told = (
        f"the run was cut off here and goes on: {url} was opened again, with its cookies; refs "
        "from before are void, and what was typed and not sent is gone"
    )
    web.tab.events.add(told)
    return told
