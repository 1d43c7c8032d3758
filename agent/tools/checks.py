"""What a call must pass before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.errors import ToolError
from agent.tools.registry import Risk, Tool
from browser.errors import BrowserError

if TYPE_CHECKING:
    from agent.tools.context import LeftPage, ToolContext, Web
    from agent.tools.registry import Tool
    from browser.page.tab import Tab


_LEAVING = frozenset(
    {"WEB_SEARCH", "READ", "FETCH_URL", "CRAWL", "OPEN", "TYPE", "SELECT", "PRESS"}
)
"""Tools whose arguments reach a server."""


async def attached_needs_a_yes(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """In a person's own Chrome, submitting, uploading and posting need that person's yes.

    Raises `ToolError` where the person says no, or where nobody can be asked.
    """
    web = context.web
    if web is None or not web.attached or tool.risk is not Risk.EXTERNAL or web.tab is None:
        return
    effect = await _effect(web.tab, tool.name, arguments)
    if not effect:
        return
    if context.approve is None:
        context.record("policy.refused", name=tool.name, effect=effect)
        raise ToolError(
            f"{tool.name} {effect}: that needs a person's yes, and nobody can be asked here",
            hint="Go on without it, or run in a terminal.",
        )
    if not await context.approve(effect):
        context.record("policy.refused", name=tool.name, effect=effect)
        raise ToolError(f"the person said no: {tool.name} {effect}", hint="Go on without it.")


async def _effect(tab: Tab, name: str, arguments: Any) -> str:
    """Say what an action would do to the world; empty where it only looks or fills in."""
    if name == "UPLOAD":
        return f"uploads {arguments.path}"
    if name == "CLICK":
        return await tab.effect(arguments.ref)
    if name == "PRESS":
        return await tab.effect(arguments.ref, arguments.keys)
    if name == "TYPE" and arguments.submit:
        return await tab.effect(arguments.ref, "Enter")
    return ""


async def secrets_stay(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """No private token leaves in an address, a query or a form field.

    Raises `ToolError`, which does not repeat the token.
    """
    if tool.name not in _LEAVING:
        return
    values = arguments.model_dump(exclude_none=True).values()
    leak = context.secrets.leaks(" ".join(map(str, values)))
    if leak is not None:
        context.record("policy.refused", name=tool.name, effect="would send a private token away")
        raise ToolError(
            f"{tool.name} would send something private away: it stands in memory, a file or the "
            "environment, and not in the question",
            hint="Do it without the private value.",
        )


_ALSO_ON_PAGE = frozenset({"READ", "SOLVE_CAPTCHA"})
"""Beside the tools that are told of with a page."""


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
    if elsewhere or not (tool.on_page or tool.name in _ALSO_ON_PAGE):
        return
    told = await _opened(context, web, web.left_open)
    if tool.acts or getattr(arguments, "ref", None):
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


CHECKS = (secrets_stay, reopened, attached_needs_a_yes)
