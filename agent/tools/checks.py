"""What a call must pass before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.errors import ToolError
from agent.tools.registry import Risk, Tool
from agent.tools.reopening import reopened

if TYPE_CHECKING:
    from agent.tools.context import ToolContext
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


CHECKS = (secrets_stay, reopened, attached_needs_a_yes)
