"""Tool calls of subtasks that run side by side: each has a live page of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.opening import MAIN
from agent.tools import Policy
from agent.tools.checks import CHECKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.protocol import CallResult
    from agent.tools import Registry, ToolContext
    from agent.types import ToolCall


class Branches:
    """Makes each call in the context of the loop that asks for it."""

    def __init__(self, tools: Registry, context: ToolContext) -> None:
        self._tools = tools
        self._context = context
        self._policies = {MAIN: Policy(tools, context, CHECKS)}

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Make a call; the first part of its place names the loop."""
        loop = place.partition("/")[0]
        if loop not in self._policies:
            self._policies[loop] = Policy(self._tools, _branch(self._context), CHECKS)
        return await self._policies[loop].run(call, place)


def _branch(context: ToolContext) -> ToolContext:
    """The same means, evidence and memory, with no page open yet."""
    web = context.web and replace(context.web, tab=None, lock=asyncio.Lock())
    return replace(context, web=web)
